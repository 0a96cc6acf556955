"""Facts about the file, and rewriting it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from opprof_db.warehouse import migrate
from opprof_db.warehouse.connection import explain


def describe(connection: sqlite3.Connection, path: Path) -> dict[str, object]:
    """What the file is and what takes the space (bytes)."""
    facts: dict[str, object] = {
        "file": str(path),
        "size_bytes": size_on_disk(path),
        "schema": migrate.state(connection).revision,
        "journal_mode": connection.execute("PRAGMA journal_mode").fetchone()[0],
        "free_bytes": _pragma(connection, "freelist_count") * _pragma(connection, "page_size"),
    }
    facts.update(connection.execute("SELECT key, value FROM warehouse_info ORDER BY key").fetchall())
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    for (table,) in tables:
        if not table.startswith(("sqlite_", "alembic_")):
            facts[f"rows in {table}"] = connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
    stored, original = connection.execute(
        "SELECT coalesce(sum(stored_bytes), 0), coalesce(sum(size_bytes), 0) FROM contents"
    ).fetchone()
    facts["archived files, bytes stored"] = stored
    facts["archived files, bytes original"] = original
    return facts


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def size_on_disk(path: Path) -> int:
    """Bytes of the file with its write-ahead log."""
    return sum(part.stat().st_size for part in (path, Path(f"{path}-wal")) if part.exists())


def compact(connection: sqlite3.Connection, path: Path) -> tuple[int, int]:
    """Rewrite the file without free pages; returns its size before and after.

    Raises:
        DatabaseError: another process uses the file, or the disk is too full.
    """
    before = size_on_disk(path)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise explain(error, path) from error
    return before, size_on_disk(path)
