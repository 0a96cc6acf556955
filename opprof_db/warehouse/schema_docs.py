"""What the warehouse holds, in words: tables, views and named queries with their columns.

Tables are described by the comments of the schema, views and queries by the headers of their SQL
files; nothing is read from a database. The ``schema`` command, the reference pages, the skill and
the MCP server all take their documentation from here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from opprof_db.errors import UsageError
from opprof_db.warehouse import views
from opprof_db.warehouse.fts import FTS5
from opprof_db.warehouse.queries import NamedQuery, query_files
from opprof_db.warehouse.resolve import did_you_mean
from opprof_db.warehouse.sql_files import SqlFile

COMPUTED = "computed"
"""Type of a view column that SQLite computes: it declares none."""
_ALEMBIC_VERSION = "CREATE TABLE alembic_version (version_num TEXT NOT NULL)"
"""Alembic's own table, which a view may show."""
_STORAGE_TYPES = frozenset({"INTEGER", "REAL", "TEXT", "BLOB"})


class Kind(StrEnum):
    """What something documented is."""

    VIEW = "view"
    COMPAT = "compat view"
    """A view in the shape of another tool's table."""
    TABLE = "table"
    QUERY = "query"


TITLES = {
    Kind.VIEW: "Views",
    Kind.COMPAT: "Views in the shape of other tools' tables",
    Kind.TABLE: "Tables",
    Kind.QUERY: "Named queries",
}


@dataclass(frozen=True, slots=True)
class Field:
    """A column, or a parameter of a query."""

    name: str
    type: str
    """INTEGER, REAL, TEXT or BLOB; ``computed`` for expressions of views; empty for columns of queries."""
    meaning: str
    key: bool = False
    """Whether a table's primary key has it."""
    required: bool = False
    """Whether a query's parameter must be given."""


@dataclass(frozen=True, slots=True)
class Documented:
    """A table, view or named query."""

    kind: Kind
    name: str
    purpose: str
    grain: str
    """What one row is; empty for tables."""
    fields: tuple[Field, ...]
    sql: str
    """The CREATE statements; of a named query its SELECT."""
    parameters: tuple[Field, ...] = ()
    example: str = ""
    """A SELECT on a view; the command line of a named query."""


@cache
def documentation() -> tuple[Documented, ...]:
    """Everything, the views first: they are what people read."""
    tables = _tables()
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(";\n".join([_ALEMBIC_VERSION, *(table.sql for table in tables)]))
        views.create_all(empty)
        described = [
            *(_view(Kind.VIEW, file, empty) for file in views.view_files()),
            *(_view(Kind.COMPAT, file, empty) for file in views.compat_files()),
        ]
    return (*described, *tables, *(_query(query) for query in query_files()))


def of_kind(*kinds: Kind) -> list[Documented]:
    """All of some kinds, in the order of ``documentation``."""
    return [item for item in documentation() if item.kind in kinds]


def matching(pattern: str) -> list[Documented]:
    """What somebody means by a name (case does not matter) or a pattern with ``*`` and ``?``.

    Raises:
        UsageError: nothing of that name; the hint names similar ones.
    """
    wanted = pattern.lower()
    found = [item for item in documentation() if item.name.lower() == wanted]
    if not found and any(char in wanted for char in "*?["):
        found = [item for item in documentation() if fnmatchcase(item.name.lower(), wanted)]
    if not found:
        raise UsageError(
            f"no table, view or named query is called {pattern!r}",
            did_you_mean(pattern, (item.name for item in documentation()))
            or "`opprof-db schema '*'` shows all of them",
        )
    return found


def markdown(items: Iterable[Documented]) -> str:
    """One ``**NAME**`` section each with a field table, as the documentation of msprof's database has it.

    No other line is bold as a whole: programs split such a document at these lines.
    """
    return "\n\n".join(_section(item) for item in items) + "\n"


def ddl(items: Iterable[Documented]) -> str:
    """The CREATE statements of tables and views.

    Raises:
        UsageError: there are only named queries, which are not created.
    """
    given = list(items)
    statements = [f"{item.sql};" for item in given if item.kind is not Kind.QUERY]
    if given and not statements:
        raise UsageError(
            f"{given[0].name} is a named query, not a table or view", "use --format markdown or json to see its SELECT"
        )
    return "\n\n".join(statements) + "\n"


def as_objects(items: Iterable[Documented]) -> list[dict[str, Any]]:
    """Plain values for JSON; what does not apply is ``None``."""
    return [
        {
            "name": item.name,
            "kind": str(item.kind),
            "purpose": item.purpose,
            "grain": item.grain or None,
            "fields": [_field_object(field) for field in item.fields],
            "parameters": [
                {"name": field.name, "type": field.type, "required": field.required, "meaning": field.meaning}
                for field in item.parameters
            ],
            "example": item.example or None,
            "sql": item.sql,
        }
        for item in items
    ]


def _field_object(field: Field) -> dict[str, Any]:
    return {"name": field.name, "type": field.type or None, "key": field.key, "meaning": field.meaning}


def markdown_table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    """A Markdown table, one row a line whatever the cells hold."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _section(item: Documented) -> str:
    parts = [f"**{item.name}**", f"{str(item.kind).capitalize()}: {item.purpose}"]
    if item.grain:
        parts.append(f"Grain: {item.grain}")
    if item.parameters:
        rows = [(field.name, field.type, field.meaning) for field in item.parameters]
        parts.append(markdown_table(("Parameter", "Type", "Meaning"), rows))
    if item.kind is Kind.QUERY:
        parts.append(markdown_table(("Field", "Meaning"), [(field.name, field.meaning) for field in item.fields]))
        parts.append(f"```sql\n{item.sql}\n```")
        if item.example:
            parts.append(f"```sh\n{item.example}\n```")
        return "\n\n".join(parts)
    typed = [(field.name, field.type + (", key" if field.key else ""), field.meaning) for field in item.fields]
    parts.append(markdown_table(("Field", "Type", "Meaning"), typed))
    if item.example:
        parts.append(f"```sql\n{item.example}\n```")
    return "\n\n".join(parts)


def _tables() -> list[Documented]:
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateIndex, CreateTable

    from opprof_db.warehouse.tables import metadata

    dialect = sqlite.dialect()
    described = []
    for table in sorted(metadata.tables.values(), key=lambda table: table.name):
        statements: list[Any] = [CreateTable(table)]
        statements += [CreateIndex(index) for index in sorted(table.indexes, key=lambda index: str(index.name))]
        described.append(
            Documented(
                Kind.TABLE,
                table.name,
                table.comment or "",
                "",
                tuple(
                    Field(
                        column.name,
                        "" if FTS5 in table.info else str(column.type),
                        column.comment or "",
                        column.primary_key,
                    )
                    for column in table.columns
                ),
                ";\n".join(_readable(str(statement.compile(dialect=dialect))) for statement in statements),
            )
        )
    return described


def _readable(statement: str) -> str:
    lines = [line.rstrip().replace("\t", "    ") for line in statement.strip().splitlines()]
    return "\n".join(lines).replace("\n)\n ", "\n) ")


def _view(kind: Kind, file: SqlFile, empty: sqlite3.Connection) -> Documented:
    declared = dict(empty.execute("SELECT name, type FROM pragma_table_info(?)", (file.name,)).fetchall())
    return Documented(
        kind,
        file.name,
        file.purpose,
        file.grain,
        tuple(Field(name, _storage_type(declared.get(name, "")), text) for name, text in file.columns.items()),
        f"CREATE VIEW {file.name} AS\n{file.sql}",
        example=file.example,
    )


def _storage_type(declared: str) -> str:
    """Newer versions of SQLite guess ``NUM`` or ``INT`` for expressions, older ones say nothing."""
    return declared if declared in _STORAGE_TYPES else COMPUTED


def _query(query: NamedQuery) -> Documented:
    return Documented(
        Kind.QUERY,
        query.name,
        query.file.purpose,
        query.file.grain,
        tuple(Field(name, "", text) for name, text in query.file.columns.items()),
        query.file.sql,
        tuple(
            Field(
                parameter.name,
                parameter.type,
                f"{parameter.text} ({_whether_needed(parameter.required, parameter.default)})",
                required=parameter.required,
            )
            for parameter in query.parameters
        ),
        query.file.example,
    )


def _whether_needed(required: bool, default: object) -> str:
    if required:
        return "required"
    return "optional" if default is None else f"default {default}"
