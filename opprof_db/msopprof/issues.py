"""Problems met while reading: what was lost or flagged, where, and the raw text.

Accounting rule for tabular readers: cells read = values kept + NULLs + cells that an issue with
``cells > 0`` explains. Issues with ``cells == 0`` are remarks: they flag, but nothing was lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

RAW_TEXT_LIMIT = 500
"""Characters of raw text kept per issue; longer text is cut and ends in an ellipsis."""

DETAIL_LIMIT = 100
"""Issues of one (code, column) kept one by one in a file; the rest are counted in one closing issue."""
CODE_LIMIT = 2000
"""Issues of one code kept one by one in a file, over all its columns."""


class Severity(StrEnum):
    """``error``: a file was lost; ``warning``: values were lost or are doubtful; ``info``: a remark."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Issue:
    """One problem in one file.

    ``line`` counts from 1 (the header is line 1); ``offset`` is a byte offset for binary and JSON
    input; ``cells`` is how many cells the issue explains the loss of; ``count`` how many like it
    this one row stands for.
    """

    code: str
    severity: Severity
    message: str
    path: str | None = None
    line: int | None = None
    column: str | None = None
    raw: str | None = None
    offset: int | None = None
    cells: int = 0
    count: int = 1


def clip(raw: str, limit: int = RAW_TEXT_LIMIT) -> str:
    """Raw text fit to be stored: NUL bytes made visible, cut at ``limit`` characters."""
    text = raw[: limit + 1].replace("\x00", "\\x00")
    return text if len(text) <= limit else text[: limit - 1] + "…"


@dataclass(slots=True)
class IssueLog:
    """Collects issues of one file; keeps the first ``DETAIL_LIMIT`` of a kind, then only counts.

    Counting keeps a hostile file of a million bad cells from becoming a million rows, while the
    accounting stays exact: the closing issue carries the number of cells.
    """

    path: str | None = None
    _kept: list[Issue] = field(default_factory=list)
    _seen: dict[tuple[str, str | None], int] = field(default_factory=dict)
    _codes: dict[str, int] = field(default_factory=dict)
    _overflow: dict[tuple[str, str | None], tuple[Severity, int, int]] = field(default_factory=dict)

    def add(
        self,
        code: str,
        severity: Severity,
        message: str,
        *,
        line: int | None = None,
        column: str | None = None,
        raw: str | None = None,
        offset: int | None = None,
        cells: int = 0,
        count: int = 1,
    ) -> None:
        """Record one problem."""
        key = (code, column)
        of_code = self._codes.get(code, 0)
        if of_code >= CODE_LIMIT and key not in self._seen:
            key = (code, None)
        seen = self._seen.get(key, 0)
        self._seen[key] = seen + 1
        if seen >= DETAIL_LIMIT or of_code >= CODE_LIMIT:
            _, old_cells, old_count = self._overflow.get(key, (severity, 0, 0))
            self._overflow[key] = (severity, old_cells + cells, old_count + count)
            return
        self._codes[code] = of_code + 1
        self._kept.append(
            Issue(
                code=code,
                severity=severity,
                message=message,
                path=self.path,
                line=line,
                column=None if column is None else clip(column),
                raw=None if raw is None else clip(raw),
                offset=offset,
                cells=cells,
                count=count,
            )
        )

    def __iter__(self) -> Iterator[Issue]:
        yield from self._kept
        for (code, column), (severity, cells, count) in self._overflow.items():
            yield Issue(
                code=code,
                severity=severity,
                message=f"{count} more like these",
                path=self.path,
                column=None if column is None else clip(column),
                cells=cells,
                count=count,
            )

    @property
    def cells(self) -> int:
        """Number of cells the issues so far explain."""
        return sum(issue.cells for issue in self)
