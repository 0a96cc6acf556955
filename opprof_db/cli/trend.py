"""``opprof-db trend``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, complete_operator, reading
from opprof_db.cli.output import Format, note, print_object, print_rows, shown

if TYPE_CHECKING:
    from opprof_db.analysis.trend import Series, Stretch, Trend

EPILOG = """Examples:

  opprof-db trend add_custom                       all runs of an operator

  opprof-db trend kernel:7                         only those of the same shape as this launch

  opprof-db trend MatMul --label branch=main --min-change 3%

  opprof-db trend cummin --order-by round          by a label instead of by time

Runs that must not be compared (chip, block dim, tiling key, mode, frequency) stand in lines of their own. Steps are
changes of level that noise does not explain; how they are found is in docs/across.md."""

OperatorArgument = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help="An operator's name or its beginning; or a launch: kernel:7, RUN/NAME[/LAUNCH].",
        autocompletion=complete_operator,
    ),
]
_TABLE = ("run_id", "run", "started_at", "device_id", "launches", "median_us", "change", "level_us", "mark", "labels")
_SPARK_WIDTH = 100


def trend(
    kernel: OperatorArgument,
    db: DbOption = DEFAULT_DB,
    label: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only runs with this label; may be repeated.")
    ] = None,
    device: Annotated[int | None, typer.Option(help="Only this device.")] = None,
    order_by: Annotated[str | None, typer.Option(metavar="KEY", help="Label that orders the runs, not time.")] = None,
    min_change: Annotated[
        str, typer.Option(metavar="PERCENT", help="Changes of level below this are no steps.")
    ] = "1%",
    limit: Annotated[int, typer.Option(min=0, help="So many of the newest runs of each line; 0: all.")] = 30,
    style: FormatOption = Format.TABLE,
) -> None:
    """Show how a kernel's duration developed over the runs, with step changes marked."""
    from opprof_db.analysis.trend import trend as analyse
    from opprof_db.errors import UsageError
    from opprof_db.ingest.options import parse_labels
    from opprof_db.warehouse.resolve import operator_named

    labels = parse_labels(label or [])
    least_step = parse_share(min_change, "--min-change")
    with reading(db) as connection:
        operator, kernel_id = operator_named(connection, kernel)
        found = analyse(
            connection,
            operator,
            kernel_id=kernel_id,
            labels=labels,
            device_id=device,
            order_by=order_by,
            least_step=least_step,
        )
    if not found.series:
        raise UsageError(f"{operator}: no run with a duration {_asked(labels, device)}".rstrip(), _why_none(found))
    if style is Format.JSON:
        from dataclasses import asdict

        print_object(asdict(found))
    elif style is Format.TABLE:
        _print_lines(found, limit)
    else:
        from opprof_db.analysis.tables import trend_table

        print_rows(*trend_table(found), style)
    for remark in _remarks(found):
        note(remark)


def parse_share(text: str, option: str) -> float:
    """``3%`` or ``0.03`` to a share.

    Raises:
        UsageError: no such number, below zero, or 100 % and more.
    """
    from opprof_db.errors import UsageError

    number = text.strip()
    try:
        value = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise UsageError(f"{option} {text!r} is no share", "write for example 3% or 0.03")
    return value


def _asked(labels: dict[str, str], device: int | None) -> str:
    parts = [f"{key}={value}" for key, value in labels.items()] + ([f"device {device}"] if device is not None else [])
    return f"with {' '.join(parts)}" if parts else ""


def _why_none(found: Trend) -> str:
    if found.without_duration:
        return f"{found.without_duration} launches record no duration (simulator runs never do)"
    return "`opprof-db kernels --op TEXT` lists its launches"


def _title(operator: str, series: Series) -> str:
    shape = series.shape
    facts = [
        shape.op_type or "type unknown",
        shape.chip or "chip unknown",
        "block dim "
        + ("unknown" if shape.block_dim is None else str(shape.block_dim))
        + (f" (mix {shape.mix_block_dim})" if shape.mix_block_dim is not None else ""),
    ]
    if shape.tiling_key is not None:
        facts.append(f"tiling key {shape.tiling_key}")
    return f"{shown(operator)}: {', '.join(map(shown, facts))}"


def _print_lines(found: Trend, limit: int) -> None:
    from opprof_db.analysis.tables import stretch_rows

    for number, series in enumerate(found.series):
        print(("\n" if number else "") + _title(found.operator, series))
        for stretch in series.stretches:
            if stretch.apart:
                print(f"\nnot comparable with the runs before: {shown('; '.join(stretch.apart))}")
            print(_picture(stretch))
            rows = stretch_rows(stretch)
            print_rows(_TABLE, [_for_people(row) for row in (rows[-limit:] if limit else rows)])
            if limit and len(rows) > limit:
                print(f"{len(rows) - limit} earlier runs are not listed; --limit 0 shows all")
            for step in stretch.steps:
                print(_step_sentence(step))
            if stretch.noise_share is None and len(stretch.places) > 1:
                print(f"{len(stretch.places)} runs: too few to tell a step from noise (4 are needed)")
            for caution in stretch.cautions:
                print(f"caution: {caution}")
        if series.undated:
            what = "their start" if found.order == "started_at" else f"the label {shown(found.order)!r}"
            held = [f"run {point.run_id} ({shown(point.median_us)} us)" for point in series.undated]
            print(f"no place in the line, for {what} is unknown: {', '.join(held)}")


def _picture(stretch: Stretch) -> str:
    """The medians as a sparkline, a bar before each new level, and what its height means."""
    from opprof_db.cli.pictures import sparkline

    values = [place.point.median_us for place in stretch.places]
    low, high = min(values), max(values)
    places = stretch.places[-_SPARK_WIDTH:]
    line = "…" if len(places) < len(values) else ""
    for before, place in zip((None, *places), places, strict=False):
        line += "|" if before and before.level != place.level else ""
        line += sparkline([place.point.median_us], low, high)
    height = f"{shown(low)} us" if low == high else f"{shown(low)} to {shown(high)} us"
    noise = "" if stretch.noise_share is None else f", noise {stretch.noise_share:.2%}"
    return f"{line}  {height}{noise}"


def _for_people(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """The row with the change as per cent; JSON and CSV have the exact figures."""
    change_share = row[7]
    return (*row[:6], None if change_share is None else f"{change_share:+.1%}", *row[8:])


def _step_sentence(step: Any) -> str:
    word = "slower" if step.change_share > 0 else "faster"
    return (
        f"step at run {step.after.run_id} ({shown(step.after.run)}): {abs(step.change_share):.1%} {word}, "
        f"{shown(step.before_us)} us over {step.runs_before} runs, then {shown(step.after_us)} us over "
        f"{step.runs_after}"
    )


def _remarks(found: Trend) -> list[str]:
    remarks = []
    if found.order == "started_at" and any(series.undated for series in found.series):
        remarks.append("runs whose start is unknown can be put in order by a label: --order-by KEY")
    if found.without_duration:
        remarks.append(f"launches left out, for they record no duration: {found.without_duration}")
    if found.unusable:
        remarks.append(f"runs left out, for their duration is not above zero: {found.unusable}")
    return remarks
