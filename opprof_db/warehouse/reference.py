"""Keeps the warehouse's copy of the catalogue and its views at the state of the running program."""

from __future__ import annotations

import dataclasses
import sqlite3

from opprof_db import __version__
from opprof_db.catalog import Catalogue, Chip, digest, load, table_name
from opprof_db.warehouse import views

DERIVED_PREFIX = "derived:"
"""Marks the vendor_name of derived metrics, which no CSV header can spell."""


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether catalogue copy and views match this program."""
    stored = dict(connection.execute("SELECT key, value FROM warehouse_info"))
    current = {"catalogue_digest": digest(), "views_digest": views.digest(), "sql_api": views.SQL_API_VERSION}
    return current.items() <= stored.items()


def refresh(connection: sqlite3.Connection) -> None:
    """Bring both up to date; call inside a transaction. Metric ids stay what they are."""
    catalogue = load()
    _put_metrics(connection, catalogue)
    _put_changes(connection, catalogue)
    _put_chips(connection, catalogue)
    views.drop_all(connection)
    views.create_all(connection)
    for key, value in (
        ("catalogue_digest", catalogue.digest),
        ("views_digest", views.digest()),
        ("sql_api", views.SQL_API_VERSION),
        ("refreshed_with", __version__),
    ):
        connection.execute(
            "INSERT INTO warehouse_info (key, value) VALUES (?, ?)"
            " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )


_METRIC_COLUMNS = (
    "family", "vendor_name", "column_name", "unit", "unit_base", "core_kind", "aggregate", "polarity",
    "denominator", "metric_set", "pipe", "chips", "formula", "meaning", "source", "known",
)  # fmt: skip


def _put_metrics(connection: sqlite3.Connection, catalogue: Catalogue) -> None:
    rows: list[tuple[object, ...]] = []
    for m in catalogue.metrics:
        denominator = catalogue.denominators.get(m.denominator, m.denominator) if m.denominator else None
        rows.append(
            (m.family, m.vendor, m.column, m.unit, m.unit_base, m.core, m.aggregate, m.polarity, denominator,
             _metric_set(m.metric_set), m.pipe, ",".join(m.chips), None, m.meaning, m.source, 1)
        )  # fmt: skip
    for d in catalogue.derived:
        rows.append(
            (d.family, DERIVED_PREFIX + d.column, d.column, d.unit, None, d.core, "never", d.polarity, None,
             None, None, ",".join(d.chips), d.formula, d.meaning, d.source, 1)
        )  # fmt: skip
    names = ", ".join(_METRIC_COLUMNS)
    marks = ", ".join("?" * len(_METRIC_COLUMNS))
    updates = ", ".join(f"{name} = excluded.{name}" for name in _METRIC_COLUMNS[2:])
    connection.executemany(
        f"INSERT INTO metrics ({names}) VALUES ({marks}) ON CONFLICT (family, vendor_name) DO UPDATE SET {updates}",
        rows,
    )


def _metric_set(value: object) -> str | None:
    """``--aic-metrics`` values, per chip where they differ."""
    if isinstance(value, dict):
        return "; ".join(f"{chip}: {name}" for chip, name in value.items())
    return None if value is None else str(value)


def _put_changes(connection: sqlite3.Connection, catalogue: Catalogue) -> None:
    connection.execute("DELETE FROM metric_changes")
    connection.executemany(
        "INSERT INTO metric_changes (changed_on, chips, family, columns, effect, source) VALUES (?, ?, ?, ?, ?, ?)",
        [(c.date, ",".join(c.chips), c.family, ",".join(c.columns), c.effect, c.source) for c in catalogue.changes],
    )


def _put_chips(connection: sqlite3.Connection, catalogue: Catalogue) -> None:
    names = [field.name for field in dataclasses.fields(Chip)]
    connection.execute("DELETE FROM chips")
    connection.executemany(
        f"INSERT INTO chips ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
        [tuple(getattr(chip, name) for name in names) for chip in catalogue.chips],
    )


def fact_tables() -> tuple[str, ...]:
    """Names of the wide tables, one per CSV family."""
    return tuple(table_name(family) for family in load().families)
