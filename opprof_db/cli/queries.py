"""``opprof-db queries``."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opprof_db.cli.common import FormatOption
from opprof_db.cli.output import Format, print_object, print_rows

if TYPE_CHECKING:
    from opprof_db.warehouse.queries import NamedQuery, Parameter

EPILOG = """Examples:

  opprof-db queries                       all of them

  opprof-db queries core                  those with core in their name or purpose

  opprof-db queries transfer_sizes --sql  one whole, with its SQL

  opprof-db queries -f json               with types, defaults and columns

Run one with 'opprof-db query --name NAME --param KEY=VALUE'. A parameter with '=' may be left out."""


def queries(
    pattern: Annotated[
        str | None,
        typer.Argument(metavar="[PATTERN]", help="Part of a name or purpose, or a pattern for names with * and ?."),
    ] = None,
    sql: Annotated[bool, typer.Option("--sql", help="Print the one query that matches, whole.")] = False,
    style: FormatOption = Format.TABLE,
) -> None:
    """List the named queries that come with the program: what they answer and which parameters they take."""
    from opprof_db.warehouse.queries import query_files

    found = [query for query in query_files() if pattern is None or _matches(pattern, query)]
    if not found:
        from opprof_db.errors import UsageError
        from opprof_db.warehouse.resolve import did_you_mean

        hint = did_you_mean(pattern or "", [query.name for query in query_files()])
        raise UsageError(f"no named query matches {pattern!r}", hint or "`opprof-db queries` lists them")
    if sql:
        print(_only(pattern, found).file.text, end="")
    elif style is Format.JSON:
        print_object([_as_object(query) for query in found])
    else:
        rows = [(query.name, ", ".join(map(_signature, query.parameters)), _purpose(query, style)) for query in found]
        print_rows(["name", "parameters", "purpose"], rows, style)


def _matches(pattern: str, query: NamedQuery) -> bool:
    wanted = pattern.lower()
    if any(char in wanted for char in "*?["):
        return fnmatchcase(query.name, wanted)
    return wanted in query.name or wanted in query.file.purpose.lower()


def _only(pattern: str | None, found: list[NamedQuery]) -> NamedQuery:
    exact = [query for query in found if query.name == pattern]
    if len(exact or found) == 1:
        return (exact or found)[0]
    from opprof_db.errors import UsageError

    names = ", ".join(query.name for query in found[:5]) + (", …" if len(found) > 5 else "")
    raise UsageError(f"{len(found)} named queries match: {names}", "give one name with --sql")


def _purpose(query: NamedQuery, style: Format) -> str:
    """A table has room for the first sentence."""
    purpose = query.file.purpose
    return re.split(r"(?<=[.?])\s", purpose, maxsplit=1)[0] if style is Format.TABLE else purpose


def _signature(parameter: Parameter) -> str:
    if parameter.required:
        return parameter.name
    return f"{parameter.name}={'' if parameter.default is None else parameter.default}"


def _as_object(query: NamedQuery) -> dict[str, Any]:
    return {
        "name": query.name,
        "purpose": query.file.purpose,
        "grain": query.file.grain,
        "parameters": [
            {
                "name": parameter.name,
                "type": parameter.type,
                "required": parameter.required,
                "default": parameter.default,
                "meaning": parameter.text,
            }
            for parameter in query.parameters
        ],
        "columns": query.file.columns,
        "example": query.file.example,
        "sql": query.file.sql,
    }
