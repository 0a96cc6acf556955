"""``opprof-db verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, complete_run_or_kernel, reading
from opprof_db.cli.knowledge import KbOption, complete_entry, find_entry
from opprof_db.cli.output import Format, note, print_object, print_rows

if TYPE_CHECKING:
    from opprof_db.analysis.verify import Checked, Verification

EPILOG = """Examples:

  opprof-db verify kernel:9 kernel:8 --entry pattern-small-transfers

  opprof-db verify OPPROF_A/add_custom OPPROF_B/add_custom --entry recipe-double-buffer -f json

Exit code 0: the entry is confirmed; 1: denied, not confirmed, or the two launches cannot be compared. A figure moved
when it changed by more than 2 % (ratios by 0.005, percentages by half a point, at least)."""
_ARROWS = {"up": "↑", "down": "↓", "same": "="}
_SAID = {
    "as_promised": "as promised",
    "opposite": "THE OTHER WAY",
    "unmoved": "unmoved",
    "not_recorded": "not recorded",
}

Side = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help="kernel:7 or RUN/NAME[/LAUNCH]; a run with one kernel.",
        autocompletion=complete_run_or_kernel,
    ),
]


def verify(
    before: Side,
    after: Side,
    entry: Annotated[
        str,
        typer.Option("--entry", metavar="ID", help="The entry that was followed.", autocompletion=complete_entry),
    ],
    db: DbOption = DEFAULT_DB,
    force: Annotated[bool, typer.Option("--force", help="Look at launches that should not be compared too.")] = False,
    kb: KbOption = None,
    style: FormatOption = Format.TABLE,
) -> None:
    """Say whether the metrics moved as a knowledge entry promised."""
    from opprof_db.analysis.verify import verify as check
    from opprof_db.warehouse.resolve import only_kernel

    promised = find_entry(entry, db, kb)
    with reading(db) as connection:
        found = check(
            connection, only_kernel(connection, before), only_kernel(connection, after), promised, force=force
        )
    _print(found, style)
    if found.verdict != "confirmed":
        raise typer.Exit(1)


def _print(found: Verification, style: Format) -> None:
    from dataclasses import asdict

    if style is Format.JSON:
        print_object(asdict(found))
        return
    columns = ["metric", "cores", "of_them", "before", "after", "unit", "promised", "moved", "decides"]
    if style is not Format.TABLE:
        rows = [
            (
                one.metric,
                one.core_kind,
                one.statistic,
                one.before,
                one.after,
                one.unit,
                one.promised,
                one.moved,
                one.decides,
            )
            for one in found.checked
        ]
        print_rows(columns, rows, style)
        note(f"{found.verdict}: {found.sentence}")
        return
    print(f"{found.verdict.upper().replace('_', ' ')}: {found.entry} ({found.title})")
    print(f"  {found.sentence}")
    if found.checked:
        print()
        print_rows([*columns[:6], "promised", "moved"], [_row(one) for one in found.checked])
        print()
    if found.speed_up is not None:
        print(
            f"task duration {found.pair.before.duration_us:g} us to {found.pair.after.duration_us:g} us,"
            f" {found.speed_up:.3g} times as fast"
        )
    for rule in found.rules:
        said = {"finding": "is still there", "no_problem": "is gone", "could_not_look": "could not be looked for"}
        print(f"finding {rule.rule} {said[rule.after]}")
    for remark in (*found.pair.refusals, *found.pair.remarks):
        note(remark)
    if found.verdict == "refused":
        note("--force looks at them anyway")


def _row(one: Checked) -> tuple[str | None, ...]:
    return (
        one.metric,
        one.core_kind,
        one.statistic,
        _figure(one.before),
        _figure(one.after),
        one.unit,
        _ARROWS[one.promised] + ("" if one.decides else " (does not decide)"),
        _SAID[one.moved],
    )


def _figure(value: float | None) -> str | None:
    return None if value is None else f"{value:.6g}"
