"""Numbers and texts as msopprof writes them outside its device CSVs: as JSON, as text, in hexadecimal."""

from __future__ import annotations

from opprof_db.catalog import SqlType
from opprof_db.msopprof.cells import MAX_INTEGER, BadCellError, to_number

Number = int | float | None


def exact_number(text: str) -> Number:
    """The number a text holds: whole numbers as int, others as float; ``None`` for NA, N/A, "" and "-".

    Raises:
        BadCellError: no number, not finite, or beyond 2^63-1.
    """
    stripped = text.strip()
    if stripped == "-":
        return None
    whole = stripped.lstrip("+-").isdigit()
    return to_number(stripped, SqlType.INTEGER if whole else SqlType.REAL)


def parse_address(text: str) -> int | None:
    """An address in decimal or, with 0x, in hexadecimal; ``None`` where there is none.

    Raises:
        BadCellError: no number, negative, or beyond 2^63-1.
    """
    stripped = text.strip()
    if stripped[:2] not in ("0x", "0X"):
        value = to_number(stripped, SqlType.INTEGER)
        if value is not None and value < 0:
            raise BadCellError("not_an_address", "a negative address")
        return value if value is None else int(value)
    digits = stripped[2:]
    if not digits or len(digits) > 64 or digits.strip("0123456789abcdefABCDEF"):
        raise BadCellError("not_an_address", "no hexadecimal address")
    value = int(digits, 16)
    if value > MAX_INTEGER:
        raise BadCellError("integer_too_large", "an address beyond 2^63-1 does not fit")
    return value


def visible(text: str) -> str:
    """Text fit for a database: NUL characters written as an escape, lone surrogates replaced."""
    text = text.replace("\x00", "\\x00")
    return text.encode("utf-8", "replace").decode("utf-8")
