"""``opprof-db roofline``."""

from __future__ import annotations

from typing import Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, KernelArgument, reading
from opprof_db.cli.diagnose import BytesOption, DtypeOption, FlopsOption, ShapeOption
from opprof_db.cli.output import Format, note, print_object, print_rows

EPILOG = """Examples:

  opprof-db roofline kernel:7

  opprof-db roofline last --shape 4096x4096x4096 --dtype float16      achieved against possible too

  opprof-db roofline kernel:7 --format json

Points are msopprof's own where it made them (--aic-metrics=Roofline), else derived from the CSVs with the chip facts
and marked so. Shares are of the roof at the kernel's intensity; peaks are decimal (10^12)."""

_COLUMNS = (
    "title", "path", "ops_per_byte", "achieved_tops", "roof_tops", "share", "side", "ridge_ops_per_byte",
    "peak_tb_s", "peak_other_hbm_tb_s", "compute", "compute_peak_tops", "derived",
)  # fmt: skip


def roofline(
    kernel: KernelArgument,
    db: DbOption = DEFAULT_DB,
    flops: FlopsOption = None,
    bytes_moved: BytesOption = None,
    shape: ShapeOption = None,
    dtype: DtypeOption = None,
    exact: Annotated[bool, typer.Option("--exact", help="All digits in the table.")] = False,
    style: FormatOption = Format.TABLE,
) -> None:
    """Show where a kernel stands under its roofs: bound type, ridge, achieved against peak."""
    from dataclasses import asdict

    from opprof_db.analysis import roofline as roofs
    from opprof_db.analysis import work as works
    from opprof_db.analysis.achieved import achieved
    from opprof_db.errors import UsageError
    from opprof_db.warehouse.resolve import only_kernel

    stated = works.stated(flops, bytes_moved, shape, dtype)
    with reading(db) as connection:
        identifier = only_kernel(connection, kernel)
        found = roofs.roofline(connection, identifier)
        reached = achieved(connection, identifier, stated)
    if style is Format.JSON:
        work = None if reached is None else asdict(reached)
        print_object({**asdict(found), "achieved": work})
        return
    if not found.points and reached is None:
        raise UsageError(
            f"kernel:{identifier} has no roofline: missing {'; '.join(found.missing) or 'usable points'}",
            "collect with --aic-metrics=Roofline, or Default with a known chip",
        )
    rows = [
        (
            point.title,
            point.name,
            point.intensity,
            point.achieved,
            point.roof,
            point.share,
            point.side,
            point.ridge,
            point.bandwidth_tb_s,
            point.bandwidth_other_tb_s,
            point.compute_name,
            point.compute_tops,
            int(point.derived),
        )
        for point in sorted(found.points, key=lambda point: -(point.share or 0.0))
    ]
    if style is Format.TABLE and not exact:
        shown = [tuple(float(f"{cell:.4g}") if isinstance(cell, float) else cell for cell in row) for row in rows]
    else:
        shown = [tuple(row) for row in rows]
    if shown:
        print_rows(_COLUMNS, shown, style)
    if style is Format.TABLE:
        origin = "derived from the CSVs" if found.derived else "msopprof's own points"
        note(f"{found.bound} ({origin})")
    if reached is not None and style is Format.TABLE:
        _print_achieved(reached)


def _print_achieved(reached: object) -> None:
    from opprof_db.analysis.achieved import Achieved

    assert isinstance(reached, Achieved)
    rows: list[tuple[str, object]] = [("duration_us", reached.duration_us)]
    if reached.tflops is not None:
        rows += [("achieved TFLOPS", reached.tflops), ("peak TFLOPS", reached.peak_tflops)]
        rows += [("peak of", reached.peak_tflops_of), ("share of peak", reached.flops_share)]
    if reached.gb_s is not None:
        rows += [("achieved GB/s (10^9)", reached.gb_s), ("peak GB/s", reached.peak_gb_s)]
        rows += [("peak GB/s, other HBM vendor", reached.peak_gb_s_other), ("share of peak", reached.bytes_share)]
        rows += [("bytes moved", reached.moved_bytes), ("moved / needed", reached.excess)]
    rows += [("missing", what) for what in reached.missing]
    print_rows(("key", "value"), rows, Format.TABLE)
