"""Readers for OpBasicInfo.csv and dump/op_basic_info.txt.

Sources: msopprof metric_csv_header.h (columns), basic_op_and_pmu.cpp (frequencies), real captures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from opprof_db.catalog import BASIC_INFO, Metric, SqlType
from opprof_db.msopprof.cells import BadCellError, is_missing, to_number
from opprof_db.msopprof.device_csv import CellCounts, ExtraCell, count_cells, drop_last_cell, fit_row, read_extra
from opprof_db.msopprof.headers import WHOLE_KERNEL_BLOCK, WHOLE_KERNEL_SUB_BLOCK, HeaderPlan, plan_header
from opprof_db.msopprof.issues import IssueLog, Severity
from opprof_db.msopprof.text import decode, ends_open, split_lines

FREQUENCY_COLUMNS = frozenset({"current_freq_mhz", "rated_freq_mhz"})
NAME_COLUMN = "name"


@dataclass(slots=True)
class BasicInfo:
    """The one row of an OpBasicInfo file; a value that was not recorded is ``None``."""

    status: str
    """``read``, ``header_only``, ``empty`` or ``unrecognised``."""
    issues: IssueLog
    encoding: str = "utf-8"
    values: dict[str, int | float | str | None] = field(default_factory=dict)
    """Column of the ``kernels`` table -> value."""
    extras: list[ExtraCell] = field(default_factory=list)
    counts: CellCounts = field(default_factory=CellCounts)
    header: tuple[str, ...] = ()

    def text(self, column: str) -> str | None:
        """A value as text; ``None`` when absent."""
        value = self.values.get(column)
        return None if value is None else str(value)

    def whole(self, column: str) -> int | None:
        """A whole number; ``None`` when absent."""
        value = self.values.get(column)
        return value if isinstance(value, int) else None

    def real(self, column: str) -> float | None:
        """A number; ``None`` when absent."""
        value = self.values.get(column)
        return float(value) if isinstance(value, int | float) else None


def read_basic_info(data: bytes, path: str | None = None) -> BasicInfo:
    """Read an OpBasicInfo CSV from its bytes; never fails, issues say what was not kept."""
    issues = IssueLog(path)
    decoded = decode(data)
    info = BasicInfo("empty", issues, decoded.encoding + (" (BOM)" if decoded.bom else ""))
    if decoded.damaged:
        issues.add("bad_encoding", Severity.WARNING, f"not valid {decoded.encoding}; bad bytes were replaced")
    lines = split_lines(decoded.text)
    if not lines:
        issues.add("empty_file", Severity.WARNING, "the file is empty: name and duration are unknown")
        return info
    plan = plan_header(BASIC_INFO, lines[0])
    info.header = plan.names
    if not plan.known:
        info.status = "unrecognised"
        issues.add(
            "unrecognised_header",
            Severity.ERROR,
            "no column of OpBasicInfo in the first line",
            line=1,
            raw=lines[0],
        )
        return info
    for _, name in plan.unknown:
        issues.add(
            "unknown_column",
            Severity.INFO,
            "not in the catalogue; kept in extra_metric_values",
            line=1,
            column=name,
        )
    rows = [(number, line) for number, line in enumerate(lines[1:], start=2) if line.strip()]
    if not rows:
        info.status = "header_only"
        issues.add("header_only", Severity.WARNING, "only a header line: name and duration are unknown", line=1)
        return info
    info.status = "read"
    number, line = rows[0]
    cells = _fit_named_row(line.split(","), plan)
    if (
        cells is not None
        and plan.trailing
        and not line.endswith(",")
        and number == len(lines)
        and ends_open(decoded.text)
    ):
        cells = drop_last_cell(issues, cells, plan.names[-1], number)
        info.counts += CellCounts(lost=1, nulls=-1)
    if cells is None:
        _lose_row(info, number, line, "ragged_row", f"the header names {len(plan.names)} cells")
    else:
        _read_row(info, plan, cells, number)
    for number, line in rows[1:]:
        _lose_row(info, number, line, "surplus_row", "an OpBasicInfo file holds one row; the first is kept")
    return info


def _fit_named_row(cells: list[str], plan: HeaderPlan) -> Sequence[str] | None:
    """A kernel name may hold commas and nothing is quoted: its surplus cells belong to the name."""
    width = len(plan.names)
    name_at = next((at for at, metric in plan.known if metric.column == NAME_COLUMN), None)
    fitting = fit_row(cells, width)
    if fitting is not None or name_at is None:
        return fitting
    if not cells[-1].strip():
        cells = cells[:-1]
    surplus = len(cells) - width
    if surplus <= 0:
        return None
    name = ",".join(cells[name_at : name_at + surplus + 1])
    return [*cells[:name_at], name, *cells[name_at + surplus + 1 :]]


def _lose_row(info: BasicInfo, number: int, line: str, code: str, message: str) -> None:
    count = count_cells(line)
    info.issues.add(code, Severity.WARNING, message, line=number, raw=line, cells=count)
    info.counts += CellCounts(read=count, lost=count)


def _read_row(info: BasicInfo, plan: HeaderPlan, cells: Sequence[str], number: int) -> None:
    nulls = lost = 0
    for at, metric in plan.known:
        value: int | float | str | None = None
        try:
            value = _basic_value(metric, cells[at])
            nulls += value is None
        except BadCellError as bad:
            lost += 1
            info.issues.add(
                bad.code,
                Severity.WARNING,
                bad.message,
                line=number,
                column=metric.vendor,
                raw=cells[at],
                cells=1,
            )
        info.values[metric.column] = value
    for at, vendor in plan.unknown:
        if is_missing(cells[at]):
            nulls += 1
        else:
            key = (WHOLE_KERNEL_BLOCK, WHOLE_KERNEL_SUB_BLOCK)
            info.extras.append(read_extra(info.issues, vendor, key, cells[at], number))
    read = len(plan.names)
    info.counts += CellCounts(read=read, stored=read - nulls - lost, nulls=nulls, lost=lost)


def _basic_value(metric: Metric, cell: str) -> int | float | str | None:
    if is_missing(cell):
        return None
    if metric.type is SqlType.TEXT:
        if "\x00" in cell:
            raise BadCellError("nul_in_text", "the text holds NUL bytes")
        return cell.strip()
    value = to_number(cell, metric.type)
    if value is not None and value <= 0 and metric.column in FREQUENCY_COLUMNS:
        raise BadCellError("frequency_unknown", "the tool could not read the frequency")
    if value is not None and value < 0:
        raise BadCellError("negative_value", "a count or duration cannot be negative")
    return value


def read_op_basic_info_text(data: bytes) -> dict[str, str]:
    """``key=value`` lines of dump/op_basic_info.txt; lines without ``=`` are passed over.

    Keys seen: those of OpBasicInfo plus ``Run Soc Version``, ``Is MC2``, ``Is Lccl``, ``Has Simt``.
    """
    pairs: dict[str, str] = {}
    for line in split_lines(decode(data).text):
        key, equals, value = line.partition("=")
        if equals and key.strip() and "\x00" not in line:
            pairs.setdefault(key.strip(), value.strip())
    return pairs
