"""Which files an agent may name: databases to read, and places for its CSV files."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from opprof_db.errors import InputError, UsageError
from opprof_db.scratch import put_in_place

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class AllowedFiles:
    """What the person who started the server allows. All paths are resolved when it is made."""

    databases: tuple[Path, ...]
    """Files that may be read; the first one is meant when an agent names none."""
    folders: tuple[Path, ...] = ()
    """Folders below which every SQLite file may be read."""
    output: Path | None = None
    """Folder below which CSV files may be written; ``None``: nowhere."""

    @classmethod
    def of(cls, databases: list[Path], folders: list[Path], output: Path | None) -> AllowedFiles:
        """Resolve what stands on the command line.

        Raises:
            UsageError: a folder that is none.
        """
        for folder in (*folders, *([output] if output else [])):
            if not folder.is_dir():
                raise UsageError(f"{folder}: no such folder", "--allow-dir and --output-dir name folders that exist")
        return cls(
            tuple(path.resolve() for path in databases),
            tuple(path.resolve() for path in folders),
            output.resolve() if output else None,
        )

    def database(self, named: str | None) -> Path:
        """The resolved path of a database an agent names. Links are followed first and judged by where they lead.

        Raises:
            UsageError: not among the allowed ones. Whether such a file exists is not told.
        """
        if not named:
            return self.databases[0]
        try:
            path = Path(named).expanduser().resolve()
            there = path.is_file()
        except (OSError, RuntimeError, ValueError) as error:
            raise UsageError(f"db_path {named[:200]!r} is not a path", self._listed()) from error
        if path in self.databases:
            return path
        if not any(path.is_relative_to(folder) for folder in self.folders):
            raise UsageError(f"db_path {named[:200]!r} is not allowed", self._listed())
        if not there:
            raise UsageError(f"{path}: no such file", self._listed())
        return path

    def _listed(self) -> str:
        shown = [str(path) for path in self.databases[:_SHOWN]]
        if len(self.databases) > _SHOWN:
            shown.append(f"{len(self.databases) - _SHOWN} more")
        shown += [f"SQLite files below {folder}" for folder in self.folders[:_SHOWN]]
        return f"allowed: {', '.join(shown)}; leave db_path out for the first"

    def csv_target(self, named: str) -> Path:
        """The resolved path of a CSV file an agent wants; it does not exist yet.

        Raises:
            UsageError: no output folder, outside of it, not ``.csv``, or there already.
        """
        if self.output is None:
            raise UsageError(
                "writing files is not allowed",
                "the person starts the server with --output-dir DIR to allow it; or use execute_sql with a LIMIT",
            )
        where = f"give a new name that ends in .csv, below {self.output}"
        try:
            path = self.output / Path(named)
            target = path.parent.resolve() / path.name
            str(target).encode()  # half a surrogate pair names no file
            taken = target.is_symlink() or target.exists()
        except (OSError, RuntimeError, ValueError) as error:
            raise UsageError(f"output_csv_path {named[:200]!r} is not a path", where) from error
        if not target.is_relative_to(self.output) or target.name in ("", ".", ".."):
            raise UsageError(f"output_csv_path {named[:200]!r} is outside of the allowed folder", where)
        if target.suffix.lower() != ".csv" or target.name.startswith("."):
            raise UsageError(f"output_csv_path {named[:200]!r} is not the name of a CSV file", where)
        if taken:
            raise UsageError(f"{target} exists already; nothing is overwritten", where)
        return target


@contextmanager
def new_file(target: Path) -> Iterator[TextIO]:
    """Write a file that appears whole or not at all, and never in the place of another one.

    Raises:
        UsageError: somebody else made the file meanwhile.
        InputError: it cannot be written.
    """
    unfinished = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with unfinished.open("x", encoding="utf-8", newline="") as file:
                yield file
            put_in_place(unfinished, target)
        finally:
            unfinished.unlink(missing_ok=True)
    except FileExistsError as error:
        raise UsageError(f"{target} exists already; nothing is overwritten", "give another name") from error
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}", "give another name") from error
