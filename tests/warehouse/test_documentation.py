"""Every table, view and column is documented, and what the documents say is what there is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.warehouse import migrate, views
from opprof_db.warehouse.sql_files import SqlFile, read_sql_file
from opprof_db.warehouse.tables import metadata


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> sqlite3.Connection:
    path = tmp_path_factory.mktemp("documented") / "new.db"
    migrate.upgrade(path, create=True)
    opened = sqlite3.connect(path)
    yield opened  # type: ignore[misc]
    opened.close()


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
def test_every_table_and_column_has_a_comment(table) -> None:  # type: ignore[no-untyped-def]
    assert table.comment
    undocumented = [column.name for column in table.columns if not column.comment or len(column.comment) < 5]
    assert undocumented == []


@pytest.mark.parametrize("view", [*views.view_files(), *views.compat_files()], ids=lambda view: view.name)
def test_every_view_documents_its_purpose_grain_columns_and_an_example(
    view: SqlFile, connection: sqlite3.Connection
) -> None:
    assert view.purpose.endswith(".")
    assert view.grain
    assert view.example
    connection.execute(view.example)
    real = [column[0] for column in connection.execute(f"SELECT * FROM {view.name} LIMIT 0").description]
    assert list(view.columns) == real


def test_a_view_without_header_would_be_noticed(tmp_path: Path) -> None:
    path = tmp_path / "bare.sql"
    path.write_text("SELECT 1 AS one;\n")
    bare = read_sql_file(path)
    assert (bare.purpose, bare.columns, bare.sql) == ("", {}, "SELECT 1 AS one")
    with closing(sqlite3.connect(":memory:")) as connection:
        assert connection.execute(bare.sql).fetchone() == (1,)
