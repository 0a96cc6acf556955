"""Simulator statistics of one launch: rows to store, and the clock they imply."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from opprof_db.ingest import snapshot
from opprof_db.ingest.snapshot import Snapshot
from opprof_db.msopprof.sim_clock import Clock, infer_clock
from opprof_db.msopprof.sim_records import InstructionStat, SourceLineStat, core_of
from opprof_db.msopprof.simulator_csv import SimulatorCsv, read_instructions, read_source_lines
from opprof_db.msopprof.walk import FoundFile
from opprof_db.warehouse.store import TableRows

DETAIL = "detail"
"""Stands for the text; the store replaces it by the text's id."""
INSTRUCTION_COLUMNS = (
    "core", "line_number", "core_kind", "instruction", "address", "pipe", "call_count", "cycles", "saturated",
    "running_time_us", "below_resolution", DETAIL,
)  # fmt: skip
LINE_COLUMNS = (
    "core", "line_number", "core_kind", "code", "file", "line", "call_count", "cycles", "saturated",
    "running_time_us", "below_resolution",
)  # fmt: skip


@dataclass(slots=True)
class SimulatorRows:
    """What the statistics files of a launch hold."""

    tables: list[TableRows] = field(default_factory=list)
    instructions: list[InstructionStat] = field(default_factory=list)

    def read(self, taken: Snapshot, found: FoundFile) -> SimulatorCsv:
        """Read one file and keep its rows."""
        core = core_of(found.rel.rpartition("/")[2])
        assert core is not None, "the walk knows these files by the core in their names"
        data = snapshot.load(taken, taken.files[found.rel])
        read = read_instructions if found.kind == "instr_csv" else read_source_lines
        result = read(data, core, found.rel)
        if result.instructions:
            rows = [_instruction(core.name, core.kind, stat) for stat in result.instructions]
            self.tables.append(TableRows("instruction_stats", INSTRUCTION_COLUMNS, rows))
            self.instructions.extend(result.instructions)
        if result.lines:
            rows = [_line(core.name, core.kind, stat) for stat in result.lines]
            self.tables.append(TableRows("source_line_stats", LINE_COLUMNS, rows))
        return result

    def clock(self) -> Clock | None:
        """The clock that cycles and running times of all cores imply."""
        return infer_clock(self.instructions) if self.instructions else None


def _instruction(core: str, kind: str, stat: InstructionStat) -> tuple[object, ...]:
    return (
        core, stat.line_number, kind, stat.instruction, stat.address, stat.pipe, stat.call_count, stat.cycles,
        int(stat.saturated), stat.running_time_us, int(stat.below_resolution), stat.detail,
    )  # fmt: skip


def _line(core: str, kind: str, stat: SourceLineStat) -> tuple[object, ...]:
    return (
        core, stat.line_number, kind, stat.code, stat.file, stat.line, stat.call_count, stat.cycles,
        int(stat.saturated), stat.running_time_us, int(stat.below_resolution),
    )  # fmt: skip


def detail_pairs(stat: InstructionStat) -> str:
    """A detail's key:value pairs as the JSON text that is stored."""
    return json.dumps([{"key": key, "value": value} for key, value in stat.pairs], ensure_ascii=False)
