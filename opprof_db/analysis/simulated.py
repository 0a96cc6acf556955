"""What the rules look at of a simulated kernel: pipes over time, waits by their true cost, and who waited for whom.

Drawn lengths of waits, sets and barriers are artificial; cycles of the instruction statistics are what they cost
(source: formats sections 3 and 4). Simulated time is not time on a device.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from opprof_db.analysis.findings import Evidence
from opprof_db.analysis.measures import Measures

WORK_PIPES = ("CUBE", "FIXP", "MTE1", "MTE2", "MTE3", "RVECEX", "RVECLD", "RVECLP", "RVECST", "SCALAR", "VECTOR")
COMPUTE_PIPES = ("VECTOR", "CUBE")
_EVENTS_READ = 200_000
"""A core's events beyond this are too many to chain in the time of an answer."""


@dataclass(frozen=True)
class Pipe:
    """A pipe of a simulated core, from its trace; us."""

    core: str
    pipe: str
    position: int
    busy_us: float
    span_us: float | None
    first_us: float | None
    last_us: float | None
    gap_p90_us: float | None
    gaps: int
    work_events: int
    truncated: bool


@dataclass(frozen=True)
class Overlap:
    """Two pipes of a core; us."""

    core: str
    a: str
    b: str
    position: int
    both_us: float
    either_us: float
    share: float | None


@dataclass(frozen=True)
class Sync:
    """WAIT_FLAG, SET_FLAG or BAR instructions of a core that name the same pipes."""

    core: str
    pipe: str
    instruction: str
    producer: str | None
    consumer: str | None
    flags: tuple[str, ...]
    cycles: int
    calls: int
    line_number: int
    """Of the costliest of them."""
    worst_cycles: int
    saturated: int


class Simulated:
    """The simulator's figures of one kernel, read when first asked for."""

    def __init__(self, m: Measures) -> None:
        self._connection = m.connection
        self.kernel_id = m.kernel_id
        self.clock_mhz: float | None = m.kernel["clock_mhz"]

    @cached_property
    def pipes(self) -> tuple[Pipe, ...]:
        """Pipes of simulated cores that have a trace."""
        rows = self._connection.execute(
            "SELECT core, pipe, position, busy_us, span_us, first_us, last_us, gap_p90_us, gaps, work_events, truncated"
            " FROM pipe_activity WHERE kernel_id = ? AND core IS NOT NULL AND pipe IS NOT NULL ORDER BY position",
            (self.kernel_id,),
        )
        return tuple(
            Pipe(core, pipe, place, busy or 0.0, span, first, last, gap, gaps, work, bool(cut))
            for core, pipe, place, busy, span, first, last, gap, gaps, work, cut in rows
        )

    @cached_property
    def overlaps(self) -> tuple[Overlap, ...]:
        """Pairs of pipes."""
        rows = self._connection.execute(
            "SELECT core, pipe_a, pipe_b, position, both_us, either_us, overlap_share FROM pipe_overlap"
            " WHERE kernel_id = ? AND core IS NOT NULL",
            (self.kernel_id,),
        )
        return tuple(Overlap(*row) for row in rows)

    def overlap(self, core: str, a: str, b: str) -> Overlap | None:
        """The pair, whichever stands first."""
        return next((one for one in self.overlaps if one.core == core and {one.a, one.b} == {a, b}), None)

    @cached_property
    def truncated(self) -> bool:
        """Whether a trace was cut off: spans and shares are withheld then."""
        return any(pipe.truncated for pipe in self.pipes)

    @cached_property
    def worked(self) -> tuple[str, ...]:
        """Cores whose compute or transfer pipes worked for a noticeable time, the longest first."""
        busy: dict[str, float] = defaultdict(float)
        for pipe in self.pipes:
            if pipe.pipe in WORK_PIPES and pipe.pipe != "SCALAR":
                busy[pipe.core] += pipe.busy_us
        most = max(busy.values(), default=0.0)
        held = [core for core, time in busy.items() if time > 0.01 * most and time > 0.05]
        return tuple(sorted(held, key=lambda core: (-(self.span_us(core) or 0.0), core)))

    def of_core(self, core: str) -> dict[str, Pipe]:
        """Pipes of a core that do work, by name."""
        return {pipe.pipe: pipe for pipe in self.pipes if pipe.core == core and pipe.pipe in WORK_PIPES}

    def span_us(self, core: str) -> float | None:
        """From the first to the last work of a core; ``None`` when cut off."""
        pipes = [pipe for pipe in self.of_core(core).values() if pipe.first_us is not None and pipe.last_us is not None]
        if not pipes or any(pipe.truncated for pipe in pipes):
            return None
        return max(pipe.last_us or 0.0 for pipe in pipes) - min(pipe.first_us or 0.0 for pipe in pipes)

    # ---------------------------------------------------------------- statistics

    @cached_property
    def cycles(self) -> dict[str, dict[str, int]]:
        """Core -> pipe -> cycles of its instructions, saturated counters left out."""
        rows = self._connection.execute(
            "SELECT core, pipe, sum(CASE saturated WHEN 0 THEN cycles END) FROM instruction_stats"
            " WHERE kernel_id = ? AND pipe IS NOT NULL GROUP BY core, pipe",
            (self.kernel_id,),
        )
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for core, pipe, cycles in rows:
            found[core][pipe] = cycles or 0
        return found

    @cached_property
    def work_cycles(self) -> dict[str, int]:
        """Core -> cycles of its busiest pipe, flags and barriers left out: the statistics' nearest to a span."""
        rows = self._connection.execute(
            "SELECT core, max(cycles) FROM (SELECT core, pipe, sum(cycles) AS cycles FROM instruction_stats"
            " WHERE kernel_id = ? AND saturated = 0 AND instruction NOT GLOB 'WAIT_*' AND instruction NOT GLOB"
            " 'SET_FLAG*' AND instruction NOT GLOB 'BAR*' GROUP BY core, pipe) GROUP BY core",
            (self.kernel_id,),
        )
        return {core: cycles or 0 for core, cycles in rows}

    @cached_property
    def busiest_by_cycles(self) -> tuple[str, ...]:
        """Cores with statistics that did at least a tenth of what the busiest did, the busiest first."""
        totals = {core: sum(pipes.values()) for core, pipes in self.cycles.items()}
        most = max(totals.values(), default=0)
        return tuple(sorted((core for core in totals if totals[core] > 0.1 * most), key=lambda core: -totals[core]))

    @cached_property
    def syncs(self) -> tuple[Sync, ...]:
        """Flags and barriers of every core, put together by the pipes they name, the costliest first."""
        rows = self._connection.execute(
            "SELECT s.core, s.pipe, s.instruction, s.cycles, s.call_count, s.line_number, s.saturated, d.detail"
            " FROM instruction_stats s LEFT JOIN instruction_details d ON d.id = s.detail_id WHERE s.kernel_id = ?"
            " AND (s.instruction GLOB 'WAIT_*' OR s.instruction GLOB 'SET_FLAG*' OR s.instruction = 'BAR'"
            " OR s.instruction GLOB 'BARRIER*' OR s.instruction = 'wait_event')",
            (self.kernel_id,),
        )
        groups: dict[tuple[str, str, str, str | None, str | None], list[tuple[int, int, int, int, str | None]]]
        groups = defaultdict(list)
        for core, pipe, instruction, cycles, calls, line, saturated, detail in rows:
            named = dict(re.findall(r"(PIPE|TRIGGERPIPE|FLAGID):([^,]*)", detail or ""))
            key = (core, pipe, instruction, named.get("PIPE"), named.get("TRIGGERPIPE"))
            groups[key].append((cycles or 0, calls or 0, line, saturated, named.get("FLAGID")))
        made = []
        for (core, pipe, instruction, producer, consumer), held in groups.items():
            worst = max(held, key=lambda one: one[0])
            made.append(
                Sync(
                    core,
                    pipe,
                    instruction,
                    producer,
                    consumer,
                    tuple(sorted({one[4] for one in held if one[4] is not None})),
                    sum(one[0] for one in held if not one[3]),
                    sum(one[1] for one in held),
                    worst[2],
                    worst[0],
                    sum(one[3] for one in held),
                )
            )
        return tuple(sorted(made, key=lambda one: -one.cycles))

    def source_line(self, core: str, sync: Sync) -> str | None:
        """Source position of the costliest instruction of the group, where its events in the trace name one."""
        row = self._connection.execute(
            "SELECT t.string FROM instruction_stats s JOIN trace_events e ON e.kernel_id = s.kernel_id"
            " AND e.pc_addr = s.address JOIN trace_strings t ON t.kernel_id = e.kernel_id AND t.id = e.code_id"
            " WHERE s.kernel_id = ? AND s.core = ? AND s.line_number = ? AND t.string <> '' LIMIT 1",
            (self.kernel_id, core, sync.line_number),
        ).fetchone()
        return str(row[0]).split("\n")[0] if row else None

    # ---------------------------------------------------------------- the chain of waits

    def events(self, core: str) -> list[tuple[int, str, float, float]] | None:
        """(ordinal, pipe, start, end) of a core's work, us; ``None`` when events were not kept or are too many."""
        rows = self._connection.execute(
            "SELECT e.ordinal, l.pipe, e.ts_us, e.ts_us + e.dur_us FROM trace_lanes l JOIN trace_events e"
            " ON e.kernel_id = l.kernel_id AND e.trace_no = l.trace_no AND e.lane = l.lane"
            " WHERE l.kernel_id = ? AND l.core = ? AND e.kind = 0 AND e.ts_us IS NOT NULL AND e.dur_us IS NOT NULL"
            " AND e.flags & 19 = 0 ORDER BY e.ts_us, e.ordinal LIMIT ?",
            (self.kernel_id, core, _EVENTS_READ + 1),
        ).fetchall()
        rows = [row for row in rows if row[1] in WORK_PIPES]
        return rows if rows and len(rows) <= _EVENTS_READ else None

    def flows(self, core: str) -> list[tuple[str, float, str, float]]:
        """(setting pipe, when, waiting pipe, when) of a core, us."""
        return self._connection.execute(
            "SELECT f.pipe, w.from_ts_us, t.pipe, w.to_ts_us FROM trace_flows w"
            " JOIN trace_lanes f ON f.kernel_id = w.kernel_id AND f.trace_no = w.trace_no AND f.lane = w.from_lane"
            " JOIN trace_lanes t ON t.kernel_id = w.kernel_id AND t.trace_no = w.trace_no AND t.lane = w.to_lane"
            " WHERE w.kernel_id = ? AND t.core = ? AND w.from_ts_us IS NOT NULL AND w.to_ts_us IS NOT NULL"
            " ORDER BY w.to_ts_us LIMIT ?",
            (self.kernel_id, core, _EVENTS_READ),
        ).fetchall()

    # ---------------------------------------------------------------- citations

    def cite_pipe(self, pipe: Pipe, column: str = "busy_us", note: str | None = None) -> Evidence:
        """A cell of ``pipe_activity``."""
        row: dict[str, int | str | None] = {"kernel_id": self.kernel_id, "position": pipe.position}
        value = self._connection.execute(
            f"SELECT {column} FROM pipe_activity WHERE kernel_id = ? AND position = ?", (self.kernel_id, pipe.position)
        ).fetchone()[0]
        return Evidence("pipe_activity", column, row, value, "us", note or f"{pipe.core} {pipe.pipe}")

    def cite_overlap(self, pair: Overlap) -> Evidence:
        """A cell of ``pipe_overlap``."""
        row: dict[str, int | str | None] = {"kernel_id": self.kernel_id, "position": pair.position}
        return Evidence("pipe_overlap", "both_us", row, pair.both_us, "us", f"{pair.core} {pair.a} and {pair.b}")

    def cite_sync(self, sync: Sync) -> Evidence:
        """The costliest instruction of a group, in ``instruction_stats``."""
        row: dict[str, int | str | None] = {
            "kernel_id": self.kernel_id,
            "core": sync.core,
            "line_number": sync.line_number,
        }
        who = f"{sync.producer} to {sync.consumer}" if sync.consumer else sync.producer or sync.pipe
        note = f"costliest {sync.instruction} of {who}; together {sync.cycles} cycles in {sync.calls} calls"
        return Evidence("instruction_stats", "cycles", row, sync.worst_cycles, "cycles", note)
