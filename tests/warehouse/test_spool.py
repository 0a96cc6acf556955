"""Rows go through the spool unchanged, in memory and with a process of its own, and it clears up behind itself."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.errors import DatabaseError
from opprof_db.warehouse.spool import ROWS_PER_STATEMENT, Spool, SpooledTable, attached, copy


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def target(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "target.db", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (kernel_id INTEGER, a INTEGER, b REAL, c TEXT) STRICT")
        yield connection


VALUES = [2**63 - 1, -(2**63), 0, 1, None]
REALS = [0.1, -0.0, 5e-324, 1.7976931348623157e308, None]
TEXTS = ["", "a'b", "核 ∑\x01", "x" * 100_000, None]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("rows", [1, ROWS_PER_STATEMENT, ROWS_PER_STATEMENT + 3, 5 * ROWS_PER_STATEMENT - 1])
def test_rows_arrive_in_order_and_unchanged(target: sqlite3.Connection, rows: int, large: bool) -> None:
    columns = [[held[at % 5] for at in range(rows)] for held in (VALUES, REALS, TEXTS)]
    with Spool(large=large) as spool:
        spool.create("t_0", ("a", "b", "c"))
        spool.add("t_0", ("a", "b", "c"), columns)
        spool.add("t_0", ("a",), [[7]])
        spool.add("t_0", ("a",), [[]])
        with attached(target, spool):
            copy(target, 3, SpooledTable("t", "t_0", ("a", "b", "c")))
    expected = [(3, *row) for row in zip(*columns, strict=True)] + [(3, 7, None, None)]
    assert target.execute("SELECT * FROM t ORDER BY rowid").fetchall() == expected


@pytest.mark.parametrize("large", [False, True])
def test_rows_can_be_taken_out_again(target: sqlite3.Connection, large: bool) -> None:
    with Spool(large=large) as spool:
        spool.create("t_0", ("a", "b", "c"))
        spool.add("t_0", ("a",), [[1, 2, 1]])
        spool.delete("t_0", "a", 1)
        with attached(target, spool):
            copy(target, 1, SpooledTable("t", "t_0", ("a", "b", "c")))
    assert target.execute("SELECT a FROM t").fetchall() == [(2,)]


@pytest.mark.parametrize("large", [False, True])
def test_an_empty_spool_is_no_error(target: sqlite3.Connection, large: bool) -> None:
    with Spool(large=large) as spool, attached(target, spool):
        assert target.execute("SELECT count(*) FROM spool.sqlite_master").fetchone() == (0,)


def test_a_killed_writer_is_an_error_that_says_so() -> None:
    with Spool(large=True) as spool:
        assert spool._process is not None
        spool._process.kill()
        spool._process.wait()
        with pytest.raises(DatabaseError, match="was killed") as raised:
            spool.create("t_0", ("a",))
            spool.finish()
        assert "TMPDIR" in str(raised.value.hint)


def test_what_the_writer_cannot_do_is_told(scratch: Path) -> None:
    with Spool(large=True) as spool:
        spool.add("no_such_table", ("a",), [[1]])
        with pytest.raises(DatabaseError, match="no such table"):
            spool.finish()
    assert list(scratch.iterdir()) == []


def test_nowhere_to_write_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere/at/all")
    with pytest.raises(DatabaseError, match="/nowhere/at/all: no room for temporary files"):
        Spool(large=True)


def test_a_killed_parent_leaves_nothing_behind(scratch: Path) -> None:
    program = (
        "import os, signal\n"
        "from opprof_db.warehouse.spool import Spool\n"
        "spool = Spool(large=True)\n"
        "spool.create('t_0', ('a',))\n"
        "spool.add('t_0', ('a',), [list(range(1000))])\n"
        "spool.finish()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(scratch)}, check=False)
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 20
    while list(scratch.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(scratch.iterdir()) == []
