"""Comparing: what is refused and why, what changed, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opprof_db.analysis import selection
from opprof_db.analysis.compare import Comparison, compare
from opprof_db.analysis.durations import duration_change, mann_whitney
from opprof_db.warehouse import opening
from tests.builders import cases
from tests.builders.device import DeviceRun
from tests.conftest import Warehouse
from tests.shared import INPUTS, needs_shared


def compared(warehouse: Warehouse, before: str, after: str, **options: object) -> Comparison:
    with opening.reading(warehouse.path) as connection:
        sides = selection.selected(connection, before), selection.selected(connection, after)
        return compare(connection, *sides, **options)  # type: ignore[arg-type]


def run_of(case: cases.Case, folder: Path, name: str, scale: tuple[float, ...] = (1.0,), **changes: object) -> Path:
    launches = [replace(case, duration=case.duration * by).launch(**changes) for by in scale]
    return DeviceRun(launches, f"OPPROF_{name}").write(folder)


# ---------------------------------------------------------------- what must not be compared


@needs_shared
@pytest.mark.parametrize(
    ("folder", "before", "after", "kind", "word"),
    [
        ("24-freq-drop", "OPPROF_full", "OPPROF_low", "frequency", "1800 before, 1000 after"),
        ("11-950-l2cache-columns-before-after", "before_79ae61a", "after_79ae61a", "build", "2026-01-20"),
        ("11-950-l2cache-columns-before-after", "after_79ae61a", "before_79ae61a", "build", "2026-01-20"),
    ],
)
def test_known_differences_are_refused_with_the_reason(
    warehouse: Warehouse, folder: str, before: str, after: str, kind: str, word: str
) -> None:
    warehouse.ingest(INPUTS / folder)
    found = compared(warehouse, before, after)
    assert found.refused and not found.forced
    assert [reason.kind for reason in found.reasons if reason.refuses] == [kind]
    assert word in found.reasons[0].sentence
    assert all(pair.change is None and not pair.metrics for pair in found.pairs)


@needs_shared
def test_a_reduced_frequency_shows_the_cycles_that_stayed(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "24-freq-drop")
    (pair,) = compared(warehouse, "OPPROF_full", "OPPROF_low").pairs
    assert [(one.core_kind, one.before, one.after) for one in pair.cycles] == [("aiv", 34200, 34200)]


@needs_shared
def test_an_unknown_frequency_is_compared_with_a_warning(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "24-freq-drop")
    found = compared(warehouse, "OPPROF_full", "OPPROF_unknown")
    assert found.verdict == "comparable_with_warnings"
    assert found.reasons[0].kind == "frequency" and "estimate" in found.reasons[0].sentence


@needs_shared
def test_a_simulator_run_is_never_compared_with_a_device_run(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "24-freq-drop", INPUTS / "23-simulator-run-has-no-OpBasicInfo")
    found = compared(warehouse, "OPPROF_A", "OPPROF_full")
    assert found.refused and found.reasons[0].kind == "mode"


def test_stated_metric_sets_that_differ_are_refused_whatever_their_order(warehouse: Warehouse, tmp_path: Path) -> None:
    for name, sets, scale in (
        ("a", "Memory,L2Cache", 1.0), ("b", "l2cache,memory", 1.01), ("c", "PipeUtilization", 1.02),
    ):  # fmt: skip
        run = run_of(cases.EIGHT_CORES, tmp_path, name, (scale,))
        warehouse.ingest(run, conditions={"aic_metrics": sets})
    assert not compared(warehouse, "OPPROF_a", "OPPROF_b").refused
    found = compared(warehouse, "OPPROF_a", "OPPROF_c")
    assert [reason.kind for reason in found.reasons if reason.refuses] == ["aic_metrics"]


@needs_shared
def test_force_shows_refused_figures_and_marks_them(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "24-freq-drop")
    found = compared(warehouse, "OPPROF_full", "OPPROF_low", force=True)
    (pair,) = found.pairs
    assert found.refused and found.forced and pair.forced
    assert pair.change is not None and pair.change.change_share == pytest.approx(0.8)


def test_a_frequency_that_only_the_counters_show_warns(warehouse: Warehouse, tmp_path: Path) -> None:
    run_of(cases.EIGHT_CORES, tmp_path, "full")
    # The cycles of 1000 MHz, yet the current frequency is not recorded.
    low = replace(cases.EIGHT_CORES, duration=2041.4 * 1.65, time=(2004.97 * 1.65, 2040.78 * 1.65))
    launch = low.launch(current_freq="1000")
    folder = DeviceRun([launch], "OPPROF_low").write(tmp_path)
    basic = folder / "OpBasicInfo.csv"
    basic.write_text(basic.read_text().replace(",1000,1650,", ",N/A,1650,"))
    (folder / "dump" / "op_basic_info.txt").unlink()
    warehouse.ingest(tmp_path)
    found = compared(warehouse, "OPPROF_full", "OPPROF_low")
    assert not found.refused
    assert any(reason.kind == "frequency" and "probably changed" in reason.sentence for reason in found.reasons)


# ---------------------------------------------------------------- what happened

PAIRS = {
    "one core": (
        cases.ONE_CORE,
        cases.EIGHT_CORES,
        "spread over 8 blocks instead of 1",
        {
            "aiv_time_us": "down", "aiv_vec_ratio": "down", "aiv_mte2_ratio": "up", "aiv_mte3_ratio": "down",
            "gm_to_ub_bw_usage_rate_pct": "down", "ub_to_gm_bw_usage_rate_pct": "down",
        },
    ),
    "small transfers": (
        cases.SMALL_TRANSFERS,
        cases.LARGE_TRANSFERS,
        "MTE2 instructions fell 10x while the data volume stayed: larger transfers",
        {
            "aiv_time_us": "down", "aiv_mte2_instructions": "down", "aiv_mte3_instructions": "down",
            "gm_to_ub_bw_usage_rate_pct": "up", "ub_to_gm_bw_usage_rate_pct": "up", "aiv_gm_to_ub_bw_gb_s": "up",
            "gm_to_ub_datas_kb": "same",
        },
    ),
    "one buffer": (
        cases.ONE_BUFFER,
        cases.TWO_BUFFERS,
        "transfer and compute now overlap",
        {
            "aiv_time_us": "down", "aiv_vec_ratio": "up", "aiv_mte2_ratio": "up", "aiv_vec_wait_ratio": "down",
            "gm_to_ub_datas_kb": "same",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_the_labelled_pairs_say_what_happened_and_which_way_each_metric_moved(
    warehouse: Warehouse, tmp_path: Path, name: str
) -> None:
    old, new, said, directions = PAIRS[name]
    warehouse.ingest(run_of(old, tmp_path, "before"), run_of(new, tmp_path, "after"))
    (pair,) = compared(warehouse, "OPPROF_before", "OPPROF_after").pairs
    assert said in pair.sentence and "faster" in pair.sentence
    moved = {move.metric: move for move in pair.metrics if move.core_kind == "aiv"}
    assert {metric: moved[metric].direction for metric in directions} == directions
    assert pair.change is not None and pair.change.uncertainty == "single launch: no noise estimate"


def test_kernels_of_one_side_only_are_new_or_vanished(warehouse: Warehouse, tmp_path: Path) -> None:
    add = cases.EIGHT_CORES.launch()
    DeviceRun([add, replace(add, name="old_kernel")], "OPPROF_before").write(tmp_path)
    DeviceRun([add, replace(add, name="new_kernel", duration_us=9.0)], "OPPROF_after").write(tmp_path)
    warehouse.ingest(tmp_path)
    found = compared(warehouse, "OPPROF_before", "OPPROF_after")
    assert [pair.name for pair in found.pairs] == ["add_custom"]
    assert [group.operator for group in found.only_before] == ["old_kernel"]
    assert [group.operator for group in found.only_after] == ["new_kernel"]


def test_mix_against_vector_withholds_columns_over_other_denominators(warehouse: Warehouse, tmp_path: Path) -> None:
    run_of(cases.EIGHT_CORES, tmp_path, "before")
    run_of(cases.EIGHT_CORES, tmp_path, "after")
    basic = tmp_path / "OPPROF_after" / "OpBasicInfo.csv"
    basic.write_text(basic.read_text().replace(",vector,", ",mix,"))
    warehouse.ingest(tmp_path)
    (pair,) = compared(warehouse, "OPPROF_before", "OPPROF_after").pairs
    assert "op_type" in {reason.kind for reason in pair.judgement.reasons}
    shown = {move.metric for move in pair.metrics}
    assert "aiv_mte2_ratio" not in shown and "aiv_mte2_ratio" in pair.judgement.withheld
    assert "aiv_mte2_instructions" in shown


@needs_shared
def test_a_cold_first_launch_is_set_aside(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "34-launch0-cold")
    (pair,) = compared(warehouse, "last", "last").pairs
    assert pair.before.median_us == pytest.approx(20.09)
    assert [launch.launch_index for launch in pair.before.cold] == [0]


# ---------------------------------------------------------------- properties

samples = st.lists(st.floats(5.0, 50_000.0, allow_nan=False), min_size=1, max_size=9)


@given(samples)
@settings(max_examples=50, deadline=None)
def test_a_sample_with_itself_has_not_changed(sample: list[float]) -> None:
    found = duration_change(sample, sample)
    assert found.change_share == 0 and found.direction == "same" and found.shown is False


@given(samples, st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_shuffling_changes_nothing_and_scaling_is_told_exactly(sample: list[float], draw: object) -> None:
    scaled = [value * 1.10 for value in sample]
    shuffled = list(scaled)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    found = duration_change(sample, scaled)
    assert found == duration_change(sample, shuffled)
    assert found.change_share == pytest.approx(0.10) and found.direction == "slower"


def test_a_run_with_itself_is_comparable_without_any_change(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(run_of(cases.EIGHT_CORES, tmp_path, "a", (1.0, 1.004, 0.997, 1.002, 0.999, 1.001)))
    found = compared(warehouse, "last", "last")
    assert found.verdict == "comparable" and not found.reasons
    for pair in found.pairs:
        assert pair.change is not None and pair.change.change_us == 0 and pair.change.shown is False
        assert all(move.direction == "same" for move in pair.metrics)


def test_ten_per_cent_slower_is_shown_beyond_noise(warehouse: Warehouse, tmp_path: Path) -> None:
    noise = (1.0, 1.004, 0.997, 1.002, 0.999, 1.001)
    warehouse.ingest(run_of(cases.EIGHT_CORES, tmp_path, "a", noise))
    warehouse.ingest(run_of(cases.EIGHT_CORES, tmp_path, "b", tuple(1.1 * by for by in noise[::-1])))
    (pair,) = compared(warehouse, "OPPROF_a", "OPPROF_b").pairs
    assert pair.change is not None and pair.change.change_share == pytest.approx(0.10, abs=1e-6)
    assert pair.change.direction == "slower" and pair.change.shown is True
    assert pair.change.low_share is not None and 0.09 < pair.change.low_share < 0.10 + 1e-9


def test_mann_whitney_is_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    for one, other in (([1, 2, 3, 4, 5.0], [4, 5, 6, 7, 8.0]), ([1, 1, 2, 2, 9.0, 3], [1, 2, 2, 3, 3.0])):
        expected = stats.mannwhitneyu(one, other, method="asymptotic").pvalue
        assert mann_whitney(one, other) == pytest.approx(expected)


# ---------------------------------------------------------------- the command


def test_the_command_refuses_with_one_and_marks_what_is_forced(cli, tmp_path: Path) -> None:
    first = run_of(cases.EIGHT_CORES, tmp_path, "a")
    second = run_of(cases.EIGHT_CORES, tmp_path, "b", (1.65,), current_freq="1000")
    assert cli("ingest", first, second).returncode == 0
    refused = cli("compare", "OPPROF_a", "OPPROF_b")
    assert refused.returncode == 1 and "refused: frequency" in refused.stdout
    forced = cli("compare", "OPPROF_a", "OPPROF_b", "--force", "--format", "json")
    assert forced.returncode == 1 and '"forced": true' in forced.stdout
    assert cli("compare", "OPPROF_a").returncode == 2


def test_a_baseline_is_set_used_listed_and_removed(cli, tmp_path: Path) -> None:
    assert cli("ingest", run_of(cases.SMALL_TRANSFERS, tmp_path, "a")).returncode == 0
    assert cli("ingest", run_of(cases.LARGE_TRANSFERS, tmp_path, "b")).returncode == 0
    assert cli("baseline", "set", "release", "OPPROF_a").stdout == "baseline release: 1 launches of OPPROF_a\n"
    assert "release" in cli("baseline", "list").stdout
    found = cli("compare", "OPPROF_b", "--baseline", "release")
    assert found.returncode == 0 and "larger transfers" in found.stdout
    assert cli("baseline", "remove", "release").returncode == 0
    assert cli("compare", "OPPROF_b", "--baseline", "release").returncode == 2
