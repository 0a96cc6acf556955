"""Walks a directory for files msopprof wrote, without ever leaving it.

Layout facts: msopprof writes raw data below ``dump/`` and may leave ``tmp_dump/`` behind; both are
passed over, but for ``dump/op_basic_info.txt``.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from opprof_db.catalog import BASIC_INFO, load
from opprof_db.msopprof.issues import Issue, Severity

DUMP_FOLDER = "dump"
RAW_DATA_FOLDERS = frozenset({DUMP_FOLDER, "tmp_dump"})
DUMP_INFO = "op_basic_info.txt"
SIMULATOR_FOLDER = "simulator"
CORE_FOLDER = re.compile(r"core\d+(?:\.(?:veccore|cubecore)\d+)?")

_SIM_CSV = re.compile(r"core\d+(?:\.(?:veccore|cubecore)\d+)?_(?P<kind>instr|code)_exe(?:_(?P<stamp>\d{17}))?\.csv")
_LEGACY_FILES = re.compile(r"(?:code_exe_prof|instr_exe_prof).*\.csv|dump2json_.*\.json|dump2trace_.*\.json")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """One file, by its path below the walked directory or the run, with forward slashes."""

    rel: str
    kind: str
    """device_csv, basic_info, bin, trace, instr_csv, code_csv, dump_info, legacy or other."""
    size: int
    family: str | None = None
    stamp: str | None = None
    """The 17 digits in the name: when msopprof parsed the kernel."""

    @property
    def folder(self) -> str:
        """Folder part of ``rel``; ``""`` at the top."""
        return self.rel.rpartition("/")[0]

    @property
    def recognised(self) -> bool:
        """Whether the file belongs to a result and so to the run's fingerprint."""
        return self.kind not in {"dump_info", "other", "legacy"}


@dataclass(slots=True)
class WalkResult:
    """All files and folders below a directory, and what could not be looked at."""

    root: Path
    files: list[FoundFile]
    folders: list[str]
    """Every folder walked, relative, the top as ``""``."""
    problems: list[Issue]


def classify(name: str) -> tuple[str, str | None, str | None]:
    """(kind, family, stamp) of a file name."""
    if name == "visualize_data.bin":
        return "bin", None, None
    if name == "trace.json":
        return "trace", None, None
    if name.endswith(".csv"):
        stem = name[:-4]
        family, _, stamp = stem.partition("_")
        if (not stamp and "_" not in stem) or (len(stamp) == 17 and stamp.isdigit()):
            if family == BASIC_INFO:
                return "basic_info", family, stamp or None
            if family in load().families:
                return "device_csv", family, stamp or None
        found = _SIM_CSV.fullmatch(name)
        if found:
            return f"{found['kind']}_csv", None, found["stamp"]
    if _LEGACY_FILES.fullmatch(name):
        return "legacy", None, None
    return "other", None, None


def walk(root: Path) -> WalkResult:
    """Look at everything below ``root`` (a real directory, links in its own path already resolved)."""
    result = WalkResult(root, [], [], [])
    pending = [""]
    while pending:
        rel = pending.pop()
        result.folders.append(rel)
        folders = list(_scan(root, rel, result))
        pending.extend(reversed(folders))
    return result


def _scan(root: Path, rel: str, result: WalkResult) -> Iterator[str]:
    """Collect one directory's files; yield the sub-directories to go on with."""
    try:
        with os.scandir(root / rel) as entries:
            listed = sorted(entries, key=lambda entry: _natural(entry.name))
    except OSError as error:
        result.problems.append(_problem("unreadable_folder", rel or ".", f"cannot be listed: {error.strerror}"))
        return
    for entry in listed:
        inner = f"{rel}/{entry.name}" if rel else entry.name
        try:
            if entry.is_symlink() and not _link_allowed(root, entry, inner, result):
                continue
            if entry.is_dir():
                if entry.name in RAW_DATA_FOLDERS:
                    _take_dump_info(root, inner, result)
                else:
                    yield inner
                continue
            _take_file(entry, inner, result)
        except OSError as error:
            result.problems.append(_problem("unreadable_file", inner, f"cannot be read: {error.strerror}"))


def _looks_renamed(name: str) -> bool:
    """``PipeUtilization (1).csv``, ``copy of Memory.csv``: matched loosely, but only to say so."""
    return name.lower().endswith(".csv") and any(family in name for family in (*load().families, BASIC_INFO))


def _link_allowed(root: Path, entry: os.DirEntry[str], rel: str, result: WalkResult) -> bool:
    """Links are taken only to files inside the root; folders inside it are met on their own."""
    target = Path(entry.path).resolve()
    interesting = classify(entry.name)[0] != "other" or target.is_dir()
    if not target.exists():
        if interesting:
            result.problems.append(_problem("broken_link", rel, "a link to nothing"))
        return False
    if not target.is_relative_to(root):
        if interesting:
            result.problems.append(
                _problem("link_outside", rel, "a link that leads out of the given folder; give its target instead")
            )
        return False
    return not target.is_dir()


def _take_file(entry: os.DirEntry[str], rel: str, result: WalkResult) -> None:
    kind, family, stamp = classify(entry.name)
    if kind == "other" and _looks_renamed(entry.name):
        message = "looks like a msopprof CSV under another name; give it its own name back to have it read"
        result.problems.append(_problem("renamed_csv", rel, message))
    info = entry.stat()
    if not stat.S_ISREG(info.st_mode):
        if kind != "other":
            result.problems.append(_problem("not_a_file", rel, "not a regular file (pipe, socket or device)"))
        return
    result.files.append(FoundFile(rel, kind, info.st_size, family, sys.intern(stamp) if stamp else None))


def _take_dump_info(root: Path, rel: str, result: WalkResult) -> None:
    if rel.rpartition("/")[2] != DUMP_FOLDER:
        return
    path = root / rel / DUMP_INFO
    if path.is_file() and path.resolve().is_relative_to(root):
        result.files.append(FoundFile(f"{rel}/{DUMP_INFO}", "dump_info", path.stat().st_size))


def _problem(code: str, path: str, message: str) -> Issue:
    return Issue(code, Severity.WARNING, message, path=path)


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts ``core2`` before ``core10``."""
    parts = re.split(r"(\d+)", name)
    return tuple((1, int(part), "") if part.isdecimal() and part.isascii() else (0, 0, part) for part in parts)
