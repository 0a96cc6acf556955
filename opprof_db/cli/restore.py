"""``opprof-db restore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, complete_run, reading
from opprof_db.cli.output import note

EPILOG = """Examples:

  opprof-db restore last restored/

  opprof-db restore OPPROF_20260522141449 /tmp/again     then open it in MindStudio Insight"""


def restore(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN", help="Run: id, name, unique prefix or 'last'.", autocompletion=complete_run),
    ],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write into; made where missing.")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Write a run's archived files back, byte for byte; nothing is ever overwritten."""
    from opprof_db.ingest.restoring import restore as write_back
    from opprof_db.warehouse.resolve import run_id

    with reading(db) as connection:
        done = write_back(connection, run_id(connection, run), directory)
    print(f"{done.files} files, {done.bytes:,} bytes written to {directory}")
    for path in done.left_out:
        note(f"not archived, so not restored: {path}")
