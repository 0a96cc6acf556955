"""``opprof-db skill``: teaching agents to use the warehouse."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opprof_db.cli.output import note

app = typer.Typer(help="A skill that teaches language models to use the warehouse.", no_args_is_help=True)

INSTALL_EPILOG = """Examples:

  opprof-db skill install ~/.claude/skills     for one person, in every project

  opprof-db skill install .claude/skills       for everybody in this project

  opprof-db skill install skills --force       overwrite files that were changed

The skill goes to the folder opprof-db below DIR. Doing it again brings it up to date."""


@app.command("install", epilog=INSTALL_EPILOG)
def install(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder in which your agent looks for skills; made if missing.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files that were changed or that opprof-db did not write.")
    ] = False,
) -> None:
    """Write the skill: how to ask, the named queries, the schema, and what the numbers mean."""
    from opprof_db.agents import skill

    done = skill.install(directory, force=force)
    for what, paths in (("wrote", done.written), ("updated", done.updated), ("removed", done.removed)):
        for path in paths:
            print(f"{what:8}  {path}")
    for path in done.left:
        note(f"{path} was changed and is no longer part of the skill; it was left as it is")
    changed = len(done.written) + len(done.updated) + len(done.removed)
    print(f"{done.folder}: {changed} files changed, {len(done.unchanged)} up to date")
