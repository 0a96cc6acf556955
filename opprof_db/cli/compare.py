"""``opprof-db compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, complete_run_or_kernel, reading
from opprof_db.cli.diagnose import BytesOption, DtypeOption, FlopsOption, ShapeOption
from opprof_db.cli.output import Format, note, print_object, print_rows, shown

if TYPE_CHECKING:
    from opprof_db.analysis.compare import Comparison, KernelPair
    from opprof_db.analysis.figures import Figure

EPILOG = """Examples:

  opprof-db compare 1 last                        two runs, kernels paired by name

  opprof-db compare kernel:7 kernel:9             two launches

  opprof-db compare branch=main branch=mine       by labels

  opprof-db compare last --baseline release       against 'opprof-db baseline set release RUN'

  opprof-db compare 1 2 --force                   figures that must not be compared, marked

  opprof-db compare --modes kernel:7              device against simulator

Known differences (mode, chip, frequency, build, metric sets) refuse with exit code 1; what is not recorded warns."""

SideArgument = Annotated[
    str | None,
    typer.Argument(help="Run, kernel:7, RUN/NAME[/LAUNCH], or label KEY=VALUE.", autocompletion=complete_run_or_kernel),
]


def compare(
    before: SideArgument = None,
    after: SideArgument = None,
    db: DbOption = DEFAULT_DB,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="NAME", help="The side before, by 'baseline set'.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Show what must not be compared, marked.")] = False,
    modes: Annotated[
        str | None, typer.Option("--modes", metavar="KERNEL", help="Device against simulator for a launch.")
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="So many kernels in full; 0: all.")] = 10,
    metrics: Annotated[int, typer.Option(min=0, help="So many metrics of each.")] = 8,
    flops: FlopsOption = None,
    bytes_moved: BytesOption = None,
    shape: ShapeOption = None,
    dtype: DtypeOption = None,
    work: Annotated[
        Path | None, typer.Option("--work", metavar="FILE", help="TOML file with the work of operators.")
    ] = None,
    style: FormatOption = Format.TABLE,
) -> None:
    """Say whether two runs, launches or labels may be compared, what changed, and what happened."""
    from opprof_db.errors import UsageError

    if modes is not None:
        from opprof_db.cli.modes import show_modes

        show_modes(db, modes, before, style)
        return
    from opprof_db.analysis import selection
    from opprof_db.analysis import work as works
    from opprof_db.analysis.compare import compare as analyse

    if before is None or (after is None) == (baseline is None):
        raise UsageError("two sides are wanted", "compare A B, or compare B --baseline NAME")
    stated = works.stated(flops, bytes_moved, shape, dtype)
    table = works.from_toml(work) if work is not None else None
    with reading(db) as connection:
        if baseline is not None:
            old, new = selection.baseline(connection, baseline), selection.selected(connection, before)
        else:
            old, new = selection.selected(connection, before), selection.selected(connection, str(after))
        found = analyse(
            connection,
            old,
            new,
            force=force,
            work=stated or table,
            explained=None if style is not Format.TABLE else 100,
        )
    if style is Format.JSON:
        from opprof_db.analysis.compare_objects import comparison_object

        print_object(comparison_object(found))
    elif style is Format.TABLE:
        _print(found, top, metrics)
    else:
        from opprof_db.analysis.compare_objects import comparison_table

        print_rows(*comparison_table(found), style)
    if found.refused:
        if not force:
            note("not comparable; --force shows the figures all the same, marked")
        raise typer.Exit(1)


def _print(found: Comparison, top: int, metrics: int) -> None:
    print(f"{shown(found.before.text)} -> {shown(found.after.text)}: {found.verdict.replace('_', ' ')}")
    if found.forced:
        print("FORCED: these figures must not be compared")
    for reason in found.reasons:
        print(f"  {'refused' if reason.refuses else 'warning'}: {shown(reason.sentence)}")
    pairs = found.pairs[: top or None]
    for pair in pairs:
        _print_pair(pair, metrics)
    if len(found.pairs) > len(pairs):
        print(f"\n{len(found.pairs) - len(pairs)} more kernels with smaller changes; --top 0 shows all")
    for title, groups in (("vanished", found.only_before), ("new", found.only_after)):
        for group in groups:
            middle = "no duration" if group.median_us is None else f"{group.median_us:g} us"
            print(f"{title}: {shown(group.operator or '(unnamed)')}, {len(group.launches)} launches, {middle}")


def _print_pair(pair: KernelPair, metrics: int) -> None:
    print(f"\n{'[FORCED] ' if pair.forced else ''}{shown(pair.sentence)}")
    if pair.change is not None:
        print(f"  {pair.change.uncertainty}")
    cold = len(pair.before.cold) + len(pair.after.cold)
    if cold:
        print(f"  cold first launches set aside: {cold}")
    for one in pair.cycles:
        print(
            f"  cycles of the slowest {one.core_kind} core: {one.before:g} to {one.after:g} ({one.change_share:+.1%})"
        )
    for name, reached in (("before", pair.achieved_before), ("after", pair.achieved_after)):
        if reached is not None:
            parts = [
                f"{value:.3g} {unit}" + ("" if share is None else f" ({share:.1%} of peak)")
                for value, unit, share in (
                    (reached.tflops, "TFLOPS", reached.flops_share),
                    (reached.gb_s, "GB/s", reached.bytes_share),
                )
                if value is not None
            ]
            excess = [] if reached.excess is None else [f"traffic {reached.excess:.2f} x what is needed"]
            print(f"  achieved {name}: {', '.join(parts + excess)}")
    moved = [move for move in pair.metrics if move.importance > 0][:metrics]
    if moved:
        print_rows(
            ("metric", "core", "of", "before", "after", "change", ""),
            [
                (
                    move.metric,
                    move.core_kind,
                    move.statistic,
                    _figure(move.before),
                    _figure(move.after),
                    None if move.change_share is None else f"{move.change_share:+.1%}",
                    {True: "better", False: "worse", None: ""}[move.good],
                )
                for move in moved
            ],
        )
    if pair.judgement.withheld and pair.metrics:
        why: dict[str, Any] = {}
        for name, text in pair.judgement.withheld.items():
            why.setdefault(text, []).append(name)
        for text, names in why.items():
            print(f"  withheld: {len(names)} columns: {text}")


def _figure(one: Figure) -> str:
    return f"{one.high:.5g}" if one.low == one.high else f"{one.low:.4g}..{one.high:.4g}"
