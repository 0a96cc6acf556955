"""Named sets of launches that later ones are compared with."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from opprof_db.analysis.selection import Selection
from opprof_db.errors import UsageError
from opprof_db.warehouse.resolve import did_you_mean


def set_baseline(connection: sqlite3.Connection, name: str, selection: Selection) -> bool:
    """Fix a selection under a name, replacing what it stood for; returns whether it did. Runs in the caller's
    transaction."""
    replaced = connection.execute("DELETE FROM baseline_kernels WHERE name = ?", (name,)).rowcount > 0
    replaced = connection.execute("DELETE FROM baselines WHERE name = ?", (name,)).rowcount > 0 or replaced
    now = datetime.now(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"
    connection.execute("INSERT INTO baselines (name, selection, set_at) VALUES (?, ?, ?)", (name, selection.text, now))
    connection.executemany(
        "INSERT INTO baseline_kernels (name, kernel_id) VALUES (?, ?)", [(name, one) for one in selection.kernel_ids]
    )
    return replaced


def remove_baseline(connection: sqlite3.Connection, name: str) -> None:
    """Forget a baseline; its runs stay.

    Raises:
        UsageError: there is none of that name.
    """
    names = [row[0] for row in connection.execute("SELECT name FROM baselines ORDER BY name")]
    if name not in names:
        raise UsageError(f"there is no baseline {name!r}", did_you_mean(name, names) or "`opprof-db baseline list`")
    connection.execute("DELETE FROM baseline_kernels WHERE name = ?", (name,))
    connection.execute("DELETE FROM baselines WHERE name = ?", (name,))


LISTED = (
    "SELECT b.name, b.selection, b.set_at, count(k.kernel_id) AS launches FROM baselines AS b"
    " LEFT JOIN baseline_kernels AS k ON k.name = b.name GROUP BY b.name ORDER BY b.name"
)
