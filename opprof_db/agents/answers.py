"""Answers of the MCP server: JSON that fits a model's context, and says when something was left out."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from opprof_db.errors import UsageError

MAX_ROWS = 200
"""Rows of one answer."""
MAX_BYTES = 60_000
"""Size of one answer, in bytes of UTF-8 after serialisation."""
_ROOM_FOR_REMARKS = 2_000
_REST = (
    "aggregate, select fewer columns, shorten long text with substr(), or page with ORDER BY … LIMIT … OFFSET …; "
    "execute_sql_to_csv writes a whole result to a file"
)

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Caps:
    """Bounds of one answer."""

    rows: int = MAX_ROWS
    size_bytes: int = MAX_BYTES


def serialised(answer: Any) -> str:
    """The text an agent gets; what UTF-8 cannot hold (half a surrogate pair, sent in a name) is replaced."""
    text = json.dumps(answer, ensure_ascii=False, allow_nan=False, default=str)
    return text.encode("utf-8", "replace").decode("utf-8")


def size_of(value: Any) -> int:
    """Bytes of a value in an answer."""
    return len(serialised(value).encode("utf-8"))


def rows_answer(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], cut: str | None, caps: Caps, **more: Any
) -> Answer:
    """Rows as objects, as many as fit. ``cut`` is why rows are missing already.

    ``row_count`` counts the rows in the answer; ``truncated`` says that there are more, ``note`` how to get them.

    Raises:
        UsageError: not even the names of the columns fit.
    """
    names = distinct(columns)
    answer: Answer = {**more, "columns": names, "rows": [], "row_count": 0, "truncated": False, "note": None}
    room = caps.size_bytes - size_of(answer) - _ROOM_FOR_REMARKS
    if room < 0:
        raise UsageError("the names of the columns alone exceed an answer", "select fewer columns, with short names")
    reason = cut
    for row in rows[: caps.rows]:
        item = dict(zip(names, map(plain, row), strict=True))
        room -= size_of(item) + 2
        if room < 0:
            reason = f"the answer would exceed {caps.size_bytes} bytes"
            break
        answer["rows"].append(item)
    else:
        if len(rows) > caps.rows:
            reason = f"an answer holds at most {caps.rows} rows"
    answer["row_count"] = len(answer["rows"])
    if reason:
        answer["truncated"] = True
        answer["note"] = f"cut: {reason}. To get the rest: {_REST}."
    return answer


def text_answer(name: str, text: str, caps: Caps, rest: str, **more: Any) -> Answer:
    """A text, cut at the end of a line where it does not fit; ``rest`` says how to get what is missing."""
    answer: Answer = {**more, name: "", "truncated": False, "note": None}
    room = caps.size_bytes - size_of(answer) - _ROOM_FOR_REMARKS
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        room -= size_of({"": line}) - size_of({"": ""})
        if room < 0:
            answer["truncated"] = True
            answer["note"] = f"cut after {len(lines)} lines: the answer would exceed {caps.size_bytes} bytes. {rest}"
            break
        lines.append(line)
    answer[name] = "".join(lines)
    return answer


def error_answer(what: str, hint: str | None) -> Answer:
    """What went wrong, and what to do."""
    return {
        "error": what[:_ROOM_FOR_REMARKS],
        "hint": (hint or "call list_tables to see what there is")[:_ROOM_FOR_REMARKS],
    }


def distinct(columns: Sequence[str]) -> list[str]:
    """Column names with a number behind repeated ones: an object cannot hold two of a name."""
    taken: set[str] = set()
    names = []
    for column in columns:
        name, number = column, 1
        while name in taken:
            number += 1
            name = f"{column}_{number}"
        taken.add(name)
        names.append(name)
    return names


def plain(value: Any) -> Any:
    """A value that JSON holds without changing it: bytes in hex, infinities as text."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
