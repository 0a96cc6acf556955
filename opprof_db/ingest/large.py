"""What of a run is too large to be held: traces and big files, read side by side before the write lock is taken."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from opprof_db.ingest import archive
from opprof_db.ingest.assemble import Assembled, Context, add_traces, archived, trace_files
from opprof_db.ingest.snapshot import Snapshot
from opprof_db.ingest.traces import TraceFile, TraceResult, read_traces
from opprof_db.msopprof.layout import RunFolder
from opprof_db.warehouse.spool import Spool
from opprof_db.warehouse.store import StoredContent

LARGE_FROM_BYTES = 16 * 1024 * 1024
"""Traces from this size on are worth the start of a process that inserts their events; about 4 MB of rows."""


@dataclass(slots=True)
class LargeParts:
    """The large parts of a run's launches, as they go into the records."""

    spool: Spool | None = None
    traces: list[TraceResult | None] = field(default_factory=list)
    """By launch."""
    contents: dict[str, Future[StoredContent]] = field(default_factory=dict)
    """SHA-256 -> compressed bytes."""

    def complete(self, launch: int, kernel: Assembled) -> None:
        """Put a launch's large parts into its record.

        Raises:
            ChangedWhileReadingError: a file is not the one that was hashed.
        """
        record = kernel.record
        record.contents = [
            self.contents[content.sha256].result() if content.sha256 in self.contents else content
            for content in record.contents
        ]
        result = self.traces[launch]
        if result is not None:
            add_traces(record, result)


@contextmanager
def read_large(taken: Snapshot, run: RunFolder, context: Context, *, dry: bool) -> Iterator[LargeParts]:
    """Read traces and compress big files of a run; a dry run only looks at the traces.

    Raises:
        ChangedWhileReadingError: a file cannot be read any more.
        DatabaseError: the temporary folder cannot take the events.
    """
    parts = LargeParts()
    launches = [trace_files(taken, kernel) for kernel in run.kernels]
    size = sum(file.size for files in launches for file in files)
    wants_spool = size and context.trace not in ("none", "summary") and not dry
    spool = Spool(large=size >= LARGE_FROM_BYTES) if wants_spool else None
    with spool or nullcontext(), ThreadPoolExecutor(1, "compress") as compressing:
        for state in (taken.files[found.rel] for kernel in run.kernels for found in kernel.files):
            if not dry and archived(state, context) and archive.is_large(state):
                assert state.sha256 is not None
                parts.contents[state.sha256] = compressing.submit(archive.pack_large, taken, state)
        parts.spool = spool
        parts.traces = [_traces(files, context.trace, spool, at) for at, files in enumerate(launches)]
        yield parts


def _traces(files: list[TraceFile], keep: str, spool: Spool | None, launch: int) -> TraceResult | None:
    return read_traces(files, keep, spool, launch) if files else None
