"""Finds everything below several paths, and says of what is no run what it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from opprof_db.errors import InputError
from opprof_db.msopprof.device_csv import CellCounts
from opprof_db.msopprof.issues import Issue
from opprof_db.msopprof.layout import Discovery, RunFolder, discover


@dataclass(slots=True)
class Outcome:
    """What became of one thing that was found.

    ``kind``: new, known, replaced, failed, empty (nothing to take), foreign (not written by msopprof).
    """

    kind: str
    path: Path
    name: str
    run_id: int | None = None
    kernels: int = 0
    counts: CellCounts = field(default_factory=CellCounts)
    issues: int = 0
    """Rows of ingest_issues."""
    remarks: int = 0
    """Those among them that only inform."""
    message: str = ""


@dataclass(slots=True)
class Found:
    """Everything below the given paths, before anything is read."""

    runs: list[tuple[Path, RunFolder]]
    """(given path, run)."""
    outcomes: list[Outcome]
    """Things that are no runs, and paths that could not be looked at."""
    problems: list[tuple[Path, Issue]]
    """(walked root, problem) outside any run."""
    notes: list[str]

    @property
    def kernels(self) -> int:
        """Number of launches."""
        return sum(len(run.kernels) for _, run in self.runs)


def find(paths: Iterable[Path]) -> Found:
    """Discover runs below several paths; a run met twice counts once."""
    found = Found([], [], [], [])
    seen: set[Path] = set()
    for given in paths:
        try:
            discovery = discover(given)
        except InputError as error:
            message = str(error).removeprefix(f"{given}: ")
            found.outcomes.append(Outcome("failed", given, given.name, message=message))
            continue
        _take_discovery(found, discovery, seen)
    return found


def _take_discovery(found: Found, discovery: Discovery, seen: set[Path]) -> None:
    given = discovery.given
    for run in discovery.runs:
        if run.root not in seen:
            seen.add(run.root)
            found.runs.append((given, run))
            if run.root != given.resolve() and run.root in given.resolve().parents:
                found.notes.append(f"{given} is a part of the run {run.root}: the whole run is taken")
    for path in discovery.empty:
        if path not in seen:
            seen.add(path)
            message = "no results: the collection stopped before any CSV was written"
            found.outcomes.append(Outcome("empty", path, path.name, message=message))
    if discovery.legacy:
        names = ", ".join(discovery.legacy[:3]) + (", …" if len(discovery.legacy) > 3 else "")
        message = f"files of msopgen's older simulator tool, not of msopprof: {names}"
        found.outcomes.append(Outcome("foreign", discovery.root, discovery.root.name, message=message))
    found.problems.extend((discovery.root, problem) for problem in discovery.problems)
    if not discovery.runs and not discovery.empty and not discovery.legacy:
        message = "nothing here that msopprof wrote (no CSV, trace.json or visualize_data.bin)"
        found.outcomes.append(Outcome("empty", given, given.name, message=message))
