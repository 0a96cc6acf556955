"""Is this run known? Identity is content: where it lies and what it is called do not matter."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from opprof_db.ingest.snapshot import Snapshot
from opprof_db.msopprof.names import RUN_NAME


@dataclass(frozen=True, slots=True)
class Identity:
    """``kind``: new; same (all files known); part (a stored run holds these files and more);
    grown (these are a stored run's files, unchanged, and more); reread (all files are known, but an
    earlier version of this program could not read some of them)."""

    kind: str
    run_id: int | None = None


UNREAD_BEFORE = ("bin", "instr_csv", "code_csv", "trace")
"""Kinds of files that earlier schemas only archived."""


def fully_read(connection: sqlite3.Connection) -> frozenset[str]:
    """Fingerprints of the stored runs whose files were all read that this program can read."""
    kinds = ", ".join(f"'{kind}'" for kind in UNREAD_BEFORE)
    rows = connection.execute(
        "SELECT fingerprint FROM runs WHERE id NOT IN"
        f" (SELECT run_id FROM artifacts WHERE status = 'archived' AND kind IN ({kinds}))"
    )
    return frozenset(row[0] for row in rows)


def identify(connection: sqlite3.Connection, taken: Snapshot) -> Identity:
    """Compare a snapshot with what is stored."""
    row = connection.execute("SELECT id, fingerprint FROM runs WHERE fingerprint = ?", (taken.fingerprint,)).fetchone()
    if row is not None:
        return Identity("same" if row[1] in fully_read(connection) else "reread", int(row[0]))
    content = taken.content
    for run_id in _candidates(connection, taken, content):
        stored = dict(
            connection.execute(
                "SELECT path, sha256 FROM artifacts WHERE run_id = ? AND in_fingerprint = 1", (run_id,)
            ).fetchall()
        )
        if content.items() < stored.items():
            return Identity("part", run_id)
        if stored.items() < content.items():
            return Identity("grown", run_id)
    return Identity("new")


def _candidates(connection: sqlite3.Connection, taken: Snapshot, content: dict[str, str]) -> list[int]:
    """Runs that may be a part of this one, or this one of them.

    Sharing a file is no proof: a header-only or one-line CSV is the same in many runs. Only files
    that name a process and a duration, or a bin or trace, count, or the same place or full name.
    """
    found: dict[int, None] = {}
    telling = [sha256 for rel, sha256 in content.items() if taken.identifying and taken.files[rel].has_rows]
    for start in range(0, len(telling), 500):
        batch = telling[start : start + 500]
        marks = ", ".join("?" * len(batch))
        found.update(
            dict.fromkeys(
                row[0]
                for row in connection.execute(
                    f"SELECT DISTINCT run_id FROM artifacts WHERE sha256 IN ({marks}) AND in_fingerprint = 1",
                    batch,
                )
            )
        )
    found.update(
        dict.fromkeys(
            row[0]
            for row in connection.execute(
                "SELECT run_id FROM run_locations WHERE path = ? AND content = 'whole'",
                (str(taken.run.root),),
            )
        )
    )
    if RUN_NAME.fullmatch(taken.run.name):
        found.update(
            dict.fromkeys(row[0] for row in connection.execute("SELECT id FROM runs WHERE name = ?", (taken.run.name,)))
        )
    return sorted(found)
