"""``opprof-db export``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from opprof_db.cli import common
from opprof_db.cli.common import DEFAULT_DB, DbOption
from opprof_db.cli.output import note

EPILOG = """Examples:

  opprof-db export msprof-db msprof_operators.db

  opprof-db export msprof-db one.db --run last --run OPPROF_20260512111842

docs/downstream.md says what is derived and what is left out."""

app = typer.Typer(help="Write the warehouse's content for other tools.", no_args_is_help=True)


class MsprofSchema(StrEnum):
    """Versions of the msprof database's shape."""

    BLOCK_DIM = "1.1.0"
    BLOCK_NUM = "1.2.0"


@app.command("msprof-db", epilog=EPILOG)
def msprof_db(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The new file.")],
    run: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="RUN", help="Only this run; repeatable.", autocompletion=common.complete_run),
    ] = None,
    schema: Annotated[
        MsprofSchema,
        typer.Option(help="1.1.0 spells blocks blockDim and mixBlockDim, 1.2.0 blockNum and mixBlockNum."),
    ] = MsprofSchema.BLOCK_DIM,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Write a database in the shape of msprof's, for tools and agents that know that shape."""
    from opprof_db.cli.rows_out import check_target
    from opprof_db.scratch import new_file
    from opprof_db.warehouse import msprof_db as writer
    from opprof_db.warehouse import resolve

    check_target(out, "msprof-db", force=force, db=db)
    with common.reading(db) as connection:
        runs = None if not run else [resolve.run_id(connection, name) for name in run]
    with new_file(out) as path:
        rows = writer.export(db, path, runs, schema.value)
    note(f"{rows['TASK']:,} tasks, {rows['TASK_PMU_INFO']:,} metric values, {rows['STRING_IDS']:,} texts in {out}")
    if not rows["TASK"]:
        note("no launch on a device is in there; simulated kernels are no tasks")
