"""Puts plain data on a page: chooses the template, cleans the texts, and writes the file whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opprof_db import __version__, scratch
from opprof_db.errors import UsageError
from opprof_db.report import assets
from opprof_db.report.assets import Assets
from opprof_db.report.environment import environment
from opprof_db.report.model import CONTEXT_VERSION, plain
from opprof_db.report.texts import everywhere, without_paths


@dataclass(frozen=True, slots=True)
class Options:
    """How a page is made."""

    assets: Assets = Assets.INLINE
    show_paths: bool = False
    """Absolute paths of the machine a run came from stay; else only their last parts do."""
    template_dir: Path | None = None
    """Templates of the user, looked at before the program's own."""


def render(template: str, context: Mapping[str, Any], options: Options | None = None) -> str:
    """A page as text. ``context`` is what the template's kind of report documents (docs/report-context.md).

    Raises:
        UsageError: a template of the user is missing or wrong.
    """
    from jinja2 import TemplateError

    options = options or Options()
    data = plain(context)
    if not options.show_paths:
        data = everywhere(data, without_paths)
    page = {
        "assets": options.assets.value,
        "folder": assets.FOLDER,
        "style": assets.style(),
        "script": assets.script(),
        "plotly": assets.plotly(),
        "show_paths": options.show_paths,
    }
    program = {"name": "opprof-db", "version": __version__}
    try:
        made = environment(options.template_dir).get_template(template)
        return made.render(data, page=page, program=program, context_version=CONTEXT_VERSION)
    except TemplateError as error:
        where = getattr(error, "name", None) or template
        line = getattr(error, "lineno", None)
        at = f"{where}, line {line}" if line else where
        raise UsageError(
            f"template {at}: {getattr(error, 'message', None) or error}",
            "docs/report-context.md lists what templates get" if options.template_dir else None,
        ) from error


def write(text: str, target: Path, options: Options | None = None) -> None:
    """Write a page, and its assets beside it where they are not in it.

    Raises:
        InputError: it cannot be written.
    """
    with scratch.new_file(target) as part:
        part.write_text(text, encoding="utf-8")
    if options is not None and options.assets is Assets.DIRECTORY:
        assets.write_beside(target)
