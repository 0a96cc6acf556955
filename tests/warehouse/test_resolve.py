"""Names on the command line: ids, names, unique prefixes, kernel:7, RUN/NAME/LAUNCH, last."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.errors import UsageError
from opprof_db.warehouse import resolve
from tests import small
from tests.conftest import Warehouse


@pytest.fixture
def connection(warehouse: Warehouse, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    old = tmp_path / "OPPROF_20240603022812_ABCDEFGHIJKLMNOP"
    small.stamped(old / "Add" / "0", "20240603022810284", name="Add_custom")
    small.stamped(old / "Add" / "1", "20240603022811284", "6.0", name="Add_custom")
    small.stamped(old / "Mul" / "0", "20240603022812284", "7.0", name="Mul")
    small.run(tmp_path / "OPPROF_20250101000000_ABCDEFGHIJKLMNOP", pid=2)
    small.run(tmp_path / "7", pid=3)
    warehouse.ingest(old, tmp_path / "OPPROF_20250101000000_ABCDEFGHIJKLMNOP", tmp_path / "7")
    with closing(sqlite3.connect(warehouse.path)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("OPPROF_20240603022812_ABCDEFGHIJKLMNOP", 1),
        ("OPPROF_2025", 2),
        ("3", 3),
    ],
)
def test_runs_by_id_name_or_unique_prefix(connection: sqlite3.Connection, text: str, expected: int) -> None:
    assert resolve.run_id(connection, text) == expected


def test_last_is_the_newest_by_its_start(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE runs SET started_at = '1999-01-01T00:00:00' WHERE id = 3")
    assert resolve.run_id(connection, "last") == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("OPPROF_", "2 runs begin with"),
        ("7", "no run has the id 7"),
        ("99999999999999999999999", "no run has the id"),
        ("oprof_20240603022812_ABCDEFGHIJKLMNOP", "did you mean"),
        ("zzz", "opprof-db runs"),
        ("", "no run is called"),
    ],
)
def test_wrong_run_names_say_what_to_do(connection: sqlite3.Connection, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        resolve.run_id(connection, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kernel:2", 2),
        ("1/Mul", 3),
        ("1/Add/1", 2),
        ("1/Add_custom/0", 1),
        ("OPPROF_2024/Mul/0", 3),
        ("OPPROF_2025/k", 4),
    ],
)
def test_kernels_by_id_or_path(connection: sqlite3.Connection, text: str, expected: int) -> None:
    assert resolve.looks_like_kernel(text)
    assert resolve.kernel_id(connection, text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kernel:99", "there is no kernel:99"),
        ("kernel:x", "there is no kernel:x"),
        ("1/Add", "2 launches match"),
        ("1/Add/7", "has no launch 7"),
        ("1/Mull", "did you mean Mul"),
        ("1/2/3/4", "names no kernel"),
    ],
)
def test_wrong_kernel_names_say_what_to_do(connection: sqlite3.Connection, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        resolve.kernel_id(connection, text)
