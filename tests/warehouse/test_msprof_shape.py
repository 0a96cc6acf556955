"""The views in msprof's shape and the exported file answer alike, with numbers computed by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.catalog import load
from opprof_db.warehouse import opening, readonly
from opprof_db.warehouse.msprof_db.export import export
from opprof_db.warehouse.sql_files import read_sql_file
from tests.builders.builds import CANN_8_0, CANN_8_5, MEMORY_DETAIL
from tests.builders.device import CoreLoad, DeviceRun, Launch, Layout
from tests.builders.kernels import aicore, cube, mix, on_950, vector
from tests.builders.simulator import SimulatorRun, example_kernel
from tests.conftest import Warehouse
from tests.shared import CORPUS, ROOT, needs_shared
from tests.warehouse.msprof_macros import COMMUNICATION, COMPUTE, DISPATCH, METRICS

NOON_NS = 1_778_414_400_000_000_000
"""2026-05-10T12:00:00 read as UTC."""

ADD = [
    [CoreLoad("vector0", 10.0, {"vec": 0.5, "mte2": 0.8}, {"gm_to_ub": 512.0}, {"mte2": 32}, {"vec": 0.4})],
    [CoreLoad("vector0", 20.0, {"vec": 0.25, "mte2": 0.7}, {"gm_to_ub": 512.0}, {"mte2": 32}, {"vec": 0.6})],
]
MATMUL = [
    [
        CoreLoad("cube0", 100.0, {"cube": 0.7}, {"gm_to_l1": 1024.0}),
        CoreLoad("vector0", 40.0, {"vec": 0.5}, {"gm_to_ub": 256.0}),
    ],
    [
        CoreLoad("cube0", 60.0, {"cube": 0.5}, {"gm_to_l1": 1024.0}),
        CoreLoad("vector0", 40.0, {"vec": 0.5}, {"gm_to_ub": 256.0}),
    ],
]


def matmul_and_add() -> DeviceRun:
    """A mix kernel, then a vector kernel twice: 120.5, 25 and 22 us."""
    return DeviceRun(
        [
            Launch("matmul_mix_aic", "mix", 120.5, MATMUL, soc="Ascend910B1", rated_freq=1850),
            Launch("add_custom", "vector", 25.0, ADD, soc="Ascend910B1", current_freq="1500", rated_freq=1850),
            Launch("add_custom", "vector", 22.0, ADD, soc="Ascend910B1", current_freq="N/A", rated_freq=1850),
        ],
        "OPPROF_20260510120000_ABCDEFGHIJKLMNOP",
        Layout.OPERATORS,
    )


Ask = Callable[[str], list[tuple]]


@pytest.fixture
def filled(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    runs = tmp_path / "runs"
    matmul_and_add().write(runs)
    DeviceRun([aicore(duration=9.8)], "OPPROF_20260511120000_BBCDEFGHIJKLMNOP").write(runs)
    SimulatorRun({("add_custom", 0): example_kernel()}).write(runs / "OPPROF_20260516102233_QPWOEIRUTYALSKDJ")
    for found in sorted(runs.iterdir()):
        warehouse.ingest(found)
    return warehouse


@pytest.fixture(params=["views", "export"])
def ask(request: pytest.FixtureRequest, filled: Warehouse, tmp_path: Path) -> Iterator[Ask]:
    """Ask the views through the guarded way for SQL from outside, or the exported file as a stranger does."""
    if request.param == "views":
        yield lambda sql: readonly.run(filled.path, sql).rows
        return
    target = tmp_path / "msprof.db"
    with opening.reading(filled.path) as connection:
        export(connection, target)
    with closing(sqlite3.connect(target)) as made:
        yield lambda sql: made.execute(sql).fetchall()


def test_the_compute_macro_gives_every_launch_its_recorded_duration(ask: Ask) -> None:
    rows = ask(f"{COMPUTE} SELECT op_name, op_type, duration_ns FROM compute_view ORDER BY duration_ns DESC LIMIT 20")
    assert rows == [
        ("matmul_mix_aic", "matmul", 120_500.0),
        ("add_custom", "add_custom", 25_000.0),
        ("add_custom", "add_custom", 22_000.0),
        ("add_custom", "add_custom", 9_800.0),
    ]


def test_the_compute_macro_adds_up_by_name(ask: Ask) -> None:
    rows = ask(f"{COMPUTE} SELECT op_name, sum(duration_ns), count(*) FROM compute_view GROUP BY op_name ORDER BY 2")
    assert rows == [("add_custom", 56_800.0, 3), ("matmul_mix_aic", 120_500.0, 1)]


def test_the_dispatch_macro_gives_one_row_per_task_with_nulls(ask: Ask) -> None:
    rows = ask(f"{DISPATCH} SELECT * FROM dispatch_view ORDER BY task_duration_ns")
    assert rows == [
        (9_800.0, None, None, None, None, "AI_CORE"),
        (22_000.0, None, None, None, None, "AI_VECTOR_CORE"),
        (25_000.0, None, None, None, None, "AI_VECTOR_CORE"),
        (120_500.0, None, None, None, None, "MIX_AIC"),
    ]


def test_the_communication_macro_finds_nothing(ask: Ask) -> None:
    assert ask(f"{COMMUNICATION} SELECT op_name, sum(duration_ns) FROM comm_view GROUP BY op_name") == []


def test_launches_lie_end_to_end_from_the_start_of_their_run(ask: Ask) -> None:
    rows = ask("SELECT startNs, endNs, typeof(startNs), typeof(endNs) FROM TASK ORDER BY startNs LIMIT 3")
    starts = [NOON_NS, NOON_NS + 120_500, NOON_NS + 145_500]
    ends = [NOON_NS + 120_500, NOON_NS + 145_500, NOON_NS + 167_500]
    assert rows == [(start, end, "integer", "integer") for start, end in zip(starts, ends, strict=True)]


def test_launch_ids_are_unique_and_those_of_the_warehouse(ask: Ask, filled: Warehouse) -> None:
    device = [row[0] for row in filled.rows("SELECT id FROM kernels WHERE mode = 'device' ORDER BY id")]
    assert [row[0] for row in ask("SELECT globalTaskId FROM TASK ORDER BY globalTaskId")] == device
    assert [row[0] for row in ask("SELECT globalTaskId FROM COMPUTE_TASK_INFO ORDER BY globalTaskId")] == device


def metrics_of(ask: Ask, task: int) -> dict[str, float]:
    rows = ask(f"{METRICS} SELECT metric, value FROM metric_view WHERE globalTaskId = {task}")
    found = dict(rows)
    assert len(found) == len(rows), "one value per task and metric"
    return found


def test_metrics_of_a_vector_kernel_are_rolled_up_as_the_catalogue_says(ask: Ask, filled: Warehouse) -> None:
    (task,) = filled.rows("SELECT id FROM kernels WHERE duration_us = 25.0")[0]
    found = metrics_of(ask, task)
    assert found["aiv_total_cycles"] == 15_000 + 30_000  # 10 and 20 us at 1500 MHz, summed
    assert found["aiv_time(us)"] == 20.0  # the slowest core
    assert found["aiv_total_time"] == 20_000  # the same in ns, under msprof's name
    assert found["aiv_vec_time(us)"] == 5.0
    assert found["aiv_vec_time"] == 5_000
    assert found["aiv_vec_ratio"] == pytest.approx(10 / 30)  # busy time over core time, no mean of 0.5 and 0.25
    assert found["aiv_mte2_ratio"] == pytest.approx((8 + 14) / 30)
    assert found["GM_to_UB_datas(KB)"] == 1024.0
    assert found["aiv_mte2_instructions"] == 64
    assert found["aiv_mte2_kb_per_instruction"] == 16.0
    gib_s = 1024 * 1024 / 25e-6 / 2**30  # all cores' volume over the task duration
    assert found["aiv_gm_to_ub_bw(GB/s)"] == pytest.approx(gib_s)
    read_kib = 2 * (512 + 0.75)  # the scalar unit reads a little too
    assert found["aiv_main_mem_read_bw"] == pytest.approx(read_kib * 1024 / 25e-6)  # byte/s
    # What two cores print and no formula puts together has no value for the kernel.
    assert "aiv_vec_wait_ratio" not in found
    assert "GM_to_UB_bw_usage_rate(%)" not in found


def test_metrics_of_a_mix_kernel_keep_the_core_kinds_apart(ask: Ask, filled: Warehouse) -> None:
    (task,) = filled.rows("SELECT id FROM kernels WHERE op_type = 'mix'")[0]
    found = metrics_of(ask, task)
    assert found["aic_cube_ratio"] == pytest.approx((70 + 30) / 160, abs=1e-5)
    assert found["aic_mac_ratio"] == found["aic_cube_ratio"] == found["aic_cube_kernel_ratio"]
    assert found["aiv_vec_ratio"] == pytest.approx(0.5, abs=1e-5)
    assert found["aic_total_cycles"] == 185_000 + 111_000
    assert found["aiv_total_cycles"] == 2 * 74_000
    assert found["aic_mac_time"] == pytest.approx(70_000, abs=1)
    # Volumes are the one thing that may be summed over both kinds.
    assert found["read_main_memory_datas(KB)"] == 2 * (1024 + 0.75) + 2 * (256 + 0.75)


def test_the_only_row_of_a_310p_kernel_keeps_its_ratios(ask: Ask, filled: Warehouse) -> None:
    (task,) = filled.rows("SELECT id FROM kernels WHERE op_type = 'AiCore'")[0]
    printed = filled.rows("SELECT aic_vec_wait_ratio FROM resource_conflict_ratio WHERE kernel_id = ?", task)
    assert [(metrics_of(ask, task)["aic_vec_wait_ratio"],)] == printed
    assert printed == [(pytest.approx(0.2, abs=1e-4),)]


@pytest.mark.parametrize(
    "launch",
    [
        on_950(mix(blocks=2)),
        on_950(vector(blocks=1, build=MEMORY_DETAIL)),
        mix(blocks=1, vectors=1, build=CANN_8_0),
        cube(blocks=3, build=CANN_8_5),
        vector(blocks=4, idle=(2,), families=("Memory", "L2Cache")),
        aicore(),
    ],
    ids=["mix 950", "one core 950", "one block CANN 8.0", "cube CANN 8.5", "two families", "310P"],
)
def test_every_kind_of_launch_has_one_value_per_name(warehouse: Warehouse, tmp_path: Path, launch: Launch) -> None:
    warehouse.ingest(DeviceRun([launch]).write(tmp_path))
    found = metrics_of(warehouse.rows, 1)
    kinds = {"aic" if core.kind == "aic" else "aiv" for cores in launch.blocks for core in cores}
    for kind in kinds:
        # Times and cycles stand in every family: one value, whichever families were collected.
        cycles, slowest = warehouse.rows(
            "SELECT sum(total_cycles), max(time_us) FROM kernel_cores WHERE core_kind IN (?, 'aicore')", kind
        )[0]
        assert found[f"{kind}_total_cycles"] == cycles
        assert found[f"{kind}_total_time"] == pytest.approx(1000 * slowest)
    hits = [name for name in found if name.endswith("_total_hit_rate(%)")]
    assert len(hits) == (0 if launch.chip == "310P" else len(kinds))


def test_operators_in_msprofs_words(ask: Ask) -> None:
    rows = ask("SELECT op_name, op_type, total_time, call_times, model_id FROM op_summary ORDER BY total_time DESC")
    assert rows == [
        ("matmul", "MIX_AIC", 120.5, 1, 4294967295),
        ("add_custom", "AI_CORE/AI_VECTOR_CORE", pytest.approx(56.8), 3, 4294967295),
    ]


def test_tasks_models_and_steps_in_sum(ask: Ask) -> None:
    assert ask("SELECT count(*), sum(total_time) FROM task_summary") == [(4, pytest.approx(177.3))]
    assert ask("SELECT model_id, op_count, call_times, total_time FROM model_summary") == [
        (4294967295, 2, 4, pytest.approx(177.3))
    ]
    assert ask("SELECT step_name, op_count, call_times, end_ns - start_ns FROM step_summary ORDER BY step_id") == [
        ("OPPROF_20260510120000_ABCDEFGHIJKLMNOP", 2, 3, 167_500),
        ("OPPROF_20260511120000_BBCDEFGHIJKLMNOP", 1, 1, 9_800),
    ]


def test_a_device_number_of_two_machines_is_one_row(ask: Ask) -> None:
    assert ask("SELECT id, name FROM NPU_INFO") == [(0, "Ascend310P3/Ascend910B1")]
    ((tasks,),) = ask("SELECT count(*) FROM TASK t JOIN NPU_INFO n ON n.id = t.deviceId")
    assert tasks == 4


def test_an_unknown_frequency_has_no_row(ask: Ask) -> None:
    rows = ask("SELECT deviceId, timestampNs, freq FROM AICORE_FREQ WHERE timestampNs < 1778500000000000000")
    assert rows == [(0, NOON_NS, 1850), (0, NOON_NS + 120_500, 1500)]


def test_the_shape_says_its_version_and_that_times_are_derived(ask: Ask) -> None:
    facts = dict(ask("SELECT name, value FROM META_DATA"))
    assert facts["SCHEMA_VERSION"] == "1.0.2"
    assert [facts[f"SCHEMA_VERSION_{part}"] for part in ("MAJOR", "MINOR", "MICRO")] == ["1", "0", "2"]
    assert facts["OPPROF_TIMES"].startswith("derived")


def test_what_msopprof_does_not_record_is_not_available(ask: Ask) -> None:
    texts = "inputFormats inputDataTypes inputShapes outputFormats outputDataTypes outputShapes attrInfo opState"
    for column in (*texts.split(), "hf32Eligible"):
        assert ask(f"SELECT DISTINCT s.value FROM COMPUTE_TASK_INFO c JOIN STRING_IDS s ON s.id = c.{column}") == [
            ("N/A",)
        ]


def test_block_counts_stand_beside_the_names(ask: Ask) -> None:
    rows = ask(
        "SELECT s.value, c.blockDim, c.mixBlockDim FROM COMPUTE_TASK_INFO c JOIN STRING_IDS s ON s.id = c.name"
        " ORDER BY c.globalTaskId"
    )
    assert sorted(rows, key=str) == sorted(
        [
            ("add_custom", 2, None),
            ("add_custom", 2, None),
            ("add_custom", 8, None),
            ("matmul_mix_aic", 2, 2),
        ],
        key=str,
    )


def test_every_string_id_stands_for_one_text(ask: Ask) -> None:
    ids = [row[0] for row in ask("SELECT id FROM STRING_IDS")]
    assert len(ids) == len(set(ids))
    for table, column in (("COMPUTE_TASK_INFO", "name"), ("COMPUTE_TASK_INFO", "opType"), ("TASK_PMU_INFO", "name")):
        lost = ask(f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT id FROM STRING_IDS)")
        assert lost == [(0,)]


def test_devices_have_a_time_line_each(warehouse: Warehouse, tmp_path: Path) -> None:
    launches = [vector(duration=10.0, device_id=device) for device in (0, 1, 0, 1)]
    warehouse.ingest(DeviceRun(launches, "OPPROF_20260510120000_ABCDEFGHIJKLMNOP").write(tmp_path))
    assert warehouse.rows("SELECT deviceId, startNs FROM TASK ORDER BY deviceId, startNs") == [
        (0, NOON_NS),
        (0, NOON_NS + 10_000),
        (1, NOON_NS),
        (1, NOON_NS + 10_000),
    ]


@pytest.mark.parametrize(
    ("name", "op_type", "word"),
    [
        ("a_mix_aiv", "mix", "MIX_AIV"),
        ("a_mix_aic", "mix", "MIX_AIC"),
        ("a", "mix", "MIX_AIC"),
        ("a", "cube", "AI_CORE"),
        ("a", "vector", "AI_VECTOR_CORE"),
    ],
)
def test_kinds_of_launches_in_msprofs_words(
    warehouse: Warehouse, tmp_path: Path, name: str, op_type: str, word: str
) -> None:
    cores = [CoreLoad("cube0" if op_type == "cube" else "vector0", 10.0)]
    warehouse.ingest(DeviceRun([Launch(name, op_type, 12.0, [cores])]).write(tmp_path))
    expected = [(word,)]
    assert warehouse.rows("SELECT op_type FROM op_summary") == expected
    for table in ("TASK", "COMPUTE_TASK_INFO"):
        assert warehouse.rows(f"SELECT s.value FROM {table} t JOIN STRING_IDS s ON s.id = t.taskType") == expected


def test_a_launch_without_a_duration_has_a_name_but_no_task(warehouse: Warehouse, tmp_path: Path) -> None:
    launches = [vector("known", 10.0), Launch("lost", "vector", None, [[CoreLoad("vector0", 8.0)]])]
    warehouse.ingest(DeviceRun(launches, layout=Layout.OPERATORS).write(tmp_path))
    assert warehouse.rows(f"{COMPUTE} SELECT op_name, duration_ns FROM compute_view ORDER BY op_name") == [
        ("known", 10_000.0),
        ("lost", None),
    ]
    assert warehouse.value("SELECT count(*) FROM TASK") == 1
    assert warehouse.rows("SELECT op_name FROM op_summary") == [("known",)]


def test_names_of_metrics_are_those_of_the_catalogue() -> None:
    """The lists in the view name headers and derived columns; a renamed one must not go unnoticed."""
    sql = read_sql_file(ROOT / "sql" / "compat" / "msprof_metric_names.sql").sql
    with closing(sqlite3.connect(":memory:")) as connection:
        head, _, rest = sql.partition("stands_for (column_name, header) AS (")
        pairs = connection.execute(rest.partition(")\n),")[0] + ")").fetchall()
        aliases = connection.execute(
            sql.partition("msprof (header, name, scale) AS (")[2].partition("\n),")[0]
        ).fetchall()
    assert head
    headers = {metric.vendor for metric in load().metrics}
    derived = {metric.column for metric in load().derived}
    assert len(pairs) > 20
    assert len(aliases) > 20
    assert {column for column, _ in pairs} <= derived
    assert {header for _, header in pairs} <= headers
    assert {header for header, _, _ in aliases} <= headers
    assert not {name for _, name, _ in aliases} & headers
    ratios = {column for column in derived if column.endswith("_kernel_ratio")}
    paired = {column for column, _ in pairs}
    assert {column for column in ratios if column.replace("_kernel_ratio", "_ratio") in headers} <= paired


def test_the_metrics_of_one_launch_are_found_by_its_key(filled: Warehouse) -> None:
    plan = filled.rows("EXPLAIN QUERY PLAN SELECT name, value FROM TASK_PMU_INFO WHERE globalTaskId = 1")
    steps = [step for *_, step in plan]
    assert sum("SEARCH k USING PRIMARY KEY (kernel_id=?" in step for step in steps) == 3
    assert not [step for step in steps if step.startswith("SCAN k")]


@needs_shared
@pytest.mark.corpus
def test_real_captures_answer_alike_in_both(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(CORPUS)
    target = tmp_path / "corpus.db"
    with opening.reading(warehouse.path) as connection:
        done = export(connection, target)
    questions = (
        f"{COMPUTE} SELECT op_name, op_type, duration_ns, globalTaskId FROM compute_view ORDER BY globalTaskId",
        f"{DISPATCH} SELECT task_type, sum(task_duration_ns), count(*) FROM dispatch_view GROUP BY task_type",
        f"{METRICS} SELECT metric, value, globalTaskId FROM metric_view ORDER BY globalTaskId, metric",
        "SELECT * FROM op_summary ORDER BY op_name",
        "SELECT * FROM NPU_INFO ORDER BY id",
    )
    with closing(sqlite3.connect(target)) as made:
        for question in questions:
            assert made.execute(question).fetchall() == warehouse.rows(question)
        durations = made.execute("SELECT globalTaskId, endNs - startNs FROM TASK").fetchall()
        repeated = made.execute(
            "SELECT count(*) FROM (SELECT 1 FROM TASK_PMU_INFO GROUP BY globalTaskId, name HAVING count(*) > 1)"
        ).fetchone()
    recorded = dict(warehouse.rows("SELECT id, duration_us FROM kernels WHERE duration_us IS NOT NULL"))
    assert {task: round(1000 * recorded[task]) for task, _ in durations} == dict(durations)
    assert done.tasks == len(recorded) == len(durations)
    assert repeated == (0,)
    assert done.metric_values > 500
