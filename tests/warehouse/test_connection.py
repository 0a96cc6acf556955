"""Journal mode by what the file system bears, waiting for other writers, errors in one line."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.errors import DatabaseError
from opprof_db.warehouse.connection import connect, explain, transaction, use_wal


def test_write_ahead_logging_is_used_where_it_works(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db", create=True)) as connection:
        said: list[str] = []
        assert use_wal(connection, tmp_path / "x.db", said.append) == "wal"
        assert said == []


def test_without_shared_memory_a_rollback_journal_is_used_and_said(tmp_path: Path) -> None:
    """SQLite's unix-none VFS has no shared memory, as network file systems."""
    path = tmp_path / "x.db"
    uri = f"{path.as_uri()}?mode=rwc&vfs=unix-none"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        said: list[str] = []
        assert use_wal(connection, path, said.append) == "delete"
        assert "no shared memory" in said[0]
        connection.execute("CREATE TABLE t (x)")
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_writer_waits_for_another_one(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(connect(path, create=True)) as first, closing(connect(path)) as second:
        first.execute("CREATE TABLE t (x)")
        second.execute("PRAGMA busy_timeout = 0")  # only the program's own back-off is left
        started = time.monotonic()
        holder = _CommitLater(path, 0.3)
        holder.start()
        holder.held.wait(5)
        with transaction(second, path, wait_s=10):
            second.execute("INSERT INTO t VALUES (1)")
        holder.join()
        assert time.monotonic() - started >= 0.25
        assert second.execute("SELECT count(*) FROM t").fetchone() == (1,)


class _CommitLater(threading.Thread):
    """Holds the write lock for a while, on a connection of its own."""

    def __init__(self, path: Path, seconds: float) -> None:
        super().__init__()
        self.path, self.seconds = path, seconds
        self.held = threading.Event()

    def run(self) -> None:
        with closing(connect(self.path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            self.held.set()
            time.sleep(self.seconds)
            connection.execute("COMMIT")


def test_a_lock_that_is_never_free_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(connect(path, create=True)) as first, closing(connect(path)) as second:
        first.execute("CREATE TABLE t (x)")
        second.execute("PRAGMA busy_timeout = 0")
        first.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseError, match="in use by another writer"), transaction(second, path, wait_s=0.2):
            pass
        first.execute("ROLLBACK")


def test_anything_raised_inside_rolls_back(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(connect(path, create=True)) as connection:
        connection.execute("CREATE TABLE t (x)")
        with pytest.raises(KeyboardInterrupt), transaction(connection, path):
            connection.execute("INSERT INTO t VALUES (1)")
            raise KeyboardInterrupt
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("database or disk is full", "the disk is full"),
        ("attempt to write a readonly database", "cannot be written"),
        ("database disk image is malformed", "is damaged"),
        ("disk I/O error", "I/O error"),
        ("something else", "something else"),
    ],
)
def test_sqlite_errors_say_what_to_do(text: str, words: str) -> None:
    assert words in str(explain(sqlite3.OperationalError(text), Path("x.db")))
