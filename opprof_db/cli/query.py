"""``opprof-db query``."""

from __future__ import annotations

from typing import Annotated

import typer

from opprof_db.cli import common
from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption
from opprof_db.cli.output import Format, note, print_rows

EPILOG = """Examples:

  opprof-db query "SELECT operator, run, duration_us FROM top_kernels LIMIT 5"

  opprof-db query "SELECT block_id, aiv_mte2_ratio FROM pipe_utilization WHERE kernel_id = 1" -f csv

  opprof-db query "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"

The database is opened read-only; a statement that takes too long or returns too much is cut off, and says so."""


def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="One SELECT statement.")],
    db: DbOption = DEFAULT_DB,
    limit: Annotated[int, typer.Option(min=0, help="At most so many rows; 0: as many as there are.")] = 10_000,
    timeout: Annotated[float, typer.Option(min=0.01, metavar="SECONDS", help="Time limit.")] = 30.0,
    style: FormatOption = Format.TABLE,
) -> None:
    """Run one reading SQL statement; nothing can be changed by it."""
    from opprof_db.warehouse import readonly

    with common.reading(db):
        pass  # an older file is upgraded before its views are asked
    limits = readonly.Limits(rows=limit or None, seconds=timeout)
    result = readonly.run(db, sql, limits=limits)
    print_rows(result.columns, result.rows, style)
    if result.cut:
        note(f"{result.cut} (--limit changes how many)")
