"""Creating and upgrading: one transaction, a backup first, every row kept, strangers refused untouched."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from opprof_db.errors import DatabaseError
from opprof_db.resources import folder
from opprof_db.warehouse import migrate, opening
from opprof_db.warehouse.fts import internal_tables
from opprof_db.warehouse.tables import metadata
from tests import small
from tests.conftest import Warehouse
from tests.shared import ROOT

FIXTURES = ROOT / "tests" / "fixtures" / "databases"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def words(sql: str) -> str:
    return " ".join(sql.replace('"', "").split())


def test_migrations_and_tables_agree_word_for_word(tmp_path: Path) -> None:
    """Alembic's comparison does not see STRICT, checks or WITHOUT ROWID; the statements do."""
    path = tmp_path / "new.db"
    migrate.upgrade(path, create=True)
    with closing(sqlite3.connect(path)) as connection:
        made = {
            name: words(sql)
            for name, sql in connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL"
                " AND name <> 'alembic_version' AND name NOT LIKE 'sqlite_%'"
            )
            if name not in internal_tables(connection)
        }
    dialect = sqlite_dialect.dialect()
    declared = {}
    for table in metadata.sorted_tables:
        declared[table.name] = words(str(CreateTable(table).compile(dialect=dialect)))
        for index in table.indexes:
            declared[str(index.name)] = words(str(CreateIndex(index).compile(dialect=dialect)))
    assert made == declared


def test_every_table_is_strict(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    migrate.upgrade(path, create=True)
    with closing(sqlite3.connect(path)) as connection:
        loose = [
            row[1]
            for row in connection.execute("PRAGMA table_list")
            if row[2] == "table" and not row[5] and not row[1].startswith(("sqlite_", "alembic_"))
        ]
    assert loose == []


def test_plain_alembic_upgrades_and_finds_nothing_to_do(tmp_path: Path) -> None:
    path = tmp_path / "plain.db"
    for arguments in (["upgrade", "head"], ["check"]):
        done = subprocess.run(
            [sys.executable, "-m", "alembic", "-x", f"db={path}", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM top_kernels").fetchone() == (0,)


def next_schema(tmp_path: Path, upgrade: str) -> Path:
    """The migrations with one more revision, as a later release would ship them."""
    later = tmp_path / "migrations"
    shutil.copytree(folder("migrations"), later)
    head = migrate.revisions()[-1]
    revision = f"{int(head) + 1:04d}"
    (later / "versions" / f"{revision}_later.py").write_text(
        f"from alembic import op\nrevision = {revision!r}\ndown_revision = {head!r}\n"
        f"branch_labels = None\ndepends_on = None\n\ndef upgrade():\n{upgrade}\n"
    )
    return later


@pytest.fixture
def filled(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    warehouse.ingest(small.run(tmp_path / "OPPROF_A"))
    return warehouse


def test_an_upgrade_backs_up_first_keeps_every_row_and_recreates_the_views(filled: Warehouse, tmp_path: Path) -> None:
    rebuild = (
        "    with op.batch_alter_table('kernels', recreate='always') as batch:\n"
        "        batch.alter_column('tiling_key', new_column_name='tiling_key')\n"
    )
    later = next_schema(tmp_path, rebuild)
    before = filled.rows("SELECT * FROM kernels"), filled.rows("SELECT * FROM pipe_utilization")
    said: list[str] = []
    migrate.upgrade(filled.path, notify=said.append, directory=later)
    assert (filled.rows("SELECT * FROM kernels"), filled.rows("SELECT * FROM pipe_utilization")) == before
    assert filled.value("SELECT version_num FROM alembic_version") == migrate.revisions(later)[-1]
    assert filled.value("SELECT count(*) FROM top_kernels") == 1
    (backup,) = tmp_path.glob("*.bak")
    assert str(backup) in said[0]
    copy = Warehouse(backup)
    assert copy.value("SELECT version_num FROM alembic_version") == migrate.revisions()[-1]
    assert copy.rows("SELECT * FROM kernels") == before[0]


def test_a_failed_upgrade_leaves_the_file_as_it_was(filled: Warehouse, tmp_path: Path) -> None:
    later = next_schema(tmp_path, "    op.execute('DROP TABLE kernel_cores')\n    op.execute('SELECT * FROM nowhere')")
    before = filled.rows("SELECT name, sql FROM sqlite_master ORDER BY 1"), filled.rows("SELECT * FROM kernel_cores")
    with pytest.raises(DatabaseError, match="the file is as it was before"):
        migrate.upgrade(filled.path, directory=later)
    assert (
        filled.rows("SELECT name, sql FROM sqlite_master ORDER BY 1"),
        filled.rows("SELECT * FROM kernel_cores"),
    ) == before
    with opening.reading(filled.path) as connection:
        assert connection.execute("SELECT count(*) FROM top_kernels").fetchone() == (1,)


def test_a_newer_file_is_refused_untouched(filled: Warehouse) -> None:
    with closing(sqlite3.connect(filled.path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
        connection.execute("PRAGMA journal_mode = DELETE")
    before = sha256(filled.path)
    for attempt in (migrate.upgrade, opening.bring_up_to_date):
        with pytest.raises(DatabaseError, match="newer than this program"):
            attempt(filled.path)
    with pytest.raises(DatabaseError, match="newer than this program"), opening.reading(filled.path):
        pass
    assert sha256(filled.path) == before


def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (id INTEGER)")
    before = sha256(path)
    with pytest.raises(DatabaseError, match="of another program"):
        migrate.upgrade(path, create=True)
    assert sha256(path) == before


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be read as one" * 40, b"\x00" * 4096])
def test_other_files_are_refused_untouched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file.db"
    path.write_bytes(content)
    with pytest.raises(DatabaseError, match="is not a SQLite database"):
        migrate.upgrade(path, create=True)
    assert path.read_bytes() == content


def test_views_and_catalogue_of_a_newer_program_are_refreshed_without_a_migration(filled: Warehouse) -> None:
    with closing(sqlite3.connect(filled.path, isolation_level=None)) as connection:
        connection.execute("DROP VIEW top_kernels")
        connection.execute("UPDATE metrics SET meaning = 'old'")
        connection.execute("UPDATE warehouse_info SET value = 'old' WHERE key IN ('views_digest', 'catalogue_digest')")
    ids = filled.rows("SELECT id, vendor_name FROM metrics ORDER BY id")
    with opening.reading(filled.path) as connection:
        assert connection.execute("SELECT count(*) FROM top_kernels").fetchone() == (1,)
    assert filled.rows("SELECT id, vendor_name FROM metrics ORDER BY id") == ids
    assert filled.value("SELECT count(*) FROM metrics WHERE meaning = 'old'") == 0


def test_a_fixture_database_stands_for_every_schema_version() -> None:
    assert [path.stem.removeprefix("schema_") for path in sorted(FIXTURES.glob("*.db"))] == migrate.revisions()


@pytest.mark.parametrize("fixture", sorted(FIXTURES.glob("*.db")), ids=lambda path: path.stem)
def test_fixture_databases_keep_upgrading_with_all_their_rows(fixture: Path, tmp_path: Path) -> None:
    path = tmp_path / fixture.name
    shutil.copy(fixture, path)
    old = Warehouse(fixture)
    tables = ("runs", "kernels", "pipe_utilization", "kernel_metrics", "artifacts", "content_chunks", "ingest_issues")
    counts = {table: old.value(f"SELECT count(*) FROM {table}") for table in tables}
    assert min(counts.values()) > 0, counts  # type: ignore[type-var]
    opening.bring_up_to_date(path)
    new = Warehouse(path)
    assert {table: new.value(f"SELECT count(*) FROM {table}") for table in tables} == counts
    assert new.value("SELECT count(*) FROM top_kernels") > 0  # type: ignore[operator]
    with opening.reading(path) as connection:
        from opprof_db.ingest.checking import problems

        assert problems(connection) == []
