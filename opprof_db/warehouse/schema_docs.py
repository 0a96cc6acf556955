"""What tables, views and named queries are: one model for `opprof-db schema`, the reference pages and agents."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from functools import cache

from opprof_db.errors import UsageError
from opprof_db.warehouse import views
from opprof_db.warehouse.queries import query_files
from opprof_db.warehouse.resolve import did_you_mean
from opprof_db.warehouse.sql_files import SqlFile

KINDS = {"view": "view", "table": "table", "compat": "view in the shape of another tool", "query": "named query"}


@dataclass(frozen=True, slots=True)
class Field:
    """A column or a parameter."""

    name: str
    type: str
    """SQLite's declared type; empty for an expression of a view."""
    meaning: str
    key: bool = False


@dataclass(frozen=True, slots=True)
class Described:
    """One table, view or named query."""

    name: str
    kind: str
    """A key of ``KINDS``."""
    purpose: str
    grain: str
    fields: tuple[Field, ...]
    example: str
    ddl: str
    parameters: tuple[Field, ...] = field(default=())


@cache
def described() -> tuple[Described, ...]:
    """Views first, for they are what people read; then tables, compatible views, queries."""
    tables, types = _tables()
    return (
        *(_view(file, "view", types) for file in views.view_files()),
        *tables,
        *(_view(file, "compat", types) for file in views.compat_files()),
        *_queries(),
    )


def find(pattern: str | None = None) -> list[Described]:
    """All, or those whose name matches (``*`` and ``?`` stand for anything), upper or lower case.

    Raises:
        UsageError: there is none; the hint names a similar one.
    """
    if pattern is None:
        return list(described())
    wanted = pattern.lower()
    found = [one for one in described() if fnmatchcase(one.name.lower(), wanted)]
    if not found:
        names = [one.name for one in described()]
        raise UsageError(
            f"no table, view or query is called {pattern!r}", did_you_mean(pattern, names) or "see `opprof-db schema`"
        )
    return found


def markdown(found: Iterable[Described]) -> str:
    """One ``**NAME**`` section each, with a table of its fields."""
    return "\n".join(_section(one) for one in found)


def as_json(found: Iterable[Described]) -> str:
    """An array of objects."""
    return json.dumps([asdict(one) for one in found], ensure_ascii=False, indent=2) + "\n"


def ddl(found: Iterable[Described]) -> str:
    """The statements that make them; a named query's is itself."""
    return "\n\n".join(f"{one.ddl};" for one in found) + "\n"


def cell(text: object) -> str:
    """Text fit for a cell of a Markdown table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    names = list(head)
    lines = ["|" + "|".join(names) + "|", "|" + "--|" * len(names)]
    lines += ["|" + "|".join(cell(value) for value in row) + "|" for row in rows]
    return "\n".join(lines)


def _section(one: Described) -> str:
    parts = [f"**{one.name}**", f"{one.purpose} ({KINDS[one.kind]})"]
    if one.grain:
        parts.append(f"Grain: {one.grain}")
    if one.parameters:
        parts.append(table(("Parameter", "Type", "Meaning"), ((p.name, p.type, p.meaning) for p in one.parameters)))
    parts.append(table(("Field", "Type", "Meaning"), ((f.name, f.type, f.meaning) for f in one.fields)))
    if one.example and one.kind != "query":
        parts.append(f"```sql\n{one.example}\n```")
    elif one.example:
        parts.append(f"```bash\n{one.example}\n```")
    return "\n\n".join(parts) + "\n"


def _tables() -> tuple[list[Described], dict[str, dict[str, str]]]:
    """Tables as described, and the types of all columns of tables and views."""
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateTable

    from opprof_db.warehouse.tables import metadata

    statements: dict[str, str] = {}
    types: dict[str, dict[str, str]] = {}
    with closing(sqlite3.connect(":memory:")) as connection:
        for made in metadata.sorted_tables:
            statements[made.name] = str(CreateTable(made).compile(dialect=sqlite.dialect())).strip()
            connection.execute(statements[made.name])
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")  # Alembic's own; a view reads it
        views.create_all(connection)
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
        for name in names:
            types[name] = {row[1]: row[2] for row in connection.execute(f'PRAGMA table_info("{name}")')}
    tables = [
        Described(
            made.name,
            "table",
            made.comment or "",
            "",
            tuple(
                Field(column.name, types[made.name][column.name], column.comment or "", bool(column.primary_key))
                for column in made.columns
            ),
            "",
            statements[made.name],
        )
        for made in sorted(metadata.tables.values(), key=lambda made: made.name)
    ]
    return tables, types


def _view(file: SqlFile, kind: str, types: dict[str, dict[str, str]]) -> Described:
    fields = tuple(Field(name, types[file.name].get(name, ""), text) for name, text in file.columns.items())
    statement = f"CREATE VIEW {file.name} AS\n{file.sql}"
    return Described(file.name, kind, file.purpose, file.grain, fields, file.example, statement)


def _queries() -> list[Described]:
    return [
        Described(
            query.name,
            "query",
            query.file.purpose,
            query.file.grain,
            tuple(Field(name, "", text) for name, text in query.file.columns.items()),
            query.file.example,
            query.file.sql,
            tuple(
                Field(p.name, p.type, p.text if p.required else f"{p.text} (default: {_default(p.default)})")
                for p in query.parameters
            ),
        )
        for query in query_files()
    ]


def _default(value: object) -> str:
    return "NULL" if value is None else str(value)
