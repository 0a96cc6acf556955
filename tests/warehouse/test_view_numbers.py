"""Every view against numbers worked out by hand from the builders' scenario."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from opprof_db import __version__
from opprof_db.warehouse import migrate, views
from tests.builders import scenario as s
from tests.conftest import Warehouse
from tests.shared import ROOT

GIB = 2**30
PAIRED = "shares with care: core counts differ; times not: clocks and spans differ"
CYCLE = 1 / 1850
"""us of the simulated clock."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    folder = tmp_path_factory.mktemp("scenario")
    return s.fill(Warehouse(folder / "warehouse.db"), folder / "runs")


def found(warehouse: Warehouse, view: str, where: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(warehouse.path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f"SELECT * FROM {view} WHERE {where}")]


# (view, condition, figures): the condition leaves one row. Idle cores: 0.4 us of 80 us.
NUMBERS: list[tuple[str, str, dict[str, Any]]] = [
    ("run_overview", f"run_id = {s.SEVERAL}", {"kernels": 6, "operators": 2, "duration_us": 532.0 + 68.0}),
    ("run_overview", f"run_id = {s.ADD_1}", {"labels": "tile=32", "chip": "Ascend910B4", "issues": 0}),
    ("kernel_overview", f"kernel_id = {s.K_ADD_1}", {"cores": 4, "idle_cores": 1, "duration_us": 100.0}),
    ("top_kernels", f"run_id = {s.MIX}", {"operator": "matmul", "duration_us": 120.0, "block_dim": 2}),
    (
        "top_operators",
        f"run_id = {s.SEVERAL} AND operator = 'gelu_custom'",
        {"launches": 5, "total_us": 532.0, "share_of_run": 532 / 600, "mean_us": 106.4, "min_us": 96.0},
    ),
    (
        "kernel_metric_values",
        f"kernel_id = {s.K_ADD_1} AND family = 'PipeUtilization' AND metric = 'aiv_time_us'",
        {"n": 4, "n_idle": 1, "sum": None, "mean": 60.0, "min": 40.0, "max": 80.0, "run_id": s.ADD_1},
    ),
    (
        "pipe_usage",
        f"kernel_id = {s.K_ADD_1} AND pipe = 'mte2'",
        # 40, 15 and 30 us of 80, 60 and 40; the idle core's 0.4 us count in the whole.
        {"cores": 3, "idle_cores": 1, "mean_time_us": 85 / 3, "max_time_us": 40.0, "ratio": 85 / 180.4},
    ),
    (
        "kernel_findings",
        f"kernel_id = {s.K_ADD_1} AND profile = 'default' AND rule = 'imbalance'",
        # Working cores of 80, 60 and 40 us: the slowest is 20 above the mean.
        {"run_id": s.ADD_1, "outcome": "finding", "recoverable_us": 20.0, "recoverable_share": 0.2},
    ),
    ("pipe_usage", f"kernel_id = {s.K_MIX} AND core_kind = 'aic' AND pipe = 'cube'", {"ratio": 80 / 150}),
    ("pipe_usage", f"kernel_id = {s.K_MIX} AND core_kind = 'aiv' AND pipe = 'vec'", {"ratio": 14 / 60}),
    ("pipe_usage", f"kernel_id = {s.K_310P} AND pipe = 'vec'", {"core_kind": "aicore", "ratio": 0.5}),
    (
        "dominant_pipe",
        f"kernel_id = {s.K_ADD_1}",
        {"pipe": "mte2", "ratio": 85 / 180.4, "second_pipe": "vec", "second_ratio": 60 / 180.4},
    ),
    ("dominant_pipe", f"kernel_id = {s.K_MIX} AND core_kind = 'aic'", {"pipe": "cube", "second_ratio": 70 / 150}),
    ("dominant_pipe", f"kernel_id = {s.K_MIX} AND core_kind = 'aiv'", {"pipe": "mte2", "ratio": 28 / 60}),
    (
        "core_balance",
        f"kernel_id = {s.K_ADD_1}",
        {
            "cores": 4,
            "idle_cores": 1,
            "chip_cores": 40,
            "min_us": 40.0,
            "mean_us": 60.0,
            "max_us": 80.0,
            "std_us": math.sqrt((400 + 0 + 400) / 3),
            "slowest_block_id": 0,
            "recoverable_us": 20.0,
            "recoverable_share": 0.25,
            "recoverable_share_all_cores": 1 - 180 / 320,
        },
    ),
    ("core_balance", f"kernel_id = {s.K_MIX} AND core_kind = 'aic'", {"mean_us": 75.0, "std_us": 25.0}),
    ("core_balance", f"kernel_id = {s.K_MIX} AND core_kind = 'aiv'", {"mean_us": 30.0, "slowest_block_id": 1}),
    ("core_balance", f"kernel_id = {s.K_DAMAGED}", {"chip_cores": None, "mean_us": 4.25}),
    (
        "core_times",
        f"kernel_id = {s.K_ADD_1} AND block_id = 2",
        {"time_us": 40.0, "total_cycles": 66000, "share_of_slowest": 0.5, "above_mean_us": -20.0, "is_idle": 0},
    ),
    ("core_times", f"kernel_id = {s.K_ADD_1} AND block_id = 3", {"is_idle": 1, "above_mean_us": None}),
    (
        "physical_core_times",
        f"kernel_id = {s.K_MIX} AND core_kind = 'aic' AND core_id = 1",
        {"cycles": 82500, "share_of_slowest": 0.5, "throughput_bytes": 262144},
    ),
    (
        "memory_traffic",
        f"kernel_id = {s.K_ADD_1} AND path = 'gm_to_ub'",
        {
            "volume_kib": 3072.0,
            "kernel_bw_gib_s": 3072 * 1024 / 100e-6 / GIB,
            "pipe": "mte2",
            "instructions": 192.0,
            "bytes_per_instruction": 16384.0,
            # 1 MiB in 40 us, of 195.27 GiB/s
            "max_core_usage_pct": 100 * 2**20 / 40e-6 / GIB / 195.27,
            "max_core_block_id": 2,
            "l2_limit_share": 3072 * 1024 / 100e-6 / 4e12,
            "l2_limit_share_other": 3072 * 1024 / 100e-6 / 6.3e12,
        },
    ),
    (
        "memory_traffic",
        f"kernel_id = {s.K_MIX} AND path = 'gm_to_l1'",
        {"core_kind": "aic", "volume_kib": 512.0, "bytes_per_instruction": 32768.0},
    ),
    ("memory_traffic", f"kernel_id = {s.K_MIX} AND path = 'l0c_to_l1'", {"volume_kib": 0.0, "l2_limit_share": None}),
    (
        "memory_limits",
        f"kernel_id = {s.K_ADD_1}",
        # Per working core 1024 + 0.75 KiB read and 512 + 0.25 KiB written; the idle one: 0.75 and 0.25.
        # Misses: half of 4099 twice and of 1025 requests, rounded to even: 2049 + 2049 + 513.
        {
            "read_kib": 3075.0,
            "write_kib": 1537.0,
            "bw_gib_s": 4612 * 1024 / 100e-6 / GIB,
            "l2_limit_share": 4612 * 1024 / 100e-6 / 4e12,
            "gm_bw_gib_s": 3 * 4611 * 128 / 100e-6 / GIB,
            "gm_bw_counts": "misses with allocation",
            "gm_limit_share": 3 * 4611 * 128 / 100e-6 / 0.8e12,
            "gm_limit_share_other": 3 * 4611 * 128 / 100e-6 / 1.25e12,
        },
    ),
    (
        "l2_hit_rates",
        f"kernel_id = {s.K_ADD_1} AND access = 'read'",
        {"hits": 3 * 4100 + 6, "requests": 3 * 8198 + 6, "hit_rate_pct": 100 * 12306 / 24600, "state": "defined"},
    ),
    ("l2_hit_rates", f"kernel_id = {s.K_ADD_1} AND access = 'write'", {"hits": 3 * 512 + 1, "requests": 3 * 1025 + 1}),
    ("l2_hit_rates", f"kernel_id = {s.K_ADD_1} AND access = 'all'", {"hits": 13843, "requests": 27676}),
    (
        "l2_hit_rates",
        f"kernel_id = {s.K_REDUCE} AND access = 'all'",
        {"hits": 0, "requests": 0, "hit_rate_pct": None, "state": "undefined: no requests"},
    ),
    (
        "l2_hit_rates",
        f"kernel_id = {s.K_310P}",
        # 2051 reads twice and 1 write; 1538 + 1538 + 1 hit.
        {"core_kind": "aicore", "hits": None, "hit_rate_pct": pytest.approx(100 * 3077 / 4103), "state": "printed"},
    ),
    (
        "resource_conflicts",
        f"kernel_id = {s.K_ADD_1} AND conflict = 'bank'",
        {"pipe": "vec", "cores": 3, "min_ratio": 0.01, "max_ratio": 0.05, "max_block_id": 1},
    ),
    ("resource_conflicts", f"kernel_id = {s.K_ADD_1} AND pipe = 'mte2'", {"conflict": "wait", "max_ratio": 0.1}),
    (
        "frequency",
        f"kernel_id = {s.K_ADD_1}",
        {"current_freq_mhz": 1650, "estimated_freq_mhz": 1320.0, "reduced": 0, "reduced_from": "current_freq"},
    ),
    ("frequency", f"kernel_id = {s.K_ADD_2}", {"current_freq_mhz": 1320, "reduced": 1}),
    (
        "frequency",
        f"kernel_id = {s.K_ADD_3}",
        {"current_freq_mhz": None, "estimated_freq_mhz": 132000 / 99, "reduced": 1, "reduced_from": "estimate"},
    ),
    ("frequency", f"kernel_id = {s.K_SIMULATED}", {"reduced": None, "reduced_from": None, "clock_mhz": 1850.0}),
    (
        "launch_statistics",
        f"run_id = {s.SEVERAL} AND operator = 'gelu_custom'",
        # 130 100 104 96 102: deviations from 106.4 are 23.6 -6.4 -2.4 -10.4 -4.4
        {
            "launches": 5,
            "median_us": 102.0,
            "mean_us": 106.4,
            "std_us": math.sqrt(731.2 / 4),
            "cv": math.sqrt(731.2 / 4) / 106.4,
            "first_kernel_id": s.K_GELU_0,
            "first_us": 130.0,
            "later_median_us": 101.0,
            "cold_factor": 130 / 101,
            "cold_first": 1,
            "current_freq_mhz": 1650,
        },
    ),
    (
        "launch_statistics",
        f"run_id = {s.SEVERAL} AND operator = 'reduce_sum'",
        {"launches": 1, "median_us": 68.0, "cv": None, "later_median_us": None, "cold_first": None},
    ),
    ("kernel_history", f"run_id = {s.ADD_1}", {"run_number": 1, "previous_us": None, "caution": None}),
    (
        "kernel_history",
        f"run_id = {s.ADD_2}",
        {"run_number": 2, "previous_run_id": s.ADD_1, "change_us": -10.0, "change_share": -0.1,
         "best_so_far_us": 90.0, "caution": "frequency differs"},
    ),
    (
        "kernel_history",
        f"run_id = {s.ADD_3}",
        {"previous_us": 90.0, "change_us": 9.0, "change_share": 0.1, "best_so_far_us": 90.0,
         "caution": "frequency unknown"},
    ),
    (
        "device_and_simulator",
        "pipe = 'mte2'",
        {
            "kernel_id": s.K_SIMULATED,
            "device_kernel_id": s.K_ADD_3,
            "device_cores": 3,
            "device_share": 85 / 180.4,
            "simulator_cores": 1,
            "simulator_time_us": 2800 * CYCLE,
            "simulator_share": 2800 / 4500,
            "simulator_cycles": 3002,
            "share_difference": 85 / 180.4 - 2800 / 4500,
            "comparison": PAIRED,
        },
    ),
    (
        "device_and_simulator",
        "pipe = 'scalar'",
        {"simulator_share": None, "simulator_cycles": 5,
         "comparison": "nothing: without a trace there are cycles, but no share of the core's time"},
    ),
    (
        "device_and_simulator",
        "pipe = 'flowctrl'",
        {"device_share": None, "comparison": "nothing: the device launch shows no such pipe on this kind of core"},
    ),
    (
        "instruction_hotspots",
        "instruction = 'VADD'",
        {"kernel_id": s.K_SIMULATED, "cores": 1, "call_count": 16, "cycles": 640, "slowest_core": "core0.veccore0",
         "detail": "XD:X16=0x400,Dtype:F16", "run_id": s.SIMULATED},
    ),
    ("line_hotspots", "line = 41", {"cycles": 3002, "call_count": 2, "cores": 1, "operator": "add_custom"}),
    ("simulated_pipes", "pipe = 'FLOWCTRL'", {"cycles": 2911, "wait_cycles": 2911, "barrier_cycles": 0}),
    ("trace_waits", "pipe = 'FLOWCTRL'", {"wait_events": None, "wait_cycles": 2911, "set_cycles": 0, "saturated": 0}),
    (
        "trace_waits",
        "pipe = 'VECTOR'",
        {"wait_events": 4, "set_events": 0, "barrier_events": 0, "wait_cycles": 0},
    ),
    ("trace_waits", "pipe = 'MTE3'", {"wait_events": 0, "wait_cycles": None}),
    (
        "pipe_dependencies",
        f"kernel_id = {s.K_SIMULATED}",
        {"from_pipe": "MTE2", "to_pipe": "VECTOR", "syncs": 4, "mean_lead_us": pytest.approx(CYCLE, abs=1e-6)},
    ),
    ("trace_event_list", "name = 'VADD' AND ts_us < 0.4", {"pipe": "VECTOR", "kind": "work", "dur_us": 398 * CYCLE}),
    (
        "roofline",
        "bandwidth_name = 'GM to UB'",
        {"kernel_id": s.K_MIX, "roof_tops": 1.75 * 0.125, "roof_side": "memory", "above_roof": 1},
    ),
    (
        "roofline",
        "bandwidth_name = 'UB to GM'",
        {"roof_tops": 11.06, "roof_side": "compute", "roof_share": None, "above_roof": 0},
    ),
    (
        "ingest_health",
        f"run_id = {s.DAMAGED}",
        # OpBasicInfo has 9 cells, PipeUtilization 2 x 6; NA in Mix Block Dim, one broken.
        {"status": "partial", "files": 2, "cells_read": 21, "cells_stored": 19, "cells_null": 1, "cells_lost": 1,
         "lost_share": 1 / 21, "errors": 0, "warnings": 1, "incomplete_kernels": 1},
    ),
    ("ingest_health", f"run_id = {s.MIX}", {"status": "complete", "warnings": 0, "cells_lost": 0, "kernels": 1}),
    ("issue_overview", f"run_id = {s.DAMAGED} AND raw_text = 'broken'", {"cells": 1, "line": 2}),
    (
        "schema_version",
        "1",
        {"schema_revision": migrate.revisions()[-1], "sql_api": views.SQL_API_VERSION, "program_version": __version__},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("view", "where", "expected"), NUMBERS, ids=[f"{view}: {where}" for view, where, _ in NUMBERS])
def test_a_view_shows_what_was_worked_out_by_hand(
    filled: Warehouse, view: str, where: str, expected: dict[str, Any]
) -> None:
    (row,) = found(filled, view, where)
    for column, value in expected.items():
        if isinstance(value, float):
            value = pytest.approx(value, rel=2e-4 if view == "device_and_simulator" else 2e-6, abs=1e-6)
        assert row[column] == value, column


def test_every_view_has_numbers() -> None:
    assert {view for view, _, _ in NUMBERS} == {view.name for view in views.view_files()}


def test_ids_of_the_scenario_are_what_the_numbers_say(filled: Warehouse) -> None:
    assert filled.rows("SELECT kernel_id, run_id, operator FROM kernel_overview ORDER BY kernel_id") == [
        (1, s.ADD_1, "add_custom"),
        (2, s.ADD_2, "add_custom"),
        (3, s.ADD_3, "add_custom"),
        *((kernel, s.SEVERAL, "gelu_custom") for kernel in range(4, 9)),
        (s.K_REDUCE, s.SEVERAL, "reduce_sum"),
        (s.K_MIX, s.MIX, "matmul"),
        (s.K_310P, s.ON_310P, "relu_custom"),
        (s.K_SIMULATED, s.SIMULATED, "add_custom"),
        (s.K_DAMAGED, s.DAMAGED, "damaged"),
    ]


def test_core_balance_says_nothing_of_a_310p(filled: Warehouse) -> None:
    assert found(filled, "core_balance", f"kernel_id = {s.K_310P}") == []


def test_the_hotspots_come_costliest_first(filled: Warehouse) -> None:
    assert [row["cycles"] for row in found(filled, "instruction_hotspots", "1")] == [4000, 3002, 2911, 640, 5]
    assert [row["cycles"] for row in found(filled, "line_hotspots", "1")] == [3002, 640, 5]


def test_views_of_launches_can_be_filtered_by_run_kernel_operator_and_time(filled: Warehouse) -> None:
    checked = 0
    for view in views.view_files():
        if "kernel_id" in view.columns and view.name not in ("issue_overview", "kernel_metric_values"):
            assert {"run_id", "operator", "started_at"} <= view.columns.keys(), view.name
            checked += 1
            for row in found(filled, view.name, f"run_id = {s.ADD_1}"):
                assert (row["operator"], row["started_at"]) == ("add_custom", "2026-05-01T10:00:00"), view.name
    assert checked > 20


def test_only_a_median_of_frequencies_that_agree_is_shown(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.db")
    run = s.several()
    run.launches[1].current_freq = "1500"
    warehouse.ingest(run.write(tmp_path))
    (row,) = found(warehouse, "launch_statistics", "operator = 'gelu_custom'")
    assert row["current_freq_mhz"] is None


def test_two_runs_on_one_day_follow_each_other_and_devices_of_one_run_do_not(tmp_path: Path) -> None:
    """The run before is another run, never another device of the same one."""
    warehouse = Warehouse(tmp_path / "warehouse.db")
    for number, durations in enumerate([(50.0, 60.0), (40.0, 45.0)]):
        launches = [s.add_custom(duration, device_id=device) for device, duration in enumerate(durations)]
        name = f"OPPROF_2026050{number + 1}100000_{'AB'[number] * 16}"
        warehouse.ingest(s.DeviceRun(launches, name).write(tmp_path))
    rows = found(warehouse, "kernel_history", "1")
    assert sorted((row["run_number"], row["device_id"], row["median_us"], row["previous_us"]) for row in rows) == [
        (1, 0, 50.0, None),
        (1, 1, 60.0, None),
        (2, 0, 40.0, 50.0),
        (2, 1, 45.0, 50.0),
    ]


def test_the_changelog_of_the_sql_api_is_current() -> None:
    text = (ROOT / "docs" / "sql-api.md").read_text(encoding="utf-8")
    newest = next(line for line in text.splitlines() if line.startswith("## ") and line[3].isdigit())
    assert newest == f"## {views.SQL_API_VERSION}"
    from opprof_db.warehouse.queries import query_files

    words = set(text.replace(",", " ").replace(".", " ").split())
    assert {item.name for item in (*views.view_files(), *(query.file for query in query_files()))} <= words


def test_a_file_with_another_sql_api_is_refreshed(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.db")
    warehouse.ingest(s.on_310p().write(tmp_path / "OPPROF_A"))
    with closing(sqlite3.connect(warehouse.path)) as connection:
        connection.execute("UPDATE warehouse_info SET value = '0.9' WHERE key = 'sql_api'")
        connection.commit()
    from opprof_db.warehouse import opening

    with opening.reading(warehouse.path) as connection:
        assert connection.execute("SELECT sql_api FROM schema_version").fetchone() == (views.SQL_API_VERSION,)
