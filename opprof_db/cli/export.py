"""``opprof-db export …``: runs in the shapes of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, complete_run, reading
from opprof_db.cli.output import note
from opprof_db.warehouse.msprof_db.shape import SchemaVersion

app = typer.Typer(help="Runs in the shapes of other tools: msprof-db.", no_args_is_help=True)

MSPROF_DB_EPILOG = """Examples:

  opprof-db export msprof-db msprof.db                           all runs

  opprof-db export msprof-db one.db --run last

  opprof-db export msprof-db two.db --run 3 --run OPPROF_20260512 --schema-version 1.2.0

endNs - startNs is the recorded task duration; the times of day are derived, as META_DATA of the file says."""


@app.command("msprof-db", epilog=MSPROF_DB_EPILOG)
def msprof_db(
    output: Annotated[Path, typer.Argument(metavar="OUT.db", help="New file; an existing one is not overwritten.")],
    db: DbOption = DEFAULT_DB,
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="Only this run (id, name, prefix, 'last'); repeatable.",
            autocompletion=complete_run,
        ),
    ] = None,
    schema_version: Annotated[
        SchemaVersion,
        typer.Option(help="Declared schema: 1.0.2 has blockDim and mixBlockDim, 1.2.0 blockNum and mixBlockNum."),
    ] = SchemaVersion.BLOCK_DIM,
) -> None:
    """Write runs as an msprof database (TASK, COMPUTE_TASK_INFO, STRING_IDS, …) for tools that read those."""
    from opprof_db.warehouse.msprof_db.export import export
    from opprof_db.warehouse.resolve import run_id

    with reading(db) as connection:
        runs = None if run is None else [run_id(connection, name) for name in run]
        done = export(connection, output, runs, schema_version)
    print(
        f"{output}: {done.tasks:,} tasks of {done.runs:,} runs, {done.metric_values:,} metric values,"
        f" {done.strings:,} strings"
    )
    if done.left_out:
        note(f"launches left out, for they ran on no device (simulator, or nothing was recorded): {done.left_out}")
    if done.launches > done.tasks:
        note(f"launches without a TASK row, for no duration was recorded: {done.launches - done.tasks}")
