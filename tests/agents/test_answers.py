"""Answers fit their cap whatever they hold, and say what is missing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opprof_db.agents.answers import Caps, distinct, error_answer, rows_answer, serialised, text_answer
from opprof_db.errors import UsageError

VALUES = st.none() | st.integers() | st.floats() | st.text(max_size=300) | st.binary(max_size=300)


@given(st.lists(st.tuples(VALUES, VALUES), max_size=60))
def test_an_answer_is_json_within_its_caps_and_holds_the_first_rows(rows: list[tuple[object, object]]) -> None:
    caps = Caps(rows=20, size_bytes=6_000)
    answer = rows_answer(["a", "a"], rows, None, caps)
    text = serialised(answer)
    assert len(text.encode()) <= caps.size_bytes
    shown = json.loads(text)["rows"]
    assert len(shown) == answer["row_count"] <= caps.rows
    assert answer["truncated"] is (len(shown) < len(rows))
    assert (answer["note"] is None) is not answer["truncated"]
    for item, row in zip(shown, rows, strict=False):
        if isinstance(row[1], int) or row[1] is None:
            assert item["a_2"] == row[1]


def test_a_row_that_does_not_fit_leaves_none_and_says_why() -> None:
    answer = rows_answer(["x"], [("y" * 10_000,), ("z",)], None, Caps(size_bytes=5_000))
    assert (answer["rows"], answer["row_count"], answer["truncated"]) == ([], 0, True)
    assert "exceed 5000 bytes" in answer["note"]
    assert "substr()" in answer["note"]


def test_what_was_cut_before_is_said() -> None:
    answer = rows_answer(["x"], [(1,)], "only the first 1 rows are shown", Caps())
    assert answer["truncated"]
    assert answer["note"].startswith("cut: only the first 1 rows are shown. To get the rest: ")


def test_escapes_and_letters_of_several_bytes_count() -> None:
    rows = [('"\\\n\t\x01' * 100,), ("\N{GRINNING FACE}" * 100,)] * 50
    answer = rows_answer(["x"], rows, None, Caps(size_bytes=9_000))
    assert len(serialised(answer).encode()) <= 9_000
    assert 2 <= answer["row_count"] < 50


def test_names_of_columns_that_fill_an_answer_are_refused() -> None:
    with pytest.raises(UsageError, match="names of the columns"):
        rows_answer(["n" * 100_000], [(1,)], None, Caps())


def test_repeated_columns_get_numbers_that_are_free() -> None:
    assert distinct(["a", "a", "a_2", "a"]) == ["a", "a_2", "a_2_2", "a_3"]


def test_half_a_surrogate_pair_does_not_break_the_answer() -> None:
    serialised(error_answer("no such column: \ud800", None)).encode("utf-8")


def test_a_long_text_is_cut_at_a_line() -> None:
    answer = text_answer("schema", "line\n" * 5_000, Caps(size_bytes=6_000), "Ask for less.")
    assert answer["schema"].endswith("line\n")
    assert len(serialised(answer).encode()) <= 6_000
    assert answer["truncated"]
    assert answer["note"].endswith("Ask for less.")


def test_a_long_error_is_shortened() -> None:
    assert len(serialised(error_answer("x" * 1_000_000, "y" * 1_000_000))) < 5_000
