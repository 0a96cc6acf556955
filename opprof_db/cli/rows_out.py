"""Writes the rows of a query as they come: to the screen, or to a file that appears whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from opprof_db.cli.output import Format, note, print_json_lines, print_rows
from opprof_db.errors import UsageError
from opprof_db.scratch import new_file

if TYPE_CHECKING:
    from opprof_db.warehouse.readonly import Stream


def check_target(target: Path | None, style: str, *, force: bool, db: Path) -> None:
    """Refuse what cannot work before the statement runs.

    Raises:
        UsageError: the file exists, is the warehouse or no ordinary file, its folder does not exist, or Parquet
            has no file or no library.
    """
    if style == "parquet":
        if target is None:
            raise UsageError("parquet is written to files only", "add -o FILE")
        from importlib.util import find_spec

        if find_spec("pyarrow") is None:
            raise UsageError("parquet needs the package pyarrow", "pip install 'opprof-db[parquet]'")
    if target is None:
        return
    try:
        target.resolve()
    except (OSError, RuntimeError) as error:  # a link that leads to itself
        raise UsageError(f"{target} leads nowhere: {error}", "give another name with -o") from error
    if not target.parent.is_dir():
        raise UsageError(f"{target.parent}: no such folder", "create it first, or give another -o FILE")
    if target.is_dir():
        raise UsageError(f"{target} is a folder", "give a file name with -o")
    if belongs_to(target, db):
        raise UsageError(f"{target} belongs to the warehouse", "give another -o FILE; nothing was overwritten")
    if target.exists() and not target.is_file():
        raise UsageError(f"{target} is no ordinary file", "leave -o out and redirect the output")
    if os.path.lexists(target) and not force:
        raise UsageError(f"{target} exists already", "give another name, or --force to replace it")


def belongs_to(target: Path, db: Path) -> bool:
    """Whether a path is the warehouse, by whatever name, or a file that SQLite keeps beside it."""
    if target.exists() and db.exists() and target.samefile(db):
        return True
    real = db.resolve()
    return target.resolve() in [real.with_name(real.name + end) for end in ("", "-wal", "-shm", "-journal")]


def write(found: Stream, style: str, target: Path | None) -> int:
    """Write all rows; returns their number."""
    counted = _Counted(found.rows)
    if target is None:
        _to_text(found.columns, counted, style, sys.stdout)
        return counted.count
    with new_file(target.resolve()) as path:  # --force replaces what a link points to, not the link
        if style == "parquet":
            from opprof_db.cli import parquet_out

            for remark in parquet_out.write(found.columns, counted, path):
                note(remark)
        else:
            with path.open("w", encoding="utf-8", newline="") as stream:
                _to_text(found.columns, counted, style, stream)
    return counted.count


class _Counted:
    """Iterates, and counts."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for row in self._rows:
            self.count += 1
            yield row


def _to_text(columns: Sequence[str], rows: _Counted, style: str, stream: TextIO) -> None:
    if style == "jsonl":
        print_json_lines(columns, rows, stream)
    else:
        print_rows(columns, rows, Format(style), stream=stream)
