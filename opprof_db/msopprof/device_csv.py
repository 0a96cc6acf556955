"""Reader for the seven device CSV families (source: msopprof metric_csv_header.h and real captures).

One row per (block_id, sub_block_id), nothing quoted, every line ending in a comma in current
builds. A 310P file has one row for the whole kernel and no block columns. Whatever the bytes,
reading never fails: what cannot be kept leaves an issue, and the cell counts add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from opprof_db.catalog import BLOCK_ID, SUB_BLOCK_ID, Metric, SqlType, load
from opprof_db.msopprof.cells import NOT_APPLICABLE, BadCellError, fast_column, is_missing, to_number
from opprof_db.msopprof.issues import IssueLog, Severity
from opprof_db.msopprof.text import decode, split_lines

WHOLE_KERNEL_BLOCK = -1
"""block_id of a row that stands for the whole kernel (310P prints no block columns)."""
WHOLE_KERNEL_SUB_BLOCK = "all"

Value = int | float | None


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
class FamilyData:
    """Content of one family file, column by column; all lists are equally long."""

    family: str
    status: str
    """``read``, ``header_only``, ``empty`` or ``unrecognised``."""
    issues: IssueLog
    encoding: str
    block_ids: list[int] = field(default_factory=list)
    sub_block_ids: list[str] = field(default_factory=list)
    columns: dict[str, list[Value]] = field(default_factory=dict)
    """SQL column -> values, without the two key columns."""
    metrics: dict[str, Metric] = field(default_factory=dict)
    """SQL column -> catalogue entry, for the columns that the header named."""
    extras: list[ExtraCell] = field(default_factory=list)
    counts: CellCounts = field(default_factory=CellCounts)
    header: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows kept."""
        return len(self.block_ids)


@dataclass(frozen=True, slots=True)
class HeaderPlan:
    """What to do with each cell of a row, worked out once per distinct header line."""

    names: tuple[str, ...]
    trailing: int
    """Empty cells at the end of the header line (normally one)."""
    known: tuple[tuple[int, Metric], ...]
    unknown: tuple[tuple[int, str], ...]
    block_at: int | None
    sub_block_at: int | None
    duplicates: tuple[str, ...]


@lru_cache(maxsize=512)
def plan_header(family: str, line: str) -> HeaderPlan:
    """Match a header line against the catalogue, exactly or through written aliases."""
    cells = line.split(",")
    width = len(cells)
    while width and not cells[width - 1].strip():
        width -= 1
    names = tuple(cell.strip() for cell in cells[:width])
    catalogue = load()
    known: list[tuple[int, Metric]] = []
    unknown: list[tuple[int, str]] = []
    duplicates: list[str] = []
    keys: dict[str, int] = {}
    taken: set[str] = set()
    for at, name in enumerate(names):
        metric = catalogue.find(family, name)
        if metric is not None and metric.column in taken:
            duplicates.append(name)
            unknown.append((at, f"{name}#{at + 1}"))
        elif metric is None:
            spelling = name or f"(unnamed column {at + 1})"
            unknown.append((at, spelling if names.count(name) == 1 else f"{spelling}#{at + 1}"))
        elif metric.is_key:
            keys[metric.column] = at
            taken.add(metric.column)
        else:
            known.append((at, metric))
            taken.add(metric.column)
    return HeaderPlan(
        names=names,
        trailing=len(cells) - width,
        known=tuple(known),
        unknown=tuple(unknown),
        block_at=keys.get(BLOCK_ID),
        sub_block_at=keys.get(SUB_BLOCK_ID),
        duplicates=tuple(duplicates),
    )


def read_family(family: str, data: bytes, path: str | None = None) -> FamilyData:
    """Read one family CSV from its bytes; ``path`` only labels the issues."""
    issues = IssueLog(path)
    decoded = decode(data)
    result = FamilyData(family, "empty", issues, decoded.encoding + (" (BOM)" if decoded.bom else ""))
    if decoded.damaged:
        issues.add("bad_encoding", Severity.WARNING, f"not valid {decoded.encoding}; bad bytes were replaced")
    lines = split_lines(decoded.text)
    if not lines:
        issues.add("empty_file", Severity.WARNING, "the file is empty: this family was not written")
        return result
    plan = plan_header(family, lines[0])
    result.header = plan.names
    if not plan.known:
        result.status = "unrecognised"
        issues.add("unrecognised_header", Severity.ERROR, _why_unrecognised(family, lines[0]), line=1, raw=lines[0])
        return result
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
            "unknown_column",
            Severity.INFO,
            "not in the catalogue; kept in extra_metric_values",
            line=1,
            column=name,
        )
    if len(lines) == 1:
        result.status = "header_only"
        issues.add("header_only", Severity.WARNING, "only a header line: no values were written", line=1)
        return result
    result.status = "read"
    clean = decoded.text.isascii() and not any("_" in line for line in lines[1:])
    if not (clean and _read_fast(result, plan, lines)):
        _read_slowly(result, plan, lines)
    return result


def _why_unrecognised(family: str, header: str) -> str:
    if header.startswith("version https://git-lfs"):
        return "a Git LFS pointer, not the file itself: fetch it with `git lfs pull`"
    return f"no column of {family} in the first line: not a msopprof {family} file"


def _read_fast(result: FamilyData, plan: HeaderPlan, lines: list[str]) -> bool:
    """The usual case: every line as wide as the header, every cell a number or NA. False: look closer."""
    rows = [line.split(",") for line in lines[1:]]
    width = len(plan.names)
    if plan.unknown or plan.trailing > 1 or set(map(len, rows)) != {width + plan.trailing}:
        return False
    cells: list[tuple[str, ...]] = list(zip(*rows, strict=True))
    if plan.trailing and cells[-1].count("") != len(rows):
        return False
    keys = _fast_keys(plan, cells, len(rows))
    if keys is None:
        return False
    columns: dict[str, list[Value]] = {}
    nulls = 0
    for at, metric in plan.known:
        values = fast_column(cells[at], metric.type)
        if values is None:
            return False
        nulls += values.count(None)
        columns[metric.column] = values
    result.block_ids, result.sub_block_ids = keys
    result.columns = columns
    result.metrics = {metric.column: metric for _, metric in plan.known}
    read = width * len(rows)
    result.counts = CellCounts(read=read, stored=read - nulls, nulls=nulls)
    return True


def _fast_keys(plan: HeaderPlan, cells: list[tuple[str, ...]], rows: int) -> tuple[list[int], list[str]] | None:
    if plan.block_at is None and plan.sub_block_at is None and rows == 1:
        return [WHOLE_KERNEL_BLOCK], [WHOLE_KERNEL_SUB_BLOCK]
    if plan.block_at is None or plan.sub_block_at is None:
        return None
    blocks = fast_column(cells[plan.block_at], SqlType.INTEGER)
    subs = cells[plan.sub_block_at]
    if blocks is None or None in blocks or min(blocks) < 0:  # type: ignore[type-var,operator]
        return None
    if not NOT_APPLICABLE.isdisjoint(subs) or len(set(zip(blocks, subs, strict=True))) != rows:
        return None
    return blocks, list(subs)  # type: ignore[return-value]


def _read_slowly(result: FamilyData, plan: HeaderPlan, lines: list[str]) -> None:
    """Row by row, cell by cell: one bad cell costs one cell, one bad row costs one row."""
    width = len(plan.names)
    columns: dict[str, list[Value]] = {metric.column: [] for _, metric in plan.known}
    seen: set[tuple[int, str]] = set()
    endings: set[int] = {plan.trailing}
    read = nulls = lost = 0
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        cells = fit_row(line.split(","), width)
        if cells is None:
            count = line.count(",") + (0 if line.endswith(",") else 1)
            read, lost = read + count, lost + count
            result.issues.add(
                "ragged_row",
                Severity.WARNING,
                f"{count} cells where the header names {width}",
                line=number,
                raw=line,
                cells=count,
            )
            continue
        endings.add(line.count(",") + 1 - width)
        read += width
        key = _row_key(result, plan, cells, number, seen)
        if key is None:
            lost += width
            continue
        result.block_ids.append(key[0])
        result.sub_block_ids.append(key[1])
        for at, metric in plan.known:
            try:
                value = to_number(cells[at], metric.type)
                nulls += value is None
            except BadCellError as bad:
                value = None
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
            columns[metric.column].append(value)
        nulls += _read_extras(result, plan, cells, key, number)
    if len(endings) > 1:
        result.issues.add(
            "mixed_line_ends",
            Severity.WARNING,
            "some lines end in a comma and others do not; values were kept under their headers",
        )
    result.columns = columns
    result.metrics = {metric.column: metric for _, metric in plan.known}
    result.counts = CellCounts(read=read, stored=read - nulls - lost, nulls=nulls, lost=lost)


def fit_row(cells: Sequence[str], width: int) -> Sequence[str] | None:
    """The row cut to the header's width; ``None`` when cells are missing or surplus ones hold text."""
    if len(cells) < width or any(cell.strip() for cell in cells[width:]):
        return None
    return cells[:width]


def _row_key(
    result: FamilyData, plan: HeaderPlan, cells: Sequence[str], number: int, seen: set[tuple[int, str]]
) -> tuple[int, str] | None:
    """(block, sub-block) of a row, or ``None`` after leaving an issue that costs the whole row."""
    width = len(plan.names)
    block = WHOLE_KERNEL_BLOCK
    if plan.block_at is not None:
        try:
            number_read = to_number(cells[plan.block_at], SqlType.INTEGER)
        except BadCellError:
            number_read = None
        if not isinstance(number_read, int) or number_read < 0:
            result.issues.add(
                "bad_block_id",
                Severity.WARNING,
                "no usable block_id, so the row is not kept",
                line=number,
                column=BLOCK_ID,
                raw=",".join(cells),
                cells=width,
            )
            return None
        block = number_read
    sub_block = WHOLE_KERNEL_SUB_BLOCK
    if plan.sub_block_at is not None:
        sub_block = cells[plan.sub_block_at].strip()
        if is_missing(sub_block):
            result.issues.add(
                "bad_sub_block_id",
                Severity.WARNING,
                "no usable sub_block_id, so the row is not kept",
                line=number,
                column=SUB_BLOCK_ID,
                raw=",".join(cells),
                cells=width,
            )
            return None
    if (block, sub_block) in seen:
        result.issues.add(
            "duplicate_row",
            Severity.WARNING,
            f"block {block} {sub_block} stands in the file before; the first row is kept",
            line=number,
            raw=",".join(cells),
            cells=width,
        )
        return None
    seen.add((block, sub_block))
    return block, sub_block


def _read_extras(result: FamilyData, plan: HeaderPlan, cells: Sequence[str], key: tuple[int, str], number: int) -> int:
    """Keep the cells of unknown columns with their raw text; returns how many say NA."""
    missing = 0
    for at, vendor in plan.unknown:
        raw = cells[at]
        if is_missing(raw):
            missing += 1
            continue
        value: Value = None
        try:
            value = to_number(raw, SqlType.INTEGER if raw.strip().lstrip("+-").isdigit() else SqlType.REAL)
        except BadCellError as bad:
            result.issues.add(
                f"extra_{bad.code}",
                Severity.INFO,
                f"{bad.message}; the text is kept",
                line=number,
                column=vendor,
                raw=raw,
            )
        result.extras.append(ExtraCell(vendor, key[0], key[1], value, raw))
    return missing
