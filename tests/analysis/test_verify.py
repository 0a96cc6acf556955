"""verify confirms what was measured after each fix and denies the opposite; record makes the pair a case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opprof_db.analysis.entry_metrics import MetricValue
from opprof_db.analysis.record import record
from opprof_db.analysis.verify import Verification, moved, verify
from opprof_db.errors import UsageError
from opprof_db.knowledge.library import only_built_in
from opprof_db.knowledge.model import Direction
from opprof_db.warehouse import opening
from opprof_db.warehouse.connection import transaction
from tests.analysis.test_labelled_cases import VARIANTS
from tests.analysis.test_recommend import recommended, taken_in
from tests.builders.cases import (
    EIGHT_CORES,
    LARGE_TRANSFERS,
    ONE_BUFFER,
    ONE_CORE,
    SMALL_TRANSFERS,
    TWO_BUFFERS,
    Case,
)
from tests.conftest import Cli, Warehouse

ENTRIES = only_built_in().entries
FIXES = tuple(
    pytest.param(before, after, entry, id=entry)
    for before, after, entries in (
        (ONE_CORE, EIGHT_CORES, ("pattern-one-core-only", "recipe-multi-core-split", "case-msopprof-one-core")),
        (
            SMALL_TRANSFERS,
            LARGE_TRANSFERS,
            ("pattern-small-transfers", "recipe-tile-size", "case-msopprof-small-transfers"),
        ),
        (
            ONE_BUFFER,
            TWO_BUFFERS,
            ("pattern-transfer-compute-in-turn", "recipe-double-buffer", "case-msopprof-double-buffer"),
        ),
    )
    for entry in entries
)


def verified(warehouse: Warehouse, before: int, after: int, entry: str, *, force: bool = False) -> Verification:
    with opening.reading(warehouse.path) as connection:
        return verify(connection, before, after, ENTRIES[entry], force=force)


@pytest.mark.parametrize(("before", "after", "entry"), FIXES)
def test_measured_fixes_are_confirmed_and_their_opposites_denied(
    warehouse: Warehouse, tmp_path: Path, before: Case, after: Case, entry: str
) -> None:
    old = taken_in(warehouse, tmp_path, before.launch())
    new = taken_in(warehouse, tmp_path, after.launch())
    done = verified(warehouse, old, new, entry)
    assert done.verdict == "confirmed", done
    assert done.speed_up == pytest.approx(before.duration / after.duration, rel=1e-6)
    assert [rule.after for rule in done.rules][:1] == ["no_problem"]
    undone = verified(warehouse, new, old, entry)
    assert undone.verdict == "denied", undone
    assert "duration_us" in undone.sentence


@pytest.mark.parametrize("changes", VARIANTS)
def test_what_else_is_recorded_does_not_matter(
    warehouse: Warehouse, tmp_path: Path, changes: dict[str, object]
) -> None:
    old = taken_in(warehouse, tmp_path, ONE_BUFFER.launch(**changes))
    new = taken_in(warehouse, tmp_path, TWO_BUFFERS.launch(**changes))
    assert verified(warehouse, old, new, "recipe-double-buffer").verdict == "confirmed"


def test_a_fix_of_something_else_confirms_nothing(warehouse: Warehouse, tmp_path: Path) -> None:
    old = taken_in(warehouse, tmp_path, SMALL_TRANSFERS.launch())
    new = taken_in(warehouse, tmp_path, LARGE_TRANSFERS.launch())
    done = verified(warehouse, old, new, "recipe-multi-core-split")
    assert done.verdict == "not_confirmed"
    assert "but block_dim did not move" in done.sentence
    assert {one.metric: one.moved for one in done.checked} == {
        "duration_us": "as_promised",
        "block_dim": "unmoved",
        "aiv_time_us": "as_promised",
    }


def test_the_same_again_is_not_confirmed(warehouse: Warehouse, tmp_path: Path) -> None:
    old = taken_in(warehouse, tmp_path, EIGHT_CORES.launch())
    new = taken_in(warehouse, tmp_path, SMALL_TRANSFERS.launch())
    done = verified(warehouse, old, new, "pattern-small-transfers")
    assert done.verdict == "not_confirmed"
    assert "did not move" in done.sentence


def test_launches_of_other_chips_are_refused_unless_forced(warehouse: Warehouse, tmp_path: Path) -> None:
    old = taken_in(warehouse, tmp_path, ONE_BUFFER.launch())
    new = taken_in(warehouse, tmp_path, TWO_BUFFERS.launch(rated_freq=1800, current_freq="1800"))
    done = verified(warehouse, old, new, "recipe-double-buffer")
    assert (done.verdict, done.checked, done.speed_up) == ("refused", (), None)
    assert "1650 before, 1800 after" in done.sentence
    assert verified(warehouse, old, new, "recipe-double-buffer", force=True).verdict == "confirmed"
    with pytest.raises(UsageError, match="both before and after"):
        verified(warehouse, old, old, "recipe-double-buffer")
    with pytest.raises(UsageError, match="no metric"):
        verified(warehouse, old, new, "tip-warm-up")


@pytest.mark.parametrize(
    ("before", "after", "unit", "promised", "said"),
    [
        (100.0, 97.9, "us", "down", "as_promised"),
        (100.0, 98.1, "us", "down", "unmoved"),
        (100.0, 102.1, "us", "down", "opposite"),
        (0.1, 0.104, "ratio", "up", "unmoved"),
        (0.1, 0.106, "ratio", "up", "as_promised"),
        (5.0, 5.4, "%", "up", "unmoved"),
        (0.0, 1.0, "us", "up", "as_promised"),
        (100.0, 109.0, "us", "same", "as_promised"),
        (100.0, 111.0, "us", "same", "opposite"),
    ],
)
def test_small_changes_are_noise(before: float, after: float, unit: str, promised: Direction, said: str) -> None:
    one, other = (MetricValue("m", "aiv", "max", unit, value) for value in (before, after))
    assert moved(one, other, promised) == said


def test_a_recorded_pair_becomes_a_case_and_is_shown_to_similar_launches(
    warehouse: Warehouse, tmp_path: Path, cli: Cli
) -> None:
    old = taken_in(warehouse, tmp_path, SMALL_TRANSFERS.launch())
    new = taken_in(warehouse, tmp_path, LARGE_TRANSFERS.launch())
    alike = taken_in(warehouse, tmp_path, EIGHT_CORES.launch())
    said = cli(
        "kb", "record", f"kernel:{old}", f"kernel:{new}", "--title", "Larger tiles", "--entry", "recipe-tile-size",
        "--db", warehouse.path,
    )  # fmt: skip
    assert said.stdout == "recorded-1: 2049.78 us to 892.02 us, 2.3 times as fast\n"
    by_entry = {each.entry: each for each in recommended(warehouse, alike, limit=0)}
    (case,) = by_entry["recipe-tile-size"].improved
    assert (case.entry_id, case.operator, case.before_kernel_id) == ("recorded-1", "add_custom", old)
    assert case.speed_up == pytest.approx(2049.78 / 892.02, rel=1e-6)
    assert case.distance is not None
    assert case.distance < 0.05
    assert case.gone[0] == "small_transfers"
    assert by_entry["pattern-small-transfers"].improved == (case,)
    assert by_entry["pattern-cores-not-launched"].improved == ()
    assert by_entry["recorded-1"].rules[0] == "small_transfers"
    assert [each.improved for each in recommended(warehouse, new, limit=0) if each.improved] == []
    shown = json.loads(cli("kb", "show", "recorded-1", "-f", "json", "--db", warehouse.path).stdout)
    figures = shown["before_after"][0]
    assert (figures["before"], figures["after"]) == (pytest.approx(2049.78), pytest.approx(892.02))
    stored = warehouse.rows(
        "SELECT before_value, after_value FROM recorded_metrics WHERE metric = 'aiv_mte2_instructions'"
    )
    assert stored == [(8 * 10241, 8 * 1025)]
    assert "recorded-1" in cli("kb", "search", "larger", "tiles", "--kind", "case", "--db", warehouse.path).stdout
    again = cli("kb", "record", f"kernel:{old}", f"kernel:{new}", "--title", "Again", "--db", warehouse.path)
    assert (again.returncode, again.stdout) == (2, "")
    assert "recorded already as recorded-1" in again.stderr
    assert cli("kb", "forget", "recorded-1", "--db", warehouse.path).stdout == "recorded-1: forgotten\n"
    assert warehouse.value("SELECT count(*) FROM knowledge_entries WHERE entry = 'recorded-1'") == 0
    assert warehouse.value("SELECT count(*) FROM recorded_metrics") == 0
    assert cli("kb", "forget", "recorded-1", "--db", warehouse.path).returncode == 2


def test_a_case_outlives_its_launches_and_pairs_that_do_not_belong_are_refused(
    warehouse: Warehouse, tmp_path: Path, cli: Cli
) -> None:
    old = taken_in(warehouse, tmp_path, ONE_BUFFER.launch())
    new = taken_in(warehouse, tmp_path, TWO_BUFFERS.launch(rated_freq=1800, current_freq="1800"))
    with opening.writing(warehouse.path) as connection:
        with pytest.raises(UsageError, match="cannot be compared"), transaction(connection, warehouse.path):
            record(connection, old, new, "Two buffers")
        with pytest.raises(UsageError, match="title is empty"), transaction(connection, warehouse.path):
            record(connection, old, new, " \n", force=True)
        with transaction(connection, warehouse.path):
            made = record(connection, old, new, "Two buffers\nat once", note="BUFFER_NUM 2", force=True)
    assert made.title == "Two buffers at once"
    assert "frequency" in (made.remarks or "")
    for run in (1, 2):
        assert cli("forget", run, "--yes", "--db", warehouse.path).returncode == 0
    assert warehouse.rows("SELECT before_kernel_id, after_kernel_id FROM recorded_cases") == [(None, None)]
    shown = cli("kb", "show", "recorded-1", "--db", warehouse.path).stdout
    assert "BUFFER_NUM 2" in shown
    assert "frequency, MHz: 1650 before, 1800 after" in shown


def test_the_command_says_how_each_metric_moved_and_ends_with_1_when_denied(
    warehouse: Warehouse, tmp_path: Path, cli: Cli
) -> None:
    old = taken_in(warehouse, tmp_path, ONE_CORE.launch())
    new = taken_in(warehouse, tmp_path, EIGHT_CORES.launch())
    options = ("--entry", "pattern-one-core-only", "--db", warehouse.path)
    done = cli("verify", f"kernel:{old}", f"kernel:{new}", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("CONFIRMED: pattern-one-core-only")
    assert "finding one_core_only is gone" in done.stdout
    undone = cli("verify", f"kernel:{new}", f"kernel:{old}", *options, "-f", "json")
    assert undone.returncode == 1
    answer = json.loads(undone.stdout)
    assert answer["verdict"] == "denied"
    assert {one["metric"]: one["moved"] for one in answer["checked"]}["duration_us"] == "opposite"
    wrong = cli("verify", f"kernel:{new}", "kernel:99", *options)
    assert (wrong.returncode, wrong.stdout) == (2, "")
