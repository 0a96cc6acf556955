"""``opprof-db mcp``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB
from opprof_db.cli.output import note

EPILOG = """Examples:

  opprof-db mcp --db ~/profiles/opprof.db

  opprof-db mcp --db a.db --db b.db --output-dir ~/profiles/csv

  opprof-db mcp --allow-dir ~/profiles    every SQLite file below that folder too

Needs the extra: pip install 'opprof-db[mcp]'. docs/agents.md shows how clients are configured."""


def mcp(
    db: Annotated[
        list[Path] | None,
        typer.Option(
            "--db",
            envvar="OPPROF_DB",
            metavar="FILE",
            help="Warehouse that may be read; may be repeated.",
            show_default="opprof.db",
        ),
    ] = None,
    allow_dir: Annotated[
        list[Path] | None,
        typer.Option("--allow-dir", metavar="DIR", help="SQLite files below it may be read; may be repeated."),
    ] = None,
    output_dir: Annotated[
        Path | None,
        typer.Option("--output-dir", metavar="DIR", help="CSV files may be written below it; default: nowhere."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.01, metavar="SECONDS", help="Time limit of a statement.")] = 30.0,
) -> None:
    """Serve the warehouse to language models: MCP over stdin and stdout, read-only."""
    from opprof_db.agents.files import AllowedFiles
    from opprof_db.agents.tools import Tools
    from opprof_db.errors import UsageError

    try:
        from opprof_db.agents.server import serve
    except ImportError as error:
        raise UsageError(
            "the MCP server needs the Python package mcp, version 2 or newer", "pip install 'opprof-db[mcp]'"
        ) from error

    databases = db or [DEFAULT_DB]
    tools = Tools(AllowedFiles.of(databases, allow_dir or [], output_dir), timeout)
    for path in databases:
        if not path.exists():
            note(f"{path}: no such database yet; tools that need it will say so")
    if sys.stdin.isatty():
        note("waiting for an MCP client on standard input (see docs/agents.md); Ctrl-C ends it")
    serve(tools)
