"""Finds run folders below a watched folder that have been quiet for a while."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from opprof_db.errors import InputError, UsageError


def quiet_folders(folder: Path, quiet_s: float, *, once: bool = False) -> Iterator[Path]:
    """Yield each run folder when nothing in it has changed for ``quiet_s`` seconds; again when it has grown since.

    Raises:
        UsageError: the file-watching library is not installed.
        InputError: no such folder.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder", "make it first, or name the folder that collect writes to")
    done: dict[Path, float] = {}
    if once:
        yield from _ready(folder, 0.0, done)
        return
    try:
        from watchfiles import watch
    except ImportError:
        raise UsageError("watch needs the package watchfiles", "pip install 'opprof-db[watch]'") from None
    yield from _ready(folder, quiet_s, done)
    # Each event or pause is only a reason to look: a folder is judged by its newest change.
    pause_ms = max(100, min(1000, int(quiet_s * 500)))
    for _ in watch(folder, rust_timeout=pause_ms, yield_on_timeout=True, debounce=200, raise_interrupt=True):
        yield from _ready(folder, quiet_s, done)


def _ready(folder: Path, quiet_s: float, done: dict[Path, float]) -> Iterator[Path]:
    for run in sorted(folder.glob("**/OPPROF_*")):
        if not run.is_dir() or any(parent.name.startswith("OPPROF_") for parent in run.relative_to(folder).parents):
            continue
        changed = _newest_change(run)
        if changed is not None and done.get(run) != changed and time.time() - changed >= quiet_s:
            done[run] = changed
            yield run


def _newest_change(run: Path) -> float | None:
    """Time of the newest change, seconds; None while nothing but folders is there."""
    newest: float | None = None
    for place, _, names in os.walk(run):
        for name in names:
            try:
                changed = os.lstat(os.path.join(place, name)).st_mtime  # noqa: PTH118 - called for each of many files
            except OSError:
                continue
            newest = changed if newest is None else max(newest, changed)
    return newest
