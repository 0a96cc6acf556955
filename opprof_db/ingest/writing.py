"""One run into the warehouse, inside a transaction that somebody else holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from opprof_db import __version__
from opprof_db.ingest.archive import LargeFile, pack_large
from opprof_db.ingest.assemble import Assembled, Context, file_entry, issue_row
from opprof_db.ingest.chip import SOC_KEY, ChipFacts, chip_of_run, family_of_soc
from opprof_db.ingest.identity import Identity
from opprof_db.ingest.options import IngestOptions
from opprof_db.ingest.snapshot import Snapshot
from opprof_db.msopprof.device_csv import CellCounts
from opprof_db.msopprof.issues import Issue, Severity
from opprof_db.warehouse.store import KernelRecord, Store, storable


@dataclass(frozen=True, slots=True)
class RunToWrite:
    """A run and what the user said about it."""

    taken: Snapshot
    chip: ChipFacts
    options: IngestOptions
    path_labels: dict[str, str]


@dataclass(frozen=True, slots=True)
class Written:
    """What was stored."""

    run_id: int
    counts: CellCounts
    issues: int
    remarks: int
    message: str


def now() -> str:
    """UTC, ISO 8601, seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def write_run(
    connection: sqlite3.Connection, writing: RunToWrite, identity: Identity, kernels: Iterable[Assembled]
) -> Written:
    """Store a new run, or put a grown one in the place of its former self (labels stay)."""
    store = Store(connection)
    kept = _Kept()
    if identity.run_id is not None:
        kept = _clear_for_replacement(connection, identity.run_id)
    run_id = store.insert("runs", _run_row(writing, kept))
    counts = CellCounts()
    modes: set[str] = set()
    socs: dict[str, None] = {}
    missing: dict[str, int] = {}
    total = incomplete = 0
    for kernel in kernels:
        values = kernel.record.values
        path = values["source_path"]
        kernel_id = store.kernel(run_id, kernel.record, kept.kernel_ids.get(storable(path)))
        _label_kernel(connection, kernel_id, kept.kernel_labels.get(storable(path), {}), "user")
        _label_kernel(connection, kernel_id, writing.options.path_labels(path), "path")
        counts += kernel.counts
        modes.add(values["mode"])
        if kernel.record.soc:
            socs.setdefault(kernel.record.soc)
        total += 1
        incomplete += values["status"] == "incomplete"
        if values["missing"]:
            missing[values["missing"]] = missing.get(values["missing"], 0) + 1
    writing = _with_chip_of_bins(connection, run_id, writing, list(socs))
    _write_others(connection, store, run_id, writing)
    connection.execute(
        "UPDATE runs SET mode = ?, status = ?, missing = ?,"
        " cells_read = ?, cells_stored = ?, cells_null = ?, cells_lost = ? WHERE id = ?",
        (
            _run_mode(modes),
            "partial" if missing else "complete",
            _missing_text(missing, total),
            counts.read,
            counts.stored,
            counts.nulls,
            counts.lost,
            run_id,
        ),
    )
    if identity.run_id is not None:
        _restore_kept(connection, run_id, kept)
    note_known(connection, writing, run_id, whole=True)
    issues, remarks = connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE severity = 'info') FROM ingest_issues WHERE run_id = ?", (run_id,)
    ).fetchone()
    return Written(run_id, counts, issues, remarks, _words(incomplete, missing, writing.chip))


def _run_row(writing: RunToWrite, kept: _Kept) -> dict[str, Any]:
    taken, chip = writing.taken, writing.chip
    started_at, source = taken.started_at()
    row = {
        "name": taken.run.name,
        "mode": "unknown",
        "status": "partial",
        "started_at": started_at,
        "started_at_source": source,
        "soc": chip.soc,
        "soc_source": chip.soc_source,
        "chip_family": chip.family,
        "chip_family_source": chip.family_source,
        "tool_version": writing.options.conditions.get("tool_version"),
        "fingerprint": taken.fingerprint,
        "ingested_at": now(),
        "ingested_with": __version__,
        "cells_read": 0,
        "cells_stored": 0,
        "cells_null": 0,
        "cells_lost": 0,
    }
    return row if kept.run_id is None else {"id": kept.run_id, **row}


def _with_chip_of_bins(connection: sqlite3.Connection, run_id: int, writing: RunToWrite, socs: list[str]) -> RunToWrite:
    """A bin names the chip too: below the dump, above the user and the headers."""
    if not socs or writing.chip.soc_source == "dump":
        return writing
    given = writing.options.conditions.get("soc")
    chip = chip_of_run([{SOC_KEY: socs[0]}], given, writing.taken.headers)
    chip = replace(chip, soc_source="bin")
    connection.execute(
        "UPDATE runs SET soc = ?, soc_source = ?, chip_family = ?, chip_family_source = ? WHERE id = ?",
        (chip.soc, chip.soc_source, chip.family, chip.family_source, run_id),
    )
    return replace(writing, chip=chip)


def _run_mode(modes: set[str]) -> str:
    known = modes - {"unknown"}
    if len(known) > 1:
        return "mixed"
    return known.pop() if known else "unknown"


def _missing_text(missing: dict[str, int], total: int) -> str | None:
    if not missing:
        return None
    if total == 1:
        return next(iter(missing))
    return " | ".join(f"{count} of {total} launches: {what}" for what, count in missing.items())


def _words(incomplete: int, missing: dict[str, int], chip: ChipFacts) -> str:
    words = []
    if incomplete:
        words.append(f"{incomplete} launch{'es' if incomplete > 1 else ''} without results")
    partial = sum(missing.values()) - incomplete
    if partial:
        words.append("some files missing")
    if chip.conflict:
        words.append(f"--soc {chip.conflict} is not what the data says ({chip.soc}); the data is kept")
    return "; ".join(words)


def _write_others(connection: sqlite3.Connection, store: Store, run_id: int, writing: RunToWrite) -> None:
    """Files that belong to no launch, and problems of the whole run."""
    holder = KernelRecord({}, None)
    context = Context(None, None, writing.options.archive_max)
    taken = writing.taken
    kernels = dict(connection.execute("SELECT source_path, id FROM kernels WHERE run_id = ?", (run_id,)).fetchall())
    for found in taken.run.others:
        state = taken.files[found.rel]
        row = file_entry(taken, state, context, holder)
        contents = {
            content.sha256: store.content(
                pack_large(taken, state) if isinstance(content.chunks, LargeFile) else content
            )
            for content in holder.contents
        }
        holder.contents.clear()
        folder = found.folder.removesuffix("/dump") if found.folder != "dump" else ""
        store.artifact(run_id, kernels.get(storable(folder)), row, contents)
        if state.problem is not None:
            store.insert("ingest_issues", {"run_id": run_id, "kernel_id": None, **issue_row(state.problem)})
    problems = list(taken.run.problems)
    if writing.chip.conflict:
        problems.append(
            Issue(
                "soc_differs",
                Severity.WARNING,
                f"given as {writing.chip.conflict}, but the data says {writing.chip.soc}; the data is kept",
                raw=writing.chip.conflict,
            )
        )
    for problem in problems:
        store.insert("ingest_issues", {"run_id": run_id, "kernel_id": None, **issue_row(problem)})


def note_known(connection: sqlite3.Connection, writing: RunToWrite, run_id: int, *, whole: bool) -> str:
    """A run was seen (again): remember the place and what the user said; returns what changed, in words."""
    moment = now()
    path = storable(str(writing.taken.run.root))
    had = connection.execute(
        "SELECT content FROM run_locations WHERE run_id = ? AND path = ?", (run_id, path)
    ).fetchone()
    connection.execute(
        "INSERT INTO run_locations (run_id, path, content, first_seen_at, last_seen_at)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT (run_id, path)"
        " DO UPDATE SET content = excluded.content, last_seen_at = excluded.last_seen_at",
        (run_id, path, "whole" if whole else "part", moment, moment),
    )
    changes = [] if had else ["new location"]
    options = writing.options
    for kind, pairs, source in (
        ("condition", options.conditions, "user"),
        ("label", writing.path_labels, "path"),
        ("label", options.labels, "user"),
    ):
        for key, value in pairs.items():
            changes += _put_condition(connection, run_id, (kind, key, value, source))
    soc = options.conditions.get("soc")
    if soc and not writing.chip.conflict:
        _complete_soc(connection, run_id, soc)
    if options.conditions.get("tool_version"):
        connection.execute(
            "UPDATE runs SET tool_version = ? WHERE id = ?", (options.conditions["tool_version"], run_id)
        )
    return "; ".join(changes)


def _put_condition(connection: sqlite3.Connection, run_id: int, entry: tuple[str, str, str, str]) -> list[str]:
    kind, key, value, source = entry
    old = connection.execute(
        "SELECT value FROM run_conditions WHERE run_id = ? AND kind = ? AND key = ?", (run_id, kind, key)
    ).fetchone()
    if old is not None and old[0] == value:
        return []
    connection.execute(
        "INSERT INTO run_conditions (run_id, kind, key, value, source) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (run_id, kind, key) DO UPDATE SET value = excluded.value, source = excluded.source",
        (run_id, kind, key, value, source),
    )
    return [f"{key} = {value}" if old is None else f"{key}: {old[0]} -> {value}"]


def _complete_soc(connection: sqlite3.Connection, run_id: int, soc: str) -> None:
    """A chip named later completes a run that recorded none; what the data recorded stays."""
    family = family_of_soc(soc)
    connection.execute(
        "UPDATE runs SET soc = ?, soc_source = 'user' WHERE id = ? AND coalesce(soc_source, 'user') = 'user'",
        (soc, run_id),
    )
    if family is not None:
        connection.execute(
            "UPDATE runs SET chip_family = ?, chip_family_source = 'soc' WHERE id = ? AND soc_source = 'user'",
            (family, run_id),
        )


class _Kept:
    """What a grown run keeps of its former self: ids, places, conditions, labels."""

    def __init__(self) -> None:
        self.run_id: int | None = None
        self.kernel_ids: dict[str, int] = {}
        self.kernel_labels: dict[str, dict[str, str]] = {}
        self.locations: list[tuple[Any, ...]] = []
        self.conditions: list[tuple[Any, ...]] = []


def _clear_for_replacement(connection: sqlite3.Connection, run_id: int) -> _Kept:
    kept = _Kept()
    kept.run_id = run_id
    kept.kernel_ids = dict(
        connection.execute("SELECT source_path, id FROM kernels WHERE run_id = ?", (run_id,)).fetchall()
    )
    for path, key, value in connection.execute(
        "SELECT k.source_path, l.key, l.value FROM kernel_labels l JOIN kernels k ON k.id = l.kernel_id"
        " WHERE k.run_id = ? AND l.source = 'user'",
        (run_id,),
    ):
        kept.kernel_labels.setdefault(path, {})[key] = value
    kept.locations = connection.execute(
        "SELECT path, content, first_seen_at, last_seen_at FROM run_locations WHERE run_id = ?", (run_id,)
    ).fetchall()
    kept.conditions = connection.execute(
        "SELECT kind, key, value, source FROM run_conditions WHERE run_id = ?", (run_id,)
    ).fetchall()
    connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))
    return kept


def _restore_kept(connection: sqlite3.Connection, run_id: int, kept: _Kept) -> None:
    path_of_copy = "part"  # a copy made before the run grew holds only a part of it now
    connection.executemany(
        "INSERT OR IGNORE INTO run_locations (run_id, path, content, first_seen_at, last_seen_at)"
        " VALUES (?, ?, ?, ?, ?)",
        [(run_id, path, path_of_copy, first, last) for path, _, first, last in kept.locations],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO run_conditions (run_id, kind, key, value, source) VALUES (?, ?, ?, ?, ?)",
        [(run_id, *row) for row in kept.conditions],
    )


def _label_kernel(connection: sqlite3.Connection, kernel_id: int, labels: dict[str, str], source: str) -> None:
    connection.executemany(
        "INSERT INTO kernel_labels (kernel_id, key, value, source) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (kernel_id, key) DO NOTHING",
        [(kernel_id, key, value, source) for key, value in labels.items()],
    )
