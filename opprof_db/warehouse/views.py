"""Views of the warehouse: one file each under sql/views/ (for people) and sql/compat/ (shapes of other tools)."""

from __future__ import annotations

import hashlib
import sqlite3

from opprof_db.warehouse.sql_files import SqlFile, sql_files

SQL_API_VERSION = "1.1"
"""Version of the views and named queries as people use them, MAJOR.MINOR; docs/sql-api.md is its changelog.

MAJOR: a view, query, column or parameter is gone or means something else. MINOR: something was added.
"""


def view_files() -> tuple[SqlFile, ...]:
    """All views that people read, by name."""
    return sql_files("views")


def compat_files() -> tuple[SqlFile, ...]:
    """All views in the shape of other tools' tables, by name."""
    return sql_files("compat")


def digest() -> str:
    """Changes when any view does."""
    text = "\0".join(f"{view.name}\0{view.sql}" for view in (*view_files(), *compat_files()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def drop_all(connection: sqlite3.Connection) -> None:
    """Drop every view; tables are rebuilt under none."""
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
    for name in names:
        quoted = name.replace('"', '""')
        connection.execute(f'DROP VIEW "{quoted}"')


def create_all(connection: sqlite3.Connection) -> None:
    """Create every view from its file."""
    for view in (*view_files(), *compat_files()):
        connection.execute(f"CREATE VIEW {view.name} AS\n{view.sql}")
