"""Both launches of a comparison of modes: their pipes, and the simulated cores that worked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from opprof_db.analysis.findings import Evidence
from opprof_db.analysis.measures import PIPES, Measures
from opprof_db.analysis.mode_waits import PIPE_NAMES, device_pipe
from opprof_db.analysis.simulated import Pipe, Simulated

WORKED_SHARE = 0.1
"""A simulated core worked when it did at least this share of what the busiest of its kind did …"""
WORKED_FLOOR = 0.01
"""… and at least this share of what the busiest of all did."""
_FLAGS = (
    "instruction GLOB 'WAIT_*' OR instruction = 'wait_event' OR instruction GLOB 'SET_FLAG*' OR instruction GLOB 'BAR*'"
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


@dataclass
class Sides:
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
        for kind, by_core in done.items():
            floor = max(WORKED_SHARE * max(by_core.values()), WORKED_FLOOR * most)
            held = tuple(sorted(core for core, work in by_core.items() if work > 0 and work >= floor))
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

    def traced(self, kind: str) -> list[Pipe]:
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
            note = f"mean of {cores} working cores"
            evidence.append(Evidence("pipe_usage", "mean_time_us", row, time_us, "us", note))
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
        return None if row[0] is None else float(row[0])

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
