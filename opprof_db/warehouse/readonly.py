"""The one way for SQL from outside: read-only by construction, bounded in time, rows and bytes.

The file is opened ``mode=ro``; an authorizer allows SELECT, column reads, recursion and functions
from a list, nothing else (no PRAGMA but data_version, no ATTACH, no transaction, no extension loading); statements,
values and SQLite's memory are limited in size, sorting stays in that memory (no temporary file); a
progress handler ends statements that run too long and lets Ctrl-C through.
"""

from __future__ import annotations

import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from opprof_db.errors import DatabaseError, UsageError
from opprof_db.warehouse.connection import explain, there
from opprof_db.warehouse.costly import MAX_VALUE_BYTES, install
from opprof_db.warehouse.fts import INDEX, index_statement
from opprof_db.warehouse.resolve import did_you_mean

MAX_SQL_BYTES = 64 * 1024
"""Longer ones are lists of values; preparing them takes time that nothing can interrupt."""
MAX_MEMORY_BYTES = 256 * 1024 * 1024
"""What SQLite may allocate in this process, sorting included."""
DEFAULT_ROW_LIMIT = 10_000
DEFAULT_TIMEOUT_S = 30.0
DEFAULT_RESULT_BYTES = 64 * 1024 * 1024
_STEPS_BETWEEN_CHECKS = 500
_BATCH_BYTES = 256 * 1024
_ROW_BYTES = 100
"""What a row takes besides its values."""

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: MAX_SQL_BYTES,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    # What follows bounds the time and memory of compiling, and how much is done between two looks at the clock.
    sqlite3.SQLITE_LIMIT_COLUMN: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 100,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 1_000,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 250_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

# Left out besides the dangerous ones: and unhex, whose time is the product of two lengths.
ALLOWED_FUNCTIONS = frozenset(
    """
    abs avg acos acosh asin asinh atan atan2 atanh ceil ceiling char coalesce concat concat_ws cos cosh
    count cume_dist date datetime degrees dense_rank exp first_value floor format glob group_concat hex
    ifnull iif instr json json_array json_array_length json_each json_extract json_group_array
    json_group_object json_object json_quote json_remove json_tree json_type json_valid
    julianday lag last_value lead length like ln log log10 log2 lower ltrim max median min mod nth_value
    ntile nullif octet_length percent_rank percentile percentile_cont percentile_disc pi pow power printf
    quote radians rank replace round row_number rtrim sign sin sinh sqrt strftime string_agg substr
    substring sum tan tanh time timediff total trim trunc typeof unicode unixepoch upper bm25
    highlight snippet match -> ->>
    """.split()
)

_ALLOWED_ACTIONS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one statement."""

    rows: int | None = DEFAULT_ROW_LIMIT
    seconds: float = DEFAULT_TIMEOUT_S
    result_bytes: int | None = DEFAULT_RESULT_BYTES


@dataclass(slots=True)
class Result:
    """Rows of one statement; ``cut`` says in words why rows are missing, ``None`` when none are."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    cut: str | None = None


def open_readonly(path: Path) -> sqlite3.Connection:
    """Open a warehouse so that nothing can change it.

    Raises:
        DatabaseError: missing, damaged, or in a state that only a writer can bring in order.
    """
    if not there(path):
        raise DatabaseError(f"{path}: no such database", "create it with `opprof-db ingest PATH`, or give --db FILE")
    if path.is_dir():
        raise DatabaseError(f"{path} is a folder", "give a file with --db")
    if not path.is_file():  # opening a pipe would wait for its other end
        raise DatabaseError(f"{path} is no regular file", "give a file with --db")
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30, isolation_level=None)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if "unable to open" in str(error) or "readonly" in str(error):
            raise DatabaseError(
                f"{path} cannot be opened read-only: its write-ahead log needs a folder that may be written",
                "make the folder writable, or copy the file and its -wal to one that is; "
                "a file made by `opprof-db db backup` opens anywhere",
            ) from error
        raise explain(error, path) from error
    except sqlite3.Error as error:
        raise explain(error, path) from error
    return connection


def _open_index(connection: sqlite3.Connection) -> None:
    """Make FTS5 prepare what the authorizer would refuse it later; only of the index this program declares."""
    declared = connection.execute(
        "SELECT sql FROM sqlite_master WHERE name = ? AND type = 'table'", (INDEX,)
    ).fetchone()
    if declared is not None and declared[0] == index_statement():
        connection.execute(f"SELECT rowid FROM {INDEX} WHERE {INDEX} MATCH 'a' LIMIT 1").fetchall()


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action in _ALLOWED_ACTIONS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() in ALLOWED_FUNCTIONS:
        return sqlite3.SQLITE_OK
    # FTS5 asks in every search whether the file has changed: a counter, which can only be read.
    if (action, first, second) == (sqlite3.SQLITE_PRAGMA, "data_version", None):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


class _Watch:
    """Ends a statement at its deadline, or when the user presses Ctrl-C."""

    def __init__(self, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        self.busy = False
        """SQLite is at work."""
        self.interrupted = False
        self.refusal: str | None = None
        """Why a function refused its arguments."""

    def refuse(self, reason: str) -> None:
        """A function refuses its arguments."""
        self.refusal = reason

    def __call__(self) -> bool:
        return self.interrupted or time.monotonic() > self.deadline

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Ctrl-C ends the statement first: SQLite swallows a KeyboardInterrupt raised inside of it."""
        ours = threading.current_thread() is threading.main_thread()
        if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return

        def note(number: int, frame: FrameType | None) -> None:
            if not self.busy:
                signal.default_int_handler(number, frame)
            self.interrupted = True

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def guarded(path: Path, watch: _Watch) -> Iterator[sqlite3.Connection]:
    """A connection on which any SQL may be tried."""
    connection = open_readonly(path)
    try:
        for pragma in (
            "temp_store = MEMORY",
            "query_only = ON",
            f"hard_heap_limit = {MAX_MEMORY_BYTES}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        install(connection, watch, watch.refuse)
        connection.set_progress_handler(watch, _STEPS_BETWEEN_CHECKS)
        # SQLite makes these tables when they are first named, which the authorizer would refuse.
        connection.execute("SELECT count(*) FROM json_each('[]'), json_tree('[]')")
        _open_index(connection)
        connection.set_authorizer(_authorize)
        yield connection
    finally:
        connection.close()


class _Values(dict[str, Any]):
    """Values by name; remembers which of them the statement asked for."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)


def _bindable(parameters: Mapping[str, Any] | Sequence[Any]) -> _Values | Sequence[Any]:
    """Only what SQLite stores as it is: it takes objects that look like bytes (numbers of numpy) for blobs."""
    pairs = parameters.items() if isinstance(parameters, Mapping) else enumerate(parameters, 1)
    for name, value in pairs:
        if type(value) not in (int, float, str, bytes, bool, type(None)):
            raise UsageError(
                f"parameter {name}: a value of type {type(value).__name__} cannot be bound",
                "give int, float, str, bytes or None",
            )
    return _Values(parameters) if isinstance(parameters, Mapping) else parameters


@dataclass(slots=True)
class Stream:
    """Rows of one statement as they come; once they have ended, ``cut`` says in words why rows are missing."""

    columns: list[str]
    rows: Iterator[tuple[Any, ...]] = field(default_factory=lambda: iter(()))
    cut: str | None = None


@contextmanager
def stream(
    path: Path,
    sql: str,
    parameters: Mapping[str, Any] | Sequence[Any] = (),
    limits: Limits | None = None,
) -> Iterator[Stream]:
    """Run one statement; its rows are fetched while they are used. The time limit counts SQLite's time only.

    Raises (also while rows are fetched):
        UsageError: not a single reading statement, or wrong SQL.
        DatabaseError: a limit exceeded, or the file is in trouble.
    """
    limits = limits or Limits()
    watch = _Watch(limits.seconds)
    bound = _bindable(parameters)
    with guarded(path, watch) as connection, watch.listening():
        with _explained(path, limits, watch):
            cursor = connection.execute(sql, bound)
        if cursor.description is None:
            raise UsageError("the statement returns no rows", "only a single SELECT (or WITH … SELECT) may be run")
        if isinstance(bound, _Values):
            for name in bound:
                if name not in bound.asked:
                    raise UsageError(
                        f"the statement has no parameter :{name}",
                        did_you_mean(name, bound.asked) or "leave the value out, or write it into the statement",
                    )
        result = Stream([column[0] for column in cursor.description])
        result.rows = _rows(result, cursor, path, limits, watch)
        yield result


def run(
    path: Path,
    sql: str,
    parameters: Mapping[str, Any] | Sequence[Any] = (),
    limits: Limits | None = None,
) -> Result:
    """Run one statement and fetch its rows within the limits; errors are those of ``stream``."""
    with stream(path, sql, parameters, limits) as found:
        rows = list(found.rows)
        return Result(found.columns, rows, found.cut)


@contextmanager
def _explained(path: Path, limits: Limits, watch: _Watch) -> Iterator[None]:
    watch.busy = True
    try:
        yield
    except sqlite3.Warning as error:
        raise UsageError("more than one statement", "run one SELECT at a time") from error
    except sqlite3.Error as error:
        if not watch.interrupted:
            raise _explain_statement(error, path, limits, watch) or _wrong_sql(str(error), path) from error
    except MemoryError as error:
        raise DatabaseError(
            f"the statement needs more than {MAX_MEMORY_BYTES >> 20} MB of memory",
            "filter or aggregate before sorting, or ask for fewer rows",
        ) from error
    except (OverflowError, ValueError) as error:
        raise UsageError(f"the statement cannot be run: {error}") from error
    finally:
        watch.busy = False
    if watch.interrupted:
        raise KeyboardInterrupt


def _rows(
    result: Stream, cursor: sqlite3.Cursor, path: Path, limits: Limits, watch: _Watch
) -> Iterator[tuple[Any, ...]]:
    size = count = 0
    while True:
        with _explained(path, limits, watch):
            batch = _batch(cursor)
        if not batch:
            return
        given = time.monotonic()
        for row, held in batch:
            if limits.rows is not None and count >= limits.rows:
                result.cut = f"only the first {limits.rows} rows are shown"
                return
            size += held
            if limits.result_bytes is not None and size > limits.result_bytes:
                shown = f"only the first {count} rows are shown"
                result.cut = f"{shown}: the result exceeds {limits.result_bytes} bytes"
                return
            count += 1
            yield row
        watch.deadline += time.monotonic() - given


def _batch(cursor: sqlite3.Cursor) -> list[tuple[tuple[Any, ...], int]]:
    """A few rows and their sizes, not much more than a batch's bytes together."""
    batch: list[tuple[tuple[Any, ...], int]] = []
    total = 0
    for row in cursor:
        size = _ROW_BYTES + sum(map(sys.getsizeof, row))
        batch.append((row, size))
        total += size
        if total >= _BATCH_BYTES:
            break
    return batch


def _explain_statement(
    error: sqlite3.Error, path: Path, limits: Limits, watch: _Watch
) -> DatabaseError | UsageError | None:
    text = str(error)
    if "interrupted" in text or (watch.refusal or "").endswith("interrupted"):
        return DatabaseError(
            f"the statement was stopped after {limits.seconds:g} s", "narrow it down, or raise --timeout"
        )
    if "not authorized" in text or "prohibited" in text:
        return UsageError(
            f"refused: {text}", "only reading is allowed here: a single SELECT, with the usual SQL functions"
        )
    if "user-defined function raised" in text:
        return UsageError(f"SQL error: {watch.refusal or text}", "substr(…) gives a part of a long text")
    if "query string is too large" in text:
        return UsageError(f"the statement has more than {MAX_SQL_BYTES:,} bytes", "say it shorter, or in parts")
    if "too big" in text:
        return UsageError(
            f"SQL error: {text}", f"a value may have {MAX_VALUE_BYTES:,} bytes; substr(…) gives a part of it"
        )
    if "one statement at a time" in text:
        return UsageError("more than one statement", "run one SELECT at a time")
    if "attempt to write" in text or "readonly" in text:
        return UsageError("refused: the statement writes", "only reading is allowed here")
    if "malformed" in text or "not a database" in text or "disk I/O" in text or "locked" in text:
        return explain(error, path)
    return None


def _wrong_sql(text: str, path: Path) -> UsageError:
    """A mistake in the statement; a wrong table or column name gets a suggestion."""
    if "binding parameter" in text:
        return UsageError(f"a parameter has no value: {text}", "give it with --param NAME=VALUE")
    kind, _, name = text.partition(": ")
    hint = None
    if kind in ("no such table", "no such column"):
        connection = open_readonly(path)
        try:
            objects = [
                row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            ]
            known = objects
            if kind == "no such column":
                known = [
                    row[0]
                    for table in objects
                    for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
                ]
            hint = did_you_mean(name.rpartition(".")[2], known)
        finally:
            connection.close()
    return UsageError(f"SQL error: {text}", hint or "see `opprof-db query --help` for examples")
