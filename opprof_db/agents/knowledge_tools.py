"""The knowledge base for agents: what fits a launch, search, an entry, and whether a fix did what it promised."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import asdict
from typing import Any

from opprof_db.agents.answers import Answer, Caps, rows_answer, text_answer
from opprof_db.errors import UsageError
from opprof_db.knowledge.library import Library, library
from opprof_db.knowledge.model import KINDS, RULES, Entry
from opprof_db.warehouse import resolve

_COLUMNS = (
    "entry", "kind", "title", "reason", "rules", "expected", "verify", "gain_elsewhere", "confidence", "improved_here",
)  # fmt: skip


def recommend(connection: sqlite3.Connection, kernel: str, limit: int, caps: Caps) -> Answer:
    """Entries that fit a launch, a row each."""
    from opprof_db.analysis.diagnose import diagnose
    from opprof_db.analysis.recommend import recommend as fitting

    diagnosis = diagnose(connection, resolve.only_kernel(connection, kernel))
    found = fitting(connection, diagnosis.kernel_id, limit=min(limit, caps.rows), diagnosis=diagnosis)
    rows = [
        (
            each.entry,
            each.kind,
            each.title,
            each.reason,
            each.rules,
            [f"{move.column} {move.direction}" for move in each.expected],
            each.verify,
            each.gain,
            each.confidence,
            [_improved(asdict(case)) for case in each.improved],
        )
        for each in found
    ]
    return rows_answer(_COLUMNS, rows, None, caps, kernel_id=diagnosis.kernel_id, operator=diagnosis.operator)


def _improved(case: dict[str, Any]) -> dict[str, Any]:
    keys = ("entry_id", "title", "operator", "before_duration_us", "after_duration_us", "speed_up", "distance")
    return {key: case[key] for key in keys}


def search(
    connection: sqlite3.Connection | None,
    question: str | None,
    kind: str | None,
    chip: str | None,
    operator: str | None,
    rule: str | None,
    limit: int,
    caps: Caps,
) -> Answer:
    """Entries that answer a question, best first, or all that the filters leave."""
    from opprof_db.knowledge import index
    from opprof_db.knowledge.naming import chip_family, operator_kind

    for value, known, what in ((kind, KINDS, "kind"), (rule, RULES, "rule")):
        if value is not None and value not in known:
            names = ", ".join(sorted(known))
            raise UsageError(f"no {what} is called {value[:200]!r}", resolve.did_you_mean(value, known) or names)
    filters = index.Filters(
        kind, chip_family(chip) if chip else None, operator_kind(operator) if operator else None, rule
    )
    with closing(index.in_memory(_entries(connection).values())) as entries:
        found = index.search(entries, question, filters, limit) if question else index.listed(entries, filters)[:limit]
    return rows_answer(
        ("entry", "kind", "title", "summary"), [(h.entry, h.kind, h.title, h.summary) for h in found], None, caps
    )


def show(connection: sqlite3.Connection | None, entry: str, caps: Caps) -> Answer:
    """One entry as Markdown, with its sources."""
    from opprof_db.knowledge.showing import as_text

    found = _named(connection, entry)
    return text_answer("text", as_text(found), caps, "The rest is in the program's documentation.", entry=found.id)


def verify(connection: sqlite3.Connection, before: str, after: str, entry: str, caps: Caps) -> Answer:
    """Whether the metrics moved as an entry promised."""
    from opprof_db.analysis.verify import verify as check

    one, other = (resolve.only_kernel(connection, name) for name in (before, after))
    found = check(connection, one, other, _named(connection, entry))
    columns = ("metric", "core_kind", "statistic", "unit", "before", "after", "promised", "moved", "decides")
    rows = [tuple(getattr(one, name) for name in columns) for one in found.checked]
    told: dict[str, Any] = {
        "entry": found.entry,
        "verdict": found.verdict,
        "sentence": found.sentence,
        "speed_up": found.speed_up,
        "findings_before": {rule.rule: f"after: {rule.after}" for rule in found.rules},
        "remarks": [*found.pair.refusals, *found.pair.remarks],
    }
    return rows_answer(columns, rows, None, caps, **told)


def _named(connection: sqlite3.Connection | None, name: str) -> Entry:
    return Library(_entries(connection), (), {}).get(name[:200])


def _entries(connection: sqlite3.Connection | None) -> dict[str, Entry]:
    """Entries in force, and what was recorded in the warehouse."""
    from opprof_db.knowledge.recorded import recorded_entries

    entries = dict(library().entries)
    for entry in recorded_entries(connection) if connection is not None else ():
        entries.setdefault(entry.id, entry)
    return entries
