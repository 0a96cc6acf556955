"""Orchestration: read each run found, store it in one transaction, say what happened."""

from __future__ import annotations

import gc
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from opprof_db.ingest import snapshot, transfer
from opprof_db.ingest.assemble import Assembled, Context, assemble, assemble_all, dump_of
from opprof_db.ingest.chip import ChipFacts, chip_of_run
from opprof_db.ingest.finding import Found, Outcome
from opprof_db.ingest.flags import parse_metric_sets
from opprof_db.ingest.identity import Identity, fully_read, identify
from opprof_db.ingest.large import LargeParts, read_large
from opprof_db.ingest.options import IngestOptions, path_below
from opprof_db.ingest.snapshot import ChangedWhileReadingError, Snapshot
from opprof_db.ingest.writing import RunToWrite, note_known, write_run
from opprof_db.msopprof.layout import KernelFolder, RunFolder
from opprof_db.warehouse.connection import transaction
from opprof_db.warehouse.spool import attached
from opprof_db.warehouse.store import storable

BUFFERED_CELLS = 300_000
"""Cells read ahead before the write lock is taken; about 10 MB. A larger run is streamed from there on."""
LARGE_TREE_LAUNCHES = 60
"""From so many launches on, a reading process is worth its start-up time."""
RUNS_AHEAD = 4
"""Runs that workers may be ahead of the writer."""
KERNELS_AHEAD = 16
"""Launches of one large run that workers may be ahead of the writer."""
WORKER_RUN_BYTES = 4 * 1024 * 1024
"""Runs up to this size are one task for a worker process; the launches of a larger run are one task each."""


@dataclass(slots=True)
class Prepared:
    """A run that was read as far as one process may hold it."""

    taken: Snapshot
    chip: ChipFacts
    context: Context
    packed: list[bytes] | None
    """Launches that a worker process has read already (``transfer``); ``None``: still to be read."""
    known: bool
    error: str | None = None


def prepare(run: RunFolder, options: IngestOptions, known: frozenset[str], *, read_now: bool = False) -> Prepared:
    """Hash a run and find its chip; in a worker process also read a new run, unless it is large."""
    taken = snapshot.take(run)
    chip = ChipFacts()
    context = _context(options, ChipFacts())
    if taken.fingerprint in known:
        return Prepared(taken, chip, context, None, known=True)
    try:
        dumps = [dump_of(taken, kernel) for kernel in run.kernels]
        chip = chip_of_run(dumps, options.conditions.get("soc"), taken.headers)
        context = _context(options, chip)
        packed = None
        if read_now:
            if sum(state.size for state in taken.files.values() if state.sha256) <= WORKER_RUN_BYTES:
                packed = [transfer.dump(kernel) for kernel in assemble_all(taken, run.kernels, context)]
            taken.let_go()
    except ChangedWhileReadingError as error:
        return Prepared(taken, chip, context, None, known=False, error=_changed(error))
    return Prepared(taken, chip, context, packed, known=False)


def _context(options: IngestOptions, chip: ChipFacts) -> Context:
    return Context(
        chip_family=chip.family,
        collected=parse_metric_sets(options.conditions.get("aic_metrics")),
        archive_max=options.archive_max,
        kernel_name=options.conditions.get("kernel"),
        cache_lines=options.cache_lines,
        trace=options.trace,
    )


def _changed(error: ChangedWhileReadingError) -> str:
    return f"{error} changed while it was being read: msopprof is still writing; ingest again when it is done"


Progress = Callable[[int], None]


def ingest(
    connection: sqlite3.Connection | None,
    database: Path,
    found: Found,
    options: IngestOptions,
    progress: Progress | None = None,
) -> Iterator[Outcome]:
    """Read and store runs, yielding each outcome as it is final.

    ``connection`` is ``None`` only for a dry run against a database that does not exist.

    Raises:
        DatabaseError: the warehouse cannot be written; runs yielded before are stored.
    """
    known = frozenset[str]()
    if connection is not None:
        known = fully_read(connection, options)
    with _workers(options.jobs) as pool, _no_cycle_collection():
        for given, run, prepared in _prepared(found.runs, options, known, pool):
            outcome = _finish(connection, database, given, run, prepared, options, pool)
            if progress is not None:
                progress(len(run.kernels))
            yield outcome


@contextmanager
def _no_cycle_collection() -> Iterator[None]:
    """Millions of numbers come and go without a reference cycle: looking for cycles costs 15 % of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def fitting_jobs(launches: int) -> int:
    """Reading processes that fit a tree: one for a large one where a core is free, else none.

    One keeps up: reading and writing a launch take about the same time. A program that calls
    ``ingest`` itself must guard its main module before it asks for any (multiprocessing, spawn).
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return 1 if cores > 1 and launches >= LARGE_TREE_LAUNCHES else 0


@contextmanager
def _workers(jobs: int) -> Iterator[ProcessPoolExecutor | None]:
    if jobs < 1:
        yield None
        return
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _prepared(
    runs: list[tuple[Path, RunFolder]],
    options: IngestOptions,
    known: frozenset[str],
    pool: ProcessPoolExecutor | None,
) -> Iterator[tuple[Path, RunFolder, Prepared]]:
    """Prepare runs in order, a few ahead where there are workers."""
    if pool is None:
        for given, run in runs:
            yield given, run, prepare(run, options, known)
        return
    waiting: deque[tuple[Path, RunFolder, Future[Prepared]]] = deque()
    pending = iter(runs)
    for given, run in pending:
        waiting.append((given, run, pool.submit(prepare, run, options, known, read_now=True)))
        if len(waiting) > RUNS_AHEAD:
            first = waiting.popleft()
            yield first[0], first[1], first[2].result()
    while waiting:
        first = waiting.popleft()
        yield first[0], first[1], first[2].result()


def _finish(
    connection: sqlite3.Connection | None,
    database: Path,
    given: Path,
    run: RunFolder,
    prepared: Prepared,
    options: IngestOptions,
    pool: ProcessPoolExecutor | None,
) -> Outcome:
    outcome = Outcome("failed", run.root, run.name, kernels=len(run.kernels))
    if prepared.error is not None:
        outcome.message = prepared.error
        return outcome
    taken = prepared.taken
    below = path_below(given, run.root)
    writing = RunToWrite(taken, prepared.chip, options, options.path_labels(below))
    if not taken.content:
        outcome.kind, outcome.message = "failed", _nothing_readable(taken)
        return outcome
    try:
        if prepared.known:
            identity = Identity("same") if connection is None else identify(connection, taken, options)
            if identity.kind == "same":
                return _note_known(connection, database, writing, identity, outcome, options)
        with read_large(taken, run, prepared.context, dry=connection is None or options.dry_run) as large:
            kernels = _records(prepared, run, pool, large)
            if connection is None or options.dry_run:
                identity = Identity("new") if connection is None else identify(connection, taken, options)
                return _dry(outcome, identity, kernels)
            ahead, rest, anything = _read_ahead(kernels)
            if not anything:
                outcome.kind, outcome.message = "empty", _why_empty(ahead)
                return outcome
            with attached(connection, large.spool), transaction(connection, database):
                identity = identify(connection, taken, options)
                if identity.kind in ("new", "grown", "reread"):
                    return _write(connection, writing, identity, chain(ahead, rest), outcome)
        return _note_known(connection, database, writing, identity, outcome, options)
    except ChangedWhileReadingError as error:
        outcome.message = _changed(error)
    except sqlite3.IntegrityError as error:
        # Nothing of the run is stored; other runs go on. It takes a program error to come here.
        outcome.message = f"could not be stored: {error}; please report this with the folder"
    except (OverflowError, UnicodeError, ValueError, TypeError, LookupError, AttributeError, AssertionError) as error:
        # A program error too: it costs this run, not those behind it.
        if os.environ.get("OPPROF_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        outcome.message = f"internal error ({what}); please report this with the folder; OPPROF_DEBUG=1 shows where"
    return outcome


def _records(
    prepared: Prepared, run: RunFolder, pool: ProcessPoolExecutor | None, large: LargeParts
) -> Iterator[Assembled]:
    """The launches of a run, with their large parts."""
    for launch, kernel in enumerate(_assembled(prepared, run, pool)):
        large.complete(launch, kernel)
        yield kernel


def _assembled(prepared: Prepared, run: RunFolder, pool: ProcessPoolExecutor | None) -> Iterator[Assembled]:
    """The launches as read, or read now, in parallel where there are workers."""
    if prepared.packed is not None:
        yield from map(transfer.load, prepared.packed)
        return
    if pool is None:
        yield from assemble_all(prepared.taken, run.kernels, prepared.context)
        return
    waiting: deque[Future[bytes]] = deque()
    for kernel in run.kernels:
        waiting.append(pool.submit(_assemble_packed, prepared.taken.part(kernel), kernel, prepared.context))
        if len(waiting) > KERNELS_AHEAD:
            yield transfer.load(waiting.popleft().result())
    while waiting:
        yield transfer.load(waiting.popleft().result())


def _assemble_packed(taken: Snapshot, kernel: KernelFolder, context: Context) -> bytes:
    return transfer.dump(assemble(taken, kernel, context))


def _read_ahead(kernels: Iterator[Assembled]) -> tuple[list[Assembled], Iterator[Assembled], bool]:
    """Read until something worth storing is certain and the buffer is full."""
    ahead: list[Assembled] = []
    cells = 0
    anything = False
    for kernel in kernels:
        ahead.append(kernel)
        cells += kernel.counts.read
        anything = anything or kernel.has_values
        if anything and cells > BUFFERED_CELLS:
            break
    return ahead, kernels, anything


def _write(
    connection: sqlite3.Connection,
    writing: RunToWrite,
    identity: Identity,
    kernels: Iterable[Assembled],
    outcome: Outcome,
) -> Outcome:
    written = write_run(connection, writing, identity, kernels)
    outcome.kind = "new" if identity.kind == "new" else "replaced"
    outcome.run_id = written.run_id
    outcome.counts = written.counts
    outcome.issues, outcome.remarks = written.issues, written.remarks
    outcome.message = written.message
    if identity.kind == "reread":
        outcome.message = "read anew: what an earlier version could not read, or was not asked for then"
    elif identity.kind == "new":
        before = connection.execute(
            "SELECT max(run_id) FROM run_locations WHERE path = ? AND run_id <> ?",
            (storable(str(writing.taken.run.root)), written.run_id),
        ).fetchone()[0]
        if before is not None:
            said = f"run {before} came from here with other content and is kept (opprof-db forget {before} removes it)"
            outcome.message = "; ".join(filter(None, (outcome.message, said)))
    return outcome


def _note_known(
    connection: sqlite3.Connection | None,
    database: Path,
    writing: RunToWrite,
    identity: Identity,
    outcome: Outcome,
    options: IngestOptions,
) -> Outcome:
    outcome.kind, outcome.run_id = "known", identity.run_id
    outcome.message = "the same content as" if identity.kind == "same" else "a part of"
    outcome.message += f" run {identity.run_id}"
    if connection is not None and not options.dry_run and identity.run_id is not None:
        with transaction(connection, database):
            changes = note_known(connection, writing, identity.run_id, whole=identity.kind == "same")
        if changes:
            outcome.message += f"; {changes}"
    return outcome


def _dry(outcome: Outcome, identity: Identity, kernels: Iterator[Assembled]) -> Outcome:
    anything = False
    reasons: list[Assembled] = []
    for kernel in kernels:
        outcome.counts += kernel.counts
        outcome.issues += len(kernel.record.issues)
        outcome.remarks += sum(issue["severity"] == "info" for issue in kernel.record.issues)
        anything = anything or kernel.has_values
        if not anything:
            reasons.append(kernel)
    outcome.kind = {"grown": "replaced", "reread": "replaced", "part": "known"}.get(identity.kind, "new")
    outcome.run_id = identity.run_id
    if not anything:
        outcome.kind, outcome.message = "empty", _why_empty(reasons)
    return outcome


def _nothing_readable(taken: Snapshot) -> str:
    problems = [state.problem for state in taken.files.values() if state.problem is not None]
    if problems:
        return f"no file could be read; {problems[0].path}: {problems[0].message}"
    return "no file could be read"


_LOSSES = ("ragged_row", "bad_block_id", "bad_sub_block_id", "cut_off", "not_a_number", "surplus_row")


def _why_empty(kernels: list[Assembled]) -> str:
    """What is missing, from the issues of launches that held no value."""
    reasons: dict[str, None] = {}
    for kernel in kernels:
        for artifact in kernel.record.artifacts:
            if artifact["status"] in ("empty", "header_only", "unrecognised", "unreadable"):
                words = artifact["status"].replace("_", " ")
                reasons.setdefault(f"{artifact['path']} is {words}")
        for issue in kernel.record.issues:
            if issue["code"] in _LOSSES:
                where = f"{issue['path']}, line {issue['line']}" if issue["line"] else issue["path"]
                reasons.setdefault(f"{where}: {issue['message']}")
    shown = list(reasons)[:4]
    more = f" and {len(reasons) - 4} more" if len(reasons) > 4 else ""
    return "no values to take: " + (", ".join(shown) + more if shown else "no result files")
