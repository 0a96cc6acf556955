"""Labels on launches and runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from opprof_db.warehouse import resolve


@dataclass(frozen=True, slots=True)
class Subject:
    """What a label sits on."""

    kind: str
    """``kernel`` or ``run``."""
    id: int

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}" if self.kind == "kernel" else f"run {self.id}"


def subject_named(connection: sqlite3.Connection, text: str) -> Subject:
    """The launch or run that a name means."""
    if resolve.looks_like_kernel(text):
        return Subject("kernel", resolve.kernel_id(connection, text))
    return Subject("run", resolve.run_id(connection, text))


def put(connection: sqlite3.Connection, subject: Subject, labels: dict[str, str]) -> None:
    """Set labels, replacing those of the same key."""
    for key, value in labels.items():
        if subject.kind == "kernel":
            connection.execute(
                "INSERT INTO kernel_labels (kernel_id, key, value, source) VALUES (?, ?, ?, 'user')"
                " ON CONFLICT (kernel_id, key) DO UPDATE SET value = excluded.value, source = 'user'",
                (subject.id, key, value),
            )
        else:
            connection.execute(
                "INSERT INTO run_conditions (run_id, kind, key, value, source)"
                " VALUES (?, 'label', ?, ?, 'user') ON CONFLICT (run_id, kind, key)"
                " DO UPDATE SET value = excluded.value, source = 'user'",
                (subject.id, key, value),
            )


def take_off(connection: sqlite3.Connection, subject: Subject, keys: Iterable[str]) -> list[str]:
    """Remove labels; returns the keys that were not there."""
    missing = []
    for key in keys:
        if subject.kind == "kernel":
            sql = "DELETE FROM kernel_labels WHERE kernel_id = ? AND key = ?"
        else:
            sql = "DELETE FROM run_conditions WHERE run_id = ? AND kind = 'label' AND key = ?"
        if connection.execute(sql, (subject.id, key)).rowcount == 0:
            missing.append(key)
    return missing


def of(connection: sqlite3.Connection, subject: Subject) -> dict[str, str]:
    """The labels something has, by key."""
    if subject.kind == "kernel":
        sql = "SELECT key, value FROM kernel_labels WHERE kernel_id = ? ORDER BY key"
    else:
        sql = "SELECT key, value FROM run_conditions WHERE run_id = ? AND kind = 'label' ORDER BY key"
    return dict(connection.execute(sql, (subject.id,)).fetchall())
