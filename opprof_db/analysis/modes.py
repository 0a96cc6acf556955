"""A kernel on the device beside the same kernel in the simulator: pipe by pipe, and never as one number.

The simulator runs every instruction with an ideal memory behind it; the device shares L2 and GM between all cores. So
a pipe's *place* among the others and the *ratio between pipes* say something, totals do not. Waits of the device
name the pipe that waits; the flags of the simulator say for whom (source: formats sections 2 to 4).
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from opprof_db.analysis.findings import Evidence
from opprof_db.analysis.measures import PIPES, Measures
from opprof_db.analysis.mode_waits import PIPE_NAMES, Wait, device_pipe, waits
from opprof_db.analysis.simulated import Simulated
from opprof_db.errors import UsageError

TIE = 0.05
"""Pipes closer than this share of the longer one have no order."""
NOTICEABLE = 0.02
"""Pipes below this share of the longest of their kind, in both modes, are left out of the order."""
CONTENTION = 1.25
"""A transfer pipe whose ratio is so many times the compute unit's was slowed by more than the clock."""
WORKED_SHARE = 0.1
"""A simulated core worked when it did at least this share of what the busiest of its kind did …"""
WORKED_FLOOR = 0.01
"""… and at least this share of what the busiest of all did."""
_FLAGS = (
    "instruction GLOB 'WAIT_*' OR instruction = 'wait_event' OR instruction GLOB 'SET_FLAG*' OR instruction GLOB"
    " 'BAR*'"
)

BLIND = (
    ("device", "which instruction or line costs the time, and its conflicts", "counters are per core and pipe"),
    ("device", "who waited for whom", "a wait ratio names the pipe that waits, not the one it waits for"),
    ("simulator", "contention for L2 and DDR", "every core has the memory to itself; hits and misses are not modelled"),
    ("simulator", "the start of the task and the real frequency", "it counts cycles at a fixed clock"),
)
"""(mode, what it cannot see, why)."""
WARNING = (
    "Do not equate the totals: clock, cores, shape and memory of the two modes differ. Compare the order of the pipes and"
    " the ratios between them."
)


@dataclass(frozen=True, slots=True)
class PipePair:
    """One pipe of one kind of core in both modes. ``None``: that mode has no figure."""

    core_kind: str
    pipe: str
    device_cores: int | None
    device_time_us: float | None
    """Mean busy time over the working cores, us."""
    device_cycles: float | None
    """The same in cycles of that core's own clock."""
    device_share: float | None
    """Total busy time / total core time."""
    simulator_cores: int | None
    """Simulated cores that worked and have statistics."""
    simulator_cycles: float | None
    """Mean cycles of the pipe's work over them; flags and barriers left out, overlapping calls counted each."""
    flag_cycles: float | None
    """Mean cycles of its WAIT_FLAG, SET_FLAG and barriers."""
    simulator_us: float | None
    """``simulator_cycles`` / the simulator's clock, us."""
    simulator_busy_us: float | None
    """Mean busy time from the traces of cores that worked (overlap counted once), us; ``None`` without such a trace."""
    ratio: float | None
    """Device time / simulated time: the trace's busy time where there is one, else from the cycles."""
    cycle_ratio: float | None
    """Device cycles / simulated cycles: clocks taken out."""
    evidence: tuple[Evidence, ...]

    @property
    def simulated(self) -> float | None:
        """The simulated time that the ratio is over, us."""
        return self.simulator_us if self.simulator_busy_us is None else self.simulator_busy_us


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


def modes(connection: sqlite3.Connection, kernel_id: int, with_: int | None = None) -> Modes:
    """Set a launch beside its counterpart of the other mode: ``with_``, or the newest of the same operator.

    Raises:
        UsageError: there is no counterpart, or both are of the same mode.
    """
    device_id, simulator_id = _pair(connection, kernel_id, with_)
    device, simulator = Measures(connection, device_id), Measures(connection, simulator_id)
    sides = _Sides(device, simulator, Simulated(simulator))
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


@dataclass
class _Sides:
    """Both launches, and the simulated cores that worked."""

    device: Measures
    simulator: Measures
    simulated: Simulated

    @cached_property
    def _cycles(self) -> dict[str, dict[str, dict[str, tuple[float, float]]]]:
        """Core kind -> core -> pipe -> (cycles of work, cycles of flags and barriers); no saturated counters."""
        found: dict[str, dict[str, dict[str, tuple[float, float]]]] = defaultdict(lambda: defaultdict(dict))
        rows = self.simulator.connection.execute(
            f"SELECT core_kind, core, pipe, sum(CASE WHEN {_FLAGS} THEN 0 ELSE cycles END),"
            f" sum(CASE WHEN {_FLAGS} THEN cycles ELSE 0 END) FROM instruction_stats"
            " WHERE kernel_id = ? AND saturated = 0 AND pipe IS NOT NULL GROUP BY core_kind, core, pipe",
            (self.simulator.kernel_id,),
        )
        for kind, core, pipe, work, flags in rows:
            found[kind][core][pipe] = (work or 0.0, flags or 0.0)
        return found

    @cached_property
    def worked(self) -> dict[str, tuple[str, ...]]:
        """Core kind -> simulated cores whose pipes other than the scalar unit worked, by statistics or trace."""
        done: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for kind, cores in self._cycles.items():
            for core, pipes in cores.items():
                done[kind][core] = sum(work for pipe, (work, _) in pipes.items() if device_pipe(pipe) in _WORK)
        if not done:
            for pipe in self.simulated.pipes:
                if device_pipe(pipe.pipe) in _WORK:
                    done[_kind_of(pipe.core)][pipe.core] += pipe.busy_us
        most = max((work for cores in done.values() for work in cores.values()), default=0.0)
        found: dict[str, tuple[str, ...]] = {}
        for kind, cores in done.items():
            floor = max(WORKED_SHARE * max(cores.values()), WORKED_FLOOR * most)
            held = tuple(sorted(core for core, work in cores.items() if work > 0 and work >= floor))
            if held:
                found[kind] = held
        return found

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of core that worked in either mode."""
        on_device = {kind for kind in self.device.kinds if self.device.working(kind)} - self.device.unused
        return tuple(sorted(on_device | set(self.worked)))

    def names(self, kind: str) -> tuple[str, ...]:
        """Pipes of a kind that either mode has a figure of."""
        known = {pipe for pipe in PIPES.get(kind, ()) if self.device.mean_busy(kind, pipe) is not None}
        known |= {
            device_pipe(pipe)
            for core in self.worked.get(kind, ())
            for pipe in self._cycles.get(kind, {}).get(core, {})
            if device_pipe(pipe) in PIPES.get(kind, ())
        }
        known |= {device_pipe(one.pipe) for one in self.traced(kind) if device_pipe(one.pipe) in PIPES.get(kind, ())}
        return tuple(pipe for pipe in PIPES.get(kind, ()) if pipe in known)

    def traced(self, kind: str) -> list[object]:
        """Trace figures of the cores of a kind that worked."""
        cores = self.worked.get(kind, ())
        return [one for one in self.simulated.pipes if one.core in cores and not one.truncated]

    def pipe(self, kind: str, pipe: str) -> PipePair:
        """Both modes' figures of a pipe."""
        evidence: list[Evidence] = []
        time_us = self.device.mean_busy(kind, pipe)
        mhz = self._device_mhz(kind)
        cores = len(self.device.working(kind)) if time_us is not None else None
        if time_us is not None:
            row: dict[str, int | str | None] = {"kernel_id": self.device.kernel_id, "core_kind": kind, "pipe": pipe}
            evidence.append(Evidence("pipe_usage", "mean_time_us", row, time_us, "us", f"mean of {cores} working cores"))
        work, flags, counted = self._simulated(kind, pipe, evidence)
        clock = self.simulated.clock_mhz
        from_cycles = work / clock if work is not None and clock else None
        busy = self._busy(kind, pipe)
        simulated = from_cycles if busy is None else busy
        return PipePair(
            kind,
            pipe,
            cores,
            time_us,
            time_us * mhz if time_us is not None and mhz else None,
            self.device.share(kind, pipe),
            counted,
            work,
            flags,
            from_cycles,
            busy,
            time_us / simulated if time_us is not None and simulated else None,
            time_us * mhz / work if time_us is not None and mhz and work else None,
            tuple(evidence),
        )

    def _device_mhz(self, kind: str) -> float | None:
        """Clock that the core times were computed with: total cycles / total time of the working cores."""
        row = self.device.connection.execute(
            "SELECT sum(total_cycles) / sum(time_us) FROM core_times WHERE kernel_id = ? AND core_kind = ?"
            " AND is_idle = 0 AND total_cycles IS NOT NULL AND time_us > 0",
            (self.device.kernel_id, kind),
        ).fetchone()
        return row[0]

    def _simulated(
        self, kind: str, pipe: str, evidence: list[Evidence]
    ) -> tuple[float | None, float | None, int | None]:
        """(mean work cycles, mean flag cycles, cores) of a pipe."""
        cores = [core for core in self.worked.get(kind, ()) if core in self._cycles.get(kind, {})]
        if not cores:
            return None, None, None
        work, flags = 0.0, 0.0
        most: tuple[float, str, str] | None = None
        for core in cores:
            for name, (own, own_flags) in self._cycles[kind][core].items():
                if device_pipe(name) == pipe:
                    work, flags = work + own, flags + own_flags
                    most = max(most or (-1.0, "", ""), (own + own_flags, core, name))
        if most is not None:
            row: dict[str, int | str | None] = {
                "kernel_id": self.simulator.kernel_id,
                "core": most[1],
                "pipe": most[2],
            }
            note = f"largest of {len(cores)} cores that worked, its flags and barriers included"
            evidence.append(Evidence("simulated_pipes", "cycles", row, int(most[0]), "cycles", note))
        return work / len(cores), flags / len(cores), len(cores)

    def _busy(self, kind: str, pipe: str) -> float | None:
        traced = self.traced(kind)
        cores = {one.core for one in traced}
        held = [one.busy_us for one in traced if device_pipe(one.pipe) == pipe]
        return sum(held) / len(cores) if held else None


_WORK = frozenset(PIPE_NAMES.values()) - {"scalar"}


def _kind_of(core: str) -> str:
    return "aiv" if ".veccore" in core else "aic" if ".cubecore" in core else "aicore"


def _order(kind: str, pipes: list[PipePair]) -> PipeOrder:
    """Which pipes take longer, in each mode, and where the modes agree."""
    both = [(one.pipe, one.device_time_us, one.simulated) for one in pipes]
    known = [(pipe, device, own) for pipe, device, own in both if device is not None and own is not None]
    longest = (max((one[1] for one in known), default=0.0), max((one[2] for one in known), default=0.0))
    known = [one for one in known if one[1] > NOTICEABLE * longest[0] or one[2] > NOTICEABLE * longest[1]]
    on_device = sorted(known, key=lambda one: -one[1])
    in_simulator = sorted(known, key=lambda one: -one[2])
    agree, differ, tied = [], [], []
    for a, b in combinations(on_device, 2):
        close = any(abs(a[side] - b[side]) <= TIE * max(a[side], b[side]) for side in (1, 2))
        (tied if close else agree if a[2] > b[2] else differ).append((a[0], b[0]))
    same: bool | None = None
    if known:
        same = on_device[0][0] == in_simulator[0][0]
        firsts = {on_device[0][0], in_simulator[0][0]}
        if any(set(pair) == firsts for pair in tied):
            same = None
    return PipeOrder(
        kind,
        tuple(one[0] for one in on_device),
        tuple(one[0] for one in in_simulator),
        same,
        tuple(agree),
        tuple(differ),
        tuple(tied),
    )


def _says(sides: _Sides, pipes: tuple[PipePair, ...], orders: tuple[PipeOrder, ...]) -> list[str]:
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
                f" {unit.pipe} ({pipe.ratio:.2f} against {unit.ratio:.2f}): the time it waits for L2 and DDR, shared by"
                " all cores, is what the simulator does not show."
            )
    return says


def _cautions(sides: _Sides) -> list[str]:
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
                f"{kind.upper()}: {cores} cores worked on the device, {simulated} in the simulator: a core's share of the"
                " work need not be the same"
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
