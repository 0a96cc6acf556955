"""Rows of traces on their way into the warehouse, in a SQLite database of their own.

Millions of rows are inserted there while the traces are read, before the write lock is taken. Under the lock one
INSERT … SELECT a table copies them, without Python touching a row: that holds the lock for a third of the time.
A small spool is held in memory. A large one is a file that a process of its own fills (``python -m
opprof_db.warehouse.spool FILE``, fed with marshalled frames on stdin), on a second core where there is one; that
process also clears up behind a parent that was killed.
"""

from __future__ import annotations

import marshal
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

from opprof_db.scratch import new_folder, scratch_error

ROWS_PER_STATEMENT = 32
"""One statement for so many rows takes half the time of as many statements."""
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031
_SCHEMA = "spool"
_FILE = "rows.db"
_DONE = b"done\n"
_MARSHAL_VERSION = 2
"""Later ones look for values that are shared, which takes half as long again and finds none worth it."""

Columns = tuple[str, ...]
Values = Sequence[Sequence[Any]]
"""Column by column, all of one length."""


@dataclass(frozen=True, slots=True)
class SpooledTable:
    """Rows that wait in the spool for a table of the warehouse; ``kernel_id`` is put before them."""

    table: str
    source: str
    """Name of the table in the spool."""
    columns: Columns


class _Filler:
    """Fills the database."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        for pragma in ("page_size = 16384", "journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.execute("BEGIN")
        self._statements: dict[tuple[str, Columns], tuple[str, str]] = {}

    def create(self, table: str, columns: Columns) -> None:
        """A table without types: values stay what they are."""
        self._connection.execute(f"CREATE TABLE {table} ({', '.join(columns)})")

    def add(self, table: str, columns: Columns, values: Values) -> None:
        """Append rows; columns not named stay NULL."""
        one, many = self._statements.get((table, columns)) or self._prepare(table, columns)
        size = len(values[0])
        whole = size - size % ROWS_PER_STATEMENT
        if whole:
            cells = chain.from_iterable(zip(*values, strict=True))
            # The last, incomplete group is dropped here and added row by row below.
            self._connection.executemany(many, zip(*[cells] * (len(columns) * ROWS_PER_STATEMENT), strict=False))
        if whole < size:
            self._connection.executemany(one, zip(*(column[whole:] for column in values), strict=True))

    def _prepare(self, table: str, columns: Columns) -> tuple[str, str]:
        head = f"INSERT INTO {table} ({', '.join(columns)}) VALUES "
        row = f"({', '.join('?' * len(columns))})"
        made = (head + row, head + ", ".join([row] * ROWS_PER_STATEMENT))
        self._statements[table, columns] = made
        return made

    def delete(self, table: str, column: str, value: int) -> None:
        """Take rows out again."""
        self._connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (value,))

    def flag(self, table: str, bit: int, end_us: float) -> None:
        """Mark events that start before 0 or end after ``end_us``."""
        self._connection.execute(
            f"UPDATE {table} SET flags = flags | ? WHERE ts_us < 0 OR ts_us + dur_us > ?", (bit, end_us)
        )

    def finish(self) -> None:
        """Make the database whole."""
        self._connection.execute("COMMIT")

    def content(self) -> bytes:
        """The whole database."""
        return self._connection.serialize()

    def close(self) -> None:
        """Give up the locks."""
        self._connection.close()


class Spool:
    """Tables to be filled, then read through ``attached``. A context manager: what it holds goes with it.

    Raises (all methods):
        DatabaseError: the temporary folder cannot take the rows.
    """

    def __init__(self, *, large: bool = False) -> None:
        self._finished = False
        self._made = False
        self._process: subprocess.Popen[bytes] | None = None
        self._filler: _Filler | None = None
        self._folder: Path | None = None
        if large or not hasattr(sqlite3.Connection, "deserialize"):
            self._folder = new_folder()
            self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            self._process = _start(self._folder / _FILE)
        else:
            self._filler = _Filler(":memory:")

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def create(self, table: str, columns: Columns) -> None:
        """Make a table."""
        self._made = True
        self._do(("create", table, columns))

    def add(self, table: str, columns: Columns, values: Values) -> None:
        """Append rows; columns of the table that are not named stay NULL."""
        if values and values[0]:
            self._do(("add", table, columns, values))

    def delete(self, table: str, column: str, value: int) -> None:
        """Take rows out again."""
        self._do(("delete", table, column, value))

    def flag(self, table: str, bit: int, end_us: float) -> None:
        """Set a bit of ``flags`` in events that start before 0 or end after ``end_us``."""
        self._do(("flag", table, bit, end_us))

    def finish(self) -> None:
        """No more rows; may be called again."""
        if self._finished:
            return
        self._finished = True
        self._do(("finish",))
        if self._process is not None:
            self._await()

    def attach(self, connection: sqlite3.Connection) -> None:
        """Make the tables readable from another connection."""
        self.finish()
        if self._folder is not None:
            connection.execute(f"ATTACH DATABASE ? AS {_SCHEMA}", (str(self._folder / _FILE),))
        elif self._filler is not None:
            connection.execute(f"ATTACH DATABASE ':memory:' AS {_SCHEMA}")
            if self._made:  # an empty database cannot be serialized
                connection.deserialize(self._filler.content(), name=_SCHEMA)

    def close(self) -> None:
        """Let go of everything."""
        if self._process is not None:
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            self._process.wait()
            self._process = None
        if self._filler is not None:
            self._filler.close()
        if self._folder is not None:
            self._remove()

    def _do(self, frame: tuple[Any, ...]) -> None:
        if self._filler is not None:
            getattr(self._filler, frame[0])(*frame[1:])
            return
        assert self._process is not None
        assert self._process.stdin is not None
        packed = marshal.dumps(frame, _MARSHAL_VERSION)
        try:
            self._process.stdin.write(len(packed).to_bytes(8, "little"))
            self._process.stdin.write(packed)
        except OSError:
            self._await()
            raise

    def _await(self) -> None:
        """Hear from the process that all rows are in the file."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.flush()
        said = self._process.stdout.readline()
        if said != _DONE:
            raise scratch_error(said.decode("utf-8", "replace").strip() or "the process that writes them was killed")


@contextmanager
def attached(connection: sqlite3.Connection, spool: Spool | None) -> Iterator[None]:
    """The spool's tables beside those of the warehouse; to be entered outside any transaction."""
    if spool is None:
        yield
        return
    spool.attach(connection)
    try:
        yield
    finally:
        connection.execute(f"DETACH DATABASE {_SCHEMA}")


def copy(connection: sqlite3.Connection, kernel_id: int, spooled: SpooledTable) -> None:
    """Copy rows into their table; the spool must be attached."""
    names = ", ".join(spooled.columns)
    connection.execute(
        f"INSERT INTO main.{spooled.table} (kernel_id, {names})"
        f" SELECT ?, {names} FROM {_SCHEMA}.{spooled.source} ORDER BY rowid",
        (kernel_id,),
    )


def _start(path: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "opprof_db.warehouse.spool", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    with suppress(ImportError, OSError):  # a pipe of 64 KiB would make both wait for each other
        import fcntl

        assert process.stdin is not None
        fcntl.fcntl(process.stdin, _F_SETPIPE_SZ, _PIPE_BYTES)
    return process


def _fill(path: str, source: IO[bytes], answer: IO[bytes]) -> None:
    """The inserting process: frames until told to finish, then wait for the parent to end."""
    finished = False
    try:
        filler = _Filler(path)
        while not finished and (size := source.read(8)):
            frame = marshal.loads(source.read(int.from_bytes(size, "little")))
            getattr(filler, frame[0])(*frame[1:])
            finished = frame[0] == "finish"
        filler.close()
        if finished:
            answer.write(_DONE)
            answer.flush()
            source.read()
    except (sqlite3.Error, EOFError, ValueError) as error:
        with suppress(OSError):
            answer.write(f"{error}\n".encode())
            answer.flush()
    shutil.rmtree(Path(path).parent, ignore_errors=True)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # they are for the parent, which then lets go
        signal.signal(number, signal.SIG_IGN)
    _fill(sys.argv[1], sys.stdin.buffer, sys.stdout.buffer)
