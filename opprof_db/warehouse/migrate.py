"""Creating and upgrading the warehouse file: Alembic inside, one transaction, a backup beside it first."""

from __future__ import annotations

import glob
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opprof_db.errors import DatabaseError
from opprof_db.resources import folder
from opprof_db.scratch import put_in_place
from opprof_db.warehouse.connection import APPLICATION_ID, Notify, connect, explain, quiet, use_wal

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

PAGE_BYTES = 8192
"""A launch's rows and its archived CSVs (2 to 5 KB each) fit pages of this size well."""

_PART = re.compile(r"\.(\d{1,9})\.part(?:-journal)?$")


@dataclass(frozen=True, slots=True)
class SchemaState:
    """What a file is: ``new`` (empty), ``current``, ``older``, ``newer`` or ``foreign``."""

    kind: str
    revision: str | None
    head: str


def revisions(directory: Path | None = None) -> list[str]:
    """Revision ids in order, read off the file names (``0001_foundation.py``): Alembic loads slowly."""
    versions = (directory or folder("migrations")) / "versions"
    return sorted(path.name.partition("_")[0] for path in versions.glob("[0-9]*_*.py"))


def state(connection: sqlite3.Connection, directory: Path | None = None) -> SchemaState:
    """Look at an open file without changing it."""
    known = revisions(directory)
    head = known[-1]
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return SchemaState("new", None, head)
    ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    if not ours or "alembic_version" not in tables:
        return SchemaState("foreign", None, head)
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    revision = None if row is None else str(row[0])
    if revision == head:
        return SchemaState("current", revision, head)
    return SchemaState("older" if revision in known else "newer", revision, head)


def refuse_unusable(found: SchemaState, path: Path) -> None:
    """Raise for files that this program must not touch.

    Raises:
        DatabaseError: a newer schema, or another program's database.
    """
    if found.kind == "newer":
        raise DatabaseError(
            f"{path} has schema {found.revision}, newer than this program's {found.head}",
            "upgrade opprof-db; the file was not touched",
        )
    if found.kind == "foreign":
        raise DatabaseError(
            f"{path} is a SQLite database of another program",
            "give another --db FILE; the file was not touched",
        )


def upgrade(path: Path, *, create: bool = False, notify: Notify = quiet, directory: Path | None = None) -> SchemaState:
    """Bring a file to the head schema, creating it where ``create`` says so; returns the state before.

    An older file is copied to ``<name>.schema-<revision>.<time>.bak`` beside it first.

    Raises:
        DatabaseError: newer, foreign or damaged file; or the upgrade failed (and left all as it was).
    """
    connection = connect(path, create=create)
    try:
        before = state(connection, directory)
        refuse_unusable(before, path)
        if before.kind == "current":
            return before
        if before.kind == "older":
            copy = back_up(connection, path, backup_name(path, before.revision))
            notify(f"upgrading {path} from schema {before.revision} to {before.head}; backup: {copy}")
    except sqlite3.Error as error:
        raise explain(error, path) from error
    finally:
        connection.close()
    _run_alembic(path, directory or folder("migrations"), before)
    if before.kind == "new":
        connection = connect(path)
        try:
            use_wal(connection, path, notify)
        finally:
            connection.close()
    return before


def backup_name(path: Path, revision: str | None) -> Path:
    """Where the copy made before an upgrade goes."""
    stamp = datetime.now().strftime("%Y%m%dT%H%M%S%f")  # others may upgrade at the same moment
    return path.with_name(f"{path.name}.schema-{revision}.{stamp}.bak")


def back_up(connection: sqlite3.Connection, path: Path, target: Path) -> Path:
    """Copy a consistent state of the open database to a new file.

    Raises:
        DatabaseError: the target exists or cannot be written.
    """
    if target.exists():
        raise DatabaseError(f"{target} exists already", "give another name; nothing was overwritten")
    _remove_broken_off(path, target)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        copy = sqlite3.connect(part)
        try:
            connection.backup(copy)
            # A copy in WAL mode would need its side files; a backup should be one file.
            copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()
        put_in_place(part, target)
    except FileExistsError as error:
        raise DatabaseError(f"{target} exists already", "give another name; nothing was overwritten") from error
    except (sqlite3.Error, OSError) as error:
        raise DatabaseError(
            f"{target}: the backup of {path} failed ({error})", "check the folder's permissions and free space"
        ) from error
    finally:
        for left in (part, Path(f"{part}-journal")):
            left.unlink(missing_ok=True)
    return target


def _remove_broken_off(path: Path, target: Path) -> None:
    """Parts of the same copy, or of one made before an upgrade, whose process was killed."""
    for pattern in (f".{glob.escape(target.name)}.*.part*", f".{glob.escape(path.name)}.schema-*.part*"):
        for part in target.parent.glob(pattern):
            owner = _PART.search(part.name)
            if owner and not _runs(int(owner[1])):
                part.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's, or no process number at all
        return True
    return True


def _run_alembic(path: Path, directory: Path, before: SchemaState) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError
    from sqlalchemy.exc import DBAPIError

    config = Config()
    config.set_main_option("script_location", str(directory).replace("%", "%%"))
    config.attributes["database"] = path
    try:
        command.upgrade(config, "head")
    except (CommandError, DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        raise DatabaseError(
            f"{path}: the upgrade from schema {before.revision} to {before.head} failed ({cause})",
            "the file is as it was before",
        ) from error


@contextmanager
def alembic_connection(path: Path) -> Iterator[Connection]:
    """An SQLAlchemy connection whose transactions hold DDL too; foreign keys off for table rebuilds."""
    from sqlalchemy import create_engine, event
    from sqlalchemy.pool import NullPool

    engine = create_engine("sqlite://", creator=lambda: _plain_connection(path), poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    with engine.connect() as connection:
        yield connection
    engine.dispose()


def _plain_connection(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=rwc", uri=True, timeout=60, isolation_level=None)
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # takes effect in an empty file only
    connection.execute("PRAGMA foreign_keys = OFF")
    return connection


def before_migrating(connection: Connection) -> None:
    """First thing in a migration's transaction: views do not survive table rebuilds."""
    from opprof_db.warehouse import views

    views.drop_all(_driver(connection))


def after_migrating(connection: Connection) -> None:
    """Last thing in a migration's transaction: views and catalogue anew, references checked."""
    from opprof_db.warehouse import reference

    raw = _driver(connection)
    raw.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    reference.refresh(raw)
    broken = raw.execute("PRAGMA foreign_key_check").fetchone()
    if broken is not None:
        raise DatabaseError(f"the migration would break a reference of table {broken[0]}", "report this")


def _driver(connection: Connection) -> sqlite3.Connection:
    raw: Any = connection.connection.dbapi_connection
    return raw  # type: ignore[no-any-return]
