"""The functions put in the place of SQLite's own give its results, and know when to stop."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterator

import pytest

from opprof_db.warehouse.costly import install

VALUES = [None, "", "a", "abcabc", "ÄäÖ", "a\x00b", "%_x", "[a-c]*", 0, 7, -1.5, 1e300, 2**63 - 1, b"", b"abc", b"\xff"]
CALLS = {
    1: ["hex(?)", "quote(?)", "printf(?)", "format(?)", "trim(?)", "lower(?)", "upper(?)"],
    2: [
        "instr(?, ?)", "trim(?, ?)", "ltrim(?, ?)", "rtrim(?, ?)", "? LIKE ?", "like(?, ?)", "? GLOB ?", "glob(?, ?)",
        "printf(?, ?)", "printf('%5.2f|%-8s|%08d', ?, ?)",
    ],
    3: ["replace(?, ?, ?)", "printf('%*.*f', ?, ?, ?)"],
}  # fmt: skip


@pytest.fixture
def careful() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    install(connection, lambda: False, [].append)
    yield connection
    connection.close()


def result(connection: sqlite3.Connection, call: str, values: tuple[object, ...]) -> object:
    try:
        ((value,),) = connection.execute(f"SELECT {call}", values).fetchall()
    except sqlite3.OperationalError:
        return "error"
    return type(value), value


@pytest.mark.parametrize("count", CALLS)
def test_results_are_sqlites_own(careful: sqlite3.Connection, count: int) -> None:
    plain = sqlite3.connect(":memory:")
    # LIKE and GLOB of blobs differ between builds of SQLite, so they are compared with the one in use.
    choices = VALUES if count < 3 else [None, "", "a", "abcabc", 3, -2, 1.5, b"abc"]
    for call in CALLS[count]:
        for values in itertools.product(choices, repeat=count):
            assert result(careful, call, values) == result(plain, call, values), (call, values)
    plain.close()


def test_like_is_sqlites_own_on_all_short_texts(careful: sqlite3.Connection) -> None:
    plain = sqlite3.connect(":memory:")
    patterns = ["".join(chars) for count in range(5) for chars in itertools.product("aB%_", repeat=count)]
    patterns += ["%[a]%", "a.*", "\\%", "%ä%", "Ä", "\u212a", "%k", "a\n%", "%\x00", "^a$", "ſ"]
    texts = ["".join(chars) for count in range(5) for chars in itertools.product("Ab", repeat=count)]
    texts += ["[a]", "a.*", "\\x", "xäy", "ä", "K", "\u212a", "a\nb", "a\x00b", "a%b_", "S", "aabaab" * 3]
    sql = "SELECT p.value || '~' || t.value FROM json_each(?) p, json_each(?) t WHERE t.value LIKE p.value"
    given = (json.dumps(patterns), json.dumps(texts))
    found = [row[0] for row in careful.execute(sql, given)]
    assert len(found) > 3_000
    assert found == [row[0] for row in plain.execute(sql, given)]
    plain.close()


def test_long_texts_are_refused_with_a_reason() -> None:
    reasons: list[str] = []
    connection = sqlite3.connect(":memory:")
    install(connection, lambda: False, reasons.append)
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("SELECT ? GLOB ?", ("a" * 500_000, "*" + "[ab]" * 100))
    assert reasons == ["glob: the texts are too long for it"]
    connection.close()


def test_a_statement_past_its_time_ends_at_the_next_call() -> None:
    connection = sqlite3.connect(":memory:")
    answers = iter([False, True])
    install(connection, lambda: next(answers), [].append)
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("SELECT hex('a'), hex('b'), hex('c')").fetchall()
    assert next(answers, None) is None
    connection.close()
