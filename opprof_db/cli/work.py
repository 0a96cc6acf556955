"""``opprof-db work``: what operators have to do at the least, for achieved against possible."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, reading, select, writing
from opprof_db.cli.diagnose import BytesOption, DtypeOption, FlopsOption, ShapeOption
from opprof_db.cli.output import Format, print_rows

app = typer.Typer(
    help="State what operators have to do (operations, bytes), so that achieved can be set against possible.",
    no_args_is_help=True,
)

SET_EPILOG = """Examples:

  opprof-db work set MatMul --shape 4096x4096x4096 --dtype float16

  opprof-db work set add_custom --shape in=8x2048,in=8x2048,out=8x2048 --dtype float16

  opprof-db work set FlashAttention --flops 3.2T --bytes 64MiB

  opprof-db work set --file work.toml           [MatMul] shape = "4096x4096x4096", dtype = "float16"

MxKxN is a matrix product: 2 M K N operations, A and B read once, C written once. Stated numbers win over a shape's."""
LIST_EPILOG = """Example: opprof-db work list --format json"""
REMOVE_EPILOG = """Example: opprof-db work remove MatMul"""


def complete_operator(ctx: typer.Context, incomplete: str) -> list[str]:
    """Shell completion for operators."""
    from opprof_db.cli.common import completed

    return completed(ctx, incomplete, "SELECT name FROM operators ORDER BY name LIMIT 200")


OperatorArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[OPERATOR]", help="Name as in `opprof-db kernels`, column operator.", autocompletion=complete_operator
    ),
]


@app.command("set", epilog=SET_EPILOG)
def set_work(
    operator: OperatorArgument = None,
    db: DbOption = DEFAULT_DB,
    flops: FlopsOption = None,
    bytes_moved: BytesOption = None,
    shape: ShapeOption = None,
    dtype: DtypeOption = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="TOML file, a table an operator.")] = None,
) -> None:
    """Store the work of an operator; what was stored before is replaced."""
    from opprof_db.analysis import work as works
    from opprof_db.errors import UsageError
    from opprof_db.warehouse.connection import transaction
    from opprof_db.warehouse.resolve import did_you_mean

    stated = works.stated(flops, bytes_moved, shape, dtype)
    if file is not None and (operator is not None or stated is not None):
        raise UsageError("--file goes with no other option", "give either an operator or a file")
    if file is None and (operator is None or stated is None):
        raise UsageError("no work is stated", "give an operator and --flops, --bytes or --shape, or --file")
    table = works.from_toml(file) if file is not None else {str(operator): stated}
    with writing(db) as connection:
        known = {row[0] for row in connection.execute("SELECT name FROM operators")}
        for name in table:
            if name not in known:
                raise UsageError(
                    f"no operator is called {name!r}", did_you_mean(name, known) or "`opprof-db kernels` lists them"
                )
        with transaction(connection, db):
            for name, work in table.items():
                assert work is not None
                works.store(connection, name, work)
    print(f"stored: {', '.join(table)}")


@app.command("list", epilog=LIST_EPILOG)
def list_work(db: DbOption = DEFAULT_DB, style: FormatOption = Format.TABLE) -> None:
    """List the work that is stored."""
    with reading(db) as connection:
        columns, rows = select(connection, "SELECT * FROM operator_work ORDER BY operator")
    print_rows(columns, rows, style)


@app.command("remove", epilog=REMOVE_EPILOG)
def remove_work(
    operator: Annotated[
        str, typer.Argument(metavar="OPERATOR", help="Name as stored.", autocompletion=complete_operator)
    ],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Forget the work of an operator."""
    from opprof_db.analysis import work as works
    from opprof_db.errors import UsageError
    from opprof_db.warehouse.connection import transaction

    with writing(db) as connection:
        with transaction(connection, db):
            gone = works.remove(connection, operator)
        if not gone:
            raise UsageError(f"no work is stored for {operator!r}", "`opprof-db work list` shows what is")
    print(f"removed: {operator}")
