"""Style, script and plotly's JavaScript of a page: written into it, or beside it for many pages in one folder."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path

from opprof_db.errors import InputError

FOLDER = "opprof-report-assets"
"""Name of the folder beside the pages."""


class Assets(StrEnum):
    """Where a page's style and scripts are."""

    INLINE = "inline"
    DIRECTORY = "directory"


@dataclass(frozen=True, slots=True)
class Asset:
    """A style sheet or script."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """What the page's content security policy names it by."""
        return "sha256-" + base64.b64encode(hashlib.sha256(self.text.encode()).digest()).decode()


@cache
def style() -> Asset:
    """The style sheet."""
    return Asset("report.css", _own("report.css"))


@cache
def script() -> Asset:
    """The page's own script: tables, theme, table of contents, when to draw a figure."""
    return Asset("report.js", _own("report.js"))


@cache
def plotly() -> Asset:
    """plotly's JavaScript as its Python package ships it."""
    from plotly.offline import get_plotlyjs

    # A carriage return would be read as a line feed by the browser, and the digest would not fit.
    text: str = get_plotlyjs()
    return Asset("plotly.min.js", text.replace("\r\n", "\n").replace("\r", "\n"))


def _own(name: str) -> str:
    return (files("opprof_db.report") / "static" / name).read_text(encoding="utf-8")


def write_beside(page: Path) -> list[str]:
    """Write all assets to the folder beside a page, those that are there already left alone; their names.

    Raises:
        InputError: they cannot be written.
    """
    folder = page.parent / FOLDER
    held = (style(), script(), plotly())
    try:
        folder.mkdir(exist_ok=True)
        for asset in held:
            data = asset.text.encode()
            path = folder / asset.name
            if not (path.is_file() and path.read_bytes() == data):
                path.write_bytes(data)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror or error}", "check folder and space") from error
    return [asset.name for asset in held]
