"""Traces of one launch: which files to read, their events spooled to disk, and what they say of the pipes.

Reading happens before the write lock is taken; events wait in the spool, so that memory does not grow with the
trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from opprof_db.ingest.snapshot import ChangedWhileReadingError
from opprof_db.msopprof.bin_blocks import TRACE, walk_blocks
from opprof_db.msopprof.issues import Issue, IssueLog, Severity
from opprof_db.msopprof.pipe_activity import Activity, PipeActivity, PipeActivityBuilder
from opprof_db.msopprof.trace_events import CounterBatch, EventBatch, Flag, FlowBatch
from opprof_db.msopprof.trace_lanes import TraceKind
from opprof_db.msopprof.trace_reader import TraceReader, TraceSummary
from opprof_db.msopprof.walk import CORE_FOLDER
from opprof_db.warehouse.spool import Spool, SpooledTable
from opprof_db.warehouse.store import TableRows

FULL_UP_TO_BYTES = 2 * 1024**3
"""Size of a trace up to which its events are stored without being asked for."""
STRINGS_HELD = 200_000
"""Distinct texts remembered while a trace is read; past that a text may be stored more than once."""

EVENT_COLUMNS = (
    "trace_no", "ordinal", "phase", "lane", "kind", "name_id", "ts_us", "dur_us", "pc_addr", "code_id", "detail_id",
    "process_bytes", "group_id", "colour_id", "pair_id", "other_id", "flags", "byte_offset",
)  # fmt: skip
FLOW_COLUMNS = (
    "trace_no", "ordinal", "flow_id", "category", "from_lane", "from_ts_us", "from_event", "to_lane", "to_ts_us",
    "to_event", "flags",
)  # fmt: skip
COUNTER_COLUMNS = ("trace_no", "sample", "ordinal", "process", "name", "unit", "ts_us", "value")


@dataclass(frozen=True, slots=True)
class TraceFile:
    """One file that may hold a trace."""

    path: Path
    rel: str
    size: int
    is_bin: bool = False

    @property
    def of_one_core(self) -> str | None:
        """The core whose folder it lies in."""
        folder = self.rel.split("/")[-2:-1]
        return folder[0] if folder and CORE_FOLDER.fullmatch(folder[0]) else None


@dataclass(slots=True)
class TraceResult:
    """What the traces of a launch become."""

    tables: list[TableRows]
    spooled: list[SpooledTable]
    issues: list[Issue]
    statuses: dict[str, str]
    """Path -> status of the artifact."""


def read_traces(files: Iterable[TraceFile], keep: str, spool: Spool | None = None, launch: int = 0) -> TraceResult:
    """Read the traces of a launch, the same events once: the all-core file, else per core, else the bin.

    ``keep``: full, summary, none, or auto (full up to ``FULL_UP_TO_BYTES``). Events go to the spool, under the
    number of the ``launch``; without one (a dry run) they are only counted.

    Raises:
        ChangedWhileReadingError: a file cannot be read any more.
    """
    files = list(files)
    job = _Job(keep, None if spool is None else _Waiting(spool, launch))
    if keep == "none":
        return job.result(files, "not_asked_for")
    groups = (
        [file for file in files if not file.is_bin and file.of_one_core is None],
        [file for file in files if not file.is_bin and file.of_one_core is not None],
        [file for file in files if file.is_bin],
    )
    for group in groups:
        for file in group:
            try:
                job.read(file)
            except OSError as error:
                raise ChangedWhileReadingError(file.rel) from error
        if job.events:
            break
    return job.result(files, "same_events_elsewhere")


class _Job:
    """The traces of one launch being read."""

    def __init__(self, keep: str, waiting: _Waiting | None) -> None:
        self.keep = keep
        self.events = 0
        self.waiting = waiting
        self.activity = PipeActivityBuilder()
        self.files: list[tuple[object, ...]] = []
        self.lanes: list[tuple[object, ...]] = []
        self.issues: list[Issue] = []
        self.statuses: dict[str, str] = {}

    def read(self, file: TraceFile) -> None:
        """Read one file (or the trace blocks of a bin)."""
        if file.is_bin:
            for block in walk_blocks(file.path, IssueLog(file.rel)):
                if block.type == TRACE and block.payload_size:
                    self._read(TraceReader(block.stream(), file.rel), file)
            return
        self._read(TraceReader.open(file.path, file.rel, file.of_one_core), file)

    def _read(self, reader: TraceReader, file: TraceFile) -> None:
        number = len(self.files)
        full = self.keep == "full" or (self.keep == "auto" and file.size <= FULL_UP_TO_BYTES)
        counters = 0
        for batch in reader:
            self.activity.add(batch.events)
            if full and self.waiting is not None:
                counters = self.waiting.add(number, batch.events, batch.flows, batch.counters, counters)
        summary = reader.summary
        if summary.kind is TraceKind.LEGACY:
            self._drop_legacy(number, file)
            return
        self.activity.end_trace(summary)
        # Elements of a trace are counted in trace_files; cells are those of tables.
        self.issues.extend(replace(issue, cells=0) for issue in reader.issues)
        self.events += summary.events
        self._note_kind(summary, file)
        if not full and self.keep == "auto":
            message = (
                f"{file.size} bytes: only pipe activity and overlap are kept, no events; "
                "ingest with --trace full to keep them"
            )
            self.issues.append(Issue("trace_summarised", Severity.INFO, message, path=file.rel))
        self.files.append(_file_row(number, file.rel, summary, "full" if full else "summary"))
        self.lanes.extend(
            (number, at, lane.process, lane.thread, int(lane.numeric), lane.core, lane.pipe, lane.process_name,
             lane.thread_name, lane.process_sort, lane.thread_sort)
            for at, lane in enumerate(summary.lanes)
        )  # fmt: skip

    def _drop_legacy(self, number: int, file: TraceFile) -> None:
        """msopgen's older traces count cycles: their events must never stand among microseconds."""
        if self.waiting is not None:
            self.waiting.drop(number)
        self.activity = PipeActivityBuilder()
        self.files.append((number, file.rel, str(TraceKind.LEGACY), None, 0, "summary", *[0] * 9))
        self.statuses[file.rel] = "legacy"
        message = "written by msopgen's older simulator tool, in cycles; not read"
        self.issues.append(Issue("legacy_trace", Severity.ERROR, message, path=file.rel))

    def _note_kind(self, summary: TraceSummary, file: TraceFile) -> None:
        if file.is_bin:
            return
        odd = {TraceKind.EMPTY: "empty", TraceKind.LFS_POINTER: "lfs_pointer",
               TraceKind.OTHER: "unrecognised"}  # fmt: skip
        self.statuses[file.rel] = odd.get(summary.kind, "partial" if summary.truncated else "read")

    def result(self, files: list[TraceFile], unread: str) -> TraceResult:
        """Close the job."""
        for file in files:
            if not file.is_bin:
                self.statuses.setdefault(file.rel, unread)
        tables = [
            TableRows("trace_files", _FILE_COLUMNS, self.files),
            TableRows("trace_lanes", _LANE_COLUMNS, self.lanes),
        ]
        if self.files:
            activity = self.activity.finish()
            tables += _activity_tables(activity)
            self._note_beyond(activity)
        spooled = [] if self.waiting is None else self.waiting.tables()
        return TraceResult([table for table in tables if table.rows], spooled, self.issues, self.statuses)

    def _note_beyond(self, activity: Activity) -> None:
        """Mark events that lie outside of the run, and say so."""
        if not activity.beyond_events:
            return
        if self.waiting is not None:
            self.waiting.flag(Flag.BEYOND_RUN, activity.run_end_us)
        message = (
            f"{activity.beyond_events} events start before 0 or end beyond the run, which ends at"
            f" {activity.run_end_us:.6g} us; they carry flag {int(Flag.BEYOND_RUN)} and are part of no total"
        )
        path = str(self.files[0][1])
        self.issues.append(Issue("beyond_run", Severity.WARNING, message, path=path, count=activity.beyond_events))


_FILE_COLUMNS = (
    "trace_no", "path", "kind", "schema_version", "truncated", "kept", "elements", "lost", "events", "pairs", "flows",
    "counters", "unmatched", "has_flags", "has_heads",
)  # fmt: skip
_LANE_COLUMNS = (
    "trace_no", "lane", "process", "thread", "is_numeric", "core", "pipe", "process_name", "thread_name",
    "process_sort", "thread_sort",
)  # fmt: skip


def _file_row(number: int, rel: str, summary: TraceSummary, kept: str) -> tuple[object, ...]:
    return (
        number, rel, str(summary.kind), summary.schema_version, int(summary.truncated), kept, summary.elements,
        summary.lost, summary.events, summary.pairs, summary.flows, summary.counters,
        summary.unmatched_begins + summary.unmatched_ends + summary.unmatched_flows, int(summary.has_flags),
        int(summary.has_heads),
    )  # fmt: skip


_ACTIVITY_FIELDS = tuple(field.name for field in fields(PipeActivity))


def _activity_tables(activity: Activity) -> list[TableRows]:
    rows = [
        (position, *(getattr(pipe, name) for name in _ACTIVITY_FIELDS)) for position, pipe in enumerate(activity.pipes)
    ]
    overlaps = [
        (position, o.core, o.pipe_a, o.pipe_b, o.both_us, o.either_us, o.share)
        for position, o in enumerate(activity.overlaps)
    ]
    return [
        TableRows("pipe_activity", ("position", *_ACTIVITY_FIELDS), rows),
        TableRows(
            "pipe_overlap", ("position", "core", "pipe_a", "pipe_b", "both_us", "either_us", "overlap_share"), overlaps
        ),
    ]


class _Numbered(dict[str | None, int | None]):
    """Texts and their numbers; a new text is noted in ``new``."""

    def __init__(self) -> None:
        super().__init__({None: None})
        self.new: tuple[list[int], list[str]] = ([], [])
        self._next = 0

    def __missing__(self, text: str) -> int:
        number = self._next
        self._next += 1
        self.new[0].append(number)
        self.new[1].append(text)
        if len(self) < STRINGS_HELD:
            self[text] = number
        return number

    def take_new(self) -> tuple[list[int], list[str]]:
        """Texts met since the last call, with their numbers."""
        new, self.new = self.new, ([], [])
        return new


_TABLES = {
    "trace_strings": ("id", "string"),
    "trace_events": EVENT_COLUMNS,
    "trace_flows": FLOW_COLUMNS,
    "trace_counters": COUNTER_COLUMNS,
}


class _Waiting:
    """Events of one launch on their way to the store, with their texts replaced by numbers."""

    def __init__(self, spool: Spool, launch: int) -> None:
        self._spool = spool
        self._launch = launch
        self._texts = _Numbered()
        self._made = False

    def add(self, number: int, events: EventBatch, flows: FlowBatch, counters: CounterBatch, samples: int) -> int:
        """Take in one batch; returns how many counter samples the trace has had so far."""
        if not self._made:
            self._made = True
            for table, columns in _TABLES.items():
                self._spool.create(self._name(table), columns)
        size = len(events)
        if size:
            # marshal takes no enums
            kinds, flags = list(map(int, events.kind)), list(map(int, events.flags))
            ids = self._numbers
            self._put("trace_events", (
                [number] * size, events.ordinal, events.phase, events.lane, kinds, ids(events.name), events.ts_us,
                events.dur_us, events.pc_addr, ids(events.code), ids(events.detail), events.process_bytes,
                ids(events.group_id), ids(events.colour), ids(events.pair_id), ids(events.other), flags,
                events.offset,
            ))  # fmt: skip
        if len(flows):
            self._put("trace_flows", (
                [number] * len(flows), flows.ordinal, flows.flow_id, flows.category, flows.from_lane,
                flows.from_ts_us, flows.from_event, flows.to_lane, flows.to_ts_us, flows.to_event,
                list(map(int, flows.flags)),
            ))  # fmt: skip
        amount = len(counters)
        if amount:
            self._put("trace_counters", (
                [number] * amount, list(range(samples, samples + amount)), counters.ordinal, counters.process,
                counters.name, counters.unit, counters.ts_us, counters.value,
            ))  # fmt: skip
        self._put("trace_strings", self._texts.take_new())
        return samples + amount

    def _numbers(self, texts: Sequence[str | None]) -> Sequence[int | None]:
        return list(map(self._texts.__getitem__, texts)) if any_value(texts) else ()

    def _put(self, table: str, values: Sequence[Sequence[Any]]) -> None:
        # A column that is empty throughout the batch (heads, pairs, colours) need not be bound.
        used = [at for at, column in enumerate(values) if column and any_value(column)]
        columns = _TABLES[table]
        self._spool.add(self._name(table), tuple(columns[at] for at in used), [values[at] for at in used])

    def _name(self, table: str) -> str:
        return f"{table}_{self._launch}"

    def drop(self, number: int) -> None:
        """The rows of a trace are not to be stored after all."""
        if self._made:
            for table, columns in _TABLES.items():
                if "trace_no" in columns:
                    self._spool.delete(self._name(table), "trace_no", number)

    def flag(self, bit: int, end_us: float) -> None:
        """Mark events that start before 0 or end after ``end_us``."""
        if self._made:
            self._spool.flag(self._name("trace_events"), int(bit), end_us)

    def tables(self) -> list[SpooledTable]:
        """What the store copies."""
        if not self._made:
            return []
        return [SpooledTable(table, self._name(table), columns) for table, columns in _TABLES.items()]


def any_value(column: Sequence[Any]) -> bool:
    """Whether not all is ``None``."""
    return column[0] is not None or column.count(None) < len(column)
