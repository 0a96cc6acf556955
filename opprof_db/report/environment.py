"""The Jinja environment of reports: everything is escaped, and what cannot be seen is written out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from opprof_db.errors import UsageError
from opprof_db.report import numbers
from opprof_db.report.texts import visible


def environment(template_dir: Path | None = None) -> Environment:
    """Templates of the user's folder first, where one is given, then the program's own.

    Raises:
        UsageError: there is no such folder.
    """
    own = PackageLoader("opprof_db.report", "templates")
    loader: ChoiceLoader | PackageLoader = own
    if template_dir is not None:
        if not template_dir.is_dir():
            raise UsageError(f"{template_dir} is not a folder", "--template takes a folder with Jinja templates")
        loader = ChoiceLoader([FileSystemLoader(template_dir), own])
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        n=number,
        share=share,
        bytes=size,
        us=time,
        readable=numbers.readable,
        exact=numbers.exact,
        script_json=script_json,
        breakable=breakable,
        prose=prose,
    )
    made.globals["NOTHING"] = numbers.NOTHING
    return made


def _finalize(value: Any) -> Any:
    """Texts that a template prints; markup that it made itself is left alone."""
    if value is None:
        return numbers.NOTHING
    return visible(value) if type(value) is str else value


def number(value: Any, unit: str | None = None) -> Any:
    """A number to read, with the exact one for machines and on hover."""
    if value is None or isinstance(value, (str, bool)):
        return value
    return _data(value, numbers.readable(value), unit)


def share(value: float | None) -> Any:
    """A share (0..1) in per cent."""
    return None if value is None else _data(value, numbers.percent(value), None)


def size(value: float | None) -> Any:
    """A size, bytes."""
    return None if value is None else _data(value, numbers.bytes_text(value), "bytes")


def time(value: float | None) -> Any:
    """A time, us."""
    return None if value is None else _data(value, numbers.us_text(value), "us")


def _data(value: float | int, text: str, unit: str | None) -> Markup:
    exact = numbers.exact(value)
    told = f"{exact} {unit}" if unit else exact
    return Markup('<data class="n" value="{}" title="{}">{}</data>').format(exact, told, text)


def script_json(value: Any) -> Markup:
    """Data for a script element: no character in it can end the element or begin a comment."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


_CODE = re.compile(r"`([^`\n]{1,300})`")


def prose(text: Any) -> Any:
    """A sentence in which `words between such marks` are code; everything else is escaped as ever."""
    if not isinstance(text, str):
        return text
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(visible(text)))))


def breakable(text: Any) -> Any:
    """A name that may be broken where its parts join, so that long ones fit a phone."""
    if not isinstance(text, str):
        return text
    escaped = str(escape(visible(text)))
    for mark in ("_", "/", "::", "."):
        escaped = escaped.replace(mark, f"{mark}<wbr>")
    return Markup(escaped)
