"""Temporary files, and files that appear whole or not at all. Errors name the folder and the remedy."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from opprof_db.errors import DatabaseError, InputError


def scratch_error(why: object) -> DatabaseError:
    """The error to raise when a temporary file cannot be made or written."""
    folder = tempfile.tempdir or os.environ.get("TMPDIR") or "/tmp"
    reason = why.strerror if isinstance(why, OSError) and why.strerror else why
    return DatabaseError(
        f"{folder}: no room for temporary files while a run is read ({reason})",
        "free some space there, or set TMPDIR to a folder on another disk; nothing of this run was stored",
    )


@contextmanager
def explained() -> Iterator[None]:
    """Turns ``OSError`` inside into ``scratch_error``."""
    try:
        yield
    except OSError as error:
        raise scratch_error(error) from error


def nameless_file() -> IO[bytes]:
    """A file that is gone when it is closed, or when the program ends however it ends.

    Raises:
        DatabaseError: there is no place for one.
    """
    with explained():
        return tempfile.TemporaryFile()


def new_folder() -> Path:
    """A folder of its own, which the caller removes.

    Raises:
        DatabaseError: there is no place for one.
    """
    with explained():
        return Path(tempfile.mkdtemp(prefix="opprof-db-"))


def put_in_place(part: Path, target: Path) -> None:
    """Give a finished file its name, never that of another file.

    A hard link fails where the name is taken, which renaming does not; some file systems have none.

    Raises:
        FileExistsError: the name is taken.
        OSError: it cannot be given.
    """
    try:
        os.link(part, target)
    except FileExistsError:
        raise
    except OSError:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        part.replace(target)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """A path beside the target that becomes the target when all went well, else is removed.

    Raises:
        InputError: it cannot be written.
    """
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror or error}", "check folder and space") from error
    finally:
        part.unlink(missing_ok=True)
