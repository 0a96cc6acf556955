"""Views: one file under sql/views/ each, the comment header documenting purpose, grain and columns."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from opprof_db.resources import folder

_COLUMN_LINE = re.compile(r"--\s{2,}(?P<name>[a-z][a-z0-9_]*)\s{2,}(?P<text>\S.*)")


@dataclass(frozen=True, slots=True)
class SqlFile:
    """A documented SELECT kept in a file.

    The header is a block of ``--`` comments: the purpose, then ``Grain: …``, ``Columns:`` with one
    indented ``name  description`` line each, and ``Example: …``.
    """

    name: str
    purpose: str
    grain: str
    columns: dict[str, str]
    example: str
    sql: str


@cache
def view_files() -> tuple[SqlFile, ...]:
    """All views, by name."""
    return tuple(read_sql_file(path) for path in sorted((folder("sql") / "views").glob("*.sql")))


def read_sql_file(path: Path) -> SqlFile:
    """Take a file apart into documentation and statement."""
    purpose: list[str] = []
    columns: dict[str, str] = {}
    fields = {"Grain": "", "Example": ""}
    current = ""
    body: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if body or not line.startswith("--"):
            body.append(line)
            continue
        text = line[2:].strip()
        key, colon, rest = text.partition(":")
        column = _COLUMN_LINE.fullmatch(line)
        if colon and key in ("Grain", "Example", "Columns"):
            current = key
            if key in fields:
                fields[key] = rest.strip()
        elif current == "Columns" and column:
            columns[column["name"]] = column["text"].strip()
        elif current == "Columns" and columns and text:
            columns[list(columns)[-1]] += f" {text}"
        elif current in fields and text:
            fields[current] += f" {text}"
        elif text:
            purpose.append(text)
    return SqlFile(
        name=path.stem,
        purpose=" ".join(purpose),
        grain=fields["Grain"],
        columns=columns,
        example=fields["Example"],
        sql="\n".join(body).strip().rstrip(";"),
    )


def digest() -> str:
    """Changes when any view does."""
    text = "\0".join(f"{view.name}\0{view.sql}" for view in view_files())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def drop_all(connection: sqlite3.Connection) -> None:
    """Drop every view; tables are rebuilt under none."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
    for name in names:
        quoted = name.replace('"', '""')
        connection.execute(f'DROP VIEW "{quoted}"')


def create_all(connection: sqlite3.Connection) -> None:
    """Create every view from its file."""
    for view in view_files():
        connection.execute(f"CREATE VIEW {view.name} AS\n{view.sql}")
