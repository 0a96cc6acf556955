"""Alembic environment: one transaction per upgrade, views recreated inside it, a backup before it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from alembic import context

from opprof_db.warehouse import migrate
from opprof_db.warehouse.connection import connect
from opprof_db.warehouse.fts import INDEX
from opprof_db.warehouse.tables import metadata


def database() -> tuple[Path, bool]:
    """The file to work on, and whether the program (which has made its backup) called us."""
    given = context.config.attributes.get("database")
    if given is not None:
        return Path(given), True
    named = context.get_x_argument(as_dictionary=True).get("db")
    return Path(named or os.environ.get("OPPROF_DB") or "opprof.db"), False


def is_ordinary(thing: Any, name: str | None, kind: str, reflected: bool, other: object) -> bool:
    """Virtual tables and what stands behind them are not compared: Alembic sees neither as what they are."""
    del reflected, other
    if kind == "column":
        thing, kind = thing.table, "table"
        name = thing.name
    return kind != "table" or not (name or "").startswith(INDEX)


def run() -> None:
    """Migrate, or compare for ``alembic check``."""
    path, by_program = database()
    if not by_program:
        prepare(path)
    with migrate.alembic_connection(path) as connection:
        context.configure(
            connection=connection,
            target_metadata=metadata,
            render_as_batch=True,
            transactional_ddl=True,
            compare_type=True,
            include_object=is_ordinary,
        )
        with context.begin_transaction():
            before = context.get_context().get_current_revision()
            migrate.before_migrating(connection)
            context.run_migrations()
            if before is not None or context.get_context().get_current_revision() is not None:
                migrate.after_migrating(connection)


def prepare(path: Path) -> None:
    """What ``opprof-db db upgrade`` does before it calls Alembic: refuse strangers, back up old files."""
    connection = connect(path, create=True)
    try:
        found = migrate.state(connection)
        migrate.refuse_unusable(found, path)
        if found.kind == "older":
            migrate.back_up(connection, path, migrate.backup_name(path, found.revision))
    finally:
        connection.close()


run()
