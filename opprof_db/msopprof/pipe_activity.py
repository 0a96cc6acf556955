"""How busy each pipe of each core was, and which pipes were busy together: exact, from the events of traces.

    activity = PipeActivityBuilder()
    for batch in reader:
        activity.add(batch.events)
    activity.end_trace(reader.summary)      # once per trace file: its lanes now have names
    result = activity.finish()

Work is told apart from waits, sets, barriers and cache/ccu heads: what the trace draws for SET and BAR is one cycle
and a WAIT is drawn from the end of its pipe's previous instruction, so their lengths say nothing about cost.
Work of one pipe may overlap (lanes are not split in all-core traces): busy time is the union of its intervals.

Memory: 16 bytes an event; past ``MOST_HELD`` intervals they go to a temporary file, and then it is bounded by the
core with the most events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from opprof_db.msopprof.intervals import MOST_HELD, NO_TIMES, IntervalStore, Times, Union
from opprof_db.msopprof.trace_events import EventBatch, Kind
from opprof_db.msopprof.trace_lanes import MARK_PIPE
from opprof_db.msopprof.trace_reader import TraceSummary

BEYOND_FACTOR = 100.0
"""Without a known end of the run, a few events that end this many times later than all others are beyond it.

A counter that ran below zero (msopprof subtracts ticks without looking) makes such events: 2^32 or 2^64 cycles.
"""
_FLOAT32_STEP = 2.0**-23
_ROWS_AT_ONCE = 1 << 15
_LATEST_KEPT = 64
_MOST_BEYOND = 0.05
"""Share of the events that may be taken as beyond the run; at least one may."""
_KINDS = len(Kind)


@dataclass(frozen=True, slots=True)
class PipeActivity:
    """One pipe of one core. Times are microseconds; ``None`` where the trace cannot tell."""

    core: str | None
    pipe: str | None
    work_events: int
    wait_events: int
    set_events: int
    barrier_events: int
    cache_head_events: int
    ccu_head_events: int
    other_events: int
    """Marks and unknown phases."""
    impossible_events: int
    """Of any kind: not finite or missing a time, ending before the start, or beyond the run."""
    busy_us: float
    """Union of the work intervals, without impossible ones."""
    busy_with_impossible_us: float
    """The same with those that have a length at all."""
    work_us: float
    """Sum of the work intervals; above ``busy_us`` where they overlap."""
    wait_us: float
    """Union of the drawn waits: artificial, see above."""
    set_us: float
    barrier_us: float
    cache_head_us: float
    ccu_head_us: float
    first_us: float | None
    """Start of the first work; withheld (like all that follows but the gaps) in a truncated trace."""
    last_us: float | None
    span_us: float | None
    busy_share: float | None
    """busy_us / span_us."""
    waiting_share: float | None
    """Drawn waits / the time from the first to the last work or wait; ``None`` where no flags were collected."""
    gaps: int
    """Gaps between neighbours of the work union, those below float32 resolution left out."""
    gap_p50_us: float | None
    gap_p90_us: float | None
    gap_p99_us: float | None
    gap_max_us: float | None
    truncated: bool

    @property
    def events(self) -> int:
        """All events of the pipe."""
        flags = self.wait_events + self.set_events + self.barrier_events
        return self.work_events + flags + self.cache_head_events + self.ccu_head_events + self.other_events


@dataclass(frozen=True, slots=True)
class PipeOverlap:
    """Two pipes of one core, by name: work only, impossible events left out."""

    core: str | None
    pipe_a: str
    pipe_b: str
    both_us: float
    either_us: float
    share: float | None
    """both / either; withheld in a truncated trace, ``None`` where neither worked."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What all traces of a run say together."""

    pipes: list[PipeActivity]
    overlaps: list[PipeOverlap]
    truncated: bool
    flags_collected: bool
    """Any SET or WAIT in the run: without, "no waiting" means "not collected"."""
    heads_collected: bool
    impossible_events: int
    beyond_events: int
    """Those of them that start before 0 or end beyond the run."""
    run_end_us: float
    """Where the run ended, as told or as the events say: what ends later (or starts below 0) was impossible."""


class PipeActivityBuilder:
    """Feed it batches; ``end_trace`` after each trace file; ``finish`` at last."""

    def __init__(self, most_held: int = MOST_HELD) -> None:
        self._store: IntervalStore[tuple[str | None, str | None, int]] = IntervalStore(most_held)
        self._lanes: IntervalStore[tuple[int, int]] = IntervalStore(most_held)
        self._pending: list[tuple[NDArray[np.int64], Times, Times]] = []
        self._pending_rows = 0
        self._counts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._unusable: NDArray[np.int64] = np.zeros(0, np.int64)
        self._events: dict[tuple[str | None, str | None, int], int] = {}
        self._bad: dict[tuple[str | None, str | None], int] = {}
        self._latest: Times = NO_TIMES
        self._earliest = np.inf
        self._usable = 0
        self._truncated: set[str | None] = set()
        self._flags = False
        self._heads = False
        self._beyond = 0

    def add(self, events: EventBatch) -> None:
        """Take in the events of a batch."""
        if not len(events):
            return
        keys = np.array(events.lane, np.int64) * _KINDS + np.array(events.kind, np.int64)
        starts = np.array(events.ts_us, np.float64)  # None becomes NaN
        self._pending.append((keys, starts, starts + np.array(events.dur_us, np.float64)))
        self._pending_rows += len(keys)
        if self._pending_rows >= _ROWS_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        """Sort what is pending by lane and kind."""
        if not self._pending:
            return
        keys = np.concatenate([part[0] for part in self._pending])
        starts = np.concatenate([part[1] for part in self._pending])
        ends = np.concatenate([part[2] for part in self._pending])
        self._pending.clear()
        self._pending_rows = 0
        self._counts = _added(self._counts, np.bincount(keys))
        usable = np.isfinite(starts) & np.isfinite(ends) & (ends >= starts)
        if not usable.all():
            self._unusable = _added(self._unusable, np.bincount(keys[~usable]))
            keys, starts, ends = keys[usable], starts[usable], ends[usable]
        if not len(keys):
            return
        self._note_ends(starts, ends)
        order = np.argsort(keys, kind="stable")
        keys, starts, ends = keys[order], starts[order], ends[order]
        cuts = np.flatnonzero(np.diff(keys)) + 1
        bounds = [0, *cuts.tolist(), len(keys)]
        for low, high in pairwise(bounds):
            lane, kind = divmod(int(keys[low]), _KINDS)
            self._lanes.add((lane, kind), starts[low:high].copy(), ends[low:high].copy())

    def _note_ends(self, starts: Times, ends: Times) -> None:
        """Keep the earliest start and the latest few ends."""
        there = starts >= 0
        if not there.any():
            return
        self._usable += int(np.count_nonzero(there))
        self._earliest = min(self._earliest, float(starts[there].min()))
        ends = np.concatenate((self._latest, ends[there]))
        if len(ends) > _LATEST_KEPT:
            ends = np.partition(ends, len(ends) - _LATEST_KEPT)[-_LATEST_KEPT:]
        self._latest = np.sort(ends)

    def end_trace(self, summary: TraceSummary) -> None:
        """Name the lanes of the trace just fed; afterwards the next one may follow."""
        self._flush()
        self._flags |= summary.has_flags
        self._heads |= summary.has_heads
        for key in range(len(self._counts)):
            if not self._counts[key]:
                continue
            lane, kind = summary.lanes[key // _KINDS], key % _KINDS
            self._count(lane.core, lane.pipe, kind, int(self._counts[key]))
            bad = int(self._unusable[key]) if key < len(self._unusable) else 0
            self._bad[lane.core, lane.pipe] = self._bad.get((lane.core, lane.pipe), 0) + bad
            if summary.truncated:
                self._truncated.add(lane.core)
        for lane_number, kind in sorted(self._lanes.keys()):
            lane = summary.lanes[lane_number]
            self._store.add((lane.core, lane.pipe, kind), *self._lanes.take((lane_number, kind)))
        self._lanes.close()
        self._counts = np.zeros(0, np.int64)
        self._unusable = np.zeros(0, np.int64)

    def _count(self, core: str | None, pipe: str | None, kind: int, count: int) -> None:
        key = (core, pipe, kind)
        self._events[key] = self._events.get(key, 0) + count

    def finish(self, run_end_us: float | None = None) -> Activity:
        """The result; ``run_end_us`` is where the run ended on the trace's clock, where that is known."""
        run_end = self._run_end(run_end_us)
        pipes: list[PipeActivity] = []
        overlaps: list[PipeOverlap] = []
        names: dict[str | None, set[str | None]] = {}
        for core, pipe, _ in self._events:
            names.setdefault(core, set()).add(pipe)
        for core in sorted(names, key=_by_name):
            unions: list[tuple[str, Union]] = []
            for pipe in sorted(names[core], key=_by_name):
                activity, union = self._pipe(core, pipe, run_end)
                pipes.append(activity)
                if len(union):
                    unions.append((pipe or "", union))
            overlaps.extend(_overlaps(core, unions, truncated=core in self._truncated))
        self._store.close()
        return Activity(
            pipes=pipes,
            overlaps=overlaps,
            truncated=bool(self._truncated),
            flags_collected=self._flags,
            heads_collected=self._heads,
            impossible_events=sum(pipe.impossible_events for pipe in pipes),
            beyond_events=self._beyond,
            run_end_us=run_end,
        )

    def _run_end(self, told: float | None) -> float:
        """Where the run ends: as told (in float32), or where the last event ends that is not far beyond all others."""
        if told is not None:
            return told * (1 + 2 * _FLOAT32_STEP)
        ends = self._latest
        if not len(ends):
            return 0.0
        reach = ends - self._earliest
        most = max(1, int(self._usable * _MOST_BEYOND))
        for last in range(max(len(ends) - 1 - most, 0), len(ends) - 1):
            if 0 < reach[last] * BEYOND_FACTOR < reach[last + 1]:
                return float(ends[last])
        return float(ends[-1])

    def _pipe(self, core: str | None, pipe: str | None, run_end: float) -> tuple[PipeActivity, Union]:
        """One pipe, and the union of its work."""
        unions: dict[int, Union] = {}
        impossible = self._bad.get((core, pipe), 0)
        with_impossible, work_us = 0.0, 0.0
        for kind in Kind:
            starts, ends = self._store.take((core, pipe, kind))
            wrong = (starts < 0) | (ends > run_end)
            if wrong.any():
                count_wrong = int(np.count_nonzero(wrong))
                impossible += count_wrong
                self._beyond += count_wrong
                if kind is Kind.WORK:
                    with_impossible = Union(starts, ends).length
                starts, ends = starts[~wrong], ends[~wrong]
            unions[kind] = Union(starts, ends)
            if kind is Kind.WORK:
                work_us = float(np.sum(ends - starts))
                with_impossible = with_impossible or unions[kind].length
        work, wait = unions[Kind.WORK], unions[Kind.WAIT]
        truncated = core in self._truncated
        first = last = span = share = waiting = None
        if not truncated and len(work):
            first, last = float(work.starts[0]), float(work.ends[-1])
            span = last - first
            share = work.length / span if span > 0 else None
        if not truncated and self._flags:
            waiting = _waiting_share(work, wait)
        gaps = _real_gaps(work)
        p50, p90, p99, longest = _percentiles(gaps)
        count = {kind: self._events.get((core, pipe, kind), 0) for kind in Kind}
        marked = count[Kind.MARKER] + count[Kind.OTHER]
        return (
            PipeActivity(
                core=core,
                pipe=pipe,
                work_events=count[Kind.WORK],
                wait_events=count[Kind.WAIT],
                set_events=count[Kind.SET],
                barrier_events=count[Kind.BARRIER],
                cache_head_events=count[Kind.CACHE_HEAD],
                ccu_head_events=count[Kind.CCU_HEAD],
                other_events=marked,
                impossible_events=impossible,
                busy_us=work.length,
                busy_with_impossible_us=with_impossible,
                work_us=work_us,
                wait_us=wait.length,
                set_us=unions[Kind.SET].length,
                barrier_us=unions[Kind.BARRIER].length,
                cache_head_us=unions[Kind.CACHE_HEAD].length,
                ccu_head_us=unions[Kind.CCU_HEAD].length,
                first_us=first,
                last_us=last,
                span_us=span,
                busy_share=share,
                waiting_share=waiting,
                gaps=len(gaps),
                gap_p50_us=p50,
                gap_p90_us=p90,
                gap_p99_us=p99,
                gap_max_us=longest,
                truncated=truncated,
            ),
            Union(NO_TIMES, NO_TIMES) if pipe == MARK_PIPE else work,
        )


def _by_name(name: str | None) -> str:
    return name or ""


def _added(total: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum of two arrays of counts, as long as the longer one."""
    if len(more) > len(total):
        total = np.concatenate((total, np.zeros(len(more) - len(total), np.int64)))
    total[: len(more)] += more
    return total


def _waiting_share(work: Union, wait: Union) -> float | None:
    held = [union for union in (work, wait) if len(union)]
    if not held:
        return None
    span = max(float(union.ends[-1]) for union in held) - min(float(union.starts[0]) for union in held)
    return wait.length / span if span > 0 else None


def _real_gaps(work: Union) -> Times:
    """Gaps that float32 times can show: what is below one step there is noise between touching events."""
    gaps = work.gaps()
    return gaps[gaps > work.starts[1:] * _FLOAT32_STEP]


def _percentiles(gaps: Times) -> tuple[float | None, float | None, float | None, float | None]:
    """p50, p90, p99 (linear between neighbours) and the largest."""
    if not len(gaps):
        return None, None, None, None
    p50, p90, p99, largest = (float(value) for value in np.percentile(gaps, (50, 90, 99, 100)))
    return p50, p90, p99, largest


def _overlaps(core: str | None, unions: list[tuple[str, Union]], *, truncated: bool) -> Iterator[PipeOverlap]:
    """Every pair of pipes that worked."""
    lengths = [union.length for _, union in unions]
    for at, (name, union) in enumerate(unions):
        for to in range(at + 1, len(unions)):
            both = union.overlap(unions[to][1])
            either = lengths[at] + lengths[to] - both
            share = None if truncated or either <= 0 else both / either
            yield PipeOverlap(core, name, unions[to][0], both, either, share)
