"""Full-text tables: how FTS5 is declared, so that schema, migration and an index in memory agree.

``info={FTS5: options}`` on a table of the schema makes its CREATE statement that of a virtual table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

FTS5 = "fts5"
INDEX = "knowledge_index"
INDEX_COLUMNS = {
    "entry": "Identifier of the entry.",
    "kind": "pattern, recipe, case or tip.",
    "label": "Title as written.",
    "summary": "Summary as written.",
    "title": "Words and concepts of the title.",
    "subject": "Words and concepts of identifier, terms, rules, operators and architectures, and tokens to filter by.",
    "body": "Words and concepts of summary and text.",
}
"""Column -> what it holds. The first four are shown, not searched."""
SHOWN = ("entry", "kind", "label", "summary")
INDEX_OPTIONS = "tokenize = 'porter unicode61'"


def index_statement() -> str:
    """CREATE statement of the index."""
    columns = ", ".join(f"{name} UNINDEXED" if name in SHOWN else name for name in INDEX_COLUMNS)
    return f"CREATE VIRTUAL TABLE {INDEX} USING fts5({columns}, {INDEX_OPTIONS})"


def internal_tables(connection: sqlite3.Connection) -> set[str]:
    """Tables that FTS5 keeps for itself behind its virtual tables."""
    return {row[1] for row in connection.execute("PRAGMA table_list") if row[2] == "shadow"}


def compile_virtual_tables() -> None:
    """Teach SQLAlchemy to write the CREATE statement of virtual tables."""
    from sqlalchemy.ext.compiler import compiles
    from sqlalchemy.schema import CreateTable

    @compiles(CreateTable, "sqlite")
    def _create(element: Any, compiler: Any, **options: Any) -> str:
        statement = element.element.info.get(FTS5)
        return str(statement) if statement else str(compiler.visit_create_table(element, **options))
