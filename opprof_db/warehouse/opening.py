"""How every command gets at the warehouse: created, upgraded and refreshed by itself where need be."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opprof_db.errors import DatabaseError
from opprof_db.warehouse import migrate, reference
from opprof_db.warehouse.connection import Notify, connect, explain, quiet, transaction, use_wal
from opprof_db.warehouse.readonly import open_readonly


def bring_up_to_date(path: Path, *, create: bool = False, notify: Notify = quiet) -> None:
    """Create or upgrade the file, and refresh its views and catalogue copy where the program's are newer.

    Raises:
        DatabaseError: the file is newer, foreign or damaged, or cannot be written.
    """
    before = migrate.upgrade(path, create=create, notify=notify)
    if before.kind == "current":
        connection = connect(path)
        try:
            if not reference.is_current(connection):
                with transaction(connection, path):
                    reference.refresh(connection)
        finally:
            connection.close()


@contextmanager
def writing(path: Path, *, create: bool = False, notify: Notify = quiet) -> Iterator[sqlite3.Connection]:
    """A connection for writing to an up-to-date warehouse."""
    bring_up_to_date(path, create=create, notify=notify)
    connection = connect(path)
    try:
        use_wal(connection, path, notify)
        yield connection
    except sqlite3.Error as error:
        raise explain(error, path) from error
    finally:
        connection.close()


@contextmanager
def reading(path: Path, notify: Notify = quiet) -> Iterator[sqlite3.Connection]:
    """A read-only connection to an up-to-date warehouse; an older file is upgraded first.

    Raises:
        DatabaseError: missing, newer, foreign, damaged; or older and not writable.
    """
    connection = open_readonly(path)
    try:
        if not _ready(connection, path):
            connection.close()
            bring_up_to_date(path, notify=notify)
            connection = open_readonly(path)
        connection.execute("BEGIN")
        yield connection
    except sqlite3.Error as error:
        raise explain(error, path) from error
    finally:
        connection.close()


def _ready(connection: sqlite3.Connection, path: Path) -> bool:
    found = migrate.state(connection)
    migrate.refuse_unusable(found, path)
    if found.kind == "new":
        raise DatabaseError(f"{path} is empty", "fill it with `opprof-db ingest PATH`")
    return found.kind == "current" and reference.is_current(connection)
