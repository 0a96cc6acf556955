"""``opprof-db schema``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

EPILOG = """Examples:

  opprof-db schema                       everything, as Markdown

  opprof-db schema kernel_overview       one view with its columns

  opprof-db schema 'kernel*' --format json

  opprof-db schema pipe_utilization --format ddl"""


class SchemaFormat(StrEnum):
    """How the documentation is printed."""

    MARKDOWN = "markdown"
    JSON = "json"
    DDL = "ddl"


def complete_name(incomplete: str) -> list[str]:
    """Shell completion for names; tables are left to the command, whose library is slow to load."""
    from opprof_db.warehouse.queries import query_files
    from opprof_db.warehouse.views import compat_files, view_files

    names = [file.name for file in (*view_files(), *compat_files(), *(query.file for query in query_files()))]
    return sorted(name for name in names if name.startswith(incomplete))


def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A table, view or named query; * stands for anything.",
            autocompletion=complete_name,
        ),
    ] = None,
    style: Annotated[SchemaFormat, typer.Option("--format", "-f", help="How it is printed.")] = SchemaFormat.MARKDOWN,
) -> None:
    """Print what tables, views and named queries hold, with units. Needs no database."""
    from opprof_db.warehouse import schema_docs

    found = schema_docs.find(name)
    if style is SchemaFormat.JSON:
        print(schema_docs.as_json(found), end="")
    elif style is SchemaFormat.DDL:
        print(schema_docs.ddl(found), end="")
    else:
        print(schema_docs.markdown(found), end="")
