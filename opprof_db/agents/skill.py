"""Writes the skill folder: how an agent asks this warehouse, with the schema and the queries of this program."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from opprof_db import __version__
from opprof_db.errors import InputError, UsageError
from opprof_db.warehouse import schema_docs
from opprof_db.warehouse.queries import query_files

NAME = "opprof-db-explorer"
_MANIFEST = ".opprof-db.json"
"""Hashes of what was written: tells the program's files from those somebody changed."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What happened to one file."""

    path: Path
    what: str
    """written, unchanged, or replaced."""


def contents() -> dict[str, str]:
    """Path below the skill folder -> text."""
    found = schema_docs.described()
    head = "# {}\n\nMade by `opprof-db skill install` of version " + __version__ + ".\n\n"
    shown = [one for one in found if one.kind == "view"]
    return {
        "SKILL.md": _skill(),
        "references/numbers.md": _template("numbers.md"),
        "references/views.md": head.format("Views: what to ask") + schema_docs.markdown(shown),
        "references/tables.md": head.format("Tables: what views are made of")
        + schema_docs.markdown(one for one in found if one.kind == "table"),
        "references/msprof_views.md": head.format("Views in the shape of the msprof database")
        + schema_docs.markdown(one for one in found if one.kind == "compat"),
        "references/queries.md": head.format("Named queries: answers to common questions") + _queries(),
    }


def install(folder: Path, *, force: bool = False) -> list[Installed]:
    """Write the skill to ``folder``/opprof-db-explorer; what is current already stays.

    Raises:
        UsageError: a file there is not this program's, or was changed; nothing was written.
        InputError: the folder cannot be written.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder", "create it first; skills usually live in .claude/skills")
    target = folder / NAME
    new = contents()
    known = _known(target)
    for name in (*new, _MANIFEST):
        _refuse_links(target, name)
        path = target / name
        if name == _MANIFEST or force or not path.exists():
            continue
        held = _hash(path.read_bytes())
        if held not in (known.get(name), _hash(new[name].encode())):
            raise UsageError(f"{path} was not written by opprof-db, or was changed", "--force replaces it")
    try:
        return [_write(target, name, text) for name, text in new.items()] + [_remember(target, new)]
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror or error}", "check the permissions") from error


def _write(target: Path, name: str, text: str) -> Installed:
    path = target / name
    before = path.read_text(encoding="utf-8", errors="replace") if path.exists() else None
    if before == text:
        return Installed(path, "unchanged")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return Installed(path, "written" if before is None else "replaced")


def _remember(target: Path, new: dict[str, str]) -> Installed:
    hashes = {name: _hash(text.encode()) for name, text in new.items()}
    return _write(target, _MANIFEST, json.dumps({"version": __version__, "files": hashes}, indent=2) + "\n")


def _known(target: Path) -> dict[str, str]:
    path = target / _MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["files"] if path.is_file() else {}
    except (ValueError, KeyError, TypeError, OSError):
        return {}
    return {str(name): str(held) for name, held in found.items()} if isinstance(found, dict) else {}


def _refuse_links(target: Path, name: str) -> None:
    """Nothing is written through a link."""
    path = target
    for part in ("", *Path(name).parts):
        path = path / part if part else path
        if path.is_symlink():
            raise UsageError(f"{path} is a link", "remove it, or give another folder")


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _template(name: str) -> str:
    return (files("opprof_db.agents") / "templates" / name).read_text(encoding="utf-8")


def _skill() -> str:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True)
    views = [one for one in schema_docs.described() if one.kind == "view"]
    return environment.from_string(_template("SKILL.md.jinja")).render(
        name=NAME, version=__version__, views=views, queries=query_files()
    )


def _queries() -> str:
    parts = []
    for one in schema_docs.described():
        if one.kind == "query":
            parts.append(schema_docs.markdown([one]) + f"\n```sql\n{one.ddl}\n```\n")
    return "\n".join(parts)
