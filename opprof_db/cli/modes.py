"""``opprof-db compare --modes``: device against simulator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from opprof_db.cli.common import reading
from opprof_db.cli.output import Format, note, print_object, print_rows, shown

if TYPE_CHECKING:
    from opprof_db.analysis.modes import Modes, PipeOrder


def show_modes(db: Path, kernel: str, with_: str | None, style: Format) -> None:
    """Print a launch of one mode beside its counterpart of the other."""
    from dataclasses import asdict

    from opprof_db.analysis import modes
    from opprof_db.warehouse.resolve import only_kernel

    with reading(db) as connection:
        other = None if with_ is None else only_kernel(connection, with_)
        found = modes.modes(connection, only_kernel(connection, kernel), other)
    if style is Format.JSON:
        print_object(asdict(found))
    elif style is Format.TABLE:
        _print(found)
    else:
        print_rows(*modes.table(found), style)
        note(found.warning)


def _print(found: Modes) -> None:
    name = shown(found.operator) if found.operator else "(unnamed)"
    print(f"{name}: device kernel:{found.device_kernel_id} beside simulator kernel:{found.simulator_kernel_id}")
    duration = "no duration" if found.device_duration_us is None else f"{found.device_duration_us:g} us"
    clock = "unknown clock" if found.clock_mhz is None else f"clock {found.clock_mhz:g} MHz"
    print(f"  device     {duration}, run {shown(found.device_run)}")
    print(f"  simulator  {clock}, run {shown(found.simulator_run)}")
    print(f"\n{found.warning}\n")
    if found.pipes:
        columns = (
            "core", "pipe", "device us", "cycles", "share", "cores", "|", "sim us", "from", "cycles", "in flags",
            "cores", "|", "us ratio", "cycle ratio",
        )  # fmt: skip
        rows = [
            (
                one.core_kind,
                one.pipe,
                _three(one.device_time_us),
                _whole(one.device_cycles),
                _two(one.device_share),
                _whole(one.device_cores),
                "|",
                _three(one.simulated),
                None if one.simulated is None else "cycles" if one.simulator_busy_us is None else "trace",
                _whole(one.simulator_cycles),
                _whole(one.flag_cycles),
                _whole(one.simulator_cores),
                "|",
                _two(one.ratio),
                _two(one.cycle_ratio),
            )
            for one in found.pipes
        ]
        print_rows(columns, rows)
        print("means over the cores that worked; sim cycles without flags and barriers, which stand beside them\n")
    for sentence in found.says:
        print(f"* {sentence}")
    for order in found.orders:
        if order.device:
            print(f"  {order.core_kind} order: {_order(order)}")
    if found.waits:
        print("\nWhat the device's waits are, as far as the simulator shows")
        for wait in found.waits:
            print(f"  [{wait.outcome}] {wait.sentence}")
    else:
        print("\nThe device's waits were not collected (--aic-metrics=ResourceConflictRatio).")
    print("\nWhat each mode cannot see")
    for mode, what, why in found.blind:
        print(f"  {mode:9}  {what}: {why}")
    for caution in found.cautions:
        note(caution)


def _order(order: PipeOrder) -> str:
    tied = "; too close to call: " + ", ".join(f"{a} and {b}" for a, b in order.tied) if order.tied else ""
    return f"device {' > '.join(order.device)}, simulator {' > '.join(order.simulator)}{tied}"


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _two(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.2f}") if value >= 1 else float(f"{value:.2g}")


def _three(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}") if value < 1000 else round(value, 1)
