"""Is this run known? Identity is content: where it lies and what it is called do not matter."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from opprof_db.ingest.options import IngestOptions
from opprof_db.ingest.snapshot import Snapshot
from opprof_db.msopprof.names import RUN_NAME
from opprof_db.warehouse.store import storable


@dataclass(frozen=True, slots=True)
class Identity:
    """``kind``: new; same (all files known); part (a stored run holds these files and more);
    grown (these are a stored run's files, unchanged, and more); reread (all files are known, but were
    not all read, by an earlier version or because it was not asked for)."""

    kind: str
    run_id: int | None = None


UNREAD_BEFORE = ("bin", "instr_csv", "code_csv", "trace")
"""Kinds of files that earlier schemas only archived."""


def fully_read(connection: sqlite3.Connection, options: IngestOptions) -> frozenset[str]:
    """Fingerprints of the stored runs that hold all that this program can read and the options ask for."""
    kinds = ", ".join(f"'{kind}'" for kind in UNREAD_BEFORE)
    sql = (
        "SELECT fingerprint FROM runs WHERE id NOT IN"
        f" (SELECT run_id FROM artifacts WHERE status = 'archived' AND kind IN ({kinds}))"
    )
    parameters: list[str] = []
    if options.trace != "none":
        sql += " AND id NOT IN (SELECT run_id FROM artifacts WHERE status = 'not_asked_for' AND kind = 'trace')"
    if options.trace == "full":
        sql += (
            " AND id NOT IN (SELECT k.run_id FROM trace_files AS t INNER JOIN kernels AS k ON k.id = t.kernel_id"
            " WHERE t.kept = 'summary' AND t.events > 0)"
        )
    if options.conditions.get("aic_metrics"):
        sql += (
            " AND id IN (SELECT run_id FROM run_conditions"
            " WHERE kind = 'condition' AND key = 'aic_metrics' AND value = ?)"
        )
        parameters.append(options.conditions["aic_metrics"])
    return frozenset(row[0] for row in connection.execute(sql, parameters))


def identify(connection: sqlite3.Connection, taken: Snapshot, options: IngestOptions) -> Identity:
    """Compare a snapshot with what is stored."""
    row = connection.execute("SELECT id, fingerprint FROM runs WHERE fingerprint = ?", (taken.fingerprint,)).fetchone()
    if row is not None:
        return Identity("same" if row[1] in fully_read(connection, options) else "reread", int(row[0]))
    content = {str(storable(rel)): sha256 for rel, sha256 in taken.content.items()}
    for run_id in _candidates(connection, taken):
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


def _candidates(connection: sqlite3.Connection, taken: Snapshot) -> list[int]:
    """Runs that may be a part of this one, or this one of them.

    Sharing a file is no proof: a header-only or one-line CSV is the same in many runs. Only files
    that name a process and a duration, or a bin or trace, count, or the same place or full name.
    """
    found: dict[int, None] = {}
    telling = [sha256 for rel, sha256 in taken.content.items() if taken.identifying and taken.files[rel].has_rows]
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
                (storable(str(taken.run.root)),),
            )
        )
    )
    if RUN_NAME.fullmatch(taken.run.name):
        found.update(
            dict.fromkeys(
                row[0] for row in connection.execute("SELECT id FROM runs WHERE name = ?", (storable(taken.run.name),))
            )
        )
    return sorted(found)
