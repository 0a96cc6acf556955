"""``opprof-db watch``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption
from opprof_db.cli.output import note

EPILOG = """Examples:

  opprof-db watch out                    take runs in as they appear, until Ctrl-C

  opprof-db watch out --quiet-for 30     for slow disks

  opprof-db watch out --once             what is there now, without waiting"""


def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder that msopprof writes to.", readable=False)],
    db: DbOption = DEFAULT_DB,
    label: Annotated[
        list[str] | None, typer.Option("--label", "-l", metavar="KEY=VALUE", help="Label on each run.")
    ] = None,
    quiet_for: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="A run is done after so long a pause.")
    ] = 5.0,
    once: Annotated[bool, typer.Option("--once", help="Take in what is there and end.")] = False,
) -> None:
    """Take runs in as they appear in a folder and are quiet; safe beside a running collect."""
    from opprof_db.cli.collect_run import take
    from opprof_db.collect.watching import quiet_folders
    from opprof_db.errors import InputError
    from opprof_db.ingest.options import parse_labels

    labels = parse_labels(label or [])
    try:
        for run in quiet_folders(folder, quiet_for, once=once):
            try:
                take(db, [run], labels, {})
            except InputError as error:
                note(f"{error.what}; it is looked at again when it changes")
    except KeyboardInterrupt:
        note("watching ends; everything listed above is stored")
