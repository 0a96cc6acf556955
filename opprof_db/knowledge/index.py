"""The full-text index: what of an entry is found, and how a question is ranked.

An entry's title, subject and text are stored as tokens (``terms``), so that question and entry meet whatever the
language or synonym. Filters are tokens of the subject too. Ranking is BM25 with the title counting most.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from opprof_db.errors import UsageError
from opprof_db.knowledge.model import Entry
from opprof_db.knowledge.terms import STOP_WORDS, Tokens, tokens
from opprof_db.warehouse.fts import INDEX, INDEX_COLUMNS, index_statement

WEIGHTS = (0.0, 0.0, 0.0, 0.0, 8.0, 4.0, 1.0)
"""Of the index's columns, in their order."""
DEFAULT_LIMIT = 10
_ANY_CHIP = "chip0any"
_INSERT = (
    f"INSERT INTO {INDEX} (rowid, {', '.join(INDEX_COLUMNS)}) VALUES ({', '.join('?' * (len(INDEX_COLUMNS) + 1))})"
)


@dataclass(frozen=True, slots=True)
class Filters:
    """What found entries must be about; ``None``: anything."""

    kind: str | None = None
    chip: str | None = None
    operator: str | None = None
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A found entry; the higher the score, the better."""

    entry: str
    kind: str
    title: str
    summary: str
    score: float = field(compare=False)


def insert(connection: sqlite3.Connection, identifier: int, entry: Entry) -> None:
    """Put an entry into the index under a rowid."""
    head = entry.head
    subject = " ".join(
        [
            head.id,
            *head.terms,
            *head.rules,
            *head.operators,
            *head.architectures,
            *([head.architecture.name] if head.architecture else []),
        ]
    )
    filters = [_filter("kind", head.kind)]
    filters += [_filter("chip", chip) for chip in head.chips] or [_ANY_CHIP]
    filters += [_filter("operator", operator) for operator in head.operators]
    filters += [_filter("rule", rule) for rule in head.rules]
    row = (
        identifier,
        head.id,
        head.kind,
        head.title,
        head.summary,
        _stored(tokens(head.title)),
        " ".join([_stored(tokens(subject)), *filters]),
        _stored(tokens(f"{head.summary}\n{entry.body}")),
    )
    connection.execute(_INSERT, row)


def _stored(found: Tokens) -> str:
    return " ".join([*found.words, *found.concepts])


def _filter(name: str, value: str) -> str:
    return f"{name}0" + "".join(char for char in value.lower() if char.isalnum())


def in_memory(entries: Iterable[Entry]) -> sqlite3.Connection:
    """An index of its own, where no warehouse is at hand."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(index_statement())
    for identifier, entry in enumerate(entries, 1):
        insert(connection, identifier, entry)
    return connection


def search(
    connection: sqlite3.Connection, question: str, filters: Filters | None = None, limit: int = DEFAULT_LIMIT
) -> list[Hit]:
    """The entries that answer a question best.

    Raises:
        UsageError: nothing in the question could be looked for.
    """
    wanted = _wanted(tokens(question))
    if not wanted:
        raise UsageError(f"{question!r} has no word to look for", "name a symptom, an operator, a rule or a metric")
    return _select(connection, "(" + " OR ".join(wanted) + ")", filters or Filters(), limit)


def listed(connection: sqlite3.Connection, filters: Filters | None = None) -> list[Hit]:
    """All entries a filter leaves, by kind and id; the score is 0."""
    chosen = filters or Filters()
    if chosen == Filters():
        rows = connection.execute(f"SELECT entry, kind, label, summary, 0.0 FROM {INDEX}").fetchall()
        return sorted((Hit(*row) for row in rows), key=_order)
    return sorted(_select(connection, None, chosen, -1), key=_order)


def _order(hit: Hit) -> tuple[int, str]:
    return ("pattern", "recipe", "case", "tip").index(hit.kind), hit.entry


def _wanted(asked: Tokens) -> list[str]:
    """Quoted tokens of a question; a single Chinese or Japanese character also as a beginning."""
    words = [word for word in dict.fromkeys(asked.words) if word not in STOP_WORDS and not _noise(word)]
    return [
        *(f'"{concept}"' for concept in dict.fromkeys(asked.concepts)),
        *(f'"{word}"' + ("" if word.isascii() or len(word) > 1 else " *") for word in words),
    ]


def _noise(word: str) -> bool:
    return word.isascii() and len(word) == 1


def _select(connection: sqlite3.Connection, words: str | None, filters: Filters, limit: int) -> list[Hit]:
    parts = [words] if words else []
    for name in ("kind", "operator", "rule"):
        value: Any = getattr(filters, name)
        if value:
            parts.append(f'subject:"{_filter(name, value)}"')
    if filters.chip:
        parts.append(f'subject:("{_filter("chip", filters.chip)}" OR "{_ANY_CHIP}")')
    weights = ", ".join(map(str, WEIGHTS))
    rows = connection.execute(
        f"SELECT entry, kind, label, summary, -bm25({INDEX}, {weights}) AS score FROM {INDEX}"
        f" WHERE {INDEX} MATCH ? ORDER BY score DESC, entry LIMIT ?",
        (" AND ".join(parts), limit),
    )
    return [Hit(*row) for row in rows]
