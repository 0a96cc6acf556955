"""Prints rows: a table for people, JSON, CSV or Markdown for programs."""

from __future__ import annotations

import csv
import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, TextIO

NULL = "-"


class Format(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


def print_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    style: Format = Format.TABLE,
    title: str | None = None,
    stream: TextIO | None = None,
) -> None:
    """Print rows to stdout or a stream; ``json`` is an array of objects, ``csv`` has a header line.

    All but tables are printed as the rows come.
    """
    out = stream or sys.stdout
    if style is Format.JSON:
        _print_objects(columns, rows, out)
    elif style is Format.CSV:
        _print_csv(columns, rows, out)
    elif style is Format.MARKDOWN:
        _print_markdown(columns, rows, out)
    else:
        _print_table(columns, list(rows), title, out)


def print_json_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]], stream: TextIO) -> None:
    """Print one JSON object a line."""
    names = distinct(columns)
    for row in rows:
        stream.write(_object(names, row) + "\n")


def _object(names: Sequence[str], row: Sequence[Any]) -> str:
    return json.dumps(dict(zip(names, map(_plain, row), strict=True)), ensure_ascii=False)


def _print_objects(columns: Sequence[str], rows: Iterable[Sequence[Any]], out: TextIO) -> None:
    """An array, one object a line."""
    names = distinct(columns)
    between = "\n  "
    out.write("[")
    for row in rows:
        out.write(between + _object(names, row))
        between = ",\n  "
    out.write("]\n" if between == "\n  " else "\n]\n")


def print_object(value: Any) -> None:
    """Print one JSON value."""
    _print_json(value)


def _print_json(value: Any) -> None:
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write("\n")


def distinct(columns: Sequence[str]) -> list[str]:
    """Column names with a number behind repeated ones: an object cannot hold two of a name."""
    taken = set(columns)
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names or (number > 1 and name in taken):
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names


def _plain(value: Any) -> Any:
    """A value that JSON can hold without changing it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _print_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]], out: TextIO) -> None:
    """NULL is nothing, an empty text is ``""`` (in a single column NULL is so too: readers skip empty lines)."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        values = [_plain(value) for value in row]
        if "" in values:
            out.write(",".join(map(_csv_cell, values)) + "\n")
        else:
            writer.writerow(values)


def _csv_cell(value: Any) -> str:
    """A cell as csv.writer makes it, but for empty texts, which it cannot tell from None before Python 3.12."""
    text = "" if value is None else str(value)
    quoted = value == "" or any(char in text for char in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text


def _print_markdown(columns: Sequence[str], rows: Iterable[Sequence[Any]], out: TextIO) -> None:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells) + " |\n"

    out.write(line(columns))
    out.write("|" + "|".join("---" for _ in columns) + "|\n")
    for row in rows:
        out.write(line(shown(value) for value in row))


def shown(value: Any) -> str:
    """A value as text for people: exact, on one line, without control characters."""
    if value is None:
        return NULL
    if isinstance(value, bytes):
        return f"x'{value[:16].hex()}{'…' if len(value) > 16 else ''}'"
    if isinstance(value, float):
        return repr(value)
    return "".join(char if char.isprintable() else _escaped(char) for char in str(value))


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def pretty(stream: TextIO | None) -> bool:
    """Whether a person looks at the stream: a terminal that is not ``dumb``."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def _print_table(columns: Sequence[str], rows: list[Sequence[Any]], title: str | None, out: TextIO) -> None:
    texts = [[shown(value) for value in row] for row in rows]
    numeric = [
        any(isinstance(row[at], int | float) for row in rows)
        and all(row[at] is None or isinstance(row[at], int | float) for row in rows)
        for at in range(len(columns))
    ]
    if pretty(out):
        _print_pretty(columns, texts, numeric, title)
        return
    widths = [max([len(column), *(min(len(text[at]), _WIDEST) for text in texts)]) for at, column in enumerate(columns)]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numeric, strict=True)
        ).rstrip()

    for text in (columns, *texts):
        out.write(line(text) + "\n")


PROSE = frozenset({"meaning", "message", "purpose", "value", "formula", "missing", "source", "advice", "raw_text"})
"""Columns of sentences: too long ones go on in the next line; in all others they are cut with an ellipsis."""
_NARROWEST = 12
_WIDEST = 100
"""In plain tables a longer cell sticks out, rather than make every line as long as itself."""
_GAP = 2


def _print_pretty(columns: Sequence[str], texts: list[list[str]], numeric: list[bool], title: str | None) -> None:
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    shown_at = [at for at in range(len(columns)) if not texts or any(text[at] != NULL for text in texts)]
    natural = {at: max([0, *(cell_len(text[at]) for text in texts)]) for at in shown_at}
    heads = {at: _broken(columns[at], max(natural[at], 8)) for at in shown_at}
    for at in shown_at:
        natural[at] = max(natural[at], *(len(line) for line in heads[at].split("\n")))
    elastic = {at for at in shown_at if not numeric[at] and not columns[at].endswith("_at")}
    widths = _fitted(natural, elastic, console.width)
    table = Table(
        title=title, box=None, title_justify="left", header_style="bold", pad_edge=False, padding=(0, _GAP, 0, 0)
    )
    for at in shown_at:
        table.add_column(
            Text(heads[at]),
            justify="right" if numeric[at] else "left",
            width=widths[at],
            no_wrap=columns[at] not in PROSE,
            overflow="fold" if columns[at] in PROSE else "ellipsis",
        )
    for text in texts:
        cells = [text[at] if columns[at] in PROSE else _middle_cut(text[at], widths[at]) for at in shown_at]
        table.add_row(*(Text(cell, style="dim" if cell == NULL else "") for cell in cells))
    # Where even that is too wide, lines run on in the terminal rather than numbers being cut.
    needed = sum(widths.values()) + _GAP * len(widths)
    (Console(width=needed) if needed > console.width else console).print(table)


def _middle_cut(text: str, width: int) -> str:
    """A text cut in the middle: names of runs and kernels differ at their ends."""
    from rich.cells import cell_len

    if cell_len(text) <= width or not text.isascii():
        return text
    left = (width - 1) // 2
    return f"{text[:left]}…{text[left + len(text) - width + 1 :]}"


def _broken(name: str, width: int) -> str:
    """A column's name on several lines, broken behind underscores."""
    lines = [""]
    for part in name.replace("_", "_ ").split():
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _fitted(natural: dict[int, int], texts: set[int], available: int) -> dict[int, int]:
    """Column widths: numbers get what they need, the widest texts give way to a limit."""
    widths = dict(natural)
    while sum(widths.values()) + _GAP * len(widths) > available:
        widest = max(texts, key=lambda at: widths[at], default=None)
        if widest is None or widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def note(message: str) -> None:
    """A remark on stderr, so that stdout stays clean for programs."""
    print(message, file=sys.stderr)
