"""Short words for what the table modules repeat."""

from __future__ import annotations

from typing import Any

from sqlalchemy import REAL, CheckConstraint, Column, ForeignKey, Integer, Text

STRICT: dict[str, Any] = {"sqlite_strict": True}
CLUSTERED: dict[str, Any] = {"sqlite_strict": True, "sqlite_with_rowid": False}
"""Rows lie in the order of the key, without a rowid."""


def text(name: str, comment: str, **options: Any) -> Column[Any]:
    """A TEXT column; every column says what it holds."""
    return Column(name, Text, comment=comment, **options)


def integer(name: str, comment: str, **options: Any) -> Column[Any]:
    """An INTEGER column."""
    return Column(name, Integer, comment=comment, **options)


def real(name: str, comment: str, **options: Any) -> Column[Any]:
    """A REAL column."""
    return Column(name, REAL, comment=comment, **options)


def key(comment: str) -> Column[Any]:
    """The rowid of a table."""
    return Column("id", Integer, primary_key=True, comment=comment)


def parent(name: str, target: str, comment: str, **options: Any) -> Column[Any]:
    """A reference that goes with its target."""
    return Column(
        name,
        Integer,
        ForeignKey(f"{target}.id", ondelete="CASCADE"),
        comment=comment,
        nullable=options.pop("nullable", False),
        **options,
    )


def one_of(column: str, *values: str) -> CheckConstraint:
    """A column that holds one of some words."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def grain() -> list[Column[Any]]:
    """Key columns of a row about one core of a kernel."""
    return [
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        integer("block_id", "Logical block; -1 for a row that stands for the whole kernel.", primary_key=True),
        text("sub_block_id", "cube0, vector0, vector1; all for the whole kernel.", primary_key=True),
    ]
