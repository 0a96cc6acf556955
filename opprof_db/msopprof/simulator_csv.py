"""Reader for the simulator's statistics: ``*_instr_exe.csv`` and ``*_code_exe.csv``.

Source: msopprof sim_pc_to_code.cpp, sim_code_to_pc.cpp and real captures. One row per program counter, or per
source line, of one core. ``detail`` stands in double quotes and is full of commas; ``code`` is ``path:line``
without quotes, so its cells are counted from the right. Whatever the bytes, reading never fails: one bad cell
costs one cell, one bad row one row, and cells read = values + NULLs + cells that issues explain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from opprof_db.catalog import SqlType
from opprof_db.msopprof.cells import BadCellError, to_number
from opprof_db.msopprof.device_csv import CellCounts, count_cells
from opprof_db.msopprof.issues import IssueLog, Severity
from opprof_db.msopprof.sim_records import CoreName, InstructionStat, SourceLineStat
from opprof_db.msopprof.text import decode, split_lines
from opprof_db.msopprof.values import parse_address, visible

INSTRUCTION_HEADER = ("instr", "addr", "pipe", "call_count", "cycles", "running_time(us)", "detail")
LINE_HEADER = ("code", "call_count", "cycles", "running_time(us)")
LEGACY_COLUMN = "call count"
"""With a blank: in headers of msopgen, the older tool, whose counts and times mean other things."""
SATURATED = 2**31 - 1
"""cycles stop here upstream."""

_Value = TypeVar("_Value", int, float, str, int | float)
_PRINTED_TIME = re.compile(r"[0-9]+\.[0-9]{6}")
_CODE_END = re.compile(r":[0-9]+$")
_UNTIMED_CYCLES = 30
"""More cycles than print as 0.00 us on any chip: the slowest clock is 500 MHz, the fastest below 3000."""


@dataclass(slots=True)
class SimulatorCsv:
    """Content of one statistics file of one core."""

    kind: str
    """``instr`` or ``code``."""
    core: CoreName | None
    status: str
    """``read``, ``header_only``, ``empty``, ``legacy`` or ``unrecognised``."""
    issues: IssueLog
    encoding: str
    instructions: list[InstructionStat] = field(default_factory=list)
    lines: list[SourceLineStat] = field(default_factory=list)
    counts: CellCounts = field(default_factory=CellCounts)
    single_calls_untimed: bool = False
    """Builds around CANN 8.0 leave the last call of an instruction out of its running time, so that what ran
    once prints 0.00 whatever its cycles."""


def read_instructions(data: bytes, core: CoreName | None, path: str | None = None) -> SimulatorCsv:
    """Read one ``*_instr_exe.csv`` from its bytes; ``path`` only labels the issues."""
    return _Reader("instr", INSTRUCTION_HEADER, data, core, path).read()


def read_source_lines(data: bytes, core: CoreName | None, path: str | None = None) -> SimulatorCsv:
    """Read one ``*_code_exe.csv`` from its bytes; ``path`` only labels the issues."""
    return _Reader("code", LINE_HEADER, data, core, path).read()


class _Reader:
    """One file being read."""

    def __init__(
        self, kind: str, header: tuple[str, ...], data: bytes, core: CoreName | None, path: str | None
    ) -> None:
        self._header = header
        self._decoded = decode(data)
        encoding = self._decoded.encoding + (" (BOM)" if self._decoded.bom else "")
        self._result = SimulatorCsv(kind, core, "empty", IssueLog(path), encoding)
        self._issues = self._result.issues
        self._read = self._stored = self._nulls = self._lost = 0
        self._below = 0
        self._trailing_comma = False

    def read(self) -> SimulatorCsv:
        if self._decoded.damaged:
            message = f"not valid {self._decoded.encoding}; bad bytes were replaced"
            self._issues.add("bad_encoding", Severity.WARNING, message)
        lines = split_lines(self._decoded.text)
        if not lines:
            self._issues.add("empty_file", Severity.WARNING, "the file is empty: no statistics were written")
            return self._result
        if not self._check_header(lines[0]):
            return self._result
        rows = [(number, line) for number, line in enumerate(lines[1:], 2) if line.strip()]
        self._result.status = "read" if rows else "header_only"
        if not rows:
            self._issues.add("header_only", Severity.INFO, self._why_no_rows(), line=1)
        take = self._take_instruction if self._result.kind == "instr" else self._take_line
        open_end = len(lines) if not self._decoded.text.endswith(("\n", "\r")) else 0
        for number, line in rows:
            take(number, line, cut=number == open_end)
        self._close()
        return self._result

    def _why_no_rows(self) -> str:
        if self._result.kind == "code":
            return "only a header line: the kernel was compiled without -g, source lines were not recorded"
        return "only a header line: this core executed nothing that was recorded"

    def _check_header(self, line: str) -> bool:
        names = tuple(name.strip() for name in line.split(","))
        self._trailing_comma = len(names) > 1 and not names[-1]
        if self._trailing_comma:
            names = names[:-1]
        if names == self._header:
            return True
        if LEGACY_COLUMN in names:
            self._result.status = "legacy"
            message = "a file of msopgen's simulator, not of msopprof: its columns mean other things; not taken in"
            self._issues.add("legacy_msopgen", Severity.ERROR, message, line=1, raw=line)
            return False
        self._result.status = "unrecognised"
        message = f"the first line is not the header of a *_{self._result.kind}_exe.csv"
        if line.startswith("version https://git-lfs"):
            message = "a Git LFS pointer, not the file itself: fetch it with `git lfs pull`"
        self._issues.add("unrecognised_header", Severity.ERROR, message, line=1, raw=line)
        return False

    def _take_instruction(self, number: int, line: str, *, cut: bool) -> None:
        split = split_instruction(line)
        if split is None:
            self._lose_row(number, line)
            return
        cells, detail, closed = split
        if not closed:
            message = "the detail's closing quote is missing" + (": the file was cut off here" if cut else "")
            self._issues.add("open_quote", Severity.WARNING, message, line=number, column="detail", raw=detail)
        self._read += len(self._header)
        cycles, time, below = self._cycles_and_time(number, cells[4], cells[5])
        call_count = self._count(number, "call_count", cells[3])
        self._note_untimed(call_count, cycles, below=below)
        self._result.instructions.append(
            InstructionStat(
                line_number=number,
                instruction=self._text(number, "instr", cells[0]),
                address=self._address(number, cells[1]),
                pipe=self._text(number, "pipe", cells[2]),
                call_count=call_count,
                cycles=cycles,
                saturated=cycles == SATURATED,
                running_time_us=time,
                below_resolution=below,
                detail=self._text(number, "detail", detail),
            )
        )

    def _take_line(self, number: int, line: str, *, cut: bool) -> None:
        if self._trailing_comma and line.endswith(","):
            line = line[:-1]
        cells = line.rsplit(",", 3)
        if len(cells) < 4:
            self._lose_row(number, line)
            return
        unsure = cut and not _PRINTED_TIME.fullmatch(cells[3].strip())
        if unsure and not (_CODE_END.search(cells[0]) and cells[1].isdigit() and cells[2].isdigit()):
            self._lose_row(number, line)
            return
        self._read += len(self._header)
        if unsure:
            message = "the last line has no end, and its last cell is not printed as usual: it may be cut off"
            self._lose_cell("cut_cell", message, number, LINE_HEADER[3], cells[3])
            cycles, time, below = self._count(number, "cycles", cells[2]), None, False
        else:
            cycles, time, below = self._cycles_and_time(number, cells[2], cells[3])
        code = self._text(number, "code", cells[0])
        file, line_in_file = self._split_code(number, code)
        self._result.lines.append(
            SourceLineStat(
                line_number=number,
                code=code,
                file=file,
                line=line_in_file,
                call_count=self._count(number, "call_count", cells[1]),
                cycles=cycles,
                saturated=cycles == SATURATED,
                running_time_us=time,
                below_resolution=below,
            )
        )

    def _split_code(self, number: int, code: str | None) -> tuple[str | None, int | None]:
        """Path and line, split at the last colon; the cell itself is kept whole beside them."""
        if code is None:
            return None, None
        file, colon, digits = code.rpartition(":")
        try:
            line = to_number(digits, SqlType.INTEGER) if colon else None
            if line is not None and line < 0:
                raise BadCellError("negative", "a negative number")
        except BadCellError as bad:
            message = f"no line number behind the last colon ({bad.message}); the text is kept"
            self._issues.add("bad_line_number", Severity.WARNING, message, line=number, column="code", raw=code)
            return (file if digits.strip().isdigit() else code), None
        if not colon:
            message = "a source position without a line number; the text is kept"
            self._issues.add("bad_line_number", Severity.WARNING, message, line=number, column="code", raw=code)
            return code, None
        return file, None if line is None else int(line)

    def _cycles_and_time(self, number: int, cycles_cell: str, time_cell: str) -> tuple[int | None, float | None, bool]:
        """(cycles, us, below resolution): a printed 0.00 beside cycles means "less than can be printed"."""
        cycles = self._count(number, "cycles", cycles_cell)
        time = self._number(number, "running_time(us)", time_cell, SqlType.REAL)
        below = time == 0 and cycles is not None and cycles > 0
        if below:
            self._below += 1
            self._stored -= 1
            self._nulls += 1
            time = None
        return cycles, None if time is None else float(time), below

    def _note_untimed(self, call_count: int | None, cycles: int | None, *, below: bool) -> None:
        if below and call_count == 1 and cycles is not None and _UNTIMED_CYCLES < cycles < SATURATED:
            self._result.single_calls_untimed = True

    def _count(self, number: int, column: str, cell: str) -> int | None:
        if cell.isdecimal() and cell.isascii() and len(cell) < 19:  # the usual case, at the speed of C
            self._stored += 1
            return int(cell)
        value = self._number(number, column, cell, SqlType.INTEGER)
        return None if value is None else int(value)

    def _number(self, number: int, column: str, cell: str, kind: SqlType) -> int | float | None:
        try:
            value = to_number(cell, kind)
            if value is not None and value < 0:
                raise BadCellError("negative", "a negative count or time")
        except BadCellError as bad:
            self._lose_cell(bad.code, bad.message, number, column, cell)
            return None
        return self._kept(value)

    def _address(self, number: int, cell: str) -> int | None:
        try:
            return self._kept(parse_address(cell))
        except BadCellError as bad:
            self._lose_cell(bad.code, bad.message, number, "addr", cell)
            return None

    def _text(self, number: int, column: str, cell: str) -> str | None:
        if "\x00" in cell:
            message = "a NUL character, kept as \\x00"
            self._issues.add("nul_in_text", Severity.WARNING, message, line=number, column=column, raw=cell)
        return self._kept(visible(cell) or None)

    def _kept(self, value: _Value | None) -> _Value | None:
        if value is None:
            self._nulls += 1
        else:
            self._stored += 1
        return value

    def _lose_cell(self, code: str, message: str, number: int, column: str, cell: str) -> None:
        self._lost += 1
        self._issues.add(code, Severity.WARNING, message, line=number, column=column, raw=cell, cells=1)

    def _lose_row(self, number: int, line: str) -> None:
        cells = count_cells(line)
        self._read += cells
        self._lost += cells
        message = f"{cells} cells where the header names {len(self._header)}, or a line cut off"
        self._issues.add("ragged_row", Severity.WARNING, message, line=number, raw=line, cells=cells)

    def _close(self) -> None:
        self._result.counts = CellCounts(read=self._read, stored=self._stored, nulls=self._nulls, lost=self._lost)
        if self._below:
            message = f"{self._below} rows print 0.00 us beside cycles: their time is below resolution, not zero"
            column = "running_time(us)"
            self._issues.add("below_resolution", Severity.INFO, message, column=column, count=self._below)
        if self._result.single_calls_untimed:
            message = "this build leaves the last call out of running times: use cycles"
            self._issues.add("single_calls_untimed", Severity.INFO, message, column="running_time(us)")


def split_instruction(line: str) -> tuple[Sequence[str], str, bool] | None:
    """(six cells, detail, whether its quote was closed); ``None`` where cells are missing.

    Surplus commas before the detail belong to the instruction's name: the other cells cannot hold any.
    """
    head, quote, rest = line.partition(',"')
    if quote:
        cells = head.split(",")
        stripped = rest.rstrip(", ")
        closed = stripped.endswith('"')
        detail = stripped[:-1] if closed else rest
    else:
        *cells, detail = line.split(",", 6)
        closed = True
    if len(cells) < 6:
        return None
    return [",".join(cells[:-5]), *cells[-5:]], detail, closed
