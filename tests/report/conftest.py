"""Warehouses that reports are made from, each made once for all tests."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.conftest import Warehouse
from tests.shared import ROOT

HOSTILE = (
    "<script>window.hacked=1</script><img src=x onerror=window.hacked=2>\"'`{{7*7}}{% raw %}</title></style>"
    "</script><!-- & \x00 \u202ereversed\u202c \u200f </textarea>"
)
LONG = "x" * 10_000
FIELDS = (
    "runs.name runs.missing runs.soc run_conditions.value kernels.name kernels.folder_name kernels.missing"
    " operators.name ingest_issues.message ingest_issues.raw_text ingest_issues.column_name artifacts.path strings.text"
    " instruction_stats.instruction instruction_details.detail source_line_stats.code source_line_stats.file"
    " source_files.path source_texts.source hot_lines.file hot_instructions.source hot_instructions.code"
    " vendor_advice.advice roofline_points.title roofline_points.bandwidth_name roofline_points.compute_name"
    " kernel_labels.value run_locations.path"
).split()


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    made = Warehouse(tmp_path_factory.mktemp("report") / "example.db")
    made.ingest(ROOT / "examples" / "out", labels={"branch": "main"})
    return made


@pytest.fixture(scope="session")
def hostile(example: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The example with a hostile text in every field that comes from files or users."""
    made = Warehouse(tmp_path_factory.mktemp("hostile") / "hostile.db")
    with sqlite3.connect(example.path) as source, sqlite3.connect(made.path) as target:
        source.backup(target)
    connection = sqlite3.connect(made.path)
    connection.execute("PRAGMA foreign_keys = OFF")
    changed = 0
    for field in FIELDS:
        table, column = field.split(".")
        if not connection.execute("SELECT 1 FROM pragma_table_info(?) WHERE name = ?", (table, column)).fetchone():
            continue
        # Different in every row: some of the columns are unique.
        connection.execute(
            f"UPDATE OR REPLACE {table} SET {column} = ? || rowid || ? WHERE {column} IS NOT NULL"
            if not _without_rowid(connection, table)
            else f"UPDATE OR REPLACE {table} SET {column} = ? || {column} || ? WHERE {column} IS NOT NULL",
            (HOSTILE, LONG),
        )
        changed += 1
    connection.commit()
    connection.close()
    assert changed > 20
    return made


def _without_rowid(connection: sqlite3.Connection, table: str) -> bool:
    return bool(connection.execute("SELECT wr FROM pragma_table_list WHERE name = ?", (table,)).fetchone()[0])


def page(warehouse: Warehouse, run_id: int, target: Path, **options: object) -> Path:
    """The report of a run, written to a file."""
    from opprof_db.report import page as pages
    from opprof_db.report import run_report
    from opprof_db.report.page import Options

    chosen = Options(**options)  # type: ignore[arg-type]
    connection = sqlite3.connect(warehouse.path)
    try:
        pages.write(run_report.render(connection, run_id, chosen), target, chosen)
    finally:
        connection.close()
    return target
