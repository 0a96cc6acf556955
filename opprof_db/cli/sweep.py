"""``opprof-db sweep``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, reading
from opprof_db.cli.output import Format, note, print_object, print_rows, shown
from opprof_db.cli.trend import OperatorArgument

if TYPE_CHECKING:
    from opprof_db.analysis.sweep import Group, Limit, Sweep, Variant

EPILOG = """Examples:

  opprof-db sweep add_custom                            by every label that varies

  opprof-db sweep add_custom --by tile --by buffers --where branch=main

  opprof-db sweep cummin --by block_dim --pareto duration_us,block_dim

  opprof-db sweep add_custom --by tile --pareto duration_us,aiv_vec_wait_ratio

A metric of --pareto is NAME[@CORE][:lower|:higher]; `opprof-db metrics TEXT` lists names. What may stand in for a
label: block_dim, mix_block_dim, tiling_key, op_type, chip, device_id, run, git_commit."""

_BAR_WIDTH = 40
_NAME_WIDTH = 40
_MARKS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def sweep(
    kernel: OperatorArgument,
    db: DbOption = DEFAULT_DB,
    by: Annotated[
        list[str] | None, typer.Option(metavar="KEY", help="Label (or fact) that makes variants; may be repeated.")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only launches with this label (or fact).")
    ] = None,
    pareto: Annotated[
        str | None, typer.Option(metavar="METRIC,METRIC", help="Mark the Pareto front of two metrics.")
    ] = None,
    style: FormatOption = Format.TABLE,
) -> None:
    """Show the variants of one operator side by side: duration, dominant pipe, share of the limit, waits."""
    from opprof_db.analysis.sweep import sweep as analyse
    from opprof_db.ingest.options import parse_labels
    from opprof_db.warehouse.resolve import operator_named

    conditions = parse_labels(where or [])
    with reading(db) as connection:
        operator, _ = operator_named(connection, kernel)
        found = analyse(connection, operator, by=by or (), where=conditions, pareto=_pair(pareto))
    if style is Format.JSON:
        from dataclasses import asdict

        print_object(asdict(found))
    elif style is Format.TABLE:
        _print_groups(found)
    else:
        from opprof_db.analysis.tables import sweep_table

        print_rows(*sweep_table(found), style)
    if found.added:
        note(f"{' and '.join(found.added)} differ within one value of the labels, so they make variants too")
    if found.unlabelled:
        note(f"launches left out, for they have none of the labels {', '.join(found.by)}: {found.unlabelled}")


def _pair(text: str | None) -> tuple[str, str] | None:
    from opprof_db.errors import UsageError

    if text is None:
        return None
    first, comma, second = text.partition(",")
    if not comma or not first.strip() or not second.strip() or "," in second:
        raise UsageError(f"--pareto {text!r} is not two metrics", "write for example duration_us,block_dim")
    return first, second


def _share(limit: Limit | None) -> str | None:
    if limit is None:
        return None
    low, high = f"{limit.low_share:.0%}", f"{limit.high_share:.0%}"
    return f"{low} of {limit.name}" if low == high else f"{low} to {high} of {limit.name}"


def _behind(share: float | None) -> str | None:
    """Per cent; from ten times on as a factor."""
    if share is None or share < 9:
        return None if share is None else f"{share:+.1%}"
    return f"x {1 + share:.4g}"


def _mark(variant: Variant, alone: bool) -> str | None:
    marks = []
    if variant.best and not alone:
        marks.append("best")
    elif variant.overlaps_best and not alone:
        marks.append("within the spread of the best")
    if variant.on_front:
        marks.append("Pareto")
    return ", ".join(marks) or None


def _print_groups(found: Sweep) -> None:
    from opprof_db.analysis.tables import pipes

    for number, group in enumerate(found.groups):
        conditions = [f"{key} {value if value is not None else 'unknown'}" for key, value in group.conditions.items()]
        print(("\n" if number else "") + f"{shown(found.operator)}: {', '.join(map(shown, conditions))}")
        if number:
            print("not comparable with the variants above")
        alone = len(group.variants) == 1
        columns = [*found.by, "launches", "median_us", "behind", "dominant_pipe", "limit", "worst_wait"]
        columns += [*(choice.name for choice in found.pareto), "mark"]
        rows = [
            (
                *variant.key,
                len(variant.kernel_ids),
                variant.median_us,
                _behind(variant.behind_share),
                pipes(variant.dominant),
                _share(variant.limit),
                pipes(variant.waits),
                *variant.chosen,
                _mark(variant, alone),
            )
            for variant in group.variants
        ]
        print_rows(columns, rows)
        if not alone:
            print()
            _print_bars(group)
        if found.pareto and not alone:
            _print_front(found, group)
        if any(len(variant.kernel_ids) == 1 for variant in group.variants) and not alone:
            print("variants of a single launch: no noise estimate")
        for caution in group.cautions:
            print(f"caution: {caution}")


def _name(variant: Variant) -> str:
    text = " ".join(shown(value) for value in variant.key)
    return text if len(text) <= _NAME_WIDTH else f"{text[: _NAME_WIDTH - 1]}…"


def _print_bars(group: Group) -> None:
    from opprof_db.cli.pictures import bar

    width = max(len(_name(variant)) for variant in group.variants)
    most = max(variant.median_us for variant in group.variants)
    for variant in group.variants:
        best = "  best" if variant.best else ""
        print(
            f"{_name(variant).ljust(width)}  {bar(variant.median_us, most, _BAR_WIDTH)} {variant.median_us!r} us{best}"
        )


def _print_front(found: Sweep, group: Group) -> None:
    from opprof_db.cli.pictures import scatter

    x, y = found.pareto
    points = []
    names = []
    for at, variant in enumerate(group.variants):
        first, second = variant.chosen
        if first is not None and second is not None:
            mark = _MARKS[at % len(_MARKS)]
            points.append((first, second, mark))
            names.append(f"{mark}{'*' if variant.on_front else ' '} {_name(variant)}")
    if not points:
        print(f"no variant has both {x} and {y}")
        return
    print(f"\nupwards: {y}, {y.better} is better; to the right: {x}, {x.better} is better; * on the Pareto front")
    picture = scatter(points)
    for at in range(max(len(picture), len(names))):
        line = picture[at] if at < len(picture) else ""
        print(f"{line.ljust(50)}  {names[at] if at < len(names) else ''}".rstrip())
    if len(names) < len(group.variants):
        print(f"{len(group.variants) - len(names)} variants without both metrics are not drawn")
