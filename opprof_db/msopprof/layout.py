"""Finds runs below a path: which folders belong to one run, which kernel and launch each holds.

Layouts (source: msopprof output folders, docs and real captures)::

    OPPROF_x/{CSVs}                                one kernel, one launch, one device
    OPPROF_x/<OpName>/<launch>/{CSVs}
    OPPROF_x/device<id>/<OpName>/<launch>/{CSVs}   also OPPROF_x/<id>/<OpName>/<launch>/
    any of them with simulator/[coreN.veccoreM/] below

People rename and copy folders, so the name is a hint only: without an ``OPPROF_`` ancestor the shape
decides, and in doubt a folder is a run of its own (merging strangers would compare them wrongly).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from opprof_db.errors import InputError
from opprof_db.msopprof.issues import Issue
from opprof_db.msopprof.names import LOOSE_RUN_NAME, RUN_NAME
from opprof_db.msopprof.walk import CORE_FOLDER, SIMULATOR_FOLDER, FoundFile, WalkResult, classify, walk

_DEVICE = re.compile(r"device(\d+)")
_BARE_DEVICE = re.compile(r"\d{1,2}")
_LAUNCH = re.compile(r"\d{1,3}")


@dataclass(frozen=True, slots=True)
class KernelFolder:
    """One launch of one kernel: where its files are and what the folders say about it."""

    rel: str
    """Folder below the run, ``""`` when the run holds one kernel only; ends in ``#<stamp>`` when one
    folder holds several kernels told apart by the 17 digits in the file names."""
    device_id: int | None
    folder_name: str | None
    launch_index: int | None
    files: tuple[FoundFile, ...]
    """Paths are relative to the run."""


@dataclass(slots=True)
class RunFolder:
    """One run: a folder, its kernels in order, and files that belong to no kernel."""

    root: Path
    kernels: list[KernelFolder]
    others: list[FoundFile] = field(default_factory=list)
    problems: list[Issue] = field(default_factory=list)
    folders: frozenset[str] = field(init=False)
    """Folders of the run that hold results, relative, the run itself as ``""``."""

    def __post_init__(self) -> None:
        self.folders = frozenset({"", *(kernel.rel.partition("#")[0] for kernel in self.kernels)})

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.root.name

    @property
    def files(self) -> list[FoundFile]:
        """Every file of the run, paths relative to it."""
        return [found for kernel in self.kernels for found in kernel.files] + self.others


@dataclass(slots=True)
class Discovery:
    """What was found below one given path."""

    given: Path
    root: Path
    """Where the walk started: the given folder, or the run it is a part of."""
    runs: list[RunFolder]
    empty: list[Path]
    """Folders named like a run that hold no result."""
    legacy: list[str]
    """Files of msopgen's older simulator tool, which is not msopprof."""
    problems: list[Issue]
    """Problems outside any run."""


@dataclass(frozen=True, slots=True)
class _Placement:
    """Where a kernel folder belongs: index of the run among its path parts, and the levels below."""

    run_at: int
    device_id: int | None
    folder_name: str | None
    launch_index: int | None


def discover(given: Path) -> Discovery:
    """Find every run at or below a path; a file or a part of a run leads to its whole run.

    Raises:
        InputError: the path does not exist, cannot be read, or is a file msopprof did not write.
    """
    try:
        path = given.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise InputError(f"{given}: no such file or folder", "check the path") from error
    only: Path | None = None
    if not path.is_dir():
        kind, _, stamp = classify(path.name)
        if kind in {"other", "legacy"}:
            raise InputError(
                f"{given}: not a file that msopprof writes",
                "give the folder of a run (OPPROF_*) or one above it",
            )
        only = _run_above(path.parent, stamp is not None)
        root = only
    else:
        root = _start_of_walk(path)
        only = root if root != path else None
    walked = walk(root)
    found = _group(given, walked)
    if only is not None:
        found.runs = [run for run in found.runs if run.root == only]
    return found


def _start_of_walk(path: Path) -> Path:
    """The given folder, unless it is a part of a run: then the run, so that identity stays whole."""
    kind_of_files = [classify(child.name) for child in _children(path)]
    if any(kind not in {"other", "legacy", "dump_info"} for kind, _, _ in kind_of_files):
        return _run_above(path, any(stamp for _, _, stamp in kind_of_files))
    for ancestor in (path, *path.parents):
        if RUN_NAME.fullmatch(ancestor.name):
            return ancestor
    return path


def _children(path: Path) -> list[Path]:
    try:
        return list(path.iterdir())
    except OSError:
        return []


def _run_above(folder: Path, stamped: bool) -> Path:
    parts = _strip_simulator(folder.parts)
    return Path(*parts[: _place(parts, stamped).run_at + 1])


def _strip_simulator(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Path parts without ``simulator`` and per-core folders at the end; at least one part stays."""
    cut = len(parts)
    if cut > 1 and CORE_FOLDER.fullmatch(parts[cut - 1]):
        cut -= 1
    if cut > 1 and parts[cut - 1] == SIMULATOR_FOLDER:
        cut -= 1
    return parts[:cut]


def _place(parts: tuple[str, ...], stamped: bool) -> _Placement:
    """Decide which of the folders on the way to a kernel is its run."""
    last = len(parts) - 1
    for at in range(last, -1, -1):
        if RUN_NAME.fullmatch(parts[at]):
            return _levels(parts, at)
    for at in range(last, -1, -1):
        if LOOSE_RUN_NAME.fullmatch(parts[at]):
            if _is_full_layout(parts[at + 1 :], stamped):
                return _levels(parts, at)
            break
    if last >= 1 and _LAUNCH.fullmatch(parts[last]) and not _LAUNCH.fullmatch(parts[last - 1]):
        if last >= 3 and _DEVICE.fullmatch(parts[last - 2]):
            return _levels(parts, last - 3)
        if last >= 2 and stamped and not _DEVICE.fullmatch(parts[last - 1]):
            return _levels(parts, last - 2)
    if last >= 1 and _DEVICE.fullmatch(parts[last]):
        return _levels(parts, last - 1)
    return _Placement(last, None, None, None)


def _is_full_layout(tail: tuple[str, ...], stamped: bool) -> bool:
    """Whether the levels below a renamed run folder are msopprof's, not people's own sub-folders."""
    if not tail:
        return True
    levels = list(tail)
    if _DEVICE.fullmatch(levels[0]) or (len(levels) == 3 and _BARE_DEVICE.fullmatch(levels[0])):
        levels.pop(0)
    if len(levels) == 2:
        return bool(_LAUNCH.fullmatch(levels[1]))
    return not levels or (len(levels) == 1 and stamped)


def _levels(parts: tuple[str, ...], run_at: int) -> _Placement:
    """Read device, operator folder and launch off the levels below the run."""
    levels = list(parts[run_at + 1 :])
    device_id = launch_index = None
    if levels:
        named = _DEVICE.fullmatch(levels[0])
        if named:
            device_id = int(named[1])
            levels.pop(0)
        elif len(levels) >= 3 and _BARE_DEVICE.fullmatch(levels[0]):
            device_id = int(levels.pop(0))
    if levels and _LAUNCH.fullmatch(levels[-1]):
        launch_index = int(levels.pop())
    return _Placement(run_at, device_id, "/".join(levels) or None, launch_index)


_Kernels = dict[tuple[str, ...], tuple[_Placement, list[FoundFile]]]


def _group(given: Path, walked: WalkResult) -> Discovery:
    """Sort the files of a walk into runs and kernels."""
    base = walked.root.name or walked.root.anchor
    by_kernel: dict[tuple[str, ...], list[FoundFile]] = {}
    for found in walked.files:
        if found.recognised:
            by_kernel.setdefault(_strip_simulator((base, *_split(found.folder))), []).append(found)
    kernels_of: dict[tuple[str, ...], _Kernels] = {}
    for parts, files in by_kernel.items():
        place = _place(parts, any(found.stamp for found in files))
        kernels_of.setdefault(parts[: place.run_at + 1], {})[parts] = (place, files)
    _add_unfinished(walked.folders, base, kernels_of)
    runs = {parts[1:]: _make_run(walked.root, parts, kernels) for parts, kernels in kernels_of.items()}
    for found in walked.files:
        if found.kind in {"dump_info", "other"}:
            _give_to_run(found, runs)
    problems: list[Issue] = []
    for problem in walked.problems:
        owner = _owner(_split(problem.path or ""), runs)
        (problems if owner is None else runs[owner].problems).append(problem)
    return Discovery(
        given=given,
        root=walked.root,
        runs=[runs[parts] for parts in sorted(runs)],
        empty=_empty_runs(walked, set(runs)),
        legacy=[found.rel for found in walked.files if found.kind == "legacy"],
        problems=problems,
    )


def _split(rel: str) -> tuple[str, ...]:
    return tuple(rel.split("/")) if rel else ()


def _owner(parts: tuple[str, ...], runs: Container[tuple[str, ...]]) -> tuple[str, ...] | None:
    """The innermost run that a path lies in, both as parts below the walked root."""
    return next((parts[:cut] for cut in range(len(parts), -1, -1) if parts[:cut] in runs), None)


def _add_unfinished(folders: Iterable[str], base: str, kernels_of: dict[tuple[str, ...], _Kernels]) -> None:
    """Launch folders without results beside others that have some: incomplete, not absent."""
    depths = {
        run: {len(parts) for parts, (place, _) in kernels.items() if place.launch_index is not None}
        for run, kernels in kernels_of.items()
    }
    for folder in folders:
        parts = (base, *_split(folder))
        run = _owner(parts, kernels_of)
        if run is None or len(parts) not in depths[run] or parts in kernels_of[run]:
            continue
        place = _levels(parts, len(run) - 1)
        if place.launch_index is not None and place.folder_name is not None:
            kernels_of[run][parts] = (place, [])


def _make_run(root: Path, run_parts: tuple[str, ...], kernels: _Kernels) -> RunFolder:
    depth = len(run_parts) - 1
    folders: list[KernelFolder] = []
    for parts, (place, files) in kernels.items():
        rel = "/".join(parts[len(run_parts) :])
        folders.extend(_split_by_stamp(rel, place, [_inside(found, depth) for found in files]))
    folders.sort(
        key=lambda kernel: (
            -1 if kernel.device_id is None else kernel.device_id,
            kernel.folder_name or "",
            -1 if kernel.launch_index is None else kernel.launch_index,
            kernel.rel,
        )
    )
    return RunFolder(root.joinpath(*run_parts[1:]), folders)


def _inside(found: FoundFile, depth: int) -> FoundFile:
    """The same file with its path relative to the run, which lies ``depth`` levels down."""
    return replace(found, rel=found.rel.split("/", depth)[depth]) if depth else found


def _split_by_stamp(rel: str, place: _Placement, files: list[FoundFile]) -> list[KernelFolder]:
    """A folder into which several launches were thrown: one kernel per stamp, if a family repeats."""
    families = [found.family for found in files if found.family]
    if len(families) == len(set(families)):
        return [KernelFolder(rel, place.device_id, place.folder_name, place.launch_index, tuple(files))]
    kernels = []
    for order, stamp in enumerate(sorted({found.stamp or "" for found in files if found.family})):
        own = [found for found in files if found.family and (found.stamp or "") == stamp]
        if order == 0:
            own += [found for found in files if not found.family]
        launch = order if place.launch_index is None else place.launch_index
        kernels.append(KernelFolder(f"{rel}#{stamp}", place.device_id, place.folder_name, launch, tuple(own)))
    return kernels


def _give_to_run(found: FoundFile, runs: dict[tuple[str, ...], RunFolder]) -> None:
    """Dump notes and unrecognised files that lie in a run's own folders belong to it."""
    owner = _owner(_split(found.folder), runs)
    if owner is None:
        return
    inside = _inside(found, len(owner))
    if found.kind == "dump_info" or inside.folder in runs[owner].folders:
        runs[owner].others.append(inside)


def _empty_runs(walked: WalkResult, runs: set[tuple[str, ...]]) -> list[Path]:
    """Folders that are named like a run, hold no run and are no part of one."""
    holders = {parts[:cut] for parts in runs for cut in range(len(parts) + 1)}
    empty = []
    for rel in walked.folders:
        parts = _split(rel)
        name = parts[-1] if parts else walked.root.name
        if LOOSE_RUN_NAME.fullmatch(name) and parts not in holders and _owner(parts, runs) is None:
            empty.append(walked.root / rel)
    return empty
