"""``opprof-db db …``: the warehouse file itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, reading, writing
from opprof_db.cli.output import Format, note, print_rows

app = typer.Typer(help="Look after the warehouse file: info, check, upgrade, backup, compact.", no_args_is_help=True)


@app.command(epilog="Example:\n\n  opprof-db db info --format json")
def info(db: DbOption = DEFAULT_DB, style: FormatOption = Format.TABLE) -> None:
    """Say what the file is and what takes the space."""
    from opprof_db.warehouse.upkeep import describe

    with reading(db) as connection:
        print_rows(["fact", "value"], list(describe(connection, db).items()), style)


@app.command(epilog="Example:\n\n  opprof-db db check && echo sound")
def check(db: DbOption = DEFAULT_DB) -> None:
    """Check the file: SQLite's own integrity, references, cell accounting and every archived byte.

    Exit code 4 when anything is wrong.
    """
    from opprof_db.ingest.checking import problems

    with reading(db) as connection:
        found = problems(connection)
    for problem in found:
        print(problem)
    if found:
        note(
            f"{len(found)} problem{'' if len(found) == 1 else 's'} in {db}; restore a backup, or ingest the runs again"
        )
        raise typer.Exit(4)
    print(f"{db}: sound")


@app.command(epilog="Example:\n\n  opprof-db db upgrade --db old.db")
def upgrade(db: DbOption = DEFAULT_DB) -> None:
    """Bring the file to this program's schema; an older file is copied beside it first."""
    from opprof_db.errors import DatabaseError
    from opprof_db.warehouse import migrate, opening

    if not db.exists():
        raise DatabaseError(f"{db}: no such database", "`opprof-db ingest PATH` creates one")
    opening.bring_up_to_date(db, create=True, notify=note)
    print(f"{db}: schema {migrate.revisions()[-1]}")


@app.command(epilog="Example:\n\n  opprof-db db backup /backups/opprof-today.db")
def backup(
    target: Annotated[Path, typer.Argument(metavar="FILE", help="New file; an existing one is not overwritten.")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Copy a consistent state to a new file, while others go on reading and writing."""
    from opprof_db.warehouse.migrate import back_up

    with reading(db) as connection:
        connection.execute("COMMIT")  # the copy must not be tied to this reader's snapshot
        back_up(connection, db, target)
    print(f"{target}: {target.stat().st_size:,} bytes")


@app.command(epilog="Example:\n\n  opprof-db db compact")
def compact(db: DbOption = DEFAULT_DB) -> None:
    """Give the space of forgotten runs back to the disk (needs as much again while it works)."""
    from opprof_db.warehouse.upkeep import compact as rewrite

    with writing(db) as connection:
        before, after = rewrite(connection, db)
    print(f"{db}: {before:,} -> {after:,} bytes")
