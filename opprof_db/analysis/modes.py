"""A kernel on the device beside the same kernel in the simulator: pipe by pipe, and never as one number.

The simulator runs every instruction with an ideal memory behind it; the device shares L2 and GM between all cores. So
a pipe's *place* among the others and the *ratio between pipes* say something, totals do not. Waits of the device
name the pipe that waits; the flags of the simulator say for whom (source: formats sections 2 to 4).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from opprof_db.analysis.measures import Measures
from opprof_db.analysis.mode_sides import PipePair, Sides
from opprof_db.analysis.mode_waits import Wait, waits
from opprof_db.analysis.simulated import Simulated
from opprof_db.errors import UsageError

TIE = 0.05
"""Pipes closer than this share of the longer one have no order."""
NOTICEABLE = 0.02
"""Pipes below this share of the longest of their kind, in both modes, are left out of the order."""
CONTENTION = 1.25
"""A transfer pipe whose ratio is so many times the compute unit's was slowed by more than the clock."""
BLIND = (
    ("device", "which instruction or line costs the time, and its conflicts", "counters are per core and pipe"),
    ("device", "who waited for whom", "a wait ratio names the pipe that waits, not the one it waits for"),
    ("simulator", "contention for L2 and DDR", "the cores' transfers do not slow each other down"),
    ("simulator", "the start of the task and the real frequency", "it counts cycles at a fixed clock"),
)
"""(mode, what it cannot see, why)."""
WARNING = (
    "Do not equate the totals: clock, cores, shape and memory of the two modes differ. Compare the order of the pipes"
    " and the ratios between them."
)


@dataclass(frozen=True, slots=True)
class PipeOrder:
    """The pipes of one kind of core by time, the longest first, in both modes."""

    core_kind: str
    device: tuple[str, ...]
    simulator: tuple[str, ...]
    same_first: bool | None
    """``None`` where the first two are too close to call in one of the modes."""
    agree: tuple[tuple[str, str], ...]
    """Pairs, the longer first, with the same order in both."""
    differ: tuple[tuple[str, str], ...]
    """Pairs, the longer on the device first, that the simulator has the other way round."""
    tied: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Modes:
    """What both modes say about a kernel."""

    device_kernel_id: int
    simulator_kernel_id: int
    operator: str | None
    device_run: str
    simulator_run: str
    device_duration_us: float | None
    clock_mhz: float | None
    """The simulator's."""
    pipes: tuple[PipePair, ...]
    orders: tuple[PipeOrder, ...]
    waits: tuple[Wait, ...]
    says: tuple[str, ...]
    """What follows, in sentences."""
    cautions: tuple[str, ...]
    warning: str = WARNING
    blind: tuple[tuple[str, str, str], ...] = BLIND


COLUMNS = (
    "core_kind", "pipe", "device_cores", "device_time_us", "device_cycles", "device_share", "simulator_cores",
    "simulator_busy_us", "simulator_us", "simulator_cycles", "flag_cycles", "ratio", "cycle_ratio",
)  # fmt: skip
"""What ``table`` shows of each pipe: attributes of ``PipePair``."""


def table(found: Modes) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """A row a pipe, exact figures."""
    return COLUMNS, [tuple(getattr(pipe, column) for column in COLUMNS) for pipe in found.pipes]


def modes(connection: sqlite3.Connection, kernel_id: int, with_: int | None = None) -> Modes:
    """Set a launch beside its counterpart of the other mode: ``with_``, or the newest of the same operator.

    Raises:
        UsageError: there is no counterpart, or both are of the same mode.
    """
    device_id, simulator_id = _pair(connection, kernel_id, with_)
    device, simulator = Measures(connection, device_id), Measures(connection, simulator_id)
    sides = Sides(device, simulator, Simulated(simulator))
    pipes = tuple(sides.pipe(kind, pipe) for kind in sides.kinds for pipe in sides.names(kind))
    orders = tuple(_order(kind, [one for one in pipes if one.core_kind == kind]) for kind in sides.kinds)
    held = waits(connection, device_id, sides.simulated, sides.worked)
    return Modes(
        device_id,
        simulator_id,
        device.kernel["operator"] or simulator.kernel["operator"],
        device.kernel["run"],
        simulator.kernel["run"],
        device.duration_us,
        sides.simulated.clock_mhz,
        pipes,
        orders,
        held,
        tuple(_says(sides, pipes, orders)),
        tuple(_cautions(sides)),
    )


def _pair(connection: sqlite3.Connection, kernel_id: int, with_: int | None) -> tuple[int, int]:
    """(launch with device figures, simulated launch)."""
    mode, operator = _mode(connection, kernel_id)
    if with_ is None:
        if mode == "mixed":
            return kernel_id, kernel_id
        other = "simulator" if mode == "device" else "device"
        row = connection.execute(
            "SELECT kernel_id FROM kernel_overview WHERE operator = ? AND mode IN (?, 'mixed')"
            " ORDER BY started_at IS NULL, started_at DESC, kernel_id DESC LIMIT 1",
            (operator, other),
        ).fetchone()
        if row is None:
            which = f"no {other} launch of {operator}" if operator else "the launch has no operator's name"
            raise UsageError(
                f"kernel:{kernel_id} has no counterpart: {which}",
                "name it with --with; simulator runs record no name: `opprof-db ingest --kernel NAME` gives one",
            )
        with_ = int(row[0])
    other_mode, _ = _mode(connection, with_)
    if mode != "simulator" and other_mode != "device":
        return kernel_id, with_
    if other_mode != "simulator" and mode != "device":
        return with_, kernel_id
    raise UsageError(
        f"kernel:{kernel_id} and kernel:{with_} are both of the {mode}",
        "one must be measured on a device, the other simulated; without --modes two of a kind are compared",
    )


def _mode(connection: sqlite3.Connection, kernel_id: int) -> tuple[str, str | None]:
    mode, operator = connection.execute(
        "SELECT mode, operator FROM kernel_overview WHERE kernel_id = ?", (kernel_id,)
    ).fetchone()
    return str(mode), operator


class _Timed(NamedTuple):
    """A pipe with its times on the device and in the simulator, us."""

    pipe: str
    times: tuple[float, float]


def _order(kind: str, pipes: list[PipePair]) -> PipeOrder:
    """Which pipes take longer, in each mode, and where the modes agree."""
    known = [
        _Timed(one.pipe, (one.device_time_us, one.simulated))
        for one in pipes
        if one.device_time_us is not None and one.simulated is not None
    ]
    longest = [max((one.times[side] for one in known), default=0.0) for side in (0, 1)]
    known = [one for one in known if any(one.times[side] > NOTICEABLE * longest[side] for side in (0, 1))]
    on_device = sorted(known, key=lambda one: -one.times[0])
    in_simulator = sorted(known, key=lambda one: -one.times[1])
    agree: list[tuple[str, str]] = []
    differ: list[tuple[str, str]] = []
    tied: list[tuple[str, str]] = []
    for a, b in combinations(on_device, 2):
        close = any(abs(x - y) <= TIE * max(x, y) for x, y in zip(a.times, b.times, strict=True))
        (tied if close else agree if a.times[1] > b.times[1] else differ).append((a.pipe, b.pipe))
    same: bool | None = None
    if known:
        same = on_device[0].pipe == in_simulator[0].pipe
        firsts = {on_device[0].pipe, in_simulator[0].pipe}
        if any(set(pair) == firsts for pair in tied):
            same = None
    return PipeOrder(
        kind,
        tuple(one.pipe for one in on_device),
        tuple(one.pipe for one in in_simulator),
        same,
        tuple(agree),
        tuple(differ),
        tuple(tied),
    )


def _says(sides: Sides, pipes: tuple[PipePair, ...], orders: tuple[PipeOrder, ...]) -> list[str]:
    says = []
    for order in orders:
        kind = order.core_kind.upper()
        if not order.device:
            says.append(f"{kind}: only one of the modes has figures of its pipes.")
            continue
        pairs = len(order.agree) + len(order.differ)
        text = f"{kind}: {order.device[0]} takes longest on the device, {order.simulator[0]} in the simulator"
        if order.same_first:
            text = f"{kind}: {order.device[0]} takes longest in both modes"
        elif order.same_first is None:
            text += " (too close to call)"
        if pairs:
            text += f"; {len(order.agree)} of {pairs} pairs of pipes stand in the same order"
        says.append(text + ".")
        says += _contention(order.core_kind, [one for one in pipes if one.core_kind == order.core_kind])
    idle = sides.device.unused - set(sides.worked)
    says += [f"{kind.upper()}: in both modes these cores neither computed nor moved data." for kind in sorted(idle)]
    return says


def _contention(kind: str, pipes: list[PipePair]) -> list[str]:
    """Transfers that the device slows more than the computing: what the simulator's ideal memory hides."""
    by_name = {one.pipe: one for one in pipes}
    unit = by_name.get("cube" if kind == "aic" else "vec")
    longest = max((one.device_time_us or 0.0 for one in pipes), default=0.0)
    if unit is None or not unit.ratio or (unit.device_time_us or 0.0) < NOTICEABLE * longest:
        return []
    says = []
    for name in ("mte2", "mte3", "fixpipe"):
        pipe = by_name.get(name)
        if pipe is None or not pipe.ratio or (pipe.device_time_us or 0.0) < NOTICEABLE * longest:
            continue
        factor = pipe.ratio / unit.ratio
        if factor >= CONTENTION:
            says.append(
                f"{kind.upper()}: from the simulator to the device {name} grows {factor:.2f} times as much as"
                f" {unit.pipe} ({pipe.ratio:.2f} against {unit.ratio:.2f}): most likely it waits for L2 and DDR, which"
                " all cores share and the simulator leaves out."
            )
    return says


def _cautions(sides: Sides) -> list[str]:
    device, simulator = sides.device.kernel, sides.simulator.kernel
    told = []
    if device["operator"] and simulator["operator"] and device["operator"] != simulator["operator"]:
        told.append(f"the operators differ: {device['operator']} on the device, {simulator['operator']} simulated")
    elif not simulator["operator"]:
        told.append("the simulator records no kernel name: that both are the same operator is your word")
    if device["soc"] and simulator["soc"] and device["soc"] != simulator["soc"]:
        told.append(f"the chips differ: {device['soc']} on the device, {simulator['soc']} simulated")
    for kind in sides.kinds:
        cores, simulated = len(sides.device.working(kind)), len(sides.worked.get(kind, ()))
        if cores and simulated and cores != simulated:
            told.append(
                f"{kind.upper()}: {cores} cores worked on the device, {simulated} in the simulator: a core's share of"
                " the work need not be the same"
            )
        elif cores and not simulated:
            told.append(f"{kind.upper()}: no such core worked in the simulator")
        if simulated and not sides.traced(kind):
            why = "cut off" if sides.simulated.truncated else "missing or of idle cores"
            told.append(
                f"{kind.upper()}: the traces of the cores that worked are {why}; cycles of calls that overlap in a pipe"
                " are counted each, so the simulated time is an upper bound"
            )
    if sides.simulated.clock_mhz is None:
        told.append("the simulator's clock is not known: cycles only, no times")
    saturated = sides.simulator.single("SELECT sum(saturated) FROM instruction_stats WHERE kernel_id = ?")
    if saturated:
        told.append(f"{saturated} counters stood at their end and are left out: cycles are a lower bound")
    return told
