"""Which kind of operator a name means: whole words against a written list of aliases, never parts of words."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LONGEST = 6
"""Words of the longest alias."""


@dataclass(frozen=True, slots=True)
class OperatorKind:
    """A kind of operator."""

    name: str
    title: str
    aliases: tuple[str, ...]
    onnx: tuple[str, ...]
    hard: bool
    """Often ends up off the AI Core, or costs conversions."""
    free: bool
    """Moves no data by itself; left out of comparisons of models."""


@cache
def kinds() -> dict[str, OperatorKind]:
    """Every kind, by name."""
    data = tomllib.loads((files(__package__) / "operators.toml").read_text(encoding="utf-8"))
    return {
        name: OperatorKind(
            name,
            entry["title"],
            tuple(entry["aliases"]),
            tuple(entry["onnx"]),
            entry.get("hard", False),
            entry.get("free", False),
        )
        for name, entry in data.items()
    }


@cache
def _by_alias() -> dict[str, str]:
    return {alias: kind.name for kind in kinds().values() for alias in (*kind.aliases, kind.name.replace("_", ""))}


@cache
def _by_onnx() -> dict[str, str]:
    return {name: kind.name for kind in kinds().values() for name in kind.onnx}


def words(name: str) -> list[str]:
    """Words of a name in any spelling: ``MatMulV3``, ``matmul_bias``, ``npu_fusion_attention``."""
    return [word.lower() for word in _WORD.findall(name)]


def kinds_of(name: str | None) -> tuple[str, ...]:
    """Kinds of an operator by its name, the one with the longest alias first; none where no alias is in it."""
    if not name:
        return ()
    parts = words(name)
    matches: dict[str, int] = {}
    start = 0
    while start < len(parts):
        step = 1
        for length in range(min(_LONGEST, len(parts) - start), 0, -1):
            joined = "".join(parts[start : start + length])
            kind = _by_alias().get(joined)
            if kind is not None:
                matches[kind] = max(matches.get(kind, 0), len(joined))
                step = length
                break
        start += step
    return tuple(sorted(matches, key=lambda kind: (-matches[kind], kind)))


def kind_of_onnx(op_type: str) -> str | None:
    """Kind of an ONNX operator type; by its name where the list has none (custom operators)."""
    found = _by_onnx().get(op_type)
    return found or next(iter(kinds_of(op_type)), None)
