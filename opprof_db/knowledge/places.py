"""Where entries come from: the package, and directories of the user, which override by id.

Order, later ones winning: built-in, ``[knowledge] directories`` of the configuration file, ``OPPROF_KB`` (separated as
``PATH`` is), ``--kb``. The configuration file is ``OPPROF_CONFIG``, else ``opprof-db/config.toml`` below
``XDG_CONFIG_HOME`` (``~/.config``).
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from opprof_db.errors import InputError, UsageError

BUILT_IN = "built-in"
SOURCES = "sources.yaml"
VARIABLE = "OPPROF_KB"


@dataclass(frozen=True, slots=True)
class Place:
    """A directory of entries."""

    path: Path
    name: str
    """``built-in``, or the path as text."""

    def files(self) -> list[Path]:
        """Its entries, by name; links that lead out of it are left out.

        Raises:
            InputError: it cannot be read.
        """
        try:
            found = sorted(path for path in self.path.glob("**/*.md") if path.is_file())
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}", "check its permissions") from error
        root = self.path.resolve()
        # A file that is no link lies where its folder does: folders are few, files may be thousands.
        folders = {parent: parent.resolve() for parent in {path.parent for path in found}}
        return [
            path
            for path in found
            if (path.resolve() if path.is_symlink() else folders[path.parent]).is_relative_to(root)
        ]

    def stamp(self) -> str:
        """Changes when a file's name, size or time does: quick, for thousands of entries."""
        parts = [self.name]
        for path in [*self.files(), self.path / SOURCES]:
            try:
                status = path.stat()
            except OSError:
                continue
            parts.append(f"{path.relative_to(self.path)}\0{status.st_size}\0{status.st_mtime_ns}")
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def built_in() -> Place:
    """The entries that come with the program."""
    return Place(Path(__file__).resolve().parent / "entries", BUILT_IN)


def places(given: Iterable[Path] = (), environment: Mapping[str, str] | None = None) -> tuple[Place, ...]:
    """Every directory in force, the built-in first.

    Raises:
        UsageError: one of them is no directory.
        InputError: the configuration file makes no sense.
    """
    variables = os.environ if environment is None else environment
    listed = [*_configured(variables), *_from_variable(variables), *given]
    found: dict[Path, Place] = {}
    for path in listed:
        if not path.is_dir():
            raise UsageError(f"{path} is not a directory of knowledge entries", "give a directory with *.md files")
        resolved = path.resolve()
        found.pop(resolved, None)
        found[resolved] = Place(resolved, str(resolved))
    return (built_in(), *found.values())


def _from_variable(variables: Mapping[str, str]) -> Iterator[Path]:
    for part in variables.get(VARIABLE, "").split(os.pathsep):
        if part:
            yield Path(part)


def config_file(variables: Mapping[str, str]) -> Path:
    """Where the configuration file is looked for."""
    named = variables.get("OPPROF_CONFIG")
    if named:
        return Path(named)
    base = variables.get("XDG_CONFIG_HOME") or os.path.join(variables.get("HOME", "~"), ".config")  # noqa: PTH118
    return Path(base).expanduser() / "opprof-db" / "config.toml"


def _configured(variables: Mapping[str, str]) -> Iterator[Path]:
    path = config_file(variables)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if variables.get("OPPROF_CONFIG"):
            raise InputError(f"{path}: no such file", "OPPROF_CONFIG names the configuration file") from None
        return
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}", "correct the configuration file, or its permissions") from error
    try:
        directories = tomllib.loads(text).get("knowledge", {}).get("directories", [])
    except (tomllib.TOMLDecodeError, AttributeError) as error:
        raise InputError(f"{path}: {error}", "correct the configuration file") from error
    if not isinstance(directories, list) or not all(isinstance(each, str) for each in directories):
        raise InputError(f"{path}: knowledge.directories is not a list of paths", 'write directories = ["kb"]')
    for each in directories:
        yield path.parent / Path(each).expanduser()
