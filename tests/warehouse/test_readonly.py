"""SQL from outside can read and nothing else, within its limits."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import pytest

from opprof_db.errors import DatabaseError, UsageError
from opprof_db.warehouse import readonly
from tests import small
from tests.conftest import Warehouse


@pytest.fixture
def filled(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    warehouse.ingest(small.run(tmp_path / "OPPROF_A"))
    return warehouse


def ask(warehouse: Warehouse, sql: str, **limits: object) -> readonly.Result:
    return readonly.run(warehouse.path, sql, limits=readonly.Limits(**limits))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM kernels",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT max(n) FROM c",
        "SELECT row_number() OVER (ORDER BY duration_us) FROM top_kernels",
        "SELECT json_extract('{\"a\": 1}', '$.a')",
        "SELECT name FROM sqlite_master WHERE type = 'view'",
        "VALUES (1), (2)",
        "SELECT value FROM json_each('[1, 2]')",
        "SELECT count(*) FROM json_tree('{\"a\": [1]}')",
        "EXPLAIN QUERY PLAN SELECT * FROM kernels",
        "-- a comment\nSELECT 1;",
    ],
)
def test_reading_is_allowed(filled: Warehouse, sql: str) -> None:
    assert ask(filled, sql).rows


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM runs",
        "UPDATE runs SET name = 'x'",
        "INSERT INTO runs (id) VALUES (9)",
        "WITH x AS (SELECT 1) DELETE FROM runs",
        "WITH x AS (SELECT 1) INSERT INTO runs (id) SELECT 9",
        "DROP TABLE runs",
        "DROP VIEW top_kernels",
        "CREATE TABLE t (x)",
        "CREATE TEMP TABLE t (x)",
        "CREATE TEMP VIEW v AS SELECT 1",
        "CREATE VIRTUAL TABLE t USING fts5(x)",
        "ALTER TABLE runs ADD COLUMN x",
        "ATTACH DATABASE 'x.db' AS x",
        "ATTACH ':memory:' AS x",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "REINDEX",
        "ANALYZE",
        "BEGIN",
        "COMMIT",
        "SAVEPOINT x",
        "PRAGMA writable_schema = ON",
        "PRAGMA journal_mode",
        "PRAGMA table_info(runs)",
        "SELECT * FROM pragma_table_info('runs')",
        "SELECT load_extension('x')",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('x', 'y')",
        "SELECT zeroblob(1000000000)",
        "SELECT randomblob(1000000000)",
        "SELECT fts3_tokenizer('x')",
        "SELECT sqlite_version()",
        "SELECT 1; SELECT 2",
        "SELECT 1; DROP TABLE runs",
        "",
        "-- nothing",
        "SELEC 1",
        "SELECT * FROM nowhere",
        "SELECT \x00 1",
    ],
)
def test_everything_else_is_refused_and_changes_nothing(filled: Warehouse, sql: str, tmp_path: Path) -> None:
    before = hashlib.sha256(filled.path.read_bytes()).hexdigest()
    files = set(tmp_path.iterdir())
    with pytest.raises(UsageError):
        ask(filled, sql)
    assert hashlib.sha256(filled.path.read_bytes()).hexdigest() == before
    assert {path for path in tmp_path.iterdir() if not path.name.endswith(("-wal", "-shm"))} <= files


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c",
        "SELECT count(*) FROM metrics a, metrics b, metrics c, metrics d",
    ],
)
def test_endless_statements_end_within_their_time(filled: Warehouse, sql: str) -> None:
    start = time.monotonic()
    with pytest.raises(DatabaseError, match="was stopped after"):
        ask(filled, sql, seconds=0.3)
    assert time.monotonic() - start < 5


def test_results_are_cut_and_say_so(filled: Warehouse) -> None:
    result = ask(filled, "SELECT id FROM metrics", rows=3)
    assert len(result.rows) == 3
    assert result.cut == "only the first 3 rows are shown"
    assert ask(filled, "SELECT id FROM metrics LIMIT 3", rows=3).cut is None
    wide = ask(filled, "SELECT printf('%1000s', id) FROM metrics", result_bytes=5_000)
    assert len(wide.rows) < 6
    assert wide.cut is not None
    assert "exceeds" in wide.cut


def test_giant_values_are_refused(filled: Warehouse) -> None:
    with pytest.raises(UsageError, match="too big"):
        ask(filled, "SELECT group_concat(a.meaning || b.meaning) FROM metrics a, metrics b")
    with pytest.raises(UsageError, match=r"printf: widths of more than 524,288 characters"):
        ask(filled, "SELECT printf('%1000000000s', 1)")


def test_printf_is_sqlites_own_but_for_giant_widths(filled: Warehouse) -> None:
    result = ask(filled, "SELECT printf('%.3f|%5d|%s', 1.0005, 3, 'x'), format('%,d', 1234567), printf(NULL)")
    assert result.rows == [("1.001|    3|x", "1,234,567", None)]
    assert ask(filled, "SELECT printf('run 20260512093015: %d %*d', 5, 3, 7)").rows == [("run 20260512093015: 5   7",)]


def test_values_are_bound(filled: Warehouse) -> None:
    result = readonly.run(filled.path, "SELECT :name AS n", {"name": "'; DROP TABLE runs --"})
    assert result.rows == [("'; DROP TABLE runs --",)]


def test_a_missing_database_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="create it with"):
        readonly.run(tmp_path / "no.db", "SELECT 1")
    assert not (tmp_path / "no.db").exists()


def test_wrong_names_get_a_suggestion(filled: Warehouse) -> None:
    with pytest.raises(UsageError, match="did you mean kernels"):
        ask(filled, "SELECT * FROM kernel")
    with pytest.raises(UsageError, match="did you mean duration_us"):
        ask(filled, "SELECT duration_u FROM kernels")


def test_a_value_that_the_statement_does_not_ask_for_is_refused(filled: Warehouse) -> None:
    with pytest.raises(UsageError, match="no parameter :kernal") as raised:
        readonly.run(filled.path, "SELECT :kernel", {"kernel": 1, "kernal": 2})
    assert raised.value.hint == "did you mean kernel?"


@pytest.mark.parametrize("value", [memoryview(b"x"), bytearray(b"x"), [1], {"a": 1}, object()])
def test_objects_that_look_like_bytes_are_not_bound_as_blobs(filled: Warehouse, value: object) -> None:
    for parameters, sql in (({"k": value}, "SELECT :k"), ([value], "SELECT ?")):
        with pytest.raises(UsageError, match="cannot be bound"):
            readonly.run(filled.path, sql, parameters)


def test_the_size_of_a_result_is_what_it_takes_in_memory(filled: Warehouse) -> None:
    numbers = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000) SELECT n + 1000 FROM c"
    assert len(ask(filled, numbers, result_bytes=50_000).rows) < 500
