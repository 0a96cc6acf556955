"""Writes the skill: a folder that teaches an agent to use a warehouse.

The folder follows the Agent Skills conventions (agentskills.io): ``SKILL.md`` with front matter, a
short body, and details under ``references/``. What is generated from the program (schema, named
queries) is never written by hand. A manifest in the folder holds the hash of every file written, so
that a later installation tells its own files from those a person changed.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from opprof_db import __version__
from opprof_db.errors import InputError, UsageError
from opprof_db.knowledge.library import only_built_in
from opprof_db.knowledge.model import KINDS
from opprof_db.warehouse import schema_docs
from opprof_db.warehouse.schema_docs import Kind

NAME = "opprof-db"
"""Name of the skill and of its folder: the conventions want them to be the same."""
MANIFEST = ".opprof-db-skill.json"
_TEMPLATES = (
    "SKILL.md",
    "references/numbers.md",
    "references/views.md",
    "references/tables.md",
    "references/queries.md",
    "references/knowledge.md",
)
_SHOWN = 5


@dataclass(slots=True)
class Installed:
    """What an installation did to the files of the folder, by their path in it."""

    folder: Path
    written: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Files of an earlier version that a person changed and that this version does not have."""


def contents() -> dict[str, str]:
    """Path in the skill's folder -> text of every file."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("opprof_db.agents", "skill_templates"),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    values = {
        "name": NAME,
        "version": __version__,
        "views": schema_docs.of_kind(Kind.VIEW),
        "compat": schema_docs.of_kind(Kind.COMPAT),
        "tables": schema_docs.of_kind(Kind.TABLE),
        "queries": schema_docs.of_kind(Kind.QUERY),
        "entries": sorted(
            only_built_in().entries.values(), key=lambda entry: (KINDS.index(entry.head.kind), entry.head.id)
        ),
        "sections": lambda items: schema_docs.markdown(items).rstrip("\n"),
    }
    return {path: environment.get_template(f"{path}.j2").render(values) for path in _TEMPLATES}


def install(directory: Path, *, force: bool = False) -> Installed:
    """Write the skill to ``directory/opprof-db``, or bring it up to date; all files or none.

    ``force`` overwrites files that somebody else wrote or changed. Links inside the directory are
    never followed, whatever is forced.

    Raises:
        UsageError: files would be lost; or a link stands where the skill goes.
        InputError: the directory cannot be written.
    """
    try:
        base = directory.resolve()
        if base.exists() and not base.is_dir():
            raise UsageError(f"{directory} is not a folder", "give the folder in which your agent looks for skills")
        folder = base / NAME
        wanted = contents()
        _refuse_links(folder, [*wanted, MANIFEST])
        ours = _manifest(folder)
        _refuse_links(folder, list(ours))
        if not force:
            _refuse_losses(folder, wanted, ours)
        return _write(folder, wanted, ours)
    except OSError as error:
        raise InputError(
            f"{error.filename or directory}: {error.strerror or error}", "check the folder and its permissions"
        ) from error


def _refuse_links(folder: Path, paths: list[str]) -> None:
    for path in paths:
        place = folder / path
        for part in (place, *place.parents):
            if part.is_symlink():
                raise UsageError(f"{part} is a link, and links are not followed", "remove it, or give another folder")
            if part == folder:
                break


def _refuse_losses(folder: Path, wanted: Mapping[str, str], ours: Mapping[str, str]) -> None:
    lost = []
    for path, text in wanted.items():
        found = _hash_of(folder / path)
        if found is not None and found not in (_hash(text.encode()), ours.get(path)):
            lost.append(path)
    if lost:
        shown = ", ".join(lost[:_SHOWN]) + (", …" if len(lost) > _SHOWN else "")
        raise UsageError(
            f"{folder} holds files that opprof-db did not write or that were changed since: {shown}",
            "nothing was written; --force overwrites them, or give another folder",
        )


def _write(folder: Path, wanted: Mapping[str, str], ours: Mapping[str, str]) -> Installed:
    done = Installed(folder)
    for path, text in wanted.items():
        found = _hash_of(folder / path)
        if found == _hash(text.encode()):
            done.unchanged.append(path)
            continue
        (done.written if found is None else done.updated).append(path)
        _replace(folder / path, text)
    for path, written in ours.items():
        if path in wanted:
            continue
        found = _hash_of(folder / path)
        if found == written:
            (folder / path).unlink()
            done.removed.append(path)
        elif found is not None:
            done.left.append(path)
    manifest = {"skill": NAME, "version": __version__, "files": {path: _hash(wanted[path].encode()) for path in wanted}}
    text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
    if _hash_of(folder / MANIFEST) != _hash(text.encode()):
        _replace(folder / MANIFEST, text)
    return done


def _replace(target: Path, text: str) -> None:
    """Put a file in place at once: a reader sees the old text or the new one; a link is replaced, not followed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        with unfinished.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _manifest(folder: Path) -> dict[str, str]:
    """Path -> hash of what an earlier installation wrote; a manifest that makes no sense says nothing."""
    try:
        files = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        return {str(path): str(written) for path, written in files.items() if _inside(str(path))}
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _inside(path: str) -> bool:
    """Whether a path of a manifest, which anybody may have edited, stays in the folder."""
    parts = Path(path).parts
    return bool(parts) and not Path(path).is_absolute() and ".." not in parts


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _hash_of(path: Path) -> str | None:
    """Hash of a file; ``None`` when there is none. A folder in its place has a hash no file has."""
    if path.is_dir():
        return "a folder"
    try:
        return _hash(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
