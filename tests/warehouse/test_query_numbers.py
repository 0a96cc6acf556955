"""Every named query against numbers worked out by hand from the builders' scenario (see test_view_numbers)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opprof_db.warehouse import readonly
from opprof_db.warehouse.queries import named_query, query_files
from tests.builders import scenario as s
from tests.conftest import Warehouse

CYCLE = 1 / 1850
GIB = 2**30


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    folder = tmp_path_factory.mktemp("scenario")
    return s.fill(Warehouse(folder / "warehouse.db"), folder / "runs")


def asked(warehouse: Warehouse, name: str, **given: object) -> list[dict[str, Any]]:
    """Rows of a named query, as the program runs it."""
    query = named_query(name)
    bound = query.bind({key: str(value) for key, value in given.items()})
    result = readonly.run(warehouse.path, query.file.sql, bound)
    assert result.columns == list(query.file.columns)
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


# (query, parameters, columns, all rows in order)
NUMBERS: list[tuple[str, dict[str, object], tuple[str, ...], list[tuple[Any, ...]]]] = [
    (
        "top_kernels",
        {"limit": 3},
        ("kernel_id", "operator", "duration_us"),
        [(s.K_GELU_0, "gelu_custom", 130.0), (s.K_MIX, "matmul", 120.0), (6, "gelu_custom", 104.0)],
    ),
    ("top_kernels", {"run_id": s.MIX}, ("kernel_id", "block_dim"), [(s.K_MIX, 2)]),
    (
        "top_operators",
        {"run_id": s.SEVERAL},
        ("operator", "launches", "total_us", "share_of_run"),
        [("gelu_custom", 5, 532.0, 532 / 600), ("reduce_sum", 1, 68.0, 68 / 600)],
    ),
    ("find_kernels", {"text": "MIX_aic"}, ("kernel_id", "operator"), [(s.K_MIX, "matmul")]),
    (
        "launch_variation",
        {},
        ("operator", "launches", "median_us", "cv", "cold_first"),
        [("gelu_custom", 5, 102.0, (731.2 / 4) ** 0.5 / 106.4, 1)],
    ),
    (
        "cold_launches",
        {},
        ("first_kernel_id", "first_us", "later_median_us", "cold_factor"),
        [(s.K_GELU_0, 130.0, 101.0, 130 / 101)],
    ),
    ("cold_launches", {"factor": 1.3}, ("first_kernel_id",), []),
    (
        "kernel_history",
        {"operator": "add_custom"},
        ("run_id", "median_us", "change_us", "best_so_far_us"),
        [(s.ADD_3, 99.0, 9.0, 90.0), (s.ADD_2, 90.0, -10.0, 90.0), (s.ADD_1, 100.0, None, 100.0)],
    ),
    (
        "slower_than_before",
        {},
        ("kernel_id", "previous_run_id", "previous_us", "median_us", "change_share", "caution"),
        [(s.K_ADD_3, s.ADD_2, 90.0, 99.0, 0.1, "frequency unknown")],
    ),
    ("slower_than_before", {"min_change": 0.2}, ("kernel_id",), []),
    (
        "slow_cores",
        {"kernel_id": s.K_ADD_1},
        ("core_kind", "block_id", "time_us", "above_mean_us", "share_of_slowest"),
        [("aiv", 0, 80.0, 20.0, 1.0)],
    ),
    (
        "slow_cores",
        {"run_id": s.MIX},
        ("core_kind", "block_id", "above_mean_us"),
        [("aic", 0, 25.0), ("aiv", 1, 10.0)],
    ),
    (
        "core_balance",
        {"limit": 2},
        ("kernel_id", "core_kind", "recoverable_us", "recoverable_share"),
        [(s.K_MIX, "aic", 25.0, 0.25), (s.K_ADD_1, "aiv", 20.0, 0.25)],
    ),
    (
        "idle_cores",
        {"run_id": s.ADD_1},
        ("kernel_id", "working_cores", "idle_cores", "chip_cores", "unused_share"),
        [(s.K_ADD_1, 3, 1, 40, 1 - 3 / 40)],
    ),
    ("idle_cores", {"run_id": s.DAMAGED}, ("kernel_id",), []),
    (
        "pipe_usage",
        {"kernel_id": s.K_ADD_1, "limit": 2},
        ("pipe", "ratio", "mean_time_us", "max_block_id"),
        [("mte2", 85 / 180.4, 85 / 3, 0), ("vec", 60 / 180.4, 20.0, 1)],
    ),
    (
        "dominant_pipes",
        {"run_id": s.MIX},
        ("core_kind", "pipe", "ratio", "second_pipe", "lead"),
        [("aic", "cube", 80 / 150, "mte2", 10 / 150), ("aiv", "mte2", 28 / 60, "vec", 14 / 60)],
    ),
    (
        "time_by_dominant_pipe",
        {},
        ("core_kind", "pipe", "kernels", "duration_us"),
        # vec: gelu, reduce and the damaged run; mte2: three times add_custom and the matmul's vector cores.
        [("aiv", "vec", 7, 605.0), ("aiv", "mte2", 4, 409.0), ("aic", "cube", 1, 120.0), ("aicore", "vec", 1, 10.0)],
    ),
    (
        "transfer_sizes",
        {"kernel_id": s.K_ADD_1},
        ("path", "volume_kib", "instructions", "bytes_per_instruction"),
        [("gm_to_ub", 3072.0, 192.0, 16384.0), ("ub_to_gm", 1536.0, 48.0, 32768.0)],
    ),
    ("transfer_sizes", {"kernel_id": s.K_ADD_1, "below_bytes": 20000}, ("path",), [("gm_to_ub",)]),
    (
        "memory_traffic",
        {"run_id": s.ADD_1, "limit": 2},
        ("path", "volume_kib", "kernel_bw_gib_s"),
        [("read_main_memory", 3075.0, 3075 * 1024e4 / GIB), ("gm_to_ub", 3072.0, 3072 * 1024e4 / GIB)],
    ),
    (
        "memory_limits",
        {"run_id": s.ADD_1},
        ("kernel_id", "l2_limit_share", "gm_limit_share"),
        [(s.K_ADD_1, 4612 * 1024e4 / 4e12, 3 * 4611 * 128e4 / 0.8e12)],
    ),
    (
        "low_l2_hit_rates",
        {"run_id": s.SEVERAL, "access": "write", "limit": 10},
        ("operator", "hits", "requests", "hit_rate_pct"),
        [("gelu_custom", 1, 1, 100.0)] * 5 + [("reduce_sum", 0, 0, None)],
    ),
    (
        "low_l2_hit_rates",
        {"run_id": s.ADD_1, "min_requests": 27676},
        ("hit_rate_pct", "state"),
        [(100 * 13843 / 27676, "defined")],
    ),
    ("low_l2_hit_rates", {"run_id": s.ADD_1, "min_requests": 27677}, ("state",), []),
    (
        "bank_conflicts",
        {"run_id": s.ADD_1},
        ("conflict", "min_ratio", "max_ratio", "max_block_id"),
        [("bank", 0.01, 0.05, 1)],
    ),
    (
        "waiting_pipes",
        {"kernel_id": s.K_ADD_1, "limit": 2},
        ("pipe", "min_ratio", "max_ratio"),
        [("vec", 0.4, 0.4), ("mte2", 0.1, 0.1)],
    ),
    (
        "reduced_frequency",
        {},
        ("kernel_id", "current_freq_mhz", "estimated_freq_mhz", "reduced_from"),
        [(s.K_ADD_3, None, 132000 / 99, "estimate"), (s.K_ADD_2, 1320, 105600 / 90, "current_freq")],
    ),
    (
        "compute_rates",
        {"run_id": s.MIX},
        ("core_kind", "unit", "tops"),
        # 2000 cube instructions of 8192 operations; 16500 and 6600 vector cycles of 64 lanes; in 120 us.
        [("aic", "cube", 2000 * 8192 / 120e6), ("aiv", "vec", 23100 * 64 / 120e6)],
    ),
    (
        "metric_extremes",
        {"metric": "aiv_vec_time_us", "run_id": s.ADD_1},
        ("kernel_id", "core_kind", "min", "max", "max_block_id"),
        [(s.K_ADD_1, "aiv", 10.0, 30.0, 1)],
    ),
    (
        "metric_extremes",
        {"metric": "aic_cube_time_us", "smallest": 1},
        ("kernel_id", "core_kind", "min"),
        [(s.K_310P, "aicore", 0.0), (s.K_MIX, "aic", 20.0)],
    ),
    (
        "sweep",
        {"key": "tile"},
        ("operator", "label", "launches", "mean_us"),
        [("add_custom", "32", 1, 100.0), ("add_custom", "64", 1, 90.0)],
    ),
    (
        "double_buffering",
        {},
        ("kernel_id", "copy_pipe", "compute_pipe", "both_us", "copy_busy_us", "compute_busy_us", "hidden_share"),
        # The vector loop at 702..1100 meets the next copy at 1000..1700, three times.
        [(s.K_SIMULATED, "MTE2", "VECTOR", 300 * CYCLE, 2800 * CYCLE, 1592 * CYCLE, 300 / 1592)],
    ),
    (
        "waiting_instructions",
        {},
        ("instruction", "call_count", "cycles", "slowest_core", "detail"),
        [("WAIT_FLAG", 1, 2911, "core0.veccore0", "PIPE:MTE2,TRIGGERPIPE:V,FLAGID:0,")],
    ),
    (
        "hot_instructions",
        {"kernel_id": s.K_SIMULATED, "limit": 2},
        ("instruction", "cycles", "share_of_pipe"),
        [("MMAD", 4000, 1.0), ("MOV_OUT_TO_UB", 3002, 1.0)],
    ),
    ("hot_instructions", {"kernel_id": s.K_ADD_1}, ("instruction",), []),
    (
        "hot_lines",
        {"run_id": s.SIMULATED},
        ("file", "line", "cycles"),
        [("/home/dev/算子, v2/add:custom.cpp", line, cycles) for line, cycles in ((41, 3002), (42, 640), (43, 5))],
    ),
    (
        "pipe_dependencies",
        {},
        ("from_pipe", "to_pipe", "cores", "syncs", "mean_lead_us"),
        [("MTE2", "VECTOR", 1, 4, CYCLE)],
    ),
    (
        "pipe_gaps",
        {"kernel_id": s.K_SIMULATED},
        ("pipe", "gaps", "gap_max_us"),
        [("VECTOR", 3, 602 * CYCLE), ("MTE3", 3, 600 * CYCLE), ("MTE2", 3, 300 * CYCLE)],
    ),
    (
        "device_vs_simulator",
        {"limit": 4},
        ("core_kind", "pipe", "device_share", "simulator_share"),
        [
            ("aic", "cube", None, None),
            ("aiv", "mte3", 18 / 180.4, 1600 / 4500),
            ("aiv", "mte2", 85 / 180.4, 2800 / 4500),
            ("aiv", "vec", 60 / 180.4, 1592 / 4500),
        ],
    ),
    (
        "roofline",
        {"run_id": s.MIX},
        ("bandwidth_name", "tops", "roof_tops", "roof_side", "above_roof"),
        [("GM to UB", 0.5, 0.21875, "memory", 1), ("UB to GM", 0.5, 11.06, "compute", 0)],
    ),
    (
        "ingest_problems",
        {},
        ("run_id", "status", "errors", "warnings", "cells_lost", "incomplete_kernels"),
        [(s.DAMAGED, "partial", 0, 1, 1, 1)],
    ),
]


def shown(case: tuple[str, dict[str, object], Any, Any]) -> str:
    return " ".join((case[0], *(f"{key}={value}" for key, value in case[1].items())))


@pytest.mark.parametrize("case", NUMBERS, ids=shown)
def test_a_query_answers_what_was_worked_out_by_hand(filled: Warehouse, case: tuple[Any, ...]) -> None:
    name, given, columns, expected = case
    rows = [tuple(row[column] for column in columns) for row in asked(filled, name, **given)]
    tolerant = [
        tuple(pytest.approx(value, rel=2e-4, abs=1e-6) if isinstance(value, float) else value for value in row)
        for row in expected
    ]
    assert rows == tolerant


def test_every_query_has_numbers() -> None:
    covered = {name for name, *_ in NUMBERS} | {"changed_since_last_run"}
    assert covered == {query.name for query in query_files()}
    assert len(covered) >= 22


def test_what_changed_is_told_with_its_direction(filled: Warehouse) -> None:
    rows = asked(filled, "changed_since_last_run", kernel_id=s.K_ADD_3, limit=500)
    by_metric = {(row["metric"], row["core_kind"]): row for row in rows}
    duration = by_metric["duration_us", "kernel"]
    assert duration == {
        "metric": "duration_us",
        "unit": "us",
        "core_kind": "kernel",
        "statistic": "sum",
        "previous_kernel_id": s.K_ADD_2,
        "previous": 90.0,
        "now": 99.0,
        "change_share": pytest.approx(0.1),
        "direction": "worse",
    }
    bandwidth = by_metric["gm_to_ub_kernel_bw_gb_s", "aiv"]
    assert bandwidth["change_share"] == pytest.approx(90 / 99 - 1)
    assert bandwidth["direction"] == "worse"
    cycles = by_metric["aiv_total_cycles", "aiv"]
    # 1650 and 1320 MHz over the same 60 us of the working cores
    assert (cycles["statistic"], cycles["now"], cycles["previous"]) == ("mean", 99000.0, 79200.0)
    assert ("aiv_time_us", "aiv") not in by_metric
    shares = [abs(row["change_share"]) for row in rows if row["change_share"] is not None]
    assert shares == sorted(shares, reverse=True)


def test_the_first_run_of_a_kernel_has_nothing_before_it(filled: Warehouse) -> None:
    assert asked(filled, "changed_since_last_run", kernel_id=s.K_ADD_1) == []
    assert asked(filled, "changed_since_last_run", kernel_id=s.K_MIX) == []


def test_a_launch_label_counts_before_that_of_its_run(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.db")
    warehouse.ingest(s.add_custom(50.0).write(tmp_path / "OPPROF_A"), labels={"tile": "32"})
    warehouse.ingest(s.add_custom(70.0).write(tmp_path / "OPPROF_B"), labels={"tile": "32"})
    from opprof_db.warehouse import opening

    with opening.writing(warehouse.path) as connection:
        connection.execute("INSERT INTO kernel_labels (kernel_id, key, value, source) VALUES (2, 'tile', '64', 'user')")
    assert [(row["label"], row["mean_us"]) for row in asked(warehouse, "sweep", key="tile")] == [
        ("32", 50.0),
        ("64", 70.0),
    ]
