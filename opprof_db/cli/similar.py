"""``opprof-db similar``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, KernelArgument, reading
from opprof_db.cli.output import Format, note, print_object, print_rows, shown

if TYPE_CHECKING:
    from opprof_db.analysis.similar import Similar

EPILOG = """Examples:

  opprof-db similar kernel:7

  opprof-db similar last/MatMul --others --limit 5       what else behaves like this?

The distance is 0 for the same profile and 1 for profiles as different as can be: the mean difference of shares (busy
pipes, waits, hit rates, sizes of transfers) that both launches have, of AIC and AIV apart. Counts and durations do
not enter. docs/across.md says exactly which figures do."""


def similar(
    kernel: KernelArgument,
    db: DbOption = DEFAULT_DB,
    others: Annotated[bool, typer.Option("--others", help="Only launches of other operators.")] = False,
    limit: Annotated[int, typer.Option(min=0, help="At most so many; 0: all.")] = 10,
    style: FormatOption = Format.TABLE,
) -> None:
    """Show the launches whose counters look most like those of one, and what they have in common."""
    from opprof_db.analysis.similar import similar as analyse
    from opprof_db.warehouse.resolve import only_kernel

    with reading(db) as connection:
        found = analyse(connection, only_kernel(connection, kernel), limit=limit, other_operators=others)
    if style is Format.JSON:
        from dataclasses import asdict

        print_object(asdict(found))
    elif style is Format.TABLE:
        _print_neighbours(found)
    else:
        from opprof_db.analysis.tables import similar_table

        print_rows(*similar_table(found), style)
    for remark in _remarks(found):
        note(remark)


def _print_neighbours(found: Similar) -> None:
    from opprof_db.analysis.tables import SIMILAR, figure, neighbour_row

    print(
        f"kernel:{found.kernel_id} ({shown(found.operator)}): {found.figures} figures of"
        f" {' and '.join(found.kinds)} cores, compared with {found.compared} launches"
    )
    if not found.neighbours:
        print("nothing to compare with")
        return
    columns = ("distance", "shared", *SIMILAR[:9])
    print_rows(
        columns,
        [
            (f"{one.distance:.4f}", f"{one.shared} of {found.figures}", *neighbour_row(one)[:9])
            for one in found.neighbours
        ],
    )
    for one in found.neighbours:
        print(f"\nkernel:{one.kernel_id} {shown(one.operator)}")
        if len(one.by_kind) > 1:
            print(f"  distance: {', '.join(f'{kind} {distance:.4f}' for kind, distance in one.by_kind)}")
        print(f"  in common: {'; '.join(map(figure, one.in_common)) or 'no large figure'}")
        print(f"  differ:    {'; '.join(map(figure, one.differ)) or 'no figure by a tenth of its range'}")


def _remarks(found: Similar) -> list[str]:
    remarks = []
    if found.other_kinds:
        remarks.append(f"launches not compared, for other kinds of cores worked in them: {found.other_kinds}")
    if found.too_little:
        remarks.append(f"launches not compared, for they have less than half of the figures: {found.too_little}")
    return remarks
