"""Trends: what stands in one line, where steps are, what has no place."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from opprof_db.analysis.trend import Trend, natural, trend
from tests.builders.device import CoreLoad, DeviceRun, Launch
from tests.conftest import Warehouse
from tests.shared import CORPUS, needs_shared
from tests.small import basic_info, pipe
from tests.small import write as write_files

BEFORE = (100.0, 101.0, 99.5, 100.5)
AFTER = (80.0, 80.5, 79.5, 80.25)


def launch(duration: float | None, name: str = "k", blocks: int = 1, **more: Any) -> Launch:
    return Launch(
        name, "vector", duration, [[CoreLoad("vector0", 10.0)]] * blocks, families=("PipeUtilization",), **more
    )


def fill(
    warehouse: Warehouse, folder: Path, runs: list[list[Launch]], labels: list[dict[str, str]] | None = None
) -> None:
    """One run a day, of a process of its own: the same bytes would be the same run."""
    for day, launches in enumerate(runs):
        for each in launches:
            each.pid = 100 + day
        run = DeviceRun(launches, f"OPPROF_202605{day + 1:02d}100000_AAAAAAAAAAAAAAAA")
        warehouse.ingest(run.write(folder), labels=(labels or [{}] * len(runs))[day])


def asked(warehouse: Warehouse, operator: str = "k", **more: Any) -> Trend:
    with closing(sqlite3.connect(warehouse.path)) as connection:
        return trend(connection, operator, **more)


def medians(found: Trend) -> list[list[list[float]]]:
    return [[[place.point.median_us for place in part.places] for part in one.stretches] for one in found.series]


def test_a_step_is_marked_with_both_levels(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(duration)] for duration in BEFORE + AFTER])
    (series,) = asked(warehouse).series
    (stretch,) = series.stretches
    (step,) = stretch.steps
    assert (step.before.median_us, step.after.median_us) == (100.5, 80.0)
    assert (step.before_us, step.after_us) == (100.25, 80.125)
    assert step.change_share == pytest.approx(80.125 / 100.25 - 1)
    assert (step.runs_before, step.runs_after) == (4, 4)
    assert [place.level for place in stretch.places] == [1] * 4 + [2] * 4
    assert stretch.places[4].change_us == pytest.approx(-20.5)
    assert stretch.places[4].change_share == pytest.approx(-20.5 / 100.5)
    assert stretch.places[0].change_us is None
    assert not any(place.outlier for place in stretch.places)


def test_a_quiet_line_has_no_step(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(duration)] for duration in BEFORE * 2])
    (stretch,) = asked(warehouse).series[0].stretches
    assert stretch.steps == ()
    assert stretch.noise_share is not None
    assert stretch.noise_share > 0


def test_one_bad_run_is_an_outlier_and_no_step(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(duration)] for duration in (*BEFORE, 150.0, *BEFORE)])
    (stretch,) = asked(warehouse).series[0].stretches
    assert stretch.steps == ()
    assert [place.outlier for place in stretch.places] == [False] * 4 + [True] + [False] * 4


def test_few_runs_have_no_noise_and_no_step(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(duration)] for duration in (100.0, 100.0, 10.0)])
    (stretch,) = asked(warehouse).series[0].stretches
    assert stretch.noise_share is None
    assert stretch.steps == ()
    assert {place.level_us for place in stretch.places} == {None}


def test_the_smallest_step_can_be_chosen(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(duration)] for duration in BEFORE + AFTER])
    assert asked(warehouse, least_step=0.26).series[0].stretches[0].steps == ()


def test_launches_of_a_run_are_one_point_with_their_median(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(duration) for duration in (130.0, 100.0, 104.0)]])
    ((place,),) = [part.places for part in asked(warehouse).series[0].stretches]
    assert place.point.durations_us == (130.0, 100.0, 104.0)
    assert (place.point.min_us, place.point.median_us, place.point.max_us) == (100.0, 104.0, 130.0)
    assert place.point.cold_first == 1


def test_frequencies_stand_apart_and_each_goes_on(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(
        warehouse,
        tmp_path,
        [[launch(float(d), current_freq=f)] for d, f in ((100, "1650"), (125, "1320"), (101, "1650"), (126, "1320"))],
    )
    found = asked(warehouse)
    assert medians(found) == [[[100.0, 101.0], [125.0, 126.0]]]
    first, second = found.series[0].stretches
    assert first.apart == ()
    assert second.apart == ("frequency 1650 MHz and 1320 MHz",)
    assert second.places[0].change_us is None


def test_an_unknown_frequency_joins_no_two(warehouse: Warehouse, tmp_path: Path) -> None:
    runs = ((100, "1650"), (110, "N/A"), (125, "1320"), (111, "N/A"), (101, "1650"))
    fill(warehouse, tmp_path, [[launch(float(d), current_freq=f)] for d, f in runs])
    found = asked(warehouse)
    assert medians(found) == [[[100.0, 101.0], [110.0, 111.0], [125.0]]]
    assert found.series[0].stretches[1].apart == ("frequency 1650 MHz and unknown",)
    assert found.series[0].stretches[2].apart == ("frequency unknown and 1320 MHz",)


def test_an_unknown_frequency_is_a_caution(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(100.0)], [launch(101.0, current_freq="N/A")]])
    found = asked(warehouse)
    assert medians(found) == [[[100.0, 101.0]]]
    assert found.series[0].stretches[0].cautions == ("frequency not recorded in 1 of 2 runs",)


@pytest.mark.parametrize(
    "other",
    [{"soc": "Ascend910B1"}, {"blocks": 2}, {"name": "k_20002"}],
    ids=["chip", "block dim", "tiling key"],
)
def test_other_shapes_are_other_series(warehouse: Warehouse, tmp_path: Path, other: dict[str, Any]) -> None:
    name = "k_1e04ee05ab491cc5ae9c3d5c9ee8950b_10001"
    changed = {"name": name} | other
    if "name" in other:
        changed["name"] = name.replace("10001", "20002")
    fill(warehouse, tmp_path, [[launch(100.0, name)], [launch(50.0, **changed)], [launch(101.0, name)]])
    assert medians(asked(warehouse)) == [[[100.0, 101.0]], [[50.0]]]


def test_a_launch_picks_its_series(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(100.0)], [launch(50.0, blocks=2)]])
    assert medians(asked(warehouse, kernel_id=2)) == [[[50.0]]]


def test_labels_choose_and_order(warehouse: Warehouse, tmp_path: Path) -> None:
    rounds = [{"round": "10", "b": "x"}, {"round": "9", "b": "x"}, {"b": "x"}, {"round": "8", "b": "y"}]
    fill(warehouse, tmp_path, [[launch(100.0 + at)] for at in range(4)], rounds)
    assert medians(asked(warehouse, labels={"b": "x"})) == [[[100.0, 101.0, 102.0]]]
    (series,) = asked(warehouse, order_by="round").series
    assert [place.point.labels["round"] for place in series.stretches[0].places] == ["8", "9", "10"]
    assert [point.median_us for point in series.undated] == [102.0]


def test_a_launch_label_counts_before_its_runs(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(100.0)]], [{"tile": "1"}])
    with closing(sqlite3.connect(warehouse.path)) as connection, connection:
        connection.execute("INSERT INTO kernel_labels VALUES (1, 'tile', '2', 'user')")
    assert dict(asked(warehouse).series[0].stretches[0].places[0].point.labels) == {"tile": "2"}


def test_runs_without_start_have_no_place_but_are_told(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(write_files(tmp_path / "copied", OpBasicInfo=basic_info(), PipeUtilization=pipe(4.0)))
    found = asked(warehouse)
    assert [point.median_us for point in found.series[0].undated] == [5.0]
    assert found.series[0].stretches == ()


def test_launches_without_duration_are_counted(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(100.0)], [launch(None)], [launch(0.0)]])
    found = asked(warehouse)
    assert medians(found) == [[[100.0]]]
    assert found.without_duration == 1
    assert found.unusable == 1


def test_an_unknown_operator_has_no_series(warehouse: Warehouse, tmp_path: Path) -> None:
    fill(warehouse, tmp_path, [[launch(100.0)]])
    assert asked(warehouse, "other").series == ()


def test_numbers_in_labels_are_ordered_as_numbers() -> None:
    texts = ["tile16", "8", "tile8", "16", "x", "1.5"]
    assert sorted(texts, key=natural) == ["1.5", "8", "16", "tile8", "tile16", "x"]


@needs_shared
def test_the_real_history_of_cummin(warehouse: Warehouse) -> None:
    warehouse.ingest(CORPUS / "cummin-910B2")
    found = asked(warehouse, "Cummin_kernel")
    longest = found.series[0]
    assert longest.shape.block_dim == 32
    assert [place.point.median_us for place in longest.stretches[0].places] == [22122.779297, 21140.28125, 9131.620117]
