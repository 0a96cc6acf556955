"""What a report is made of, as plain data: sections of paragraphs, figures and tables. Templates get these as dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

CONTEXT_VERSION = 1
"""Version of the data given to templates (docs/report-context.md); goes up when something is renamed or leaves."""

Kind = Literal["text", "prose", "number", "share", "bytes", "code", "link", "severity"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    key: str
    label: str
    kind: Kind = "text"
    """number: three digits; share: 0..1 printed in per cent; bytes: a size; code: in a fixed-width font;
    prose: a sentence, in which `this` is code; link: {"text", "href"} with a place on the page."""
    unit: str | None = None
    help: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows below columns; a cell is a plain value, ``None`` where nothing is recorded."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str | None = None
    total: int | None = None
    """Rows there are, where not all of them are given."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A plotly figure: what it shows in words, and its specification."""

    id: str
    title: str
    description: str
    """What a reader would take from the figure, with the figures; its text alternative."""
    spec: Mapping[str, Any]
    """plotly's ``{"data": […], "layout": {…}}``."""
    height: int = 320
    """Pixels."""
    wide: bool = False
    """Takes the whole width of the page."""
    table: Table | None = None
    """The same numbers as a table."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page with a heading of its own."""

    id: str
    title: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    sources: tuple[Mapping[str, Any], ...] = ()
    """Excerpts of source files: {"title", "lines": [{"number", "text", "cycles", "share"}]}."""

    @property
    def empty(self) -> bool:
        """Nothing is in it."""
        return not (self.paragraphs or self.figures or self.tables or self.sources)


def plain(value: Any) -> Any:
    """The same as dicts and lists."""
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {key: plain(held) for key, held in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(held) for held in value]
    return value
