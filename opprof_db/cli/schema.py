"""``opprof-db schema``."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from opprof_db.cli.output import pretty, print_object

EPILOG = """Examples:

  opprof-db schema kernel_overview        one view: what a row is, its columns, an example

  opprof-db schema 'memory*'              all whose names match

  opprof-db schema --format json          everything, for programs

  opprof-db schema runs --format ddl      the CREATE statements

No database is needed: the documentation comes with the program. NULL means not applicable or not recorded."""


class SchemaFormat(StrEnum):
    """How the documentation is printed."""

    MARKDOWN = "markdown"
    JSON = "json"
    DDL = "ddl"


def complete_name(incomplete: str) -> list[str]:
    """Shell completion for tables, views and named queries."""
    from opprof_db.warehouse.schema_docs import documentation

    return sorted({item.name for item in documentation() if item.name.startswith(incomplete)})


def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Table, view or named query; a pattern with * and ?.",
            autocompletion=complete_name,
        ),
    ] = None,
    style: Annotated[SchemaFormat, typer.Option("--format", "-f", help="How it is printed.")] = SchemaFormat.MARKDOWN,
) -> None:
    """Document tables, views and named queries: what a row is, and what every column means."""
    from opprof_db.warehouse import schema_docs

    items = list(schema_docs.documentation()) if name is None else schema_docs.matching(name)
    if style is SchemaFormat.JSON:
        print_object(schema_docs.as_objects(items))
    elif style is SchemaFormat.DDL:
        sys.stdout.write(schema_docs.ddl(items))
    elif pretty(sys.stdout):
        _print_pretty(schema_docs.markdown(items))
    else:
        sys.stdout.write(schema_docs.markdown(items))


def _print_pretty(text: str) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
