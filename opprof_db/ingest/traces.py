"""Traces of one launch: which files to read, their events spooled to disk, and what they say of the pipes.

Reading happens before the write lock is taken; batches wait in a nameless file, so that memory does
not grow with the trace.
"""

from __future__ import annotations

import marshal
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import IO, Any

from opprof_db.ingest.snapshot import ChangedWhileReadingError
from opprof_db.msopprof.bin_blocks import TRACE, walk_blocks
from opprof_db.msopprof.issues import Issue, IssueLog, Severity
from opprof_db.msopprof.pipe_activity import Activity, PipeActivity, PipeActivityBuilder
from opprof_db.msopprof.trace_events import EventBatch
from opprof_db.msopprof.trace_lanes import TraceKind
from opprof_db.msopprof.trace_reader import TraceReader, TraceSummary
from opprof_db.msopprof.walk import CORE_FOLDER
from opprof_db.warehouse.store import Streamed, TableRows

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
    streamed: list[Streamed]
    issues: list[Issue]
    statuses: dict[str, str]
    """Path -> status of the artifact."""


def read_traces(files: Iterable[TraceFile], keep: str) -> TraceResult:
    """Read the traces of a launch, the same events once: the all-core file, else per core, else the bin.

    ``keep``: full, summary, none, or auto (full up to ``FULL_UP_TO_BYTES``).

    Raises:
        ChangedWhileReadingError: a file cannot be read any more.
    """
    files = list(files)
    job = _Job(keep)
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

    def __init__(self, keep: str) -> None:
        self.keep = keep
        self.events = 0
        self.spool = _Spool()
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
            if full:
                counters = self.spool.add(number, batch.events, batch.flows, batch.counters, counters)
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
        self.spool.dropped.add(number)
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
            tables += _activity_tables(self.activity.finish())
        return TraceResult([table for table in tables if table.rows], self.spool.streamed(), self.issues, self.statuses)


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


class _Spool:
    """Batches on their way to the store, with their texts replaced by numbers."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._ids: dict[str, int] = {}
        self._next = 0
        self._new: list[tuple[int, str]] = []
        self.dropped: set[int] = set()
        """Traces whose rows are not to be stored after all."""

    def add(self, number: int, events: EventBatch, flows: Any, counters: Any, samples: int) -> int:
        """Write one batch; returns how many counter samples the trace has had so far."""
        ids = self._intern
        size = len(events)
        kinds, flags = list(map(int, events.kind)), list(map(int, events.flags))  # marshal takes no enums
        columns = (
            [number] * size, events.ordinal, events.phase, events.lane, kinds, ids(events.name), events.ts_us,
            events.dur_us, events.pc_addr, ids(events.code), ids(events.detail), events.process_bytes,
            ids(events.group_id), ids(events.colour), ids(events.pair_id), ids(events.other), flags,
            events.offset,
        )  # fmt: skip
        flow_columns = (
            [number] * len(flows), flows.ordinal, flows.flow_id, flows.category, flows.from_lane, flows.from_ts_us,
            flows.from_event, flows.to_lane, flows.to_ts_us, flows.to_event, list(map(int, flows.flags)),
        )  # fmt: skip
        amount = len(counters)
        counter_columns = (
            [number] * amount, list(range(samples, samples + amount)), counters.ordinal, counters.process,
            counters.name, counters.unit, counters.ts_us, counters.value,
        )  # fmt: skip
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives until the rows were written
        packed = marshal.dumps((number, self._new, columns, flow_columns, counter_columns))
        self._file.write(len(packed).to_bytes(8, "little") + packed)
        self._new = []
        return samples + amount

    def _intern(self, texts: Sequence[str | None]) -> list[int | None]:
        """The numbers of texts; nearly all are known already, so those are looked up at C speed."""
        ids, new = self._ids, self._new
        numbers: list[int | None] = list(map(ids.get, texts))  # type: ignore[arg-type]
        if numbers.count(None) == texts.count(None):
            return numbers
        for at, text in enumerate(texts):
            if text is None or numbers[at] is not None:
                continue
            number = ids.get(text)
            if number is None:
                number = self._next
                self._next += 1
                new.append((number, text))
                if len(ids) < STRINGS_HELD:
                    ids[text] = number
            numbers[at] = number
        return numbers

    def streamed(self) -> list[Streamed]:
        """What the store replays, table by table."""
        self._ids.clear()
        return [] if self._file is None else [_Replay(self._file, self.dropped)]


class _Replay:
    """Rows of a spool; may be gone over once."""

    def __init__(self, file: IO[bytes], dropped: set[int]) -> None:
        self._file = file
        self._dropped = dropped
        weakref.finalize(self, file.close)

    def __iter__(self) -> Iterator[tuple[str, tuple[str, ...], Sequence[Sequence[Any]]]]:
        self._file.seek(0)
        # marshal.load would read a file object by object; whole batches are read at once instead.
        while size := self._file.read(8):
            packed = self._file.read(int.from_bytes(size, "little"))
            number, strings, events, flows, counters = marshal.loads(packed)
            if strings:
                yield "trace_strings", ("id", "string"), list(zip(*strings, strict=True))
            if number in self._dropped:
                continue
            for table, columns, values in (
                ("trace_events", EVENT_COLUMNS, events),
                ("trace_flows", FLOW_COLUMNS, flows),
                ("trace_counters", COUNTER_COLUMNS, counters),
            ):
                if values[0]:
                    # A column that is empty throughout the batch (heads, pairs, colours) need not be bound.
                    used = [at for at, column in enumerate(values) if column.count(None) < len(column)]
                    yield table, tuple(columns[at] for at in used), [values[at] for at in used]
