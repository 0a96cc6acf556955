"""Writes runs: bulk rows go to the driver as tuples, one transaction per run.

The plain records below are what a layer above hands in; ids are given out here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from opprof_db.warehouse.reference import DERIVED_PREFIX
from opprof_db.warehouse.spool import SpooledTable, copy


@dataclass(frozen=True, slots=True)
class FactRows:
    """Rows of a wide table, column by column: block ids, sub-block ids, then the values."""

    table: str
    columns: tuple[str, ...]
    values: list[Sequence[Any]]


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows of a table that belongs to a kernel, without the kernel's id."""

    table: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Bytes to archive: compressed chunks and what they are."""

    sha256: str
    size_bytes: int
    codec: str
    stored_bytes: int
    chunks: Iterable[bytes]


@dataclass(slots=True)
class KernelRecord:
    """Everything to store about one launch, without ids."""

    values: dict[str, Any]
    """Columns of ``kernels`` but for ids and operator."""
    operator: tuple[str, str | None] | None
    facts: list[FactRows] = field(default_factory=list)
    cores: list[tuple[Any, ...]] = field(default_factory=list)
    """(block_id, sub_block_id, core_kind, time_us, total_cycles, is_idle)."""
    rollup: list[tuple[Any, ...]] = field(default_factory=list)
    """(family, vendor_name, core_kind, n, n_idle, sum, mean, min, max, std, max_block, max_sub_block)."""
    extras: list[tuple[Any, ...]] = field(default_factory=list)
    """(family, vendor_name, block_id, sub_block_id, value, raw_text)."""
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    issues: list[dict[str, Any]] = field(default_factory=list)
    contents: list[StoredContent] = field(default_factory=list)
    tables: list[TableRows] = field(default_factory=list)
    """Simulator statistics and the content of the bin."""
    details: dict[str, str] = field(default_factory=dict)
    """Operand text -> its key:value pairs as JSON; rows of ``instruction_stats`` end in the text."""
    sources: dict[str, str] = field(default_factory=dict)
    """SHA-256 -> source text."""
    soc: str | None = None
    """Chip as the bin names it."""
    spooled: list[SpooledTable] = field(default_factory=list)
    """Events of traces; their spool must be attached."""


class Store:
    """Insert statements over one connection; call inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._statements: dict[tuple[str, tuple[str, ...]], str] = {}
        self._metrics: dict[tuple[str, str], int] = {}
        self._operators: dict[tuple[str, str], int] = {}
        self._details: dict[str, int] = {}

    def insert(self, table: str, values: dict[str, Any]) -> int:
        """Insert one row; returns its rowid."""
        statement = self._insert_statement(table, tuple(values))
        row = tuple(map(storable, values.values()))
        return int(self._connection.execute(statement, row).lastrowid or 0)

    def bulk(self, table: str, columns: tuple[str, ...], rows: Iterable[Sequence[Any]]) -> None:
        """Insert many rows."""
        self._connection.executemany(self._insert_statement(table, columns), rows)

    def _insert_statement(self, table: str, columns: tuple[str, ...]) -> str:
        statement = self._statements.get((table, columns))
        if statement is None:
            names = ", ".join(columns)
            marks = ", ".join("?" * len(columns))
            statement = f"INSERT INTO {table} ({names}) VALUES ({marks})"
            self._statements[table, columns] = statement
        return statement

    def kernel(self, run_id: int, record: KernelRecord, kernel_id: int | None = None) -> int:
        """Store one launch and all that belongs to it; returns its id."""
        values = {"run_id": run_id, **record.values}
        if kernel_id is not None:
            values = {"id": kernel_id, **values}
        if record.operator is not None:
            values["operator_id"] = self._operator(*record.operator)
        identifier = self.insert("kernels", values)
        for fact in record.facts:
            columns = ("kernel_id", "block_id", "sub_block_id", *fact.columns)
            self.bulk(fact.table, columns, zip(repeat(identifier), *fact.values, strict=False))
        self.bulk("kernel_cores", _CORE_COLUMNS, ((identifier, *row) for row in record.cores))
        self.bulk(
            "kernel_metrics",
            _ROLLUP_COLUMNS,
            ((identifier, self._metric(row[0], row[1]), *row[2:]) for row in record.rollup),
        )
        self.bulk(
            "extra_metric_values",
            _EXTRA_COLUMNS,
            ((identifier, self._metric(row[0], row[1]), *row[2:]) for row in record.extras),
        )
        self._shared_texts(record)
        for table in record.tables:
            rows: Iterable[tuple[Any, ...]] = table.rows
            columns = table.columns
            if columns[-1] == "detail":
                columns = (*columns[:-1], "detail_id")
                rows = ((*row[:-1], self._details.get(row[-1])) for row in rows)
            self.bulk(table.table, ("kernel_id", *columns), ((identifier, *row) for row in rows))
        for spooled in record.spooled:
            copy(self._connection, identifier, spooled)
        contents = {content.sha256: self.content(content) for content in record.contents}
        for artifact in record.artifacts:
            self.artifact(run_id, identifier, artifact, contents)
        for issue in record.issues:
            self.insert("ingest_issues", {"run_id": run_id, "kernel_id": identifier, **issue})
        return identifier

    def _shared_texts(self, record: KernelRecord) -> None:
        """Texts that many rows and kernels refer to, each stored once."""
        for detail, pairs in record.details.items():
            if detail not in self._details:
                self._connection.execute(
                    "INSERT INTO instruction_details (detail, pairs) VALUES (?, ?) ON CONFLICT (detail) DO NOTHING",
                    (detail, pairs),
                )
                (self._details[detail],) = self._connection.execute(
                    "SELECT id FROM instruction_details WHERE detail = ?", (detail,)
                ).fetchone()
        self._connection.executemany(
            "INSERT INTO source_texts (sha256, source) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING",
            record.sources.items(),
        )

    def artifact(self, run_id: int, kernel_id: int | None, values: dict[str, Any], contents: dict[str, int]) -> int:
        """Store one file's entry, linked to its archived content (hash -> id) if there is one."""
        content_id = contents.get(values["sha256"]) if values["sha256"] else None
        return self.insert("artifacts", {"run_id": run_id, "kernel_id": kernel_id, **values, "content_id": content_id})

    def content(self, content: StoredContent) -> int:
        """Archive bytes unless they are there already; returns the content's id."""
        known = self._connection.execute("SELECT id FROM contents WHERE sha256 = ?", (content.sha256,)).fetchone()
        if known:
            return int(known[0])
        identifier = self.insert(
            "contents",
            {
                "sha256": content.sha256,
                "size_bytes": content.size_bytes,
                "codec": content.codec,
                "stored_bytes": content.stored_bytes,
            },
        )
        for seq, chunk in enumerate(content.chunks):
            self.insert("content_chunks", {"content_id": identifier, "seq": seq, "data": chunk})
        return identifier

    def _operator(self, name: str, op_type: str | None) -> int:
        key = (name, op_type or "unknown")
        if key not in self._operators:
            found = self._connection.execute("SELECT id FROM operators WHERE name = ? AND op_type = ?", key).fetchone()
            self._operators[key] = found[0] if found else self.insert("operators", {"name": name, "op_type": key[1]})
        return self._operators[key]

    def _metric(self, family: str, vendor: str) -> int:
        """Id of a metric; an unknown column gets a row with ``known = 0``."""
        key = (family, vendor)
        if key not in self._metrics:
            found = self._connection.execute(
                "SELECT id FROM metrics WHERE family = ? AND vendor_name = ?", key
            ).fetchone()
            self._metrics[key] = (
                found[0] if found else self.insert("metrics", {"family": family, "vendor_name": vendor, "known": 0})
            )
        return self._metrics[key]


def storable(value: Any) -> Any:
    r"""The value; a file name with bytes that are no UTF-8 has them written as ``\xd3``."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return value


def derived_name(column: str) -> str:
    """vendor_name of a derived metric."""
    return DERIVED_PREFIX + column


_CORE_COLUMNS = (
    "kernel_id", "block_id", "sub_block_id", "core_kind", "time_us", "total_cycles", "is_idle",
)  # fmt: skip
_ROLLUP_COLUMNS = (
    "kernel_id", "metric_id", "core_kind", "n", "n_idle", "sum", "mean", "min", "max", "std",
    "max_block_id", "max_sub_block_id",
)  # fmt: skip
_EXTRA_COLUMNS = ("kernel_id", "metric_id", "block_id", "sub_block_id", "value", "raw_text")
