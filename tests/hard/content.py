"""Everything a warehouse holds, as digests a run and a table: equal digests mean equal rows."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

MOMENTS = frozenset({"ingested_at", "first_seen_at", "last_seen_at", "stored_at", "recorded_at", "diagnosed_at"})
"""When something was done: differs between two runs of the same command, and is left out."""
SHARED = 0
"""Stands for the run of rows that belong to none."""

Content = dict[tuple[str, int], tuple[int, str]]
"""(table, run id) -> (rows, digest)."""


def connect(path: Path) -> sqlite3.Connection:
    """A connection that sees what any other program would see, recovery of a broken-off write included."""
    return sqlite3.connect(path, timeout=60, isolation_level=None)


def content(path: Path) -> Content:
    """Every row of every table, by the run it belongs to; ids count, moments do not."""
    with closing(connect(path)) as connection:
        kernels = {}
        held: dict[tuple[str, int], list[str]] = {}
        tables = _tables(connection)
        if "kernels" in tables:
            kernels = dict(connection.execute("SELECT id, run_id FROM kernels"))
        for table in tables:
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            kept = [column for column in columns if column not in MOMENTS]
            listed = ", ".join(f'"{column}"' for column in kept)
            owner = _owner_column(table, kept)
            for row in connection.execute(f'SELECT {listed} FROM "{table}"'):
                run = SHARED if owner is None else row[kept.index(owner)]
                if owner == "kernel_id":
                    run = kernels.get(run, -1)
                held.setdefault((table, run or SHARED), []).append(repr(row))
    return {
        key: (len(rows), hashlib.sha256("\n".join(sorted(rows)).encode("utf-8", "replace")).hexdigest())
        for key, rows in held.items()
    }


def _tables(connection: sqlite3.Connection) -> list[str]:
    shadows = {row[1] for row in connection.execute("PRAGMA table_list") if row[2] == "shadow"}
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return [name for name in names if name not in shadows]


def _owner_column(table: str, columns: list[str]) -> str | None:
    if table == "runs":
        return "id"
    return next((name for name in ("run_id", "kernel_id") if name in columns), None)


def runs_in(held: Content) -> set[int]:
    """Ids of the runs."""
    return {run for table, run in held if table == "runs"}


def of_runs(held: Content) -> Content:
    """Only what belongs to runs."""
    return {key: value for key, value in held.items() if key[1] != SHARED}


def rows_of_shared(path: Path, table: str) -> set[str]:
    """Rows of a table that several runs share."""
    with closing(connect(path)) as connection:
        return {repr(row) for row in connection.execute(f'SELECT * FROM "{table}"')}


def unsound(path: Path) -> list[str]:
    """What SQLite's own checks say against the file, and archived files that nothing refers to."""
    with closing(connect(path)) as connection:
        said = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        said += [f"reference: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
        if "contents" in _tables(connection):
            (orphans,) = connection.execute(
                "SELECT count(*) FROM contents WHERE id NOT IN (SELECT content_id FROM artifacts"
                " WHERE content_id IS NOT NULL)"
            ).fetchone()
            if orphans:
                said.append(f"{orphans} archived files that no run refers to")
    return said


def differences(found: Content, expected: Content) -> list[str]:
    """The tables and runs in which two warehouses differ, in words."""
    lines = []
    for key in sorted(found.keys() | expected.keys()):
        if found.get(key) != expected.get(key):
            rows = [held[key][0] if key in held else 0 for held in (found, expected)]
            lines.append(f"{key[0]} of run {key[1]}: {rows[0]} rows instead of {rows[1]}, or other values")
    return lines
