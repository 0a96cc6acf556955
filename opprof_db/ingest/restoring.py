"""Writes a run's archived files back, byte for byte."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from opprof_db.errors import DatabaseError, InputError, UsageError
from opprof_db.ingest.archive import DamagedArchiveError, unpack


@dataclass(frozen=True, slots=True)
class Restored:
    """What was written and what could not be, because it was never archived."""

    files: int
    bytes: int
    left_out: list[str]


def restore(connection: sqlite3.Connection, run_id: int, target: Path) -> Restored:
    """Write every archived file of a run below ``target``; nothing is ever overwritten.

    Raises:
        UsageError: a file to be written exists already.
        InputError: the folder cannot be written.
        DatabaseError: the archive is damaged (the hash does not match).
    """
    rows = connection.execute(
        "SELECT path, content_id, sha256 FROM artifacts WHERE run_id = ? ORDER BY path", (run_id,)
    ).fetchall()
    archived = [(_inside(target, path), content, sha256) for path, content, sha256 in rows if content is not None]
    left_out = [path for path, content, _ in rows if content is None]
    for path, _, _ in archived:
        if path.exists() or path.is_symlink():
            raise UsageError(f"{path} exists already", "give an empty folder; nothing was written")
    _refuse_links(target, [path for path, _, _ in archived])
    size = 0
    try:
        target.mkdir(parents=True, exist_ok=True)
        for path, content, sha256 in archived:
            path.parent.mkdir(parents=True, exist_ok=True)
            size += _write(connection, path, content, sha256)
    except OSError as error:
        raise InputError(f"{error.filename or target}: cannot be written: {error.strerror}") from error
    return Restored(len(archived), size, left_out)


def _inside(target: Path, path: str) -> Path:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts:
        raise DatabaseError(f"the stored path {path!r} leads out of the folder", "nothing was written")
    return target / parts


def _refuse_links(target: Path, paths: list[Path]) -> None:
    """Links inside the target would lead writes elsewhere."""
    root = target.resolve()
    for parent in {path.parent for path in paths}:
        if not parent.resolve().is_relative_to(root):
            raise UsageError(f"{parent} leads out of {target}", "give an empty folder; nothing was written")


def _write(connection: sqlite3.Connection, path: Path, content: int, sha256: str) -> int:
    codec = connection.execute("SELECT codec FROM contents WHERE id = ?", (content,)).fetchone()[0]
    digest = hashlib.sha256()
    size = 0
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(handle, "wb") as stream:
            for (chunk,) in connection.execute(
                "SELECT data FROM content_chunks WHERE content_id = ? ORDER BY seq", (content,)
            ):
                data = unpack(codec, chunk)
                digest.update(data)
                size += stream.write(data)
        if digest.hexdigest() != sha256:
            raise DamagedArchiveError("the hash differs")
    except DamagedArchiveError as error:
        path.unlink()
        raise DatabaseError(
            f"{path.name}: the archived bytes are damaged ({error})", "run `opprof-db db check`"
        ) from error
    return size
