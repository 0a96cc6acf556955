"""Similar kernels: a distance of shares over what both have, AIC and AIV apart."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from opprof_db.analysis.similar import Similar, similar
from opprof_db.errors import UsageError
from tests.builders import scenario
from tests.builders.device import CoreLoad, Launch
from tests.conftest import Warehouse
from tests.shared import CORPUS, needs_shared

BASE: dict[str, float] = {"vec": 0.5, "mte2": 0.25}


def kernel(
    name: str, time: float = 50.0, cores: int = 2, shares: dict[str, float] | None = None, **more: Any
) -> Launch:
    core = CoreLoad(
        "vector0",
        time,
        shares or BASE,
        volumes_kib={"gm_to_ub": 1024.0},
        instructions={"mte2": 64},
        waits={"vec": 0.25},
    )
    return Launch(name, "vector", time + 1, [[core]] * cores, **more)


def cubes(name: str, mte2: float) -> Launch:
    return Launch(name, "cube", 100.0, [[CoreLoad("cube0", 90.0, {"cube": 0.5, "mte2": mte2})]])


def fill(warehouse: Warehouse, folder: Path, *launches: Launch) -> None:
    for day, launch in enumerate(launches, 1):
        warehouse.ingest(launch.write(folder / f"OPPROF_202605{day:02d}100000_AAAAAAAAAAAAAAAA"))


def asked(warehouse: Warehouse, kernel_id: int, **more: Any) -> Similar:
    with closing(sqlite3.connect(warehouse.path)) as connection:
        return similar(connection, kernel_id, **more)


def test_size_does_not_count(warehouse: Warehouse, tmp_path: Path) -> None:
    """Ten times the time, twenty times the cores: the same shares."""
    fill(warehouse, tmp_path, kernel("a"), kernel("b", time=500.0, cores=40))
    (found,) = asked(warehouse, 1).neighbours
    assert found.operator == "b"
    assert found.distance == pytest.approx(0.0, abs=1e-4)
    assert found.differ == ()


def test_the_nearest_comes_first_and_the_distance_is_symmetric(warehouse: Warehouse, tmp_path: Path) -> None:
    near, far = {"vec": 0.5, "mte2": 0.3}, {"vec": 0.1, "mte2": 0.9}
    fill(warehouse, tmp_path, kernel("a"), kernel("far", shares=far), kernel("near", shares=near))
    found = asked(warehouse, 1)
    assert [each.operator for each in found.neighbours] == ["near", "far"]
    back = {each.operator: each.distance for each in asked(warehouse, 2).neighbours}
    assert back["a"] == found.neighbours[1].distance


def test_the_distance_is_the_mean_over_what_both_have(warehouse: Warehouse, tmp_path: Path) -> None:
    """PipeUtilization only: busy shares of four pipes and the imbalance; vec differs by 0.4, mte2 by 0.15."""
    few: dict[str, Any] = {"families": ("PipeUtilization",)}
    fill(warehouse, tmp_path, kernel("a", **few), kernel("b", shares={"vec": 0.1, "mte2": 0.4}, **few))
    (found,) = asked(warehouse, 1).neighbours
    assert found.shared == asked(warehouse, 1).figures
    assert found.distance == pytest.approx((0.4 + 0.15) / found.shared, abs=1e-4)
    assert [(each.name, round(each.distance, 3)) for each in found.differ] == [
        ("aiv_vec_kernel_ratio", 0.4),
        ("aiv_mte2_kernel_ratio", 0.15),
    ]


def test_what_one_has_not_is_left_out(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(
        warehouse,
        tmp_path,
        kernel("few", families=("PipeUtilization",)),
        kernel("all"),
        kernel("other", families=("ResourceConflictRatio",)),
    )
    found = asked(warehouse, 1)
    assert [each.operator for each in found.neighbours] == ["all"]
    assert found.neighbours[0].shared == found.figures
    assert found.neighbours[0].distance == pytest.approx(0.0, abs=1e-9)
    assert found.too_little == 1
    # The other way round the few figures are too few to speak of likeness.
    assert asked(warehouse, 2).neighbours == ()


def test_other_kinds_of_cores_are_not_compared(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, kernel("a"), cubes("c", 0.25), cubes("d", 0.3))
    assert asked(warehouse, 1).neighbours == ()
    assert asked(warehouse, 1).other_kinds == 2
    assert [each.operator for each in asked(warehouse, 2).neighbours] == ["d"]


def test_common_and_different_figures_are_named_with_both_values(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, kernel("a"), kernel("b", shares={"vec": 0.5, "mte2": 0.75}))
    (found,) = asked(warehouse, 1).neighbours
    common = {each.name: (each.core_kind, round(each.value, 3), round(each.other, 3)) for each in found.in_common}
    assert common["aiv_vec_kernel_ratio"] == ("aiv", 0.5, 0.5)
    first = found.differ[0]
    assert (first.name, round(first.value, 3), round(first.other, 3)) == ("aiv_mte2_kernel_ratio", 0.25, 0.75)


def test_transfer_sizes_count_by_doublings(warehouse: Warehouse, tmp_path: Path) -> None:
    """16 KiB against 64 KiB: two of sixteen doublings."""
    other = kernel("b")
    other.blocks = [[CoreLoad("vector0", 50.0, BASE, {"gm_to_ub": 1024.0}, {"mte2": 16}, {"vec": 0.25})]] * 2
    fill(warehouse, tmp_path, kernel("a"), other)
    (found,) = asked(warehouse, 1).neighbours
    (size,) = found.differ
    assert (size.name, size.unit, size.value, size.other) == ("aiv_mte2_kb_per_instruction", "KB", 16.0, 64.0)
    assert size.distance == pytest.approx(2 / 16)


def test_imbalance_needs_two_cores(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, kernel("a", cores=1), kernel("b", cores=2))
    one, two = asked(warehouse, 1), asked(warehouse, 2)
    assert two.figures == one.figures + 1


def test_equal_launches_of_a_run_are_one_line(tmp_path: Path) -> None:
    made = scenario.fill(Warehouse(tmp_path / "warehouse.db"), tmp_path / "runs")
    found = asked(made, scenario.K_REDUCE)
    gelu = [each for each in found.neighbours if each.operator == "gelu_custom"]
    assert [each.launches for each in gelu] == [5]
    assert len(asked(made, scenario.K_REDUCE, limit=1).neighbours) == 1


def test_the_own_operator_can_be_left_out(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, kernel("a"), kernel("a", time=60.0), kernel("b"))
    assert {each.operator for each in asked(warehouse, 1).neighbours} == {"a", "b"}
    assert {each.operator for each in asked(warehouse, 1, other_operators=True).neighbours} == {"b"}


def test_a_launch_without_counters_is_refused(tmp_path: Path) -> None:
    made = scenario.fill(Warehouse(tmp_path / "warehouse.db"), tmp_path / "runs")
    with pytest.raises(UsageError, match="no counters") as caught:
        asked(made, scenario.K_SIMULATED)
    assert caught.value.hint == "it is a simulator run"
    assert all(each.kernel_id != scenario.K_SIMULATED for each in asked(made, scenario.K_ADD_1).neighbours)


@needs_shared
def test_on_real_captures_the_same_kernel_is_nearest(warehouse: Warehouse) -> None:
    warehouse.ingest(CORPUS / "cummin-910B2", CORPUS / "small-ops-910B2", CORPUS / "gemv-910B3-device")
    ids = dict(warehouse.rows("SELECT round(duration_us, 2), id FROM kernels WHERE duration_us IS NOT NULL"))
    found = asked(warehouse, ids[22122.78])
    assert found.neighbours[0].kernel_id == ids[21140.28]
    assert found.kinds == ("aiv",)
    assert found.other_kinds >= 1
