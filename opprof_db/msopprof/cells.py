"""One cell: text to number, exactly, or a reason why not.

msopprof prints floats with C's ``%f``, counts as plain integers and ``NA``, ``N/A`` or nothing
where a value does not apply (source: msopprof metric_csv_header.h and its writers).
"""

from __future__ import annotations

import math
import re

from opprof_db.catalog import SqlType

NOT_APPLICABLE = frozenset({"NA", "N/A", ""})
MAX_INTEGER = 2**63 - 1
"""Largest integer SQLite holds; a larger count is not stored, and never as a float."""
EXACT_FLOAT_INTEGER = 2**53
LONGEST_NUMBER = 400
"""Characters; longer digit strings are no counter of this tool (and would be slow to convert)."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NON_FINITE = re.compile(r"[+-]?(?:nan(?:\([^)]*\))?|inf(?:inity)?)", re.IGNORECASE)


class BadCellError(ValueError):
    """The cell holds no number that may be stored; ``code`` and ``message`` are for the issue."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def is_missing(cell: str) -> bool:
    """Whether the cell says that there is no value."""
    return cell.strip() in NOT_APPLICABLE


def to_number(cell: str, sql_type: SqlType) -> int | float | None:
    """The number in a cell; ``None`` for a missing value.

    Raises:
        BadCellError: not a number, not finite, an integer beyond 2^63-1, or a fraction in a count.
    """
    text = cell.strip()
    if text in NOT_APPLICABLE:
        return None
    if len(text) > LONGEST_NUMBER:
        raise BadCellError("number_too_long", f"a number of {len(text)} characters")
    if _INTEGER.fullmatch(text):
        return _whole(int(text), sql_type)
    if _DECIMAL.fullmatch(text):
        return _fraction(float(text), sql_type)
    if _NON_FINITE.fullmatch(text):
        raise BadCellError("non_finite", "the value is not finite")
    raise BadCellError("not_a_number", "the cell holds no number")


def _whole(value: int, sql_type: SqlType) -> int | float:
    if not -MAX_INTEGER - 1 <= value <= MAX_INTEGER:
        raise BadCellError("integer_too_large", "an integer beyond 2^63-1 does not fit")
    if sql_type is SqlType.INTEGER:
        return value
    if abs(value) > EXACT_FLOAT_INTEGER and int(float(value)) != value:
        raise BadCellError("inexact_integer", "an integer that a REAL column cannot hold exactly")
    return float(value)


def _fraction(value: float, sql_type: SqlType) -> int | float:
    if not math.isfinite(value):
        raise BadCellError("non_finite", "the value overflows a double")
    if sql_type is SqlType.REAL:
        return value
    if value.is_integer() and abs(value) <= EXACT_FLOAT_INTEGER:
        return int(value)
    raise BadCellError("fraction_in_count", "a column of whole numbers holds a fraction")
