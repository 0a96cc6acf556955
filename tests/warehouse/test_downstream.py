"""The shape of the msprof database, as views and as a file: what its macros ask for is there, with our figures."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.warehouse import msprof_db
from opprof_db.warehouse.msprof_tables import ENUMERATIONS, TABLES
from tests.builders import kernels
from tests.builders.device import DeviceRun, Layout
from tests.conftest import Cli, Warehouse
from tests.shared import CORPUS, ROOT, needs_shared

COMPUTE = """
    WITH compute AS (
        SELECT c.globalTaskId AS task, round(t.endNs - t.startNs) AS ns, n.value AS name, y.value AS family,
               k.value AS accelerator
        FROM COMPUTE_TASK_INFO c LEFT JOIN TASK t ON t.globalTaskId = c.globalTaskId
        LEFT JOIN STRING_IDS n ON n.id = c.name LEFT JOIN STRING_IDS y ON y.id = c.opType
        LEFT JOIN STRING_IDS k ON k.id = c.taskType
    )
    SELECT name, family, accelerator, ns FROM compute ORDER BY task
"""
PMU = """
    SELECT s.value, p.value FROM TASK_PMU_INFO p JOIN STRING_IDS s ON s.id = p.name WHERE p.globalTaskId = ?
"""
DISPATCH = """
    SELECT t.globalTaskId, c.name, p.name, s.value FROM TASK t
    LEFT JOIN CANN_API c ON c.connectionId = t.connectionId
    LEFT JOIN CONNECTION_IDS i ON i.connectionId = t.connectionId
    LEFT JOIN PYTORCH_API p ON p.connectionId = i.id
    LEFT JOIN STRING_IDS s ON s.id = t.taskType ORDER BY t.startNs
"""
START = 1_778_749_200 * 10**9
"""2026-05-14T09:00:00, read as UTC, in ns."""

Ask = Callable[..., list[tuple]]


@pytest.fixture
def filled(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    launches = [
        kernels.vector("add_custom", 60.0),
        kernels.vector("add_custom", 62.5),
        kernels.mix("matmul_bias_mix_aiv", 120.25),
        kernels.cube("matmul_custom", 99.125),
    ]
    launches[3].duration_us = None
    DeviceRun(launches, name="OPPROF_20260514090000_ABCDEFGHIJKLMNOP", layout=Layout.OPERATORS).write(tmp_path / "out")
    warehouse.ingest(tmp_path / "out")
    return warehouse


@pytest.fixture(params=["views", "file"])
def ask(request: pytest.FixtureRequest, filled: Warehouse, tmp_path: Path) -> Ask:
    """The same questions to the views and to the exported file."""
    if request.param == "views":
        return filled.rows
    msprof_db.export(filled.path, tmp_path / "out.db")
    return Warehouse(tmp_path / "out.db").rows


def by_name(rows: list[tuple]) -> dict[str, float]:
    assert len({name for name, _ in rows}) == len(rows), "one value per task and metric"
    return dict(rows)


def test_the_compute_macro_gives_names_kinds_and_durations(ask: Ask) -> None:
    assert sorted(ask(COMPUTE), key=str) == sorted(
        [
            ("add_custom", "add_custom", "AI_VECTOR_CORE", 60_000),
            ("add_custom", "add_custom", "AI_VECTOR_CORE", 62_500),
            ("matmul_bias_mix_aiv", "matmul_bias", "MIX_AIV", 120_250),
            ("matmul_custom", "matmul_custom", "AI_CORE", None),
        ],
        key=str,
    )


def test_launches_of_a_device_follow_one_another(ask: Ask) -> None:
    tasks = ask("SELECT startNs, endNs, taskId FROM TASK ORDER BY taskId")
    assert [task[2] for task in tasks] == [0, 1, 2, 3]
    assert tasks[0][0] == START
    clock = START
    for start, end, _ in tasks:
        assert start == clock
        assert type(start) is int
        clock = start if end is None else end


def test_op_summary_adds_up_the_launches_of_a_name(ask: Ask) -> None:
    rows = ask("SELECT op_name, op_type, total_time, call_times FROM op_summary ORDER BY op_name")
    assert rows == [
        ("add_custom", "AI_VECTOR_CORE", 122.5, 2),
        ("matmul_bias_mix_aiv", "MIX_AIV", 120.25, 1),
        ("matmul_custom", "AI_CORE", None, 1),
    ]
    assert ask("SELECT total_time, op_count FROM model_summary") == [(242.75, 4)]
    assert ask("SELECT total_time, op_count, end_time - start_time FROM step_summary") == [(242.75, 4, 242_750)]
    assert ask("SELECT count(*), sum(task_time) FROM task_summary") == [(4, 242.75)]


def test_metrics_have_one_value_as_the_catalogue_rolls_them_up(ask: Ask, filled: Warehouse) -> None:
    (kernel,) = filled.rows("SELECT id FROM kernels WHERE duration_us = 60.0")[0]
    values = by_name(ask(PMU, kernel))
    (moved, slowest, busy, total, printed) = filled.rows(
        'SELECT sum(gm_to_ub_datas_kb), max(m.aiv_time_us), sum(m.aiv_time_us * 0 + p.aiv_mte2_time_us),'
        ' sum(p.aiv_time_us), max(p.aiv_mte2_ratio) FROM memory m'
        ' JOIN pipe_utilization p USING (kernel_id, block_id, sub_block_id) WHERE kernel_id = ?', kernel,
    )[0]  # fmt: skip
    assert values["GM_to_UB_datas(KB)"] == moved
    assert values["aiv_time(us)"] == values["aiv_time"] == slowest
    assert values["aiv_mte2_ratio"] == values["aiv_mte2_kernel_ratio"] == pytest.approx(busy / total)
    assert printed is not None
    assert "aiv_mte2_bw" not in " ".join(values)
    assert "aic_mac_ratio" not in values, "a vector kernel has no AIC"


def test_a_mix_kernel_has_its_cube_ratio_under_msprofs_name(ask: Ask, filled: Warehouse) -> None:
    (kernel,) = filled.rows("SELECT id FROM kernels WHERE op_type = 'mix'")[0]
    values = by_name(ask(PMU, kernel))
    ((busy, total),) = filled.rows(
        "SELECT sum(aic_cube_time_us), sum(aic_time_us) FROM pipe_utilization WHERE kernel_id = ?", kernel
    )
    assert values["aic_mac_ratio"] == pytest.approx(busy / total)


def test_chips_frequencies_and_version(ask: Ask) -> None:
    assert ask("SELECT id, name FROM NPU_INFO") == [(0, "Ascend910B4")]
    assert {freq for (freq,) in ask("SELECT freq FROM AICORE_FREQ")} == {1650}
    meta = dict(ask("SELECT name, value FROM META_DATA"))
    assert (meta["SCHEMA_VERSION"], meta["SCHEMA_VERSION_MINOR"]) == ("1.1.0", "1")
    assert "start of the run" in meta["DERIVED"]


def test_the_file_has_real_tables_with_the_documented_columns(filled: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "out.db"
    msprof_db.export(filled.path, target)
    with closing(sqlite3.connect(target)) as out:
        made = dict(out.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
        assert set(made) == {*TABLES, *ENUMERATIONS}
        assert not [name for name, sql in made.items() if "STRICT" in sql.upper()]
        assert out.execute("SELECT count(*) FROM sqlite_master WHERE type = 'view'").fetchone() == (0,)
        columns = [row[1] for row in out.execute("PRAGMA table_info(COMPUTE_TASK_INFO)")]
        assert columns == [
            "name", "globalTaskId", "blockDim", "mixBlockDim", "taskType", "opType", "inputFormats", "inputDataTypes",
            "inputShapes", "outputFormats", "outputDataTypes", "outputShapes", "attrInfo", "opState", "hf32Eligible",
        ]  # fmt: skip
        na = out.execute("SELECT id FROM STRING_IDS WHERE value = 'N/A'").fetchall()
        assert out.execute("SELECT DISTINCT inputShapes, hf32Eligible FROM COMPUTE_TASK_INFO").fetchall() == [
            (na[0][0], na[0][0])
        ]
        assert out.execute("SELECT count(*) - count(DISTINCT value) FROM STRING_IDS").fetchone() == (0,)
        assert [row[1:] for row in out.execute(DISPATCH)] == [
            (None, None, "AI_VECTOR_CORE"), (None, None, "AI_VECTOR_CORE"), (None, None, "MIX_AIV"),
            (None, None, "AI_CORE"),
        ]  # fmt: skip
        for empty in ("COMMUNICATION_OP", "COMMUNICATION_TASK_INFO", "CANN_API", "PYTORCH_API", "CONNECTION_IDS"):
            assert out.execute(f"SELECT count(*) FROM {empty}").fetchone() == (0,)
        assert out.execute("SELECT name FROM ENUM_HCCL_DATA_TYPE WHERE id = 3").fetchone() == ("FP16",)
        assert out.execute("PRAGMA application_id").fetchone() == (0,)
        assert out.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_the_newer_schema_counts_block_num(filled: Warehouse, tmp_path: Path) -> None:
    msprof_db.export(filled.path, tmp_path / "new.db", schema="1.2.0")
    ask = Warehouse(tmp_path / "new.db").rows
    assert ask("SELECT blockNum FROM COMPUTE_TASK_INFO ORDER BY globalTaskId LIMIT 1") == [(8,)]
    assert ask("SELECT value FROM META_DATA WHERE name = 'SCHEMA_VERSION'") == [("1.2.0",)]


def test_export_chooses_runs_and_replaces_nothing_unasked(cli: Cli, tmp_path: Path) -> None:
    assert cli("ingest", ROOT / "examples" / "out").returncode == 0
    done = cli("export", "msprof-db", "one.db", "--run", "OPPROF_20260512111842")
    assert done.returncode == 0, done.stderr
    one = Warehouse(tmp_path / "cli" / "one.db")
    assert one.rows("SELECT count(*), min(deviceId) FROM TASK") == [(1, 0)]
    assert one.rows("SELECT model_name FROM model_summary") == [("OPPROF_20260512111842_GHTRWQPLKMXNVBZC",)]
    again = cli("export", "msprof-db", "one.db")
    assert again.returncode == 2
    assert "exists already" in again.stderr
    wrong = cli("export", "msprof-db", "two.db", "--run", "nowhere")
    assert wrong.returncode == 2
    assert not (tmp_path / "cli" / "two.db").exists()
    simulated = cli("export", "msprof-db", "three.db", "--run", "OPPROF_20260516102233")
    assert "simulated kernels are no tasks" in simulated.stderr


@needs_shared
def test_the_corpus_is_exported_whole(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(CORPUS)
    rows = msprof_db.export(warehouse.path, tmp_path / "out.db")
    assert (
        rows["TASK"]
        == rows["COMPUTE_TASK_INFO"]
        == warehouse.value("SELECT count(*) FROM kernels WHERE mode <> 'simulator'")
    )
    out = Warehouse(tmp_path / "out.db")
    assert out.value("SELECT round(sum(endNs - startNs) / 1000.0, 2) FROM TASK") == warehouse.value(
        "SELECT round(sum(round(duration_us * 1000)) / 1000.0, 2) FROM kernels WHERE mode <> 'simulator'"
    )
    assert sorted(out.rows(COMPUTE), key=str) == sorted(warehouse.rows(COMPUTE), key=str)
