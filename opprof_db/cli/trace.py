"""``opprof-db trace …``: stored traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, KernelArgument, no_trace, reading

app = typer.Typer(help="Traces in the warehouse: export.", no_args_is_help=True)

EXPORT_EPILOG = """Examples:

  opprof-db trace export last -o trace.json                      open it at ui.perfetto.dev or chrome://tracing

  opprof-db trace export kernel:7 -o part.json --from 10 --to 25

Times are microseconds on the trace's own clock."""


@app.command("export", epilog=EXPORT_EPILOG)
def export(
    kernel: KernelArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="New file.")],
    db: DbOption = DEFAULT_DB,
    start: Annotated[float | None, typer.Option("--from", metavar="US", help="Only what reaches beyond this.")] = None,
    end: Annotated[float | None, typer.Option("--to", metavar="US", help="Only what starts before this.")] = None,
) -> None:
    """Write a kernel's trace in Chrome's format, whole or a stretch of time; an existing file is not overwritten."""
    from opprof_db.errors import InputError, UsageError
    from opprof_db.warehouse.resolve import only_kernel
    from opprof_db.warehouse.trace_export import Window
    from opprof_db.warehouse.trace_export import export as write

    if any(edge is not None and edge != edge for edge in (start, end)) or (
        start is not None and end is not None and start >= end
    ):
        raise UsageError(f"--from {start} --to {end} is no stretch of time", "give us on the trace's clock, from < to")
    if str(output) == "-":
        raise UsageError("a trace is written to a file", "give -o trace.json")
    with reading(db) as connection:
        identifier = only_kernel(connection, kernel)
        kept = {row[0] for row in connection.execute("SELECT kept FROM trace_files WHERE kernel_id = ?", (identifier,))}
        if not kept:
            raise no_trace(connection, identifier)
        if "full" not in kept:
            raise UsageError(
                f"the events of kernel:{identifier} were not kept", "forget the run and ingest it with --trace full"
            )
        window = Window(float("-inf") if start is None else start, float("inf") if end is None else end)
        try:
            with output.open("x", encoding="utf-8") as stream:
                count = write(connection, identifier, stream, window)
        except FileExistsError:
            raise UsageError(f"{output} exists already", "give another name; nothing was overwritten") from None
        except OSError as error:
            raise InputError(f"{output}: cannot be written: {error.strerror}") from error
    print(f"{output}: {count:,} events")
