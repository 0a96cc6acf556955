"""Header lines of device CSVs, matched against the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from opprof_db.catalog import BLOCK_ID, SUB_BLOCK_ID, Metric, load

WHOLE_KERNEL_BLOCK = -1
"""block_id of a row that stands for the whole kernel (310P prints no block columns)."""
WHOLE_KERNEL_SUB_BLOCK = "all"

Value = int | float | None
Row = tuple[int | float | str | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class HeaderPlan:
    """What to do with each cell of a row, worked out once per distinct header line (hence equal by identity)."""

    names: tuple[str, ...]
    trailing: int
    """Empty cells at the end of the header line (normally one)."""
    known: tuple[tuple[int, Metric], ...]
    unknown: tuple[tuple[int, str], ...]
    block_at: int | None
    sub_block_at: int | None
    duplicates: tuple[str, ...]

    @property
    def whole_kernel(self) -> bool:
        """Whether the file has no block columns: one row stands for the kernel."""
        return self.block_at is None and self.sub_block_at is None


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
    occurrences: dict[str, int] = {}
    for at, name in enumerate(names):
        metric = catalogue.find(family, name)
        occurrences[name] = occurrences.get(name, 0) + 1
        if metric is not None and metric.column in taken:
            duplicates.append(name)
            unknown.append((at, f"{name}#{at + 1}"))
        elif metric is None:
            spelling = name or f"(unnamed column {at + 1})"
            unknown.append((at, spelling if occurrences[name] == 1 else f"{spelling}#{at + 1}"))
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
