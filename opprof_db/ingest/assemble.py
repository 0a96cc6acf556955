"""From the files of one launch to the record that is stored: parse, flag, roll up, compress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from opprof_db.catalog import BASIC_INFO, load, table_name
from opprof_db.ingest import archive, bins, snapshot
from opprof_db.ingest.chip import family_of_soc
from opprof_db.ingest.flags import drop_uncollected_zeros, flag_extremes
from opprof_db.ingest.rollup import RollupRow, core_table, derive, roll_up
from opprof_db.ingest.simulator import SimulatorRows, detail_pairs
from opprof_db.ingest.snapshot import FileState, Snapshot
from opprof_db.ingest.traces import TraceFile, TraceResult
from opprof_db.msopprof.basic_info import BasicInfo, read_basic_info, read_op_basic_info_text
from opprof_db.msopprof.cells import is_missing
from opprof_db.msopprof.device_csv import CellCounts, FamilyData, read_family
from opprof_db.msopprof.issues import Issue, IssueLog, Severity
from opprof_db.msopprof.layout import KernelFolder
from opprof_db.msopprof.names import parse_stamp, split_kernel_name
from opprof_db.msopprof.simulator_csv import SimulatorCsv
from opprof_db.msopprof.visualize_bin import BinData, read_bin
from opprof_db.msopprof.walk import SIMULATOR_FOLDER, FoundFile
from opprof_db.warehouse.store import FactRows, KernelRecord, derived_name

SIMULATOR_KINDS = frozenset({"instr_csv", "code_csv"})
DEVICE_KINDS = frozenset({"device_csv", "basic_info"})


@dataclass(frozen=True, slots=True)
class Context:
    """What holds for all kernels of a run while they are read."""

    chip_family: str | None
    """``None``: the dump, the user and the headers do not tell; a bin may."""
    collected: frozenset[str] | None
    """Metric sets that were collected, lower case; ``None`` when nobody said."""
    archive_max: int
    kernel_name: str | None = None
    """Name the user gives to simulator kernels, which record none."""
    cache_lines: bool = False
    """Whether block 14 of bins is wanted."""
    trace: str = "auto"
    """What to keep of traces."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """One launch ready to be stored, with its accounting."""

    record: KernelRecord
    counts: CellCounts
    has_values: bool
    """Whether anything was taken that a user could ask for."""


def dump_of(taken: Snapshot, kernel: KernelFolder) -> dict[str, str]:
    """The pairs of the launch's dump/op_basic_info.txt; empty when there is none."""
    state = taken.files.get(snapshot.dump_info_of(kernel))
    if state is None or state.sha256 is None:
        return {}
    return read_op_basic_info_text(snapshot.load(taken, state))


def mode_of(kernel: KernelFolder, bin_data: BinData | None = None) -> str:
    """Which tool mode left these files; a bin with operator basics comes from a device."""
    kinds = {found.kind for found in kernel.files}
    device = bool(kinds & DEVICE_KINDS) or (bin_data is not None and bin_data.basics is not None)
    simulator = bool(kinds & SIMULATOR_KINDS) or any(
        SIMULATOR_FOLDER in found.rel.split("/")[:-1] for found in kernel.files
    )
    if device and simulator:
        return "mixed"
    return "device" if device else "simulator" if simulator else "unknown"


def assemble(taken: Snapshot, kernel: KernelFolder, context: Context) -> Assembled:
    """Read one launch.

    Raises:
        ChangedWhileReadingError: a file changed since the run was hashed.
    """
    reading = _Reading(taken, context)
    for found in kernel.files:
        reading.take(found)
    family = context.chip_family
    if family is None and reading.bin is not None and reading.bin.basics is not None:
        family = family_of_soc(reading.bin.basics.soc or "")
    for data in reading.families:
        drop_uncollected_zeros(data, family, context.collected)
    record = reading.record
    short = lacking_cores(reading.families)
    for family, (there, of) in short.items():
        message = f"{family} has {there} of {of} cores: the file was cut off; sums over the kernel are withheld"
        data = next(data for data in reading.families if data.family == family)
        data.issues.add("cores_missing", Severity.WARNING, message)
    rows = _fill_facts(record, reading.families, short)
    _fill_kernel(record, kernel, reading, dump_of(taken, kernel), short)
    _fill_rollup(record, reading.families, rows)
    counts = reading.finish()
    has_values = counts.stored > 0 or any(
        artifact["kind"] in ("bin", "trace") and artifact["size_bytes"] > 0 for artifact in record.artifacts
    )
    return Assembled(record, counts, has_values)


def trace_files(taken: Snapshot, kernel: KernelFolder) -> list[TraceFile]:
    """Files of a launch that may hold a trace."""
    return [
        TraceFile(taken.run.root / found.rel, found.rel, found.size, is_bin=found.kind == "bin")
        for found in kernel.files
        if found.kind in ("trace", "bin") and taken.files[found.rel].problem is None
    ]


def add_traces(record: KernelRecord, result: TraceResult) -> None:
    """Put into the record what its traces hold."""
    record.tables += result.tables
    record.spooled = result.spooled
    record.issues += [issue_row(issue) for issue in result.issues]
    for artifact in record.artifacts:
        artifact["status"] = result.statuses.get(artifact["path"], artifact["status"])
    lacking = [f"{path} ({_TRACE_WORDS[status]})" for path, status in result.statuses.items() if status in _TRACE_WORDS]
    if lacking:
        record.values["missing"] = "; ".join(filter(None, (record.values["missing"], *lacking)))
        record.values["status"] = "partial"


_TRACE_WORDS = {
    "partial": "cut off",
    "empty": "empty",
    "lfs_pointer": "a Git LFS pointer",
    "unrecognised": "not a trace of msopprof",
    "legacy": "of the older simulator",
}


class _Reading:
    """The files of one launch, each read by the reader of its kind."""

    def __init__(self, taken: Snapshot, context: Context) -> None:
        self.taken = taken
        self.context = context
        self.record = KernelRecord(values={}, operator=None)
        self.issues: list[Issue] = []
        self.info = BasicInfo("absent", IssueLog())
        self.families: list[FamilyData] = []
        self.simulator = SimulatorRows()
        self.bin: BinData | None = None
        self._parts: list[BasicInfo | FamilyData | SimulatorCsv] = []

    def take(self, found: FoundFile) -> None:
        """Read a file and note it."""
        state = self.taken.files[found.rel]
        artifact = file_entry(self.taken, state, self.context, self.record)
        self.record.artifacts.append(artifact)
        if state.problem is not None:
            self.issues.append(state.problem)
            return
        part: BasicInfo | FamilyData | SimulatorCsv
        if found.kind == "basic_info":
            self.info = part = read_basic_info(snapshot.load(self.taken, state), found.rel)
            artifact["rows"] = int(bool(part.values))
        elif found.kind == "device_csv":
            part = read_family(found.family or "", snapshot.load(self.taken, state), found.rel)
            self.families.append(part)
            artifact["rows"] = part.rows
        elif found.kind in SIMULATOR_KINDS:
            part = self.simulator.read(self.taken, found)
            artifact["rows"] = len(part.instructions) + len(part.lines)
        else:
            self._take_other(found, state, artifact)
            return
        artifact["status"] = part.status
        artifact["encoding"] = part.encoding
        self._parts.append(part)

    def _take_other(self, found: FoundFile, state: FileState, artifact: dict[str, Any]) -> None:
        if found.kind == "bin":
            self.bin = read_bin(self.taken.run.root / found.rel, found.rel, cache_lines=self.context.cache_lines)
            artifact["status"] = self.bin.status
            self.issues.extend(self.bin.issues)
        elif state.size == 0:
            self.issues.append(Issue("empty_file", Severity.WARNING, "the file is empty", path=found.rel))

    def finish(self) -> CellCounts:
        """Close the record: rows of simulator and bin, issues, extras; returns the accounting."""
        record, counts = self.record, CellCounts()
        record.tables = [*self.simulator.tables, *(bins.tables_of(self.bin) if self.bin else [])]
        record.details = {stat.detail: detail_pairs(stat) for stat in self.simulator.instructions if stat.detail}
        record.sources = self.bin.sources.texts if self.bin else {}
        for part in self._parts:
            self.issues.extend(part.issues)
            counts += part.counts
            if not isinstance(part, SimulatorCsv):
                family = part.family if isinstance(part, FamilyData) else BASIC_INFO
                record.extras += [(family, e.vendor, e.block_id, e.sub_block_id, e.value, e.raw) for e in part.extras]
        record.issues = [issue_row(issue) for issue in self.issues]
        return counts


def file_entry(taken: Snapshot, state: FileState, context: Context, record: KernelRecord) -> dict[str, Any]:
    """The artifact row of a file; its bytes join the record's contents where they are archived."""
    found = state.found
    row: dict[str, Any] = {
        "path": found.rel,
        "kind": found.kind,
        "family": found.family,
        "status": "listed",
        "size_bytes": state.size,
        "sha256": state.sha256,
        "in_fingerprint": int(found.recognised and state.sha256 is not None),
        "encoding": None,
        "rows": None,
    }
    if state.problem is not None:
        row["status"] = "unreadable"
    elif archived(state, context):
        row["status"] = "archived" if state.size else "empty"
        record.contents.append(archive.pack_file(taken, state))
    return row


def archived(state: FileState, context: Context) -> bool:
    """Whether the file's bytes are kept."""
    return state.sha256 is not None and (
        state.found.kind in DEVICE_KINDS | SIMULATOR_KINDS or state.size <= context.archive_max
    )


def lacking_cores(families: list[FamilyData]) -> ShortFamilies:
    """Families with fewer cores than the launch's other files."""
    cores = {
        data.family: {
            (b, s) for group in data.groups for b, s in zip(group.block_ids, group.sub_block_ids, strict=True)
        }
        for data in families
        if data.rows
    }
    every = set().union(*cores.values()) if cores else set()
    return {family: (len(own), len(every)) for family, own in cores.items() if len(own) < len(every)}


ShortFamilies = dict[str, tuple[int, int]]
"""Family -> (cores it has, cores of the launch)."""


def _fill_facts(record: KernelRecord, families: list[FamilyData], short: ShortFamilies) -> list[RollupRow]:
    cores = core_table(families)
    idle = {(core.block_id, core.sub_block_id) for core in cores if core.idle}
    record.cores = [
        (core.block_id, core.sub_block_id, core.kind, core.time_us, core.total_cycles, int(core.idle)) for core in cores
    ]
    rows: list[RollupRow] = []
    for data in families:
        table = table_name(data.family)
        for group in data.groups:
            values = [group.block_ids, group.sub_block_ids, *group.columns.values()]
            record.facts.append(FactRows(table, tuple(group.columns), values))
        rolled = roll_up(data, idle, whole=data.family not in short)
        flag_extremes(data, rolled)
        rows.extend(rolled)
    return rows


def _fill_rollup(record: KernelRecord, families: list[FamilyData], rows: list[RollupRow]) -> None:
    record.rollup = [
        (r.metric.family, r.metric.vendor, r.kind, r.n, r.n_idle, r.sum, r.mean, r.min, r.max, r.std,
         r.max_block_id, r.max_sub_block_id)
        for r in rows
    ]  # fmt: skip
    derived = derive(families, rows, record.values["duration_us"], record.values["op_type"])
    record.rollup += [
        (d.metric.family, derived_name(d.metric.column), d.kind, d.n, 0, *_single(d.value)) for d in derived
    ]


def _single(value: float) -> tuple[float | None, ...]:
    """sum, mean, min, max, std, max_block, max_sub_block of a figure that stands for the whole kernel."""
    return None, value, value, value, None, None, None


def _fill_kernel(
    record: KernelRecord, kernel: KernelFolder, reading: _Reading, dump: dict[str, str], short: ShortFamilies
) -> None:
    """What is known of the launch: OpBasicInfo.csv first, then the dump's text, then the bin."""
    info, issues = reading.info, reading.issues
    basics = reading.bin.basics if reading.bin else None
    record.soc = basics.soc if basics else None
    mode = mode_of(kernel, reading.bin)
    name = info.text("name") or _from_dump(dump, "Op Name") or (basics.name if basics else None)
    if name is None and mode == "simulator":
        name = reading.context.kernel_name
    device = _first(info.whole("device_id"), _dump_number(dump, "Device Id"), basics.device_id if basics else None)
    if device is not None and kernel.device_id is not None and device != kernel.device_id:
        message = f"the folder says device {kernel.device_id}, the data device {device}; the data is kept"
        issues.append(Issue("device_differs", Severity.INFO, message, path=kernel.rel))
    missing = _missing(kernel, info, reading.families, mode, short)
    if reading.bin is not None and reading.bin.status != "read":
        missing.append(f"visualize_data.bin ({_BIN_WORDS.get(reading.bin.status, reading.bin.status)})")
    parts = split_kernel_name(name) if name else None
    op_type = info.text("op_type") or (basics.op_type if basics else None)
    duration = info.real("duration_us")
    if duration is None and basics is not None and basics.duration_us is not None:
        duration = float(basics.duration_us)
    stamps = sorted({found.stamp for found in kernel.files if found.stamp})
    clock = reading.simulator.clock()
    record.values = {
        "name": name,
        "op_type": op_type,
        "folder_name": kernel.folder_name,
        "source_path": kernel.rel,
        "device_id": kernel.device_id if device is None else device,
        "launch_index": kernel.launch_index,
        "mode": mode,
        "status": "incomplete" if not kernel.files else "partial" if missing else "complete",
        "missing": "; ".join(missing) or None,
        "duration_us": duration,
        "block_dim": _first(
            info.whole("block_dim"), _dump_number(dump, "Block Dim"), basics.block_dim if basics else None
        ),
        "mix_block_dim": _first(info.whole("mix_block_dim"), basics.mix_block_dim if basics else None),
        "pid": _first(info.whole("pid"), _dump_number(dump, "Pid"), basics.pid if basics else None),
        "current_freq_mhz": _first(info.whole("current_freq_mhz"), _mhz(basics.current_freq_mhz if basics else None)),
        "rated_freq_mhz": _first(
            info.whole("rated_freq_mhz"),
            _dump_number(dump, "Rated Freq"),
            _mhz(basics.rated_freq_mhz if basics else None),
        ),
        "captured_at": parse_stamp(stamps[0]) if stamps else None,
        "tiling_key": parts.tiling_key if parts else None,
        "clock_mhz": clock.mhz if clock else None,
        "clock_source": clock.origin if clock else None,
        "clock_low_mhz": clock.low_mhz if clock else None,
        "clock_high_mhz": clock.high_mhz if clock else None,
    }
    record.operator = (parts.operator, op_type) if parts else None
    if mode in {"device", "mixed"} and duration is None:
        message = "Task Duration was not recorded: the kernel is left out of every duration statistic"
        issues.append(Issue("duration_unknown", Severity.WARNING, message, path=kernel.rel or None))


_BIN_WORDS = {"partial": "parts unreadable", "empty": "no readable block"}


def _mhz(value: float | None) -> int | None:
    """A frequency above zero in whole MHz."""
    return int(value) if value is not None and value > 0 and value == int(value) else None


def _missing(
    kernel: KernelFolder, info: BasicInfo, families: list[FamilyData], mode: str, short: ShortFamilies
) -> list[str]:
    """What a whole device launch would also have; nothing is said about what a simulator leaves out."""
    if not kernel.files:
        return ["every result: the launch folder holds none"]
    missing = []
    if mode in {"device", "mixed"}:
        read = {data.family for data in families if data.status == "read" and data.rows}
        if info.status != "read" or not info.values:
            missing.append(f"{BASIC_INFO} ({_word(info.status)})")
        status = {data.family: data.status for data in families}
        for family in load().families:
            if family not in read:
                missing.append(f"{family} ({_word(status.get(family, 'absent'))})")
        for family, (there, of) in short.items():
            missing.append(f"{family} ({there} of {of} cores)")
    return missing


def _word(status: str) -> str:
    return {"absent": "not there", "header_only": "header only", "read": "no usable row"}.get(status, status)


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def _from_dump(dump: dict[str, str], key: str) -> str | None:
    value = dump.get(key)
    return None if value is None or is_missing(value) else value


def _dump_number(dump: dict[str, str], key: str) -> int | None:
    value = _from_dump(dump, key)
    return int(value) if value and value.isascii() and value.isdigit() and len(value) <= 18 else None


def issue_row(issue: Issue) -> dict[str, Any]:
    """An issue as a row of ingest_issues."""
    return {
        "code": issue.code,
        "severity": str(issue.severity),
        "message": issue.message,
        "path": issue.path,
        "line": issue.line,
        "column_name": issue.column,
        "raw_text": issue.raw,
        "byte_offset": issue.offset,
        "cells": issue.cells,
        "count": issue.count,
    }


def assemble_all(taken: Snapshot, kernels: Iterable[KernelFolder], context: Context) -> Iterator[Assembled]:
    """Read launches one after another."""
    for kernel in kernels:
        yield assemble(taken, kernel, context)
