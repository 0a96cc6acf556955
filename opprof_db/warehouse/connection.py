"""Opening the warehouse file for writing: pragmas, journal mode, waiting for other writers."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from opprof_db.errors import DatabaseError

APPLICATION_ID = 0x4F504442
"""'OPDB' in the SQLite header: tells a warehouse from another program's database."""
CACHE_KIB = 16 * 1024
"""Pages of a run that is being written stay in memory up to this size."""
BUSY_TIMEOUT_S = 60.0
"""How long a writer waits for another one before it gives up."""

Notify = Callable[[str], None]


def quiet(message: str) -> None:
    """The default listener: says nothing."""
    del message


def explain(error: sqlite3.Error, path: Path) -> DatabaseError:
    """One line that says what is wrong with the file and what to do."""
    text = str(error)
    hints = (
        ("not a database", "is not a SQLite database", "give another --db FILE"),
        ("malformed", "is damaged", "restore a backup, or run `opprof-db db check` to see how much"),
        ("readonly", "cannot be written", "check the permissions of the file and its folder"),
        ("read-only", "cannot be written", "check the permissions of the file and its folder"),
        ("unable to open", "cannot be opened", "check that the folder exists and may be read and written"),
        ("locked", "is in use by another writer", "try again when it has finished"),
        ("busy", "is in use by another writer", "try again when it has finished"),
        ("full", "cannot grow: the disk is full", "free some space; what was committed before is safe"),
        (
            "disk i/o",
            "cannot be read or written (I/O error)",
            "check the disk, or copy the file to a local one",
        ),
    )
    for mark, what, hint in hints:
        if mark in text.lower():
            return DatabaseError(f"{path} {what}", hint)
    return DatabaseError(f"{path}: {text}")


def there(path: Path) -> bool:
    """Whether the file exists.

    Raises:
        DatabaseError: that cannot be seen.
    """
    try:
        return path.exists()
    except OSError as error:
        raise DatabaseError(
            f"{path} cannot be looked at: {error.strerror or error}", "check the permissions of its folder"
        ) from error


def connect(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """Open for writing, in autocommit mode (transactions are begun explicitly), foreign keys on.

    Raises:
        DatabaseError: the file cannot be opened or is no SQLite database.
    """
    if not create and not there(path):
        raise DatabaseError(f"{path}: no such database", "create it with `opprof-db ingest PATH`, or give --db FILE")
    if there(path) and path.is_dir():
        raise DatabaseError(f"{path} is a folder", "give a file with --db")
    if there(path) and not path.is_file():  # opening a pipe would wait for its other end
        raise DatabaseError(f"{path} is no regular file", "give a file with --db")
    if create and not path.parent.is_dir():
        raise DatabaseError(f"{path.parent}: no such folder", "create it first, or give another --db FILE")
    mode = "rwc" if create else "rw"
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise explain(error, path) from error
    return connection


def use_wal(connection: sqlite3.Connection, path: Path, notify: Notify = quiet) -> str:
    """Switch to write-ahead logging where the file system bears it; returns the journal mode in force."""
    try:
        mode = str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        if mode == "wal":
            # The first read maps the shared memory file, which is what network file systems refuse.
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if "readonly" in str(error):  # nothing can be written here, with whichever journal
            raise explain(error, path) from error
        mode = "unknown"
    if mode == "wal":
        connection.execute("PRAGMA synchronous = NORMAL")
        return mode
    mode = str(connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0])
    connection.execute("PRAGMA synchronous = FULL")
    notify(
        f"{path}: this file system has no shared memory for write-ahead logging; "
        "using a rollback journal (readers wait while a run is written)"
    )
    return mode


@contextmanager
def transaction(connection: sqlite3.Connection, path: Path, wait_s: float = BUSY_TIMEOUT_S) -> Iterator[None]:
    """``BEGIN IMMEDIATE`` … ``COMMIT``; anything raised inside rolls everything back.

    SQLite's own busy handler does not cover every lock (a WAL that another process recovers), so
    beginning is tried again with growing pauses.

    Raises:
        DatabaseError: the lock was not to be had within ``wait_s``, or SQLite failed.
    """
    deadline = time.monotonic() + wait_s
    pause = 0.02
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            break
        except sqlite3.OperationalError as error:
            busy = "locked" in str(error) or "busy" in str(error)
            if not busy or time.monotonic() > deadline:
                raise explain(error, path) from error
            time.sleep(pause)
            pause = min(pause * 2, 1.0)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError):
            raise explain(error, path) from error
        raise
