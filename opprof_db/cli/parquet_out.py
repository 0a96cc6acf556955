"""Rows as a Parquet file. A column of SQLite may mix types, one of Parquet may not: no value is changed for that.

Rows wait in a temporary file until every column's types are known; memory does not grow with them. A column that
mixes types is written as text, and a second one, ``<name>_typeof``, names SQLite's type of each value.
"""

from __future__ import annotations

import marshal
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from opprof_db import scratch
from opprof_db.cli.output import distinct

ROWS_PER_GROUP = 10_000
BYTES_PER_GROUP = 16 * 1024 * 1024
_EXACT = 2**53
"""Whole numbers up to here are exact as doubles."""


class _Types:
    """What a column holds."""

    __slots__ = ("held", "large")

    def __init__(self) -> None:
        self.held: set[type] = set()
        self.large = False
        """Any whole number that a double cannot hold."""

    def see(self, values: Sequence[Any]) -> None:
        self.held.update(map(type, values))
        if not self.large and int in self.held:
            self.large = any(isinstance(value, int) and abs(value) > _EXACT for value in values)

    @property
    def target(self) -> type | None:
        """The type to write: as stored where there is one, doubles for exact mixed numbers, else text."""
        held = self.held - {type(None)}
        if not held:
            return None
        if len(held) == 1:
            return next(iter(held))
        return float if held == {int, float} and not self.large else str

    @property
    def mixed(self) -> bool:
        """Written as text though not all of it is."""
        return self.target is str and self.held - {type(None)} != {str}


def write(columns: Sequence[str], rows: Iterable[Sequence[Any]], path: Path) -> list[str]:
    """Write the file; returns remarks on columns that had to become text.

    Raises:
        DatabaseError: no room for the temporary file.
        OSError: the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = distinct(columns)
    types = [_Types() for _ in columns]
    spool = scratch.nameless_file()
    try:
        sizes = _collect(rows, types, spool)
        arrow: dict[Any, Any] = {int: pa.int64(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}
        targets = [held.target for held in types]
        written: list[tuple[str, Any, int, Callable[[Any], Any]]] = []
        for at, (name, target) in enumerate(zip(names, targets, strict=True)):
            written.append((name, arrow.get(target, pa.null()), at, partial(_as, target)))
            if types[at].mixed:
                written.append((_typeof_column(name, names), pa.string(), at, _typeof))
        schema = pa.schema([(name, kind) for name, kind, *_ in written])
        with pq.ParquetWriter(str(path), schema) as writer:
            for group in _replay(spool, sizes):
                arrays = [pa.array(list(map(change, group[at])), kind) for _, kind, at, change in written]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    finally:
        spool.close()
    return [
        f"column {name} holds {_words(held)}: written as text, {_typeof_column(name, names)} tells them apart"
        for name, held in zip(names, types, strict=True)
        if held.mixed
    ]


def _collect(rows: Iterable[Sequence[Any]], types: list[_Types], spool: IO[bytes]) -> list[int]:
    sizes: list[int] = []
    group: list[Sequence[Any]] = []
    held_bytes = 0

    def flush() -> None:
        values = list(zip(*group, strict=True))
        for held, column in zip(types, values, strict=True):
            held.see(column)
        with scratch.explained():
            sizes.append(spool.write(marshal.dumps(values)))
        group.clear()

    for row in rows:
        group.append(row)
        held_bytes += sum(map(sys.getsizeof, row))
        if len(group) == ROWS_PER_GROUP or held_bytes >= BYTES_PER_GROUP:
            flush()
            held_bytes = 0
    if group:
        flush()
    return sizes


def _replay(spool: IO[bytes], sizes: list[int]) -> Iterator[list[tuple[Any, ...]]]:
    spool.seek(0)
    for size in sizes:
        yield marshal.loads(spool.read(size))


def _as(target: type | None, value: Any) -> Any:
    if value is None or target is None or isinstance(value, target):
        return value
    if target is float:
        return float(value)
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    return repr(value) if isinstance(value, float) and math.isfinite(value) else str(value)


_TYPEOF = {int: "integer", float: "real", str: "text", bytes: "blob", type(None): "null"}


def _typeof_column(name: str, names: Sequence[str]) -> str:
    return distinct([*names, f"{name}_typeof"])[-1]


def _typeof(value: Any) -> str:
    return _TYPEOF[type(value)]


def _words(types: _Types) -> str:
    names = {int: "whole numbers", float: "numbers", str: "text", bytes: "bytes"}
    words = sorted(names[held] for held in types.held if held in names)
    return " and ".join(words) + (" beyond 2^53" if types.large else "")
