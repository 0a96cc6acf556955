"""Real captures: no crash, nothing fires that must not, and every citation leads back to the cell of the raw CSV."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from opprof_db.analysis.diagnose import diagnose
from opprof_db.analysis.findings import Diagnosis, Evidence
from opprof_db.analysis.stored_findings import look_up
from opprof_db.catalog import load, table_name
from opprof_db.warehouse import opening
from tests.conftest import Warehouse
from tests.shared import CORPUS, needs_shared

pytestmark = needs_shared

PROFILES = ("default", "strict", "upstream")
FAMILY_OF = {table_name(family): family for family in load().families}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    warehouse = Warehouse(tmp_path_factory.mktemp("corpus") / "warehouse.db")
    warehouse.ingest(CORPUS)
    with opening.reading(warehouse.path) as connection:
        yield connection


@pytest.fixture(scope="module")
def diagnoses(corpus: sqlite3.Connection) -> dict[tuple[int, str], Diagnosis]:
    ids = [row[0] for row in corpus.execute("SELECT id FROM kernels")]
    assert len(ids) >= 25
    return {(one, profile): diagnose(corpus, one, profile=profile) for one in ids for profile in PROFILES}


def kernels_at(connection: sqlite3.Connection, part: str) -> list[int]:
    """Kernels of the runs whose location contains a text."""
    rows = connection.execute(
        "SELECT DISTINCT k.id FROM kernels k JOIN run_locations l ON l.run_id = k.run_id WHERE instr(l.path, ?) > 0",
        (part,),
    ).fetchall()
    assert rows, part
    return [row[0] for row in rows]


MUST_NOT_FIRE = (
    ("Complex", "imbalance"),
    ("Complex", "slow_core_upstream"),
    ("Complex", "l2_reuse"),
    ("Addr", "instruction_cache"),
    ("AdjacentDifference", "instruction_cache"),
    ("swiglu", "instruction_cache"),
    ("gemv-910B3-device", "small_transfers"),
    ("gemv-910B3-device", "transfer_bound"),
    ("Addr", "one_core_only"),
    ("AdjacentDifference", "cores_not_launched"),
    ("swiglu", "cores_not_launched"),
    ("round_000/OPPROF_20260522141449", "one_core_only"),
)


@pytest.mark.parametrize(("run", "rule"), MUST_NOT_FIRE)
def test_is_silent_where_nothing_is_wrong(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis], run: str, rule: str
) -> None:
    for kernel in kernels_at(corpus, run):
        assert rule not in [finding.rule for finding in diagnoses[kernel, "default"].findings]


def test_gemv_has_no_balance_finding_on_its_unused_cube_cores(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis]
) -> None:
    (gemv,) = kernels_at(corpus, "gemv-910B3-device")
    findings = diagnoses[gemv, "default"].findings
    assert not [one for one in findings if one.rule in ("imbalance", "slow_core_upstream") and "AIC" in one.sentence]
    assert {"at_memory_roof", "unused_half"} <= {one.rule for one in findings}
    assert findings[0].rule == "at_memory_roof"


@pytest.mark.parametrize("round_", ["attention-bwd-910B/round_001", "attention-bwd-910B/round_002"])
def test_attention_starts_with_its_idle_cores_not_with_conflicts(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis], round_: str
) -> None:
    (kernel,) = kernels_at(corpus, round_)
    first = diagnoses[kernel, "default"].findings[0]
    assert first.rule == "idle_cores"
    assert "8 of 24" in first.sentence


def test_a_waiting_cube_core_is_not_called_scalar_bound(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis]
) -> None:
    (kernel,) = kernels_at(corpus, "attention-bwd-910B/round_006")
    findings = diagnoses[kernel, "default"].findings
    assert findings[0].rule == "aic_waits_for_aiv"
    assert not [one for one in findings if one.rule == "scalar_overhead"]


@pytest.mark.parametrize(
    ("run", "rules"),
    [
        ("cummin-910B2/round_000/OPPROF_20260522141558", {"scalar_overhead", "imbalance", "small_transfers"}),
        ("cummin-910B2/round_002/", {"scalar_overhead", "imbalance"}),
        ("Complex", {"scalar_overhead"}),
        ("gemv-910B3-simulator", {"sim_waits"}),
    ],
)
def test_finds_what_is_known_to_be_wrong(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis], run: str, rules: set[str]
) -> None:
    for kernel in kernels_at(corpus, run):
        assert rules <= {finding.rule for finding in diagnoses[kernel, "default"].findings}


def test_cummin_lost_its_small_writes_in_round_2(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis]
) -> None:
    (kernel,) = kernels_at(corpus, "cummin-910B2/round_002/")
    assert "small_transfers" not in [one.rule for one in diagnoses[kernel, "default"].findings]


def test_the_simulated_waits_of_gemv_are_what_the_statistics_hold(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis]
) -> None:
    (kernel,) = kernels_at(corpus, "gemv-910B3-simulator")
    total = 0
    for file in (CORPUS / "gemv-910B3-simulator").rglob("*_instr_exe.csv"):
        with file.open(newline="", encoding="utf-8") as opened:
            total += sum(int(row["cycles"]) for row in csv.DictReader(opened) if row["instr"].startswith("WAIT_FLAG"))
    (waits,) = (one for one in diagnoses[kernel, "default"].findings if one.rule == "sim_waits")
    assert total == 130961
    assert f"({total} on all 4 cores)" in waits.sentence


def evidence(diagnosis: Diagnosis) -> list[Evidence]:
    """Everything a diagnosis cites."""
    facts = [item for fact in diagnosis.facts for item in fact.evidence]
    return facts + [item for outcome in diagnosis.outcomes for item in outcome.evidence]


def test_every_citation_names_one_stored_cell_and_its_value(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis]
) -> None:
    looked = 0
    for diagnosis in diagnoses.values():
        for item in evidence(diagnosis):
            assert look_up(corpus, item) == item.value, item
            looked += 1
    assert looked > 1500


@cache
def cells(path: Path) -> tuple[dict[str, str], ...]:
    """Rows of a raw CSV; the comma behind every line is no column."""
    with path.open(newline="", encoding="utf-8") as opened:
        rows = [row[: len(row) - (row[-1] == "")] for row in csv.reader(opened)]
    return tuple(dict(zip(rows[0], row, strict=False)) for row in rows[1:])


class Raw:
    """The raw CSVs of a kernel, found without the program's readers."""

    def __init__(self, connection: sqlite3.Connection, kernel_id: int) -> None:
        (self.root,) = connection.execute(
            "SELECT l.path FROM run_locations l JOIN kernels k ON k.run_id = l.run_id"
            " WHERE k.id = ? AND l.content = 'whole' LIMIT 1",
            (kernel_id,),
        ).fetchone()

    def family(self, family: str) -> tuple[dict[str, str], ...]:
        """Rows of one family's CSV."""
        found = [path for path in Path(self.root).rglob("*.csv") if path.name.partition("_")[0] == f"{family}.csv"]
        found += list(Path(self.root).rglob(f"{family}_*.csv"))
        (path,) = found
        return cells(path)

    def cell(self, family: str, vendor: str, block: object, sub: object) -> str:
        """One cell."""
        (row,) = (
            row for row in self.family(family) if row["block_id"] == str(block) and row["sub_block_id"] == str(sub)
        )
        return row[vendor]


def vendor_name(family: str, column: str) -> str:
    (metric,) = (metric for metric in load().of_family(family) if metric.column == column)
    return metric.vendor


def raw_value(connection: sqlite3.Connection, item: Evidence) -> Any:
    """What the raw CSVs say where evidence leads to; ``None`` where it leads to no CSV of a device."""
    row = item.row
    kernel = row.get("kernel_id") or row.get("id")
    assert isinstance(kernel, int) or item.table == "chips"
    if item.table in FAMILY_OF:
        family = FAMILY_OF[item.table]
        return Raw(connection, kernel).cell(
            family, vendor_name(family, item.column), row["block_id"], row["sub_block_id"]
        )
    if item.table == "kernel_cores":
        kind = "aic" if str(row["sub_block_id"]).startswith("cube") else "aiv"
        raw = Raw(connection, kernel)
        held = {p.name.partition(".")[0].partition("_")[0] for p in Path(raw.root).rglob("*.csv")}
        family = next(one for one in load().families if one in held)
        return raw.cell(family, f"{kind}_time(us)", row["block_id"], row["sub_block_id"])
    if item.table == "kernel_metric_values":
        family, vendor = str(row["family"]), vendor_name(str(row["family"]), str(row["metric"]))
        prefix = "cube" if row["core_kind"] == "aic" else "vector"
        held_cells = [
            one[vendor] for one in Raw(connection, kernel).family(family) if one["sub_block_id"].startswith(prefix)
        ]
        return sum(float(cell) for cell in held_cells if cell not in ("NA", "N/A", ""))
    if item.table == "kernels" and item.column != "mode":
        (info,) = Raw(connection, kernel).family("OpBasicInfo")
        return info[vendor_name("OpBasicInfo", item.column)]
    return None


def test_every_citation_of_a_device_csv_is_what_the_raw_file_prints(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis]
) -> None:
    followed = set()
    for (kernel, _), diagnosis in diagnoses.items():
        if diagnosis.mode != "device" or not diagnosis.outcomes:
            continue
        for item in evidence(diagnosis):
            if item.table == "kernels" and kernel == _without_csv(corpus):
                continue
            raw = raw_value(corpus, item)
            if raw is None:
                continue
            if raw in ("NA", "N/A", ""):
                assert item.value is None, item
            else:
                assert float(raw) == pytest.approx(item.value, rel=1e-12), item
            followed.add((kernel, item.table, item.column, tuple(item.row.items())))
    assert len(followed) > 400


def _without_csv(connection: sqlite3.Connection) -> int:
    """The run that is a single bin."""
    (kernel,) = kernels_at(connection, "bin-mix-910B4")
    return kernel


def test_citations_of_statistics_are_what_the_raw_file_prints(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis]
) -> None:
    (kernel,) = kernels_at(corpus, "gemv-910B3-simulator")
    cited = [item for item in evidence(diagnoses[kernel, "default"]) if item.table == "instruction_stats"]
    assert cited
    for item in cited:
        (file,) = (CORPUS / "gemv-910B3-simulator").rglob(f"{item.row['core']}_instr_exe.csv")
        line = file.read_text(encoding="utf-8").splitlines()[int(str(item.row["line_number"])) - 1]
        assert int(line.split(",")[4]) == item.value


def test_the_vendors_advice_stands_beside_and_is_no_finding(
    corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis]
) -> None:
    (kernel,) = kernels_at(corpus, "gemv-910B3-device")
    diagnosis = diagnoses[kernel, "default"]
    advice = [fact for fact in diagnosis.facts if fact.name == "vendor_advice"]
    assert {fact.value for fact in advice} == {"as_printed", "unreliable"}
    assert not [finding for finding in diagnosis.outcomes if any(e.table == "vendor_advice" for e in finding.evidence)]


def test_outcomes_are_stored_whole(corpus: sqlite3.Connection, diagnoses: dict[tuple[int, str], Diagnosis]) -> None:
    for diagnosis in diagnoses.values():
        rules = {outcome.rule for outcome in diagnosis.outcomes}
        assert len(rules) >= 7
        for outcome in diagnosis.outcomes:
            assert outcome.sentence
            assert "{" not in outcome.sentence
            if outcome.outcome == "could_not_look":
                assert outcome.sentence.startswith("Could not look: ")
                assert outcome.measure_next
