"""Whether a warehouse still is what was put into it."""

from __future__ import annotations

import hashlib
import sqlite3

from opprof_db.ingest.archive import DamagedArchiveError, unpack


def problems(connection: sqlite3.Connection) -> list[str]:
    """One line per problem; empty for a sound warehouse."""
    found = [f"integrity: {row[0]}" for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    for table, rowid, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        found.append(f"reference: a row ({rowid}) of {table} points to nothing in {parent}")
    found += _accounting(connection)
    found += _archive(connection)
    return found


def _accounting(connection: sqlite3.Connection) -> list[str]:
    """Cells that the issues explain must be the cells that were lost."""
    rows = connection.execute(
        "SELECT r.id, r.name, r.cells_lost,"
        " (SELECT coalesce(sum(i.cells), 0) FROM ingest_issues i WHERE i.run_id = r.id) AS explained"
        " FROM runs r WHERE r.cells_lost <> explained"
    )
    return [
        f"accounting: run {identifier} ({name}) lost {lost} cells, its issues explain {explained}"
        for identifier, name, lost, explained in rows
    ]


def _archive(connection: sqlite3.Connection) -> list[str]:
    found = []
    for identifier, sha256, size, codec in connection.execute(
        "SELECT id, sha256, size_bytes, codec FROM contents ORDER BY id"
    ):
        digest = hashlib.sha256()
        length = 0
        try:
            for (chunk,) in connection.execute(
                "SELECT data FROM content_chunks WHERE content_id = ? ORDER BY seq", (identifier,)
            ):
                data = unpack(codec, chunk)
                digest.update(data)
                length += len(data)
        except DamagedArchiveError as error:
            found.append(f"archive: content {identifier} cannot be unpacked: {error}")
            continue
        if length != size or digest.hexdigest() != sha256:
            found.append(f"archive: content {identifier} is not what was archived (size or hash differs)")
    return found
