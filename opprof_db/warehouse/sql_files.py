"""SQL kept in files under sql/, documented in the comment block each of them starts with.

A header holds the purpose in free text, then, each optional unless a test asks for it: ``Grain: …``,
``Parameters:`` and ``Columns:`` with one indented ``name  description`` line each, and ``Example: …``. A
parameter's description starts with its type and, where it may be left out, ``= default``::

    --   limit  integer = 10  how many launches
    --   run    text          name or prefix of the run
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from opprof_db.resources import folder

_NAMED_LINE = re.compile(r"--\s{2,}(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s{2,}(?P<text>\S.*)")
_LISTS = ("Columns", "Parameters")
_TEXTS = ("Grain", "Example")


@dataclass(frozen=True, slots=True)
class SqlFile:
    """A documented SELECT kept in a file."""

    name: str
    purpose: str
    grain: str
    columns: dict[str, str]
    example: str
    sql: str
    parameters: dict[str, str] = field(default_factory=dict)
    """Name -> ``type [= default]  description``."""
    text: str = ""
    """The whole file."""


@cache
def sql_files(kind: str) -> tuple[SqlFile, ...]:
    """All files of a folder below sql/ (views, compat, queries), by name."""
    return tuple(read_sql_file(path) for path in sorted((folder("sql") / kind).glob("*.sql")))


def read_sql_file(path: Path) -> SqlFile:
    """Take a file apart into documentation and statement."""
    purpose: list[str] = []
    lists: dict[str, dict[str, str]] = {key: {} for key in _LISTS}
    texts = dict.fromkeys(_TEXTS, "")
    current = ""
    body: list[str] = []
    whole = path.read_text(encoding="utf-8")
    for line in whole.splitlines():
        if body or not line.startswith("--"):
            body.append(line)
            continue
        text = line[2:].strip()
        key, colon, rest = text.partition(":")
        named = _NAMED_LINE.fullmatch(line)
        if colon and key in (*_LISTS, *_TEXTS):
            current = key
            if key in texts:
                texts[key] = rest.strip()
        elif current in lists and named:
            lists[current][named["name"]] = named["text"].strip()
        elif current in lists and lists[current] and text:
            lists[current][list(lists[current])[-1]] += f" {text}"
        elif current in texts and text:
            texts[current] += f" {text}"
        elif text:
            purpose.append(text)
    return SqlFile(
        name=path.stem,
        purpose=" ".join(purpose),
        grain=texts["Grain"],
        columns=lists["Columns"],
        example=texts["Example"],
        sql="\n".join(body).strip().rstrip(";"),
        parameters=lists["Parameters"],
        text=whole,
    )
