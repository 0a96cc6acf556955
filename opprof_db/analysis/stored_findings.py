"""Keeps diagnoses in the warehouse, so that SQL, reports and the knowledge base see them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from opprof_db.analysis.findings import Diagnosis, Evidence, Finding


def store(connection: sqlite3.Connection, diagnosis: Diagnosis) -> None:
    """Keep a diagnosis; what was stored for its kernel and profile before is replaced. Call inside a transaction."""
    key = (diagnosis.kernel_id, diagnosis.profile)
    connection.execute("DELETE FROM diagnoses WHERE kernel_id = ? AND profile = ?", key)
    connection.execute(
        "INSERT INTO diagnoses (kernel_id, profile, rules_version, diagnosed_at)"
        " VALUES (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
        (*key, diagnosis.rules_version),
    )
    connection.executemany(
        "INSERT INTO diagnosis_facts (kernel_id, profile, position, name, value, unit, sentence)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (*key, at, fact.name, None if fact.value is None else str(fact.value), fact.unit, fact.sentence)
            for at, fact in enumerate(diagnosis.facts)
        ],
    )
    connection.executemany(
        "INSERT INTO findings (kernel_id, profile, position, rule, outcome, severity, confidence, title, sentence,"
        " core, recoverable_us, recoverable_why, advice, measure_next, expected, source)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(*key, at, *_row(finding)) for at, finding in enumerate(diagnosis.outcomes)],
    )
    connection.executemany(
        "INSERT INTO finding_evidence (kernel_id, profile, position, ordinal, table_name, column_name, row_key,"
        " value_number, value_text, unit, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (*key, at, number, *_evidence_row(item))
            for at, finding in enumerate(diagnosis.outcomes)
            for number, item in enumerate(finding.evidence)
        ],
    )


def _row(finding: Finding) -> tuple[Any, ...]:
    expected = [{"column": m.column, "direction": m.direction, "why": m.why} for m in finding.expected]
    return (
        finding.rule,
        finding.outcome,
        finding.severity,
        finding.confidence,
        finding.title,
        finding.sentence,
        finding.core,
        finding.recoverable_us,
        finding.recoverable_why,
        _json(finding.advice),
        _json(finding.measure_next),
        _json(expected),
        finding.source,
    )


def _evidence_row(item: Evidence) -> tuple[Any, ...]:
    number = item.value if isinstance(item.value, int | float) else None
    text = item.value if isinstance(item.value, str) else None
    return item.table, item.column, _json(dict(item.row)), number, text, item.unit, item.note


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def look_up(connection: sqlite3.Connection, item: Evidence) -> Any:
    """The stored cell that evidence cites; raises when there is no such cell, or more than one.

    Raises:
        LookupError: the citation leads nowhere.
    """
    table, column, keys = _identifiers(connection, item.table, item.column, item.row)
    where = " AND ".join(f"{key} IS ?" for key in keys)
    rows = connection.execute(f"SELECT {column} FROM {table} WHERE {where}", tuple(item.row.values())).fetchall()
    if len(rows) != 1:
        raise LookupError(f"{item.table}.{item.column} at {dict(item.row)} names {len(rows)} rows")
    return rows[0][0]


def _identifiers(
    connection: sqlite3.Connection, table: str, column: str, row: Mapping[str, Any]
) -> tuple[str, str, list[str]]:
    """Names that the database itself knows, quoted; nothing else becomes part of a statement."""
    known = {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
    unknown = {column, *row} - known
    if unknown:
        raise LookupError(f"{table} has no column {', '.join(sorted(unknown))}")
    return f'"{table}"', f'"{column}"', [f'"{key}"' for key in row]
