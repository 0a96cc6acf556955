"""Texts from files made harmless to look at: nothing in a name may hide, reorder or break what a reader sees.

Escaping for HTML is the templates' work (autoescape); this is about what escaping leaves: control characters, marks
that turn the writing direction, and paths of the machine a run came from.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
"""Control characters, zero-width ones, and marks that turn the writing direction; line ends and tabs are not."""
_ABSOLUTE = re.compile(
    r"""(?:file://|(?<![\w./\\])(?<!:/))/(?!/)[^\s/:;,'"<>|()\[\]{}=]+(?:/[^\s/:;,'"<>|()\[\]{}=]+)+/?"""
    r"""|(?<![\w])[A-Za-z]:\\(?:[^\\\s:;,'"<>|]+\\)*[^\\\s:;,'"<>|]*"""
    r"""|\\\\[^\\\s]+\\(?:[^\\\s:;,'"<>|]+\\?)+"""
)
HIDDEN = "…/"
"""Stands for the folders of a path that is not shown."""


def visible(text: str) -> str:
    """The text with what cannot be seen written out: NUL as ``\\x00``, a right-to-left mark as ``\\u200f``."""
    return _UNSEEN.sub(lambda found: _written(found[0]), text)


def _written(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def for_figure(text: str, at_most: int = 60) -> str:
    """A label of a figure: plotly takes a part of HTML for markup, and long labels push the figure aside."""
    return html.escape(shortened(visible(" ".join(text.split())), at_most), quote=False)


def shortened(text: str, at_most: int) -> str:
    """The text with its middle left out: names of kernels differ at both ends."""
    if len(text) <= at_most:
        return text
    head = (at_most - 1) // 2
    return f"{text[:head]}…{text[len(text) - (at_most - 1 - head) :]}"


def file_name(path: str) -> str:
    """The last part of a path, behind ``…/`` where folders were left out."""
    cleaned = path.removeprefix("file://").replace("\\", "/").rstrip("/")
    head, slash, last = cleaned.rpartition("/")
    return f"{HIDDEN}{last}" if slash and (head == "" or head.startswith("/") or ":" in head[:3]) else path


def without_paths(text: str) -> str:
    """The text with every absolute path in it cut down to its last part."""
    return _ABSOLUTE.sub(lambda found: file_name(found[0]), text) if "/" in text or "\\" in text else text


def everywhere(value: Any, change: Callable[[str], str]) -> Any:
    """Plain data with every text in it changed, keys left as they are."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: everywhere(held, change) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [everywhere(held, change) for held in value]
    return value
