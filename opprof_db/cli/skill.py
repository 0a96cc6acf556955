"""``opprof-db skill``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EPILOG = """Examples:

  opprof-db skill install ~/.claude/skills

  opprof-db skill install .agents/skills --force"""

app = typer.Typer(help="Teach an agent to use the warehouse.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Teach an agent to use the warehouse."""


@app.command("install", epilog=EPILOG)
def install(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of skills; one is added to it.")],
    force: Annotated[bool, typer.Option("--force", help="Replace files that were changed.")] = False,
) -> None:
    """Write a skill folder: SKILL.md, the schema, the named queries, how to read the numbers."""
    from opprof_db.agents import skill

    for file in skill.install(folder, force=force):
        print(f"{file.what:<9}  {file.path}")
