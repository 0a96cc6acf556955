"""Reader for the seven device CSV families (source: msopprof metric_csv_header.h and real captures).

One row per (block_id, sub_block_id), nothing quoted, every line ending in a comma in current
builds. A 310P file has one row for the whole kernel and no block columns. Whatever the bytes,
reading never fails: what cannot be kept leaves an issue, and the cell counts add up.

The usual file is read at C speed (``fast_rows.py``); any irregularity sends it down the slow path,
cell by cell, which gives the same values and says what is wrong where.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from opprof_db.catalog import BLOCK_ID, SUB_BLOCK_ID, Metric, SqlType
from opprof_db.msopprof.cells import BadCellError, is_missing, to_number
from opprof_db.msopprof.fast_rows import read_fast
from opprof_db.msopprof.headers import (
    WHOLE_KERNEL_BLOCK,
    WHOLE_KERNEL_SUB_BLOCK,
    HeaderPlan,
    Row,
    Value,
    plan_header,
)
from opprof_db.msopprof.issues import IssueLog, Severity
from opprof_db.msopprof.names import core_kind
from opprof_db.msopprof.text import decode, ends_open, split_lines


@dataclass(frozen=True, slots=True)
class CellCounts:
    """Accounting of one file: read = stored + nulls + lost."""

    read: int = 0
    stored: int = 0
    nulls: int = 0
    lost: int = 0

    def __add__(self, other: CellCounts) -> CellCounts:
        return CellCounts(
            self.read + other.read,
            self.stored + other.stored,
            self.nulls + other.nulls,
            self.lost + other.lost,
        )


@dataclass(frozen=True, slots=True)
class ExtraCell:
    """A cell under a column that the catalogue does not know; ``raw`` is the text as printed."""

    vendor: str
    block_id: int
    sub_block_id: str
    value: Value
    raw: str


@dataclass(slots=True)
class CoreGroup:
    """The rows of one core kind in one file, column by column; all sequences are equally long.

    ``columns`` holds SQL column -> values, without the keys and without columns that are NULL
    throughout: on a cube row every aiv_* cell says NA, and the other way round.
    """

    kind: str | None
    """aic, aiv, aicore; ``None`` for sub-blocks of no known kind."""
    block_ids: Sequence[int]
    sub_block_ids: Sequence[str]
    columns: dict[str, Sequence[Value]]


@dataclass(slots=True)
class FamilyData:
    """Content of one family file."""

    family: str
    status: str
    """``read``, ``header_only``, ``empty`` or ``unrecognised``."""
    issues: IssueLog
    encoding: str
    groups: list[CoreGroup] = field(default_factory=list)
    metrics: dict[str, Metric] = field(default_factory=dict)
    """SQL column -> catalogue entry, for the columns that the header named (keys left out)."""
    extras: list[ExtraCell] = field(default_factory=list)
    counts: CellCounts = field(default_factory=CellCounts)
    header: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows kept."""
        return sum(len(group.block_ids) for group in self.groups)

    def cells(self, column: str) -> Iterator[tuple[int, str, Value]]:
        """(block, sub-block, value) of a column, core kind by core kind."""
        for group in self.groups:
            values = group.columns.get(column) or [None] * len(group.block_ids)
            yield from zip(group.block_ids, group.sub_block_ids, values, strict=True)


def read_family(family: str, data: bytes, path: str | None = None) -> FamilyData:
    """Read one family CSV from its bytes; ``path`` only labels the issues."""
    issues = IssueLog(path)
    decoded = decode(data)
    result = FamilyData(family, "empty", issues, decoded.encoding + (" (BOM)" if decoded.bom else ""))
    if decoded.damaged:
        issues.add("bad_encoding", Severity.WARNING, f"not valid {decoded.encoding}; bad bytes were replaced")
    header, _, body = decoded.text.partition("\n")
    if "\r" not in decoded.text and header:
        plan = plan_header(family, header)
        if plan.known and body and not plan.unknown:
            rows = read_fast(plan, body)
            if rows is not None:
                result.status, result.header = "read", plan.names
                _keep(result, plan, rows, read=len(rows) * len(plan.names), lost=0)
                return result
    _read_closely(result, split_lines(decoded.text), open_end=ends_open(decoded.text))
    return result


def _read_closely(result: FamilyData, lines: list[str], *, open_end: bool) -> None:
    """Everything that is not the usual case."""
    issues, family = result.issues, result.family
    if not lines:
        issues.add("empty_file", Severity.WARNING, "the file is empty: this family was not written")
        return
    plan = plan_header(family, lines[0])
    result.header = plan.names
    if not plan.known:
        result.status = "unrecognised"
        issues.add("unrecognised_header", Severity.ERROR, _why_unrecognised(family, lines[0]), line=1, raw=lines[0])
        return
    for name in plan.duplicates:
        issues.add(
            "duplicate_column",
            Severity.WARNING,
            "named twice; the second is kept as an extra column",
            line=1,
            column=name,
        )
    for _, name in plan.unknown:
        issues.add(
            "unknown_column", Severity.INFO, "not in the catalogue; kept in extra_metric_values", line=1, column=name
        )
    if not any(line.strip() for line in lines[1:]):
        result.status = "header_only"
        issues.add("header_only", Severity.WARNING, "only a header line: no values were written", line=1)
        return
    result.status = "read"
    _read_rows(result, plan, lines, open_end=open_end)


def _why_unrecognised(family: str, header: str) -> str:
    if header.startswith("version https://git-lfs"):
        return "a Git LFS pointer, not the file itself: fetch it with `git lfs pull`"
    return f"no column of {family} in the first line: not a msopprof {family} file"


def _read_rows(result: FamilyData, plan: HeaderPlan, lines: list[str], *, open_end: bool) -> None:
    """Row by row, cell by cell: one bad cell costs one cell, one bad row costs one row."""
    width = len(plan.names)
    rows: list[Row] = []
    seen: set[tuple[int, str]] = set()
    endings: set[int] = {plan.trailing}
    read = lost = 0
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        cells = fit_row(line.split(","), width)
        # Where lines end in a comma, a line of the header's width with nothing at its end was cut off.
        if cells is None or (plan.trailing and line.count(",") < width and not cells[-1].strip()):
            count = count_cells(line)
            read, lost = read + count, lost + count
            message = f"{count} cells where the header names {width}"
            result.issues.add("ragged_row", Severity.WARNING, message, line=number, raw=line, cells=count)
            continue
        cut = open_end and number == len(lines) and bool(plan.trailing) and not line.endswith(",")
        if cut:
            cells = drop_last_cell(result.issues, cells, plan.names[-1], number)
            lost += 1
        else:
            endings.add(line.count(",") + 1 - width)
        read += width
        key = _row_key(result, plan, cells, number, seen)
        if key is None:
            lost += width
            continue
        row: list[int | float | str | None] = [*key]
        for at, metric in plan.known:
            try:
                row.append(to_number(cells[at], metric.type))
            except BadCellError as bad:
                row.append(None)
                lost += 1
                result.issues.add(
                    bad.code,
                    Severity.WARNING,
                    bad.message,
                    line=number,
                    column=metric.vendor,
                    raw=cells[at],
                    cells=1,
                )
        rows.append(tuple(row))
        _read_extras(result, plan, cells, key, number)
    if len(endings) > 1:
        result.issues.add(
            "mixed_line_ends",
            Severity.WARNING,
            "some lines end in a comma and others do not; values were kept under their headers",
        )
    _keep(result, plan, rows, read=read, lost=lost)


def drop_last_cell(issues: IssueLog, cells: Sequence[str], column: str, number: int) -> Sequence[str]:
    """The cells of a line in which the file ends: the last one may be half of a number, so it is lost."""
    message = "the file ends within this line: its last value may be cut off and is not kept"
    issues.add("cut_off", Severity.WARNING, message, line=number, column=column, raw=cells[-1], cells=1)
    return [*cells[:-1], ""]


def count_cells(line: str) -> int:
    """Cells on a line, the empty one behind a trailing comma not counted."""
    return line.count(",") + (0 if line.endswith(",") else 1)


def fit_row(cells: Sequence[str], width: int) -> Sequence[str] | None:
    """The row cut to the header's width; ``None`` when cells are missing or surplus ones hold text."""
    if len(cells) < width or any(cell.strip() for cell in cells[width:]):
        return None
    return cells[:width]


def _row_key(
    result: FamilyData, plan: HeaderPlan, cells: Sequence[str], number: int, seen: set[tuple[int, str]]
) -> tuple[int, str] | None:
    """(block, sub-block) of a row, or ``None`` after leaving an issue that costs the whole row."""
    block = WHOLE_KERNEL_BLOCK
    if plan.block_at is not None:
        try:
            value = to_number(cells[plan.block_at], SqlType.INTEGER)
        except BadCellError:
            value = None
        if isinstance(value, int) and value >= 0:
            block = value
        else:
            _lose_row(result, "bad_block_id", "no usable block_id, so the row is not kept", cells, number, BLOCK_ID)
            return None
    sub_block = WHOLE_KERNEL_SUB_BLOCK
    if plan.sub_block_at is not None:
        sub_block = cells[plan.sub_block_at].strip()
        if is_missing(sub_block) or "\x00" in sub_block:
            message = "no usable sub_block_id, so the row is not kept"
            _lose_row(result, "bad_sub_block_id", message, cells, number, SUB_BLOCK_ID)
            return None
    if (block, sub_block) in seen:
        message = f"block {block} {sub_block} stands in the file before; the first row is kept"
        _lose_row(result, "duplicate_row", message, cells, number, None)
        return None
    seen.add((block, sub_block))
    return block, sub_block


def _lose_row(
    result: FamilyData, code: str, message: str, cells: Sequence[str], number: int, column: str | None
) -> None:
    raw = ",".join(cells)
    result.issues.add(code, Severity.WARNING, message, line=number, column=column, raw=raw, cells=len(cells))


def _read_extras(result: FamilyData, plan: HeaderPlan, cells: Sequence[str], key: tuple[int, str], number: int) -> None:
    """Keep the cells of unknown columns with their raw text."""
    for at, vendor in plan.unknown:
        if not is_missing(cells[at]):
            result.extras.append(read_extra(result.issues, vendor, key, cells[at], number))


def read_extra(issues: IssueLog, vendor: str, key: tuple[int, str], raw: str, number: int) -> ExtraCell:
    """A cell of an unknown column: its text as it is, and its number if it holds one."""
    value: Value = None
    try:
        value = to_number(raw, SqlType.REAL)
    except BadCellError as bad:
        issues.add(
            f"extra_{bad.code}",
            Severity.INFO,
            f"{bad.message}; the text is kept",
            line=number,
            column=vendor,
            raw=raw,
        )
    return ExtraCell(vendor, key[0], key[1], value, raw.replace("\x00", "\\x00"))


def _keep(result: FamilyData, plan: HeaderPlan, rows: Sequence[Row], *, read: int, lost: int) -> None:
    """Sort rows by core kind, turn them into columns, and close the accounting.

    ``rows`` start with block and sub-block; the values follow in the order of ``plan.known``.
    """
    columns = [metric.column for _, metric in plan.known]
    result.metrics = {metric.column: metric for _, metric in plan.known}
    stored = 0
    for kind, own in _by_kind(rows):
        block_ids, sub_block_ids, *values = zip(*own, strict=True)
        group = CoreGroup(kind, block_ids, sub_block_ids, {})
        for column, cells in zip(columns, values, strict=True):
            present = len(cells) - cells.count(None)
            if present:
                group.columns[column] = cells
                stored += present
        result.groups.append(group)
    key_cells = sum(at is not None for at in (plan.block_at, plan.sub_block_at))
    stored += key_cells * len(rows) + len(result.extras)
    result.counts = CellCounts(read=read, stored=stored, nulls=read - stored - lost, lost=lost)


def _by_kind(rows: Iterable[Row]) -> Iterator[tuple[str | None, list[Row]]]:
    """Rows by core kind, in the order the kinds are met."""
    by_sub: dict[str, list[Row]] = {}
    for row in rows:
        sub = row[1]
        assert isinstance(sub, str)
        found = by_sub.get(sub)
        if found is None:
            by_sub[sub] = found = []
        found.append(row)
    by_kind: dict[str | None, list[list[Row]]] = {}
    for sub, own in by_sub.items():
        by_kind.setdefault(core_kind(sub), []).append(own)
    for kind, parts in by_kind.items():
        yield kind, parts[0] if len(parts) == 1 else list(chain.from_iterable(parts))
