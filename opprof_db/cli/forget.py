"""``opprof-db forget``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, complete_run, writing

EPILOG = """Examples:

  opprof-db forget 12

  opprof-db forget OPPROF_20260522141449 OPPROF_20260522141522 --yes

The space is used again by later runs; `opprof-db db compact` gives it back to the disk."""


def forget(
    run: Annotated[
        list[str],
        typer.Argument(metavar="RUN…", help="Runs: id, name, unique prefix or 'last'.", autocompletion=complete_run),
    ],
    db: DbOption = DEFAULT_DB,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Take runs out of the warehouse, with everything that only they hold. The source folders stay."""
    from opprof_db.errors import UsageError
    from opprof_db.warehouse.connection import transaction
    from opprof_db.warehouse.remove import forget_runs
    from opprof_db.warehouse.resolve import run_id

    with writing(db) as connection:
        identifiers = list(dict.fromkeys(run_id(connection, name) for name in run))
        for identifier in identifiers:
            name, launches = connection.execute(
                "SELECT name, (SELECT count(*) FROM kernels WHERE run_id = runs.id) FROM runs WHERE id = ?",
                (identifier,),
            ).fetchone()
            print(f"run {identifier}: {name}, {launches} launch{'' if launches == 1 else 'es'}")
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("nobody is there to confirm", "give --yes to forget without being asked")
            typer.confirm("Forget for good?", abort=True)
        with transaction(connection, db):
            gone = forget_runs(connection, identifiers)
    print(f"{gone} run{'' if gone == 1 else 's'} forgotten")
