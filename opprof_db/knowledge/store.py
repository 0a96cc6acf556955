"""Keeps the warehouse's copy of the entries at what the directories hold, entry by entry, by content."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

from opprof_db.knowledge import index
from opprof_db.knowledge.library import library
from opprof_db.knowledge.model import Entry
from opprof_db.knowledge.places import Place, places
from opprof_db.knowledge.recorded import recorded_entries
from opprof_db.warehouse.connection import transaction
from opprof_db.warehouse.fts import INDEX


def is_current(connection: sqlite3.Connection, where: tuple[Place, ...]) -> bool:
    """Whether the file holds what these directories hold, as far as names, sizes and times tell."""
    stored = connection.execute("SELECT path, stamp FROM knowledge_places ORDER BY position").fetchall()
    return stored == [(place.name, place.stamp()) for place in where]


def synchronise(connection: sqlite3.Connection, path: Path, given: Iterable[Path] = ()) -> bool:
    """Bring the file's entries up to date in one transaction; whether anything had to be done.

    Raises:
        DatabaseError: the file cannot be written.
    """
    given = list(given)
    where = places(given)
    if is_current(connection, where):
        return False
    entries = dict(library(given).entries)
    guard: AbstractContextManager[None] = transaction(connection, path)
    with guard:
        for entry in recorded_entries(connection):
            entries.setdefault(entry.id, entry)
        put(connection, entries.values())
        connection.execute("DELETE FROM knowledge_places")
        connection.executemany(
            "INSERT INTO knowledge_places (position, path, stamp) VALUES (?, ?, ?)",
            [(position, place.name, place.stamp()) for position, place in enumerate(where)],
        )
    return True


def put(connection: sqlite3.Connection, entries: Iterable[Entry]) -> None:
    """Store exactly these entries; what is stored already stays as it is. Call inside a transaction."""
    wanted = {entry.id: entry for entry in entries}
    stored = {
        row[1]: (row[0], row[2], row[3])
        for row in connection.execute("SELECT id, entry, content_sha256, origin FROM knowledge_entries")
    }
    for identifier, (row_id, content, origin) in stored.items():
        entry = wanted.get(identifier)
        if entry is not None and (entry.content_sha256, entry.origin) == (content, origin):
            del wanted[identifier]
        else:
            remove(connection, row_id)
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    for entry in wanted.values():
        add(connection, entry, now)


def remove(connection: sqlite3.Connection, row_id: int) -> None:
    """Take an entry out."""
    connection.execute(f"DELETE FROM {INDEX} WHERE rowid = ?", (row_id,))
    connection.execute("DELETE FROM knowledge_entries WHERE id = ?", (row_id,))


def add(connection: sqlite3.Connection, entry: Entry, now: str) -> None:
    """Store one entry; its id must not be taken."""
    head = entry.head
    gain = head.gain
    row_id = connection.execute(
        "INSERT INTO knowledge_entries (entry, kind, title, summary, confidence, origin, content_sha256, gain_what,"
        " gain_low, gain_high, gain_unit, gain_note, body, stored_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            head.id,
            head.kind,
            head.title,
            head.summary,
            head.confidence,
            entry.origin,
            entry.content_sha256,
            *((gain.what, gain.low, gain.high, gain.unit, gain.note) if gain else (None,) * 5),
            entry.body,
            now,
        ),
    ).lastrowid
    assert row_id is not None
    facets = (
        ("rule", head.rules),
        ("operator", head.operators),
        ("op_type", head.op_types),
        ("chip", head.chips),
        ("architecture", head.architectures),
        ("term", head.terms),
        ("related", head.related),
    )
    connection.executemany(
        "INSERT INTO knowledge_facets (facet, value, entry_id, position) VALUES (?, ?, ?, ?)",
        [(facet, value, row_id, at) for facet, values in facets for at, value in enumerate(dict.fromkeys(values))],
    )
    connection.executemany(
        "INSERT INTO knowledge_movements (entry_id, metric, direction, decides, why) VALUES (?, ?, ?, ?, ?)",
        {each.metric: (row_id, each.metric, each.direction, each.decides, each.why) for each in head.expected}.values(),
    )
    connection.executemany(
        "INSERT INTO knowledge_sources (entry_id, source, title, kind, confidence, address, note)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        {
            each.id: (row_id, each.id, each.title, each.kind, each.confidence, each.address, each.note)
            for each in entry.sources
        }.values(),
    )
    index.insert(connection, row_id, entry)
