"""What fits a launch comes first: pattern and recipe of its first finding; operator, chip, counters and own cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from opprof_db.analysis.recommend import Recommendation, recommend
from opprof_db.knowledge.library import only_built_in
from opprof_db.warehouse import opening
from tests.analysis.test_labelled_cases import VARIANTS
from tests.builders.cases import ONE_BUFFER, ONE_CORE, SMALL_TRANSFERS, Case
from tests.builders.device import Launch
from tests.conftest import Cli, Warehouse

CASES = (
    pytest.param(ONE_CORE, "pattern-one-core-only", "recipe-multi-core-split", id="one core"),
    pytest.param(SMALL_TRANSFERS, "pattern-small-transfers", "recipe-tile-size", id="small transfers"),
    pytest.param(ONE_BUFFER, "pattern-transfer-compute-in-turn", "recipe-double-buffer", id="no double buffering"),
)


def taken_in(warehouse: Warehouse, folder: Path, launch: Launch) -> int:
    """Kernel id of a launch written and ingested."""
    count = 0 if not warehouse.path.exists() else warehouse.value("SELECT count(*) FROM kernels")
    warehouse.ingest(launch.write(folder / f"OPPROF_2026051012000{count}_AAAAAAAAAAAAAAAA"))
    kernel_id = warehouse.value("SELECT max(id) FROM kernels")
    assert isinstance(kernel_id, int)
    return kernel_id


def recommended(warehouse: Warehouse, kernel_id: int, limit: int = 5) -> tuple[Recommendation, ...]:
    with opening.reading(warehouse.path) as connection:
        return recommend(connection, kernel_id, library=only_built_in(), limit=limit)


@pytest.mark.parametrize("changes", VARIANTS)
@pytest.mark.parametrize(("case", "pattern", "recipe"), CASES)
def test_the_labelled_cases_get_their_pattern_and_recipe_first(
    warehouse: Warehouse, tmp_path: Path, case: Case, pattern: str, recipe: str, changes: dict[str, object]
) -> None:
    found = recommended(warehouse, taken_in(warehouse, tmp_path, case.launch(**changes)))
    assert [each.entry for each in found[:2]] == [pattern, recipe], [(each.entry, each.score) for each in found]
    first = found[0]
    assert first.rules
    assert ("duration_us", "down") in [(move.column, move.direction) for move in first.expected]
    assert not any("{" in move.column for each in found for move in each.expected)
    assert first.verify
    assert "[^" not in first.verify
    assert (first.verify_command or "").endswith(f"AFTER --entry {pattern}")


def test_the_reason_names_the_figures(warehouse: Warehouse, tmp_path: Path) -> None:
    first = recommended(warehouse, taken_in(warehouse, tmp_path, SMALL_TRANSFERS.launch()))[0]
    assert "4.0 KiB" in first.reason or "4 KB" in first.reason, first.reason
    assert "aiv_mte2_kb_per_instruction 4 KB (< 16)" in first.reason


def test_recipes_of_other_operators_and_entries_for_other_kernels_are_left_out(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    found = recommended(warehouse, taken_in(warehouse, tmp_path, SMALL_TRANSFERS.launch()), limit=0)
    entries = only_built_in().entries
    for each in found:
        head = entries[each.entry].head
        assert not head.op_types or "vector" in head.op_types
        if head.kind == "recipe" and head.operators:
            assert "elementwise" in head.operators
    assert len(found) == len({each.entry for each in found})


def test_the_kind_of_operator_alone_leads_to_its_recipe(warehouse: Warehouse, tmp_path: Path) -> None:
    launch = ONE_CORE.launch()
    launch.name = "NonMaxSuppression_custom"
    found = recommended(warehouse, taken_in(warehouse, tmp_path, launch), limit=0)
    nms = next(each for each in found if each.entry == "recipe-nms")
    assert nms.rules == ()
    assert nms.reason == "The operator's name says non-maximum suppression."
    assert "case-yolov8s" in [each.entry for each in found]


def test_the_command_prints_and_answers_programs(cli: Cli, warehouse: Warehouse, tmp_path: Path) -> None:
    taken_in(warehouse, tmp_path, ONE_CORE.launch())
    shown = cli("recommend", "last", "--db", warehouse.path)
    assert shown.returncode == 0, shown.stderr
    assert "[pattern-one-core-only, measured]" in shown.stdout
    assert "opprof-db verify kernel:1 AFTER --entry pattern-one-core-only" in shown.stdout
    listed = cli("recommend", "kernel:1", "--db", warehouse.path, "-f", "csv", "--limit", 1)
    assert listed.stdout.splitlines()[1].startswith("1,add_custom,pattern-one-core-only,pattern,")
    wrong = cli("recommend", "kernel:99", "--db", warehouse.path)
    assert wrong.returncode == 2
    assert len(wrong.stderr.splitlines()) <= 2
