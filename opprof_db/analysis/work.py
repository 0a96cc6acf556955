"""What an operator has to do at the least: operations and bytes, stated by somebody, so that achieved can be measured.

Stored per operator in ``operator_work``; nothing here is guessed from counters. A shape is
``MxKxN`` for a matrix product, or tensors ``in=1024x1024,in=1024,out=1024x1024`` whose bytes are read or written once.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opprof_db.errors import UsageError

DTYPE_BYTES = {
    "float64": 8.0, "int64": 8.0, "float32": 4.0, "int32": 4.0, "uint32": 4.0, "float16": 2.0, "bfloat16": 2.0,
    "int16": 2.0, "uint16": 2.0, "int8": 1.0, "uint8": 1.0, "bool": 1.0, "fp8": 1.0, "int4": 0.5,
}  # fmt: skip
_SHORT = {
    "fp32": "float32", "f32": "float32", "float": "float32", "fp16": "float16", "f16": "float16", "half": "float16",
    "bf16": "bfloat16", "s32": "int32", "s8": "int8", "fp64": "float64", "double": "float64",
}  # fmt: skip
ALIGNMENT_BYTES = 512
"""Rows of a matrix product that are no multiple of this are unaligned (source: msprof-analyze)."""


@dataclass(frozen=True, slots=True)
class Work:
    """The least an operator has to do in one launch; ``None``: not stated."""

    flops: float | None = None
    """Operations; a multiply-add is two."""
    bytes_read: float | None = None
    bytes_written: float | None = None
    bytes_total: float | None = None
    """Reads and writes together, where they were not stated apart."""
    shape: str | None = None
    dtype: str | None = None
    source: str = "command line"

    @property
    def bytes(self) -> float | None:
        """Bytes read and written."""
        if self.bytes_total is not None:
            return self.bytes_total
        if self.bytes_read is None and self.bytes_written is None:
            return None
        return (self.bytes_read or 0.0) + (self.bytes_written or 0.0)

    def aligned(self) -> bool | None:
        """Whether the innermost sizes of a matrix product are multiples of 512 bytes; ``None`` when not known."""
        dims = _product_dims(self.shape)
        width = DTYPE_BYTES.get(self.dtype or "")
        if dims is None or width is None:
            return None
        return all((size * width) % ALIGNMENT_BYTES == 0 for size in dims[1:])


def data_type(name: str | None) -> str | None:
    """A data type as this module spells it.

    Raises:
        UsageError: not known.
    """
    if name is None:
        return None
    spelt = _SHORT.get(name.lower(), name.lower())
    if spelt not in DTYPE_BYTES:
        raise UsageError(f"the data type {name!r} is not known", f"one of: {', '.join(DTYPE_BYTES)}")
    return spelt


def quantity(text: str, what: str) -> float:
    """A number as people write it: ``2.5e9``, ``64MiB``, ``12GB``, ``3T``.

    Raises:
        UsageError: it is none, or not above 0.
    """
    match = re.fullmatch(r"\s*([0-9.]+(?:e[+-]?\d+)?)\s*([kKMGT]?)(i?)(?:B|FLOPS?|FLOP|OPS?)?\s*", text, re.IGNORECASE)
    try:
        number = float(match.group(1)) if match else math.nan
    except ValueError:
        number = math.nan
    if match is None or not math.isfinite(number) or number <= 0:
        raise UsageError(f"--{what} {text!r} is no amount", "write for example 2.5e9, 12G or 64MiB")
    base = 1024 if match.group(3) else 1000
    value = number * base ** " kmgt".index(match.group(2).lower() or " ")
    if not math.isfinite(value):
        raise UsageError(f"--{what} {text!r} is too large", "write for example 2.5e9, 12G or 64MiB")
    return float(value)


def _sizes(text: str) -> tuple[int, ...] | None:
    parts = re.split(r"[x*×]", text.strip().lower())
    if not all(part.isdecimal() and part.isascii() and int(part) for part in parts):
        return None
    return tuple(int(part) for part in parts)


def _product_dims(shape: str | None) -> tuple[int, int, int] | None:
    sizes = _sizes(shape) if shape and "=" not in shape else None
    return (sizes[0], sizes[1], sizes[2]) if sizes and len(sizes) == 3 else None


def from_shape(shape: str, dtype: str | None) -> Work:
    """The work that follows from a shape.

    ``MxKxN`` is a matrix product: 2 M K N operations, A and B read once, C written once. Tensors
    ``in=1024x1024,out=1024`` state bytes only; a type may stand behind each: ``in=1024x1024:float16``.

    Raises:
        UsageError: the shape cannot be read, or needs a data type.
    """
    spelt = data_type(dtype)
    product = _product_dims(shape)
    if product:
        if spelt is None:
            raise UsageError(f"the shape {shape!r} needs a data type", "add --dtype float16, for example")
        rows, inner, columns = product
        width = DTYPE_BYTES[spelt]
        return Work(
            2.0 * rows * inner * columns,
            width * (rows * inner + inner * columns),
            width * rows * columns,
            shape=shape,
            dtype=spelt,
        )
    read = written = 0.0
    for part in shape.split(","):
        side, equals, rest = part.partition("=")
        sizes_text, _, own = rest.partition(":")
        sizes, kind = _sizes(sizes_text), data_type(own or dtype)
        if not equals or side.strip() not in ("in", "out") or sizes is None:
            raise UsageError(
                f"the shape {shape!r} cannot be read", "write MxKxN for a matrix product, or in=1024x1024,out=1024"
            )
        if kind is None:
            raise UsageError(f"the shape {shape!r} needs a data type", "add --dtype float32, or in=1024:float32")
        moved = math.prod(sizes) * DTYPE_BYTES[kind]
        read, written = (read + moved, written) if side.strip() == "in" else (read, written + moved)
    return Work(None, read, written, shape=shape, dtype=spelt)


def stated(
    flops: str | None = None,
    bytes_moved: str | None = None,
    shape: str | None = None,
    dtype: str | None = None,
    source: str = "command line",
) -> Work | None:
    """The work somebody states in options; ``None`` when they state nothing. Stated numbers win over the shape's."""
    if flops is None and bytes_moved is None and shape is None:
        if dtype is not None:
            raise UsageError("--dtype alone says nothing", "give --shape too")
        return None
    work = from_shape(shape, dtype) if shape is not None else Work(dtype=data_type(dtype))
    if flops is not None:
        work = replace(work, flops=quantity(flops, "flops"))
    if bytes_moved is not None:
        work = replace(work, bytes_total=quantity(bytes_moved, "bytes"))
    return replace(work, source=source)


_COLUMNS = "flops, bytes_read, bytes_written, bytes_total, shape, dtype, source"


def stored(connection: sqlite3.Connection, operator: str | None) -> Work | None:
    """The work stored for an operator (its normalised name)."""
    if operator is None:
        return None
    row = connection.execute(f"SELECT {_COLUMNS} FROM operator_work WHERE operator = ?", (operator,)).fetchone()
    return Work(*row) if row else None


def store(connection: sqlite3.Connection, operator: str, work: Work) -> None:
    """Keep the work of an operator; what was stored before is replaced. Call inside a transaction."""
    values = (work.flops, work.bytes_read, work.bytes_written, work.bytes_total, work.shape, work.dtype, work.source)
    connection.execute("DELETE FROM operator_work WHERE operator = ?", (operator,))
    connection.execute(
        f"INSERT INTO operator_work (operator, {_COLUMNS}, stated_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
        (operator, *values),
    )


def remove(connection: sqlite3.Connection, operator: str) -> bool:
    """Forget the work of an operator; whether there was any. Call inside a transaction."""
    return connection.execute("DELETE FROM operator_work WHERE operator = ?", (operator,)).rowcount > 0


def from_toml(path: Path) -> dict[str, Work]:
    """Operators and their work: ``[matmul]`` with flops, bytes, shape, dtype.

    Raises:
        UsageError: the file cannot be read or says something unknown.
    """
    import tomllib

    try:
        parsed = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", "give a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}", '[operator]\\nshape = "1024x1024x1024"') from error
    return {name: _from_entry(path, name, entry) for name, entry in parsed.items()}


def _from_entry(path: Path, name: str, entry: Any) -> Work:
    known = {"flops", "bytes", "shape", "dtype"}
    if not isinstance(entry, Mapping) or not entry or set(entry) - known:
        raise UsageError(f"{path}: [{name}] must hold some of {', '.join(sorted(known))} and nothing else")
    texts = {key: str(value) for key, value in entry.items()}
    work = stated(texts.get("flops"), texts.get("bytes"), texts.get("shape"), texts.get("dtype"), source=path.name)
    if work is None:
        raise UsageError(f"{path}: [{name}] states no work", "give flops, bytes or shape")
    return work
