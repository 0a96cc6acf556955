"""Launches on their way from a reading process to the writing one.

``marshal`` takes a tenth of the time of ``pickle`` for millions of numbers; both ends are this
program and this Python, so its lack of a stable format does not matter.
"""

from __future__ import annotations

import marshal
from pathlib import Path
from typing import Any

from opprof_db.ingest.archive import LargeFile
from opprof_db.ingest.assemble import Assembled
from opprof_db.msopprof.device_csv import CellCounts
from opprof_db.warehouse.store import FactRows, KernelRecord, StoredContent, TableRows


def dump(kernel: Assembled) -> bytes:
    """A launch as bytes."""
    record, counts = kernel.record, kernel.counts
    return marshal.dumps(
        (
            record.values,
            record.operator,
            [(fact.table, fact.columns, [tuple(values) for values in fact.values]) for fact in record.facts],
            record.cores,
            record.rollup,
            record.extras,
            record.artifacts,
            record.issues,
            [_content(content) for content in record.contents],
            (counts.read, counts.stored, counts.nulls, counts.lost),
            kernel.has_values,
            [(table.table, table.columns, table.rows) for table in record.tables],
            record.details,
            record.sources,
            record.soc,
        )
    )


def _content(content: StoredContent) -> tuple[Any, ...]:
    chunks = content.chunks
    packed = (str(chunks.path), chunks.rel) if isinstance(chunks, LargeFile) else list(chunks)
    return content.sha256, content.size_bytes, content.codec, content.stored_bytes, packed


def load(data: bytes) -> Assembled:
    """The launch again."""
    values, operator, facts, cores, rollup, extras, artifacts, issues, contents, counts, has_values, *rest = (
        marshal.loads(data)
    )
    tables, details, sources, soc = rest
    record = KernelRecord(
        values=values,
        operator=operator,
        facts=[FactRows(*fact) for fact in facts],
        cores=cores,
        rollup=rollup,
        extras=extras,
        artifacts=artifacts,
        issues=issues,
        contents=[_stored(*content) for content in contents],
        tables=[TableRows(*table) for table in tables],
        details=details,
        sources=sources,
        soc=soc,
    )
    return Assembled(record, CellCounts(*counts), has_values)


def _stored(sha256: str, size: int, codec: str, stored: int, packed: tuple[str, str] | list[bytes]) -> StoredContent:
    chunks = LargeFile(Path(packed[0]), packed[1]) if isinstance(packed, tuple) else packed
    return StoredContent(sha256, size, codec, stored, chunks)
