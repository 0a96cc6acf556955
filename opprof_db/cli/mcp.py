"""``opprof-db mcp``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

  opprof-db mcp --db /data/opprof.db

  opprof-db mcp --db a.db --db b.db --allow-dir /data/warehouses --output-dir /tmp/answers

The server speaks the Model Context Protocol over stdin and stdout. docs/agents.md shows how clients are set up."""


def mcp(
    db: Annotated[
        list[Path] | None,
        typer.Option("--db", envvar="OPPROF_DB", metavar="FILE", help="Warehouse that may be asked; repeatable."),
    ] = None,
    allow_dir: Annotated[
        list[Path] | None,
        typer.Option("--allow-dir", metavar="DIR", help="Any database below it may be asked too; repeatable."),
    ] = None,
    output_dir: Annotated[
        Path | None,
        typer.Option("--output-dir", metavar="DIR", help="Where execute_sql_to_csv may write; without it, nowhere."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.01, metavar="SECONDS", help="Time limit of a statement.")] = 30.0,
) -> None:
    """Serve the warehouse to agents, read-only (needs the extra opprof-db[mcp])."""
    from importlib.util import find_spec

    from opprof_db.errors import UsageError

    if find_spec("mcp") is None:
        raise UsageError("the MCP server needs the package mcp", "pip install 'opprof-db[mcp]'")
    from opprof_db.agents import access, mcp_server

    mcp_server.serve(access.Access(db or [Path("opprof.db")], allow_dir or [], output_dir, timeout))
