"""Taking runs out again, with everything that only they needed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable


def forget_runs(connection: sqlite3.Connection, run_ids: Iterable[int]) -> int:
    """Delete runs and what nothing else refers to; call inside a transaction. Returns how many went."""
    gone = 0
    for run_id in run_ids:
        gone += connection.execute("DELETE FROM runs WHERE id = ?", (run_id,)).rowcount
    drop_orphans(connection)
    return gone


def drop_orphans(connection: sqlite3.Connection) -> None:
    """Delete archived contents, operators and unknown metrics that no run uses any more."""
    connection.execute(
        "DELETE FROM contents WHERE NOT EXISTS (SELECT 1 FROM artifacts a WHERE a.content_id = contents.id)"
    )
    connection.execute(
        "DELETE FROM operators WHERE NOT EXISTS (SELECT 1 FROM kernels k WHERE k.operator_id = operators.id)"
    )
    connection.execute(
        "DELETE FROM instruction_details WHERE id NOT IN"
        " (SELECT DISTINCT detail_id FROM instruction_stats WHERE detail_id IS NOT NULL)"
    )
    connection.execute("DELETE FROM source_texts WHERE sha256 NOT IN (SELECT sha256 FROM source_files)")
    connection.execute(
        "DELETE FROM metrics WHERE known = 0 AND id NOT IN (SELECT DISTINCT metric_id FROM extra_metric_values)"
    )
