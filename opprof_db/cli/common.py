"""Options and helpers that every command shares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opprof_db.cli.output import Format, note

if TYPE_CHECKING:
    import sqlite3

DbOption = Annotated[
    Path,
    typer.Option("--db", envvar="OPPROF_DB", metavar="FILE", help="Warehouse file.", show_default=True, readable=False),
]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How rows are printed.")]
DEFAULT_DB = Path("opprof.db")

Rows = list[tuple[Any, ...]]


@contextmanager
def reading(db: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection; an older file is upgraded first, and stderr says so."""
    from opprof_db.warehouse import opening

    with opening.reading(db, notify=note) as connection:
        yield connection


@contextmanager
def writing(db: Path, *, create: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection for writing."""
    from opprof_db.warehouse import opening

    with opening.writing(db, create=create, notify=note) as connection:
        yield connection


def select(connection: sqlite3.Connection, sql: str, parameters: tuple[Any, ...] = ()) -> tuple[list[str], Rows]:
    """Columns and rows of a statement of the program's own."""
    cursor = connection.execute(sql, parameters)
    return [column[0] for column in cursor.description], cursor.fetchall()


def complete_run(ctx: typer.Context, incomplete: str) -> list[str]:
    """Shell completion for run names."""
    return completed(ctx, incomplete, "SELECT DISTINCT name FROM runs ORDER BY started_at DESC LIMIT 200")


def complete_run_or_kernel(ctx: typer.Context, incomplete: str) -> list[str]:
    """Shell completion for runs and, behind a slash, their kernels."""
    run, slash, _ = incomplete.partition("/")
    if not slash:
        return complete_run(ctx, incomplete)
    return completed(
        ctx,
        incomplete,
        "SELECT DISTINCT run || '/' || operator FROM kernel_overview WHERE run = ? LIMIT 200",
        (run,),
    )


def complete_operator(ctx: typer.Context, incomplete: str) -> list[str]:
    """Shell completion for operators."""
    return completed(ctx, incomplete, "SELECT DISTINCT name FROM operators ORDER BY name")


def completed(ctx: typer.Context, incomplete: str, sql: str, parameters: tuple[Any, ...] = ()) -> list[str]:
    """Shell completion from the first column of a statement; silent whatever goes wrong."""
    from opprof_db.errors import OpprofError
    from opprof_db.warehouse.readonly import open_readonly

    try:
        connection = open_readonly(Path(ctx.params.get("db") or DEFAULT_DB))
    except OpprofError:
        return []
    try:
        return [row[0] for row in connection.execute(sql, parameters) if str(row[0]).startswith(incomplete)]
    except Exception:  # completion must never disturb the shell
        return []
    finally:
        connection.close()


def no_trace(connection: sqlite3.Connection, kernel_id: int) -> Exception:
    """The error to raise where a launch has no trace: none was there, or none was kept."""
    from opprof_db.errors import UsageError

    skipped = connection.execute(
        "SELECT 1 FROM artifacts WHERE kernel_id = ? AND kind = 'trace' AND status = 'not_asked_for'", (kernel_id,)
    ).fetchone()
    if skipped:
        return UsageError(
            f"kernel:{kernel_id}: its trace was not kept (--trace none)", "ingest the run again with --trace full"
        )
    return UsageError(f"kernel:{kernel_id} has no trace", "simulator runs have one; see `opprof-db show`")


KernelArgument = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help="kernel:7 or RUN/NAME[/LAUNCH]; a run with one kernel.",
        autocompletion=complete_run_or_kernel,
    ),
]
"""The launch a command is about."""
