"""Reads a trace.json (or block 2 of a visualize_data.bin) as a stream: memory does not grow with the file.

    reader = TraceReader.open(path, "simulator/trace.json")
    for batch in reader:
        ...                       # columns of events, flows, counters
    reader.summary                # kind, lanes and their names, counts, truncation
    list(reader.issues)

No bytes make it fail; only the file system does (``OSError``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import UNSET

from opprof_db.msopprof.issues import IssueLog, Severity
from opprof_db.msopprof.trace_blocks import file_blocks
from opprof_db.msopprof.trace_decode import GroupDecoder, Numbers, Sound
from opprof_db.msopprof.trace_events import (
    THROUGHPUT,
    CounterBatch,
    EventBatch,
    FlowBatch,
    Kind,
    KindOf,
    MendedEvent,
    RawEvent,
    TraceBatch,
)
from opprof_db.msopprof.trace_json import EventText, Located, Mended
from opprof_db.msopprof.trace_lanes import MARK_PIPE, Lane, Lanes, TraceKind
from opprof_db.msopprof.trace_mend import Mender, as_json
from opprof_db.msopprof.trace_pairs import EventMaker, Flows, Half, Pairs, Place, goes_on
from opprof_db.msopprof.values import visible


@dataclass(slots=True)
class TraceSummary:
    """What is known once the whole trace was read."""

    kind: TraceKind = TraceKind.EMPTY
    schema_version: int | None = None
    header: dict[str, str | int | float] = field(default_factory=dict)
    """Texts and numbers beside the event list."""
    truncated: bool = False
    """Cut off: its events are good, its spans and shares are not."""
    lanes: list[Lane] = field(default_factory=list)
    """By lane number."""
    bytes_read: int = 0
    elements: int = 0
    """Elements of the event list, usable or not."""
    lost: int = 0
    """Elements that became nothing; each has an issue."""
    events: int = 0
    """Rows in event batches."""
    pairs: int = 0
    flows: int = 0
    counters: int = 0
    metadata: int = 0
    unmatched_begins: int = 0
    unmatched_ends: int = 0
    unmatched_flows: int = 0
    has_flags: bool = False
    """Any SET or WAIT; else ResourceConflictRatio was probably not collected."""
    has_heads: bool = False
    """Any cache_time or ccu_time; else Overhead was not collected."""


class TraceReader:
    """Iterate over it once for the batches; then read ``summary`` and ``issues``."""

    def __init__(self, blocks: Iterable[bytes], name: str | None = None, core: str | None = None) -> None:
        """Read from byte blocks; ``core`` is the core's name where the trace is of one core."""
        self.issues = IssueLog(name)
        self.summary = TraceSummary()
        self._core = core
        self._numbers = Numbers()
        self._lanes = Lanes(self.issues)
        self._mender = Mender(self.issues, self._numbers)
        self._text: EventText[Sound, MendedEvent] = EventText(
            blocks, GroupDecoder(self._numbers, self._lanes), self._mender, self.issues
        )
        self._kinds = KindOf()
        self._maker = EventMaker(self._numbers)
        self._flows = Flows()
        self._pairs = Pairs(self._maker, self._flows)

    @classmethod
    def open(cls, path: Path, name: str | None = None, core: str | None = None) -> TraceReader:
        """Read a file; ``name`` is its path in the run, for issues."""
        return cls(file_blocks(path), name or path.name, core)

    def __iter__(self) -> Iterator[TraceBatch]:
        for part in self._text:
            batch = self._located(part) if isinstance(part, Located) else self._mended(part)
            yield self._counted(batch)
        last = _empty()
        self._pairs.finish(last.events, [lane.process for lane in self._lanes.lanes])
        self._flows.finish(last.flows)
        if len(last.events) or len(last.flows):
            yield self._counted(last)
        self._conclude()

    def _located(self, part: Located[Sound]) -> TraceBatch:
        """A sound group: its work goes over column by column."""
        held = part.held
        size = len(held.name)
        if held.places is None:
            ordinals, offsets = list(range(part.first, part.first + size)), part.offsets
        else:
            ordinals = [part.first + at for at in held.places]
            offsets = [part.offsets[at] for at in held.places]
        nothing: list[str | None] = [None] * size
        events = EventBatch(
            ordinal=ordinals,
            offset=offsets,
            phase=["X"] * size,
            lane=held.lane,
            kind=list(map(self._kinds.__getitem__, held.name)),
            name=held.name,
            ts_us=held.ts,  # type: ignore[arg-type]
            dur_us=held.dur,  # type: ignore[arg-type]
            pc_addr=held.pc_addr,  # type: ignore[arg-type]
            code=held.code,  # type: ignore[arg-type]
            detail=held.detail,  # type: ignore[arg-type]
            process_bytes=held.process_bytes,
            group_id=held.group_id,
            colour=held.colour,  # type: ignore[arg-type]
            pair_id=nothing,
            other=nothing.copy(),
            flags=[0] * size,
        )
        batch = TraceBatch(events, FlowBatch(), CounterBatch())
        self._flows.flags_met(events, events.kind)
        self._rest(batch, part)
        return batch

    def _rest(self, batch: TraceBatch, part: Located[Sound]) -> None:
        """What is not work: halves that stand side by side together, all else one by one."""
        rest, lane_of = part.held.rest, self._lanes.of
        pairs: list[tuple[Place, RawEvent, float]] = []
        flows: list[tuple[Place, RawEvent, int, float]] = []
        single: list[tuple[int, RawEvent]] = []
        at, last = 0, len(rest) - 1
        while at <= last:
            index, event = rest[at]
            if at < last and event.ph in "Bs" and goes_on(event, other := rest[at + 1][1]):
                place = (lane_of((event.pid, event.tid)), part.first + index, part.offsets[index])
                until: float = other.ts  # type: ignore[assignment]
                if event.ph == "B":
                    pairs.append((place, event, until))
                else:
                    flows.append((place, event, lane_of((other.pid, other.tid)), until))
                at += 2
            else:
                single.append((index, event))
                at += 1
        if pairs:
            places, begins, ends = map(list, zip(*pairs, strict=True))
            self._pairs.add_neighbours(batch.events, places, begins, ends)
        if flows:  # behind the pairs they join
            places, begins, lanes, ends = map(list, zip(*flows, strict=True))
            self._flows.add_neighbours(batch.flows, places, begins, lanes, ends)
        for index, event in single:
            self._add(batch, MendedEvent(event, None, 0), part.first + index, part.offsets[index])

    def _mended(self, part: Mended[MendedEvent]) -> TraceBatch:
        batch = _empty()
        for mended, ordinal, offset in part.held:
            self._add(batch, mended, ordinal, offset)
        return batch

    def _add(self, batch: TraceBatch, mended: MendedEvent, ordinal: int, offset: int) -> None:
        """One event on its own."""
        event = mended.event
        if event.ph == "M":
            self._metadata(mended, ordinal, offset)
            return
        half = Half(mended, self._lanes.of((event.pid, event.tid)), ordinal, offset)
        if event.ph in ("B", "E"):
            self._pairs.add(batch.events, half)
        elif event.ph in ("s", "t", "f"):
            self._flows.add(batch.flows, half)
        elif event.ph == "C":
            self._counter(batch.counters, half)
        else:
            self._single(batch.events, half)

    def _single(self, events: EventBatch, half: Half) -> None:
        """An X event, or one of a phase msopprof does not write."""
        event = half.mended.event
        ts = None if event.ts is UNSET else event.ts
        dur = None if event.dur is UNSET else event.dur
        flags = half.mended.flags
        kind: int | None = None
        if event.ph in ("i", "I", "R"):
            kind, dur = Kind.MARKER, 0.0
        elif event.ph != "X":
            kind = Kind.OTHER
        elif MARK_PIPE in (event.tid, self._lanes.lanes[half.lane].thread) or event.pid in (120, "120"):
            kind = Kind.MARKER
        if dur is not None and dur < 0:
            message = f"event {half.ordinal}: it ends before it starts"
            raw = as_json({"name": event.name, "ts": ts, "dur": dur})
            self.issues.add(
                "ends_before_start", Severity.WARNING, message, column="dur", raw=raw, offset=half.offset, cells=0
            )
        self._maker.add(events, half, phase=event.ph, kind=kind, ts=ts, dur=dur, flags=flags)
        start = len(events) - 1
        if events.kind[start] in (Kind.SET, Kind.WAIT) and ts is not None and dur is not None:
            self._flows.flag_placed(events.lane[start], ts, dur, events.kind[start], half.ordinal)

    def _counter(self, counters: CounterBatch, half: Half) -> None:
        event, args = half.mended.event, half.mended.event.args
        if event.ts is UNSET or args is UNSET or args.throughput is UNSET:
            message = f"event {half.ordinal}: a counter without a time or a throughput(MB/s)"
            raw = half.mended.other or event.name
            self.issues.add("bad_counter", Severity.WARNING, message, raw=raw, offset=half.offset, cells=1)
            self._text.shape.lost += 1
            return
        counters.ordinal.append(half.ordinal)
        counters.process.append(visible(str(event.pid)))
        counters.name.append(event.name)
        counters.unit.append(THROUGHPUT)
        counters.ts_us.append(event.ts)
        counters.value.append(args.throughput)

    def _metadata(self, mended: MendedEvent, ordinal: int, offset: int) -> None:
        event, args = mended.event, mended.event.args
        name = None if args is UNSET or args.name is UNSET else args.name
        sort = None if args is UNSET or args.sort_index is UNSET else args.sort_index
        self.summary.metadata += 1
        if not self._lanes.name(event.name, event.pid, event.tid, name, sort):
            message = f"event {ordinal}: unknown metadata {event.name[:50]!r}, kept here only"
            self.issues.add(
                "unknown_metadata", Severity.INFO, message, column=event.name, raw=mended.other, offset=offset
            )

    def _counted(self, batch: TraceBatch) -> TraceBatch:
        summary = self.summary
        summary.events += len(batch.events)
        summary.flows += len(batch.flows)
        summary.counters += len(batch.counters)
        if not summary.has_flags:
            kinds = batch.events.kind
            summary.has_flags = Kind.SET in kinds or Kind.WAIT in kinds
        if not summary.has_heads:
            kinds = batch.events.kind
            summary.has_heads = Kind.CACHE_HEAD in kinds or Kind.CCU_HEAD in kinds
        return batch

    def _conclude(self) -> None:
        """Fill in what only the whole trace tells."""
        summary, shape = self.summary, self._text.shape
        self._lanes.resolve(self._core)
        legacy = self._mender.legacy > 0 and shape.header.get("profilingType") != "op"
        summary.kind = self._lanes.kind(shape.header, shape.form, legacy=legacy, elements=shape.elements)
        version = shape.header.get("schemaVersion")
        summary.schema_version = version if isinstance(version, int) and abs(version) < 2**31 else None
        summary.header = {
            visible(key): visible(value) if isinstance(value, str) else value
            for key, value in shape.header.items()
            if not isinstance(value, float) or math.isfinite(value)
        }
        summary.truncated = shape.truncated
        summary.lanes = self._lanes.lanes
        summary.bytes_read = shape.bytes_read
        summary.elements = shape.elements
        summary.lost = shape.lost
        summary.pairs = self._pairs.joined
        summary.unmatched_begins = self._pairs.unmatched_begins
        summary.unmatched_ends = self._pairs.unmatched_ends
        summary.unmatched_flows = self._flows.unmatched
        self._report_kind()

    def _report_kind(self) -> None:
        summary, add = self.summary, self.issues.add
        if summary.truncated:
            message = "the trace was cut off: complete events are kept, spans and shares are withheld"
            add("truncated", Severity.WARNING, message, offset=summary.bytes_read)
        said = {
            TraceKind.EMPTY: ("empty", "the trace is empty"),
            TraceKind.LFS_POINTER: ("lfs_pointer", "a Git LFS pointer stands here instead of the trace: git lfs pull"),
            TraceKind.LEGACY: ("legacy", "a trace of msopgen, the older tool: its times are cycles, not microseconds"),
            TraceKind.OTHER: ("not_msopprof", "no trace of msopprof"),
        }.get(summary.kind)
        if said:
            severity = Severity.WARNING if summary.events else Severity.ERROR
            add(said[0], severity, said[1])
        for count, what in (
            (summary.unmatched_begins, "B events without E"),
            (summary.unmatched_ends, "E events without B"),
            (summary.unmatched_flows, "flow events without their other end"),
        ):
            if count:
                add("unmatched", Severity.INFO, f"{count} {what}; kept and flagged", column=what, count=count)


def _empty() -> TraceBatch:
    return TraceBatch(EventBatch(), FlowBatch(), CounterBatch())
