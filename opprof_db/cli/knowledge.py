"""What commands about knowledge share: the directories, and the index of the warehouse or one in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, reading, writing
from opprof_db.cli.output import note

if TYPE_CHECKING:
    import sqlite3

    from opprof_db.knowledge.library import Library
    from opprof_db.knowledge.model import Entry

KbOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--kb",
        metavar="DIR",
        help="Directory with entries of your own, which override others by id; repeatable. Also OPPROF_KB, and "
        "knowledge.directories in the configuration file.",
        show_default=False,
    ),
]


def complete_entry(ctx: typer.Context, incomplete: str) -> list[str]:
    """Shell completion for ids of entries: names of files, nothing is parsed."""
    from opprof_db.errors import OpprofError
    from opprof_db.knowledge.places import places

    try:
        names = {path.stem for place in places(ctx.params.get("kb") or []) for path in place.files()}
    except OpprofError:
        return []
    return sorted(name for name in names if name.startswith(incomplete))


def synchronised(db: Path, kb: Sequence[Path] | None) -> bool:
    """Bring the warehouse's copy of the entries up to date; whether it is (a file that cannot be written is not)."""
    from opprof_db.errors import DatabaseError
    from opprof_db.knowledge.places import places
    from opprof_db.knowledge.store import is_current, synchronise

    where = places(kb or [])
    with reading(db) as connection:
        if is_current(connection, where):
            return True
    try:
        with writing(db) as connection:
            synchronise(connection, db, kb or [])
    except DatabaseError as error:
        note(f"{error.what}; its copy of the knowledge entries stays as it is")
        return False
    return True


@contextmanager
def entry_index(db: Path, kb: Sequence[Path] | None) -> Iterator[sqlite3.Connection]:
    """The index over the entries in force: the warehouse's, or one made in memory where there is no warehouse."""
    from opprof_db.knowledge.index import in_memory
    from opprof_db.knowledge.library import library
    from opprof_db.knowledge.places import places
    from opprof_db.knowledge.store import is_current
    from opprof_db.warehouse.connection import there

    if there(db) and synchronised(db, kb):
        with reading(db) as connection:
            if is_current(connection, places(kb or [])):
                yield connection
                return
    connection = in_memory(usable(library(kb or [])).entries.values())
    try:
        yield connection
    finally:
        connection.close()


def usable(found: Library) -> Library:
    """The library; what could not be read is said."""
    for problem in found.problems:
        note(f"{problem} (left out)")
    return found


def find_entry(identifier: str, db: Path, kb: list[Path] | None) -> Entry:
    """An entry in force, recorded cases of the warehouse among them.

    Raises:
        UsageError: there is none.
    """
    from opprof_db.knowledge.library import library
    from opprof_db.knowledge.recorded import PREFIX, recorded_entries

    found = usable(library(kb or []))
    if identifier.startswith(PREFIX) and identifier not in found.entries and db.exists():
        with reading(db) as connection:
            for entry in recorded_entries(connection):
                if entry.id == identifier:
                    return entry
    return found.get(identifier)


__all__ = ["DEFAULT_DB", "KbOption", "complete_entry", "entry_index", "find_entry", "synchronised", "usable"]
