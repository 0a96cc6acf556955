"""``opprof-db pipeline``."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, KernelArgument, no_trace, reading, select
from opprof_db.cli.output import Format, note, print_object, print_rows

EPILOG = """Examples:

  opprof-db pipeline last                          the busiest cores

  opprof-db pipeline kernel:7 --core core0.veccore0

  opprof-db pipeline kernel:7 --cores 0 -f json    every core

The picture runs from the first to the last work of a core. Waits and sets are not in it: the trace draws their
lengths, it does not measure them; their true cost is in `opprof-db hotspots --by pipe`."""

_STRETCHES = 40
_ACTIVITY = (
    "SELECT core, pipe, work_events, wait_events, impossible_events, busy_us, busy_with_impossible_us, busy_share,"
    " waiting_share, gaps, gap_p50_us, gap_p90_us, gap_max_us, truncated FROM pipe_activity"
    " WHERE kernel_id = ? AND core IS ? ORDER BY position"
)
_OVERLAP = (
    "SELECT core, pipe_a, pipe_b, both_us, either_us, overlap_share FROM pipe_overlap"
    " WHERE kernel_id = ? AND core IS ? ORDER BY both_us DESC, position"
)


def pipeline(
    kernel: KernelArgument,
    db: DbOption = DEFAULT_DB,
    core: Annotated[str | None, typer.Option(help="Only this core, such as core0.veccore1.")] = None,
    cores: Annotated[int, typer.Option(min=0, help="So many of the busiest cores; 0: all.")] = 2,
    style: FormatOption = Format.TABLE,
) -> None:
    """Show how busy each pipe of a core was, when, with which gaps, and which pipes worked together."""
    from opprof_db.errors import UsageError
    from opprof_db.warehouse.resolve import did_you_mean, only_kernel
    from opprof_db.warehouse.strips import work_strips

    with reading(db) as connection:
        identifier = only_kernel(connection, kernel)
        known = [
            row[0]
            for row in connection.execute(
                "SELECT core FROM pipe_activity WHERE kernel_id = ? GROUP BY core ORDER BY sum(busy_us) DESC, core",
                (identifier,),
            )
        ]
        if not known:
            raise no_trace(connection, identifier)
        if core is not None and core not in known:
            raise UsageError(f"kernel:{identifier} has no core {core!r}", did_you_mean(core, [c for c in known if c]))
        wanted = [core] if core is not None else known[: cores or None]
        parts = []
        for name in wanted:
            columns, rows = select(connection, _ACTIVITY, (identifier, name))
            overlap = select(connection, _OVERLAP, (identifier, name))
            strips = work_strips(connection, identifier, name, _STRETCHES) if name else None
            parts.append((columns, rows, overlap, strips))
        remarks = _remarks(connection, identifier)
    if style is not Format.TABLE:
        _print_data(parts, style)
        return
    for columns, rows, overlap, strips in parts:
        _print_picture(columns, rows, strips)
        if overlap[1]:
            print()
            print_rows(*overlap)
        print()
    for remark in remarks:
        note(remark)
    if len(wanted) < len(known):
        note(f"{len(known) - len(wanted)} more cores; --cores 0 shows all")


def _remarks(connection: Any, identifier: int) -> list[str]:
    (truncated, flags, kept) = connection.execute(
        "SELECT max(truncated), max(has_flags), max(kept = 'full') FROM trace_files WHERE kernel_id = ?", (identifier,)
    ).fetchone()
    remarks = []
    if truncated:
        remarks.append("the trace was cut off: spans, shares and first-to-last times are withheld")
    if not flags:
        remarks.append("no SET or WAIT in the trace: not collected (--aic-metrics=ResourceConflictRatio)")
    if not kept:
        remarks.append("events were not kept, so there is no picture over time (--trace full keeps them)")
    return remarks


def _print_data(parts: list[Any], style: Format) -> None:
    if style is Format.JSON:
        print_object(
            [
                {
                    "core": rows[0][0],
                    "pipes": [dict(zip(columns, row, strict=True)) for row in rows],
                    "overlap": [dict(zip(overlap[0], row, strict=True)) for row in overlap[1]],
                }
                for columns, rows, overlap, _ in parts
            ]
        )
        return
    columns = parts[0][0]
    print_rows(columns, [row for _, rows, _, _ in parts for row in rows], style)


def _print_picture(columns: list[str], rows: list[tuple[Any, ...]], strips: dict[str, list[float]] | None) -> None:
    kept = [
        at
        for at, name in enumerate(columns)
        if name not in ("impossible_events", "busy_with_impossible_us", "truncated")
    ]
    if any(row[columns.index("impossible_events")] for row in rows):
        kept = [at for at, name in enumerate(columns) if name != "truncated"]
    names = [columns[at] for at in kept]
    shown = [[row[at] for at in kept] for row in rows]
    if strips:
        at = names.index("busy_us")
        names.insert(at, "work over time")
        for row, whole in zip(shown, rows, strict=True):
            row.insert(at, _strip(strips.get(whole[1] or "", [0.0] * _STRETCHES)))
    print_rows(names, [tuple(_rounded(value) for value in row) for row in shown])


def _rounded(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def _strip(shares: list[float]) -> str:
    """One character per stretch: the fuller, the busier."""
    levels = "·░▒▓█" if (sys.stdout.encoding or "").lower().startswith("utf") else ".-=+#"
    return "".join(levels[0 if share <= 0 else min(4, 1 + int(share * 4))] for share in shares)
