"""Real captures: every cell of every device CSV is in SQL, NULL for NA, or explained; restored bytes are the same."""

from __future__ import annotations

import csv
import hashlib
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from opprof_db.catalog import load, table_name
from opprof_db.ingest.restoring import restore
from tests.conftest import Warehouse
from tests.shared import CORPUS, needs_shared

pytestmark = [needs_shared, pytest.mark.corpus]

FAMILY = re.compile(
    r"(PipeUtilization|Memory|MemoryL0|MemoryUB|L2Cache|ArithmeticUtilization|ResourceConflictRatio)\.csv"
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    filled = Warehouse(tmp_path_factory.mktemp("corpus") / "corpus.db")
    filled.outcomes = filled.ingest(CORPUS)  # type: ignore[attr-defined]
    return filled


def rows_of(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, cells by header name) of a CSV, read with nothing of the project."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        lines = csv.reader(stream, quoting=csv.QUOTE_NONE)
        header = [name for name in next(lines) if name]
        for number, cells in enumerate(lines, start=2):
            if cells:
                yield number, dict(zip(header, cells, strict=False))


def kernel_of(connection: sqlite3.Connection, path: Path) -> tuple[int, int, str]:
    """(run, kernel, path in the run) a corpus file was stored under, found by its content."""
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    found = connection.execute(
        "SELECT a.run_id, a.kernel_id, a.path FROM artifacts a JOIN run_locations l ON l.run_id = a.run_id"
        " WHERE a.sha256 = ? AND l.path = ?",
        (sha256, str(path.parent.resolve())),
    ).fetchall()
    assert len(found) == 1, path
    return found[0]


def test_every_run_is_taken_without_an_error(corpus: Warehouse) -> None:
    kinds = {str(o.path.relative_to(CORPUS)): o.kind for o in corpus.outcomes}  # type: ignore[attr-defined]
    assert set(kinds.values()) == {"new", "known", "empty", "foreign"}
    assert [path for path, kind in kinds.items() if kind == "empty"] == [
        "aborted/OPPROF_20250908111203_UMEQKMRRBEFRNUIB"
    ]
    assert [path for path, kind in kinds.items() if kind == "foreign"] == ["."]
    assert corpus.rows(
        "SELECT a.status, i.path FROM ingest_issues i JOIN artifacts a USING (run_id, path) WHERE severity = 'error'"
    ) == [("lfs_pointer", "simulator/trace.json")]


def test_every_cell_of_every_device_csv_is_accounted_for(corpus: Warehouse) -> None:
    connection = sqlite3.connect(corpus.path)
    compared = 0
    for path in sorted(CORPUS.rglob("*.csv")):
        match = FAMILY.fullmatch(path.name)
        if not match:
            continue
        family = match[1]
        run, kernel, inside = kernel_of(connection, path)
        names = {metric.vendor: metric.column for metric in load().of_family(family)}
        for line, cells in rows_of(path):
            for vendor, text in cells.items():
                (value,) = connection.execute(
                    f"SELECT {names[vendor]} FROM {table_name(family)}"
                    " WHERE kernel_id = ? AND block_id = ? AND sub_block_id = ?",
                    (kernel, cells["block_id"], cells["sub_block_id"]),
                ).fetchone()
                compared += 1
                if text in ("NA", "N/A", ""):
                    assert value is None, (path, line, vendor)
                elif value is None:
                    explained = connection.execute(
                        "SELECT count(*) FROM ingest_issues WHERE run_id = ? AND path = ? AND column_name = ?"
                        " AND cells > 0 AND raw_text = ?",
                        (run, inside, vendor, text),
                    ).fetchone()
                    assert explained[0], (path, line, vendor, text)
                elif vendor == "sub_block_id":
                    assert value == text
                else:
                    assert value == (int(text) if text.lstrip("-").isdigit() else float(text)), (path, line, vendor)
    assert compared > 60_000


BASIC = {
    "Op Name": "name",
    "Op Type": "op_type",
    "Task Duration(us)": "duration_us",
    "Block Dim": "block_dim",
    "Mix Block Dim": "mix_block_dim",
    "Device Id": "device_id",
    "Pid": "pid",
    "Current Freq": "current_freq_mhz",
    "Rated Freq": "rated_freq_mhz",
}


def test_every_cell_of_every_basic_info_is_accounted_for(corpus: Warehouse) -> None:
    connection = sqlite3.connect(corpus.path)
    compared = 0
    for path in sorted(CORPUS.rglob("OpBasicInfo.csv")):
        _, kernel, _ = kernel_of(connection, path)
        for _, cells in rows_of(path):
            for vendor, text in cells.items():
                (value,) = connection.execute(f"SELECT {BASIC[vendor]} FROM kernels WHERE id = ?", (kernel,)).fetchone()
                compared += 1
                if text in ("NA", "N/A", ""):
                    assert value is None, (path, vendor)
                elif isinstance(value, str):
                    assert value == text
                else:
                    assert value == float(text), (path, vendor)
    assert compared == 23 * 9


def test_the_accounting_adds_up_for_every_run(corpus: Warehouse) -> None:
    rows = corpus.rows(
        "SELECT cells_read, cells_stored + cells_null + cells_lost, cells_lost,"
        " (SELECT coalesce(sum(cells), 0) FROM ingest_issues i WHERE i.run_id = runs.id) FROM runs"
    )
    assert rows
    for read, accounted, lost, explained in rows:
        assert read == accounted
        assert lost == explained


def test_restore_gives_back_the_same_bytes(corpus: Warehouse, tmp_path: Path) -> None:
    connection = sqlite3.connect(corpus.path)
    csvs = 0
    for run, location in connection.execute(
        "SELECT run_id, min(path) FROM run_locations WHERE content = 'whole' GROUP BY run_id"
    ).fetchall():
        target = tmp_path / str(run)
        done = restore(connection, run, target)
        assert done.left_out == []
        for path in (path for path in target.rglob("*") if path.is_file()):
            original = Path(location) / path.relative_to(target)
            assert path.read_bytes() == original.read_bytes(), original
            csvs += path.suffix == ".csv"
    assert csvs > 200


def snapshot(warehouse: Warehouse) -> dict[str, list[tuple]]:
    """All rows of all tables but the locations."""
    tables = warehouse.rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'run_locations'")
    return {table: sorted(warehouse.rows(f"SELECT * FROM {table}"), key=repr) for (table,) in tables}


def test_again_and_from_a_copy_only_locations_change(corpus: Warehouse, tmp_path: Path) -> None:
    before = snapshot(corpus)
    corpus.ingest(CORPUS)
    assert snapshot(corpus) == before
    copy = tmp_path / "elsewhere"
    shutil.copytree(CORPUS, copy)
    outcomes = corpus.ingest(copy)
    assert {outcome.kind for outcome in outcomes} == {"known", "empty", "foreign"}
    assert snapshot(corpus) == before
    assert corpus.value("SELECT count(*) FROM run_locations WHERE path LIKE ?", f"{copy}%") == 29


def test_chips_come_from_the_dump_else_from_the_headers_and_are_marked(corpus: Warehouse) -> None:
    rows = set(corpus.rows("SELECT soc, soc_source, chip_family, chip_family_source FROM runs WHERE mode = 'device'"))
    assert ("Ascend910B2", "dump", "910B", "soc") in rows
    assert ("Ascend910B3", "dump", "910B", "soc") in rows
    assert (None, None, "910B", "inferred") in rows


def test_idle_cores_are_named_and_left_out_of_means(corpus: Warehouse) -> None:
    """attention-bwd rounds 1 and 2: eight of 24 cores do nothing."""
    path = str((CORPUS / "attention-bwd-910B" / "round_001").resolve())
    kernel = corpus.value(
        "SELECT k.id FROM kernels k JOIN run_locations l ON l.run_id = k.run_id WHERE l.path = ?", path
    )
    idle = corpus.rows("SELECT block_id FROM kernel_cores WHERE kernel_id = ? AND is_idle = 1", kernel)
    assert len(idle) == 8
    n, n_idle, low = corpus.rows(
        "SELECT n, n_idle, min FROM kernel_metric_values WHERE kernel_id = ? AND metric = 'aiv_time_us'"
        " AND family = 'PipeUtilization'",
        kernel,
    )[0]
    assert (n, n_idle) == (24, 8)
    assert low > 100_000
