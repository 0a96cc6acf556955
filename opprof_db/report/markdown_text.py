"""Texts made harmless for Markdown: one cell stays one cell, and no text becomes markup, a heading or a link."""

from __future__ import annotations

import re
from typing import Any

from opprof_db.report import numbers
from opprof_db.report.texts import shortened, visible

LONGEST = 600
"""Characters of a cell; a longer text loses its middle."""
_MARKS = re.compile(r"[\\`*\[\]|~#$]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown reads; underscores within words it does not."""
_LINKS = re.compile(r"(?<=:)//|(?<=\bwww)\.|@", re.IGNORECASE)
"""What GitHub's Markdown makes links and mentions of, unasked."""


def cell(value: Any) -> str:
    """A value as the content of a table cell or of a line of text.

    Texts keep to one line and ``LONGEST`` characters. Two ``#`` never stand side by side: the profiling workflow counts
    headings by looking for them.
    """
    if value is None:
        return numbers.NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return figure(value)
    text = shortened(visible(" ".join(str(value).split())), LONGEST)
    text = _MARKS.sub(lambda found: f"\\{found[0]}", text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LINKS.sub(lambda found: "".join(f"&#{ord(one)};" for one in found[0]), text)


def figure(value: float | int) -> str:
    """A number with six significant digits: there is no hovering over a Markdown cell to see the exact one."""
    text = numbers.readable(value, 6)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
