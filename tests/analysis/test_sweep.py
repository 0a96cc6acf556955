"""Sweeps: variants by label, the best of those that may be compared, the Pareto front."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from opprof_db.analysis.choice import Choice, chosen, front, values
from opprof_db.analysis.sweep import Limit, Pipe, Sweep, sweep
from opprof_db.errors import UsageError
from tests.builders import scenario
from tests.builders.device import CoreLoad, DeviceRun, Launch
from tests.conftest import Warehouse


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    folder = tmp_path_factory.mktemp("scenario")
    return scenario.fill(Warehouse(folder / "warehouse.db"), folder / "runs")


def asked(warehouse: Warehouse, operator: str, **more: Any) -> Sweep:
    with closing(sqlite3.connect(warehouse.path)) as connection:
        return sweep(connection, operator, **more)


def variant(tile: float, duration: float, mte2: float, **more: Any) -> Launch:
    core = CoreLoad(
        "vector0", duration - 1, {"vec": 0.25, "mte2": mte2}, waits={"vec": mte2 / 2, "mte3": 0.125},
        volumes_kib={"gm_to_ub": 1024.0}, instructions={"mte2": int(1024 / tile)},
    )  # fmt: skip
    return Launch("op", "vector", duration, [[core]], **more)


def tiles(warehouse: Warehouse, folder: Path, **more: Any) -> Warehouse:
    """tile 8: 100 and 102 us; tile 16: 60, 101 and 64 us; tile 32: 70 us; one without label."""
    runs = {8: (100.0, 102.0), 16: (60.0, 101.0, 64.0), 32: (70.0,), None: (55.0,)}
    for day, (tile, durations) in enumerate(runs.items(), 1):
        launches = [variant(tile or 4, duration, 0.5, **more) for duration in durations]
        run = DeviceRun(launches, f"OPPROF_202605{day:02d}100000_AAAAAAAAAAAAAAAA").write(folder)
        warehouse.ingest(run, labels={"tile": str(tile)} if tile else {})
    return warehouse


def test_variants_stand_in_the_order_of_their_numbers(warehouse: Warehouse, tmp_path: Path) -> None:
    found = asked(tiles(warehouse, tmp_path), "op", by=["tile"])
    (group,) = found.groups
    assert [each.key for each in group.variants] == [("8",), ("16",), ("32",)]
    assert [each.median_us for each in group.variants] == [101.0, 64.0, 70.0]
    assert [(each.min_us, each.max_us) for each in group.variants] == [(100.0, 102.0), (60.0, 101.0), (70.0, 70.0)]
    assert [each.best for each in group.variants] == [False, True, False]
    assert [each.behind_share for each in group.variants] == [101 / 64 - 1, 0.0, 70 / 64 - 1]
    assert found.unlabelled == 1


def test_ranges_that_overlap_the_best_are_told(warehouse: Warehouse, tmp_path: Path) -> None:
    (group,) = asked(tiles(warehouse, tmp_path), "op", by=["tile"]).groups
    assert [each.overlaps_best for each in group.variants] == [True, True, None]


def test_labels_that_vary_are_found(warehouse: Warehouse, tmp_path: Path) -> None:
    assert asked(tiles(warehouse, tmp_path), "op").by == ("tile",)


def test_figures_are_those_of_the_median_launch(warehouse: Warehouse, tmp_path: Path) -> None:
    (group,) = asked(tiles(warehouse, tmp_path), "op", by=["tile"]).groups
    first = group.variants[0]
    assert first.kernel_id == first.kernel_ids[0]  # 100 us, the faster of two
    (busiest,) = first.dominant
    assert (busiest.core_kind, busiest.pipe) == ("aiv", "mte2")
    assert busiest.share == pytest.approx(0.5, abs=1e-4)
    (wait,) = first.waits
    assert wait == Pipe("aiv", "vec", pytest.approx(0.25, abs=1e-4))


def test_the_limit_is_the_one_used_most(example: Warehouse) -> None:
    """Half of the requests miss L2, and its peak is five times that of the memory (910B4: 4 and 0.8 TB/s)."""
    (group, _) = asked(example, "add_custom", by=["tile"]).groups
    assert group.variants[0].kernel_id == scenario.K_ADD_2
    rows = example.rows("SELECT gm_limit_share, gm_limit_share_other FROM memory_limits WHERE kernel_id = 2")
    assert group.variants[0].limit == Limit("global memory", min(rows[0]), max(rows[0]))


def test_other_frequencies_are_other_groups(example: Warehouse) -> None:
    found = asked(example, "add_custom", by=["tile"])
    conditions = [
        (dict(group.conditions)["frequency"], [each.key for each in group.variants]) for group in found.groups
    ]
    assert conditions == [("1320 MHz", [("64",)]), ("1650 MHz", [("32",)])]
    assert all(each.best for group in found.groups for each in group.variants)


def test_other_work_is_never_one_median(warehouse: Warehouse, tmp_path: Path) -> None:
    run = DeviceRun([variant(8, 100.0, 0.5, block_dim=1), variant(8, 20.0, 0.5, block_dim=8)])
    warehouse.ingest(run.write(tmp_path), labels={"tile": "8"})
    found = asked(warehouse, "op", by=["tile"])
    assert found.added == ("block_dim",)
    assert found.by == ("tile", "block_dim")
    assert [(each.key, each.median_us) for each in found.groups[0].variants] == [
        (("8", "1"), 100.0),
        (("8", "8"), 20.0),
    ]


def test_facts_stand_in_for_labels(warehouse: Warehouse, tmp_path: Path) -> None:
    run = DeviceRun([variant(8, 100.0, 0.5, block_dim=1), variant(8, 20.0, 0.5, block_dim=8)])
    warehouse.ingest(run.write(tmp_path))
    assert asked(warehouse, "op").by == ("block_dim",)
    assert [each.key for each in asked(warehouse, "op", where={"block_dim": "8"}, by=["run"]).groups[0].variants] == [
        ("OPPROF_20260510120000_ABCDEFGHIJKLMNOP",)
    ]


def test_counters_that_were_not_collected_are_missing_not_zero(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(variant(8, 100.0, 0.5, families=("Memory",), soc=None).write(tmp_path / "r"), labels={"tile": "8"})
    (only,) = asked(warehouse, "op", by=["tile"]).groups[0].variants
    assert (only.dominant, only.waits, only.limit) == ((), (), None)


def test_the_pareto_front_is_marked(warehouse: Warehouse, tmp_path: Path) -> None:
    """Duration and the volume of a transfer instruction (8, 16 and 32 KiB): tile 8 loses in both to 16."""
    found = asked(tiles(warehouse, tmp_path), "op", by=["tile"], pareto=("duration_us", "aiv_mte2_kb_per_instruction"))
    assert [each.chosen[1] for each in found.groups[0].variants] == [8.0, 16.0, 32.0]
    assert [each.on_front for each in found.groups[0].variants] == [False, True, True]
    assert [choice.better for choice in found.pareto] == ["lower", "higher"]


def test_the_front_needs_both_figures_and_keeps_ties() -> None:
    lower = Choice("a", None, None, "lower", "value", None)
    higher = Choice("b", None, None, "higher", "value", None)
    points = [(1.0, 1.0), (1.0, 1.0), (2.0, 1.0), (0.5, None), (3.0, 4.0), (3.0, 3.9)]
    assert front(points, lower, higher) == [True, True, False, False, True, False]


@pytest.mark.parametrize(
    ("text", "statistic", "better"),
    [
        ("duration_us", "value", "lower"),
        ("block_dim:higher", "value", "higher"),
        ("aiv_vec_wait_ratio", "max", "lower"),
        ("aiv_mte2_ratio:higher", "min", "higher"),
        ("gm_to_ub_datas_kb:lower", "sum", "lower"),
        ("aiv_time_us", "max", "lower"),
        ("aiv_mte2_kb_per_instruction", "value", "higher"),
    ],
)
def test_the_figure_of_a_metric_follows_the_catalogue(
    example: Warehouse, text: str, statistic: str, better: str
) -> None:
    with closing(sqlite3.connect(example.path)) as connection:
        choice = chosen(connection, text)
    assert (choice.statistic, choice.better) == (statistic, better)


def test_figures_are_summed_or_the_worst_core(example: Warehouse) -> None:
    with closing(sqlite3.connect(example.path)) as connection:
        volumes = values(connection, chosen(connection, "gm_to_ub_datas_kb:lower"), [scenario.K_ADD_1])
        waits = values(connection, chosen(connection, "aiv_vec_bank_cflt_ratio"), [scenario.K_ADD_1])
        missing = values(connection, chosen(connection, "aic_cube_wait_ratio"), [scenario.K_ADD_1])
    assert volumes[1] == {1: 3 * 1024.0}
    assert waits[1] == {1: 0.05}
    assert missing[1] == {1: None}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("aiv_mte2_ratio", "aiv_mte2_ratio:lower"),
        ("no_such", "metrics"),
        ("a b", "NAME"),
        ("duration_us:best", "NAME"),
    ],
)
def test_a_metric_that_says_nothing_is_refused(example: Warehouse, text: str, hint: str) -> None:
    with closing(sqlite3.connect(example.path)) as connection, pytest.raises(UsageError) as caught:
        chosen(connection, text)
    assert hint in str(caught.value.hint)


def test_cube_and_vector_cores_are_not_put_together(example: Warehouse) -> None:
    with closing(sqlite3.connect(example.path)) as connection:
        with pytest.raises(UsageError, match="never put together"):
            values(connection, chosen(connection, "read_main_memory_datas_kb:lower"), [scenario.K_MIX])
        choice, found = values(connection, chosen(connection, "read_main_memory_datas_kb@aic:lower"), [scenario.K_MIX])
    assert choice.core_kind == "aic"
    assert found[scenario.K_MIX] is not None


@pytest.mark.parametrize(
    ("operator", "more"),
    [("nothing", {}), ("add_custom", {"by": ["colour"]}), ("reduce_sum", {}), ("add_custom", {"where": {"tile": "7"}})],
)
def test_what_cannot_be_swept_is_said(example: Warehouse, operator: str, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        asked(example, operator, **more)


def test_pipes_of_mix_kernels_stay_apart(example: Warehouse) -> None:
    (only,) = asked(example, "matmul", by=["block_dim"]).groups[0].variants
    assert [pipe.core_kind for pipe in only.dominant] == ["aic", "aiv"]
    assert only.dominant[0] == Pipe("aic", "cube", pytest.approx(80 / 150, abs=1e-6))
