"""``opprof-db baseline``: named sets of launches to compare with."""

from __future__ import annotations

from typing import Annotated

import typer

from opprof_db.cli.common import (
    DEFAULT_DB,
    DbOption,
    FormatOption,
    complete_run_or_kernel,
    completed,
    reading,
    select,
    writing,
)
from opprof_db.cli.output import Format, print_rows

app = typer.Typer(
    help="Baselines: named sets of launches that later ones are compared with.",
    no_args_is_help=True,
    epilog="Examples:\n\n  opprof-db baseline set release last\n\n  opprof-db compare last --baseline release",
)


def complete_baseline(ctx: typer.Context, incomplete: str) -> list[str]:
    """Shell completion for baselines."""
    return completed(ctx, incomplete, "SELECT name FROM baselines ORDER BY name")


NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name.", autocompletion=complete_baseline)]


@app.command("set")
def set_(
    name: NameArgument,
    target: Annotated[
        str,
        typer.Argument(
            metavar="SIDE", help="Run, kernel:7, RUN/NAME[/LAUNCH], or label.", autocompletion=complete_run_or_kernel
        ),
    ],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Fix the launches that a name stands for; an earlier one of that name is replaced."""
    from opprof_db.analysis.baselines import set_baseline
    from opprof_db.analysis.selection import selected
    from opprof_db.warehouse.connection import transaction

    with writing(db) as connection:
        chosen = selected(connection, target)
        with transaction(connection, db):
            replaced = set_baseline(connection, name, chosen)
    print(f"baseline {name}: {len(chosen.kernel_ids)} launches of {target}" + (" (replaced)" if replaced else ""))


@app.command("list")
def list_(db: DbOption = DEFAULT_DB, style: FormatOption = Format.TABLE) -> None:
    """List the baselines."""
    from opprof_db.analysis.baselines import LISTED

    with reading(db) as connection:
        print_rows(*select(connection, LISTED), style)


@app.command()
def remove(name: NameArgument, db: DbOption = DEFAULT_DB) -> None:
    """Remove a baseline; its runs stay."""
    from opprof_db.analysis.baselines import remove_baseline
    from opprof_db.warehouse.connection import transaction

    with writing(db) as connection, transaction(connection, db):
        remove_baseline(connection, name)
    print(f"baseline {name} removed")
