"""Where the numbers come from: files and hashes, problems met, and what was not collected with how to collect it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from opprof_db.report.model import Column, Section, Table
from opprof_db.report.numbers import bytes_text

_FILES, _ISSUES = 300, 300


def sections(connection: sqlite3.Connection, run_id: int, kernels: Iterable[Mapping[str, Any]]) -> list[Section]:
    """Origin, files, issues, and what is missing."""
    return [
        _origin(connection, run_id),
        _not_collected(kernels),
        _issues(connection, run_id),
        _files(connection, run_id),
    ]


def _origin(connection: sqlite3.Connection, run_id: int) -> Section:
    name, fingerprint, ingested, version, read, stored, null, lost = connection.execute(
        "SELECT name, fingerprint, ingested_at, ingested_with, cells_read, cells_stored, cells_null, cells_lost"
        " FROM runs WHERE id = ?",
        (run_id,),
    ).fetchone()
    rows = [
        ("Run", f"{name} (run {run_id})"),
        ("Fingerprint of its files", fingerprint),
        ("Taken in", f"{(ingested or '').replace('T', ' ')} UTC by opprof-db {version}"),
        ("Cells", f"{read:,} read = {stored:,} values + {null:,} NULL + {lost:,} lost to issues"),
    ]
    rows += [
        ("Seen at", f"{path} ({seen})" if seen else path)
        for path, seen in connection.execute(
            "SELECT path, last_seen_at FROM run_locations WHERE run_id = ? ORDER BY path LIMIT 20", (run_id,)
        )
    ]
    return Section(
        "origin",
        "Origin",
        tables=(
            Table(
                "origin-table",
                "The run and its content",
                (Column("what", "What"), Column("value", "Value")),
                tuple(rows),
            ),
        ),
    )


def _not_collected(kernels: Iterable[Mapping[str, Any]]) -> Section:
    """What rules could not look at, the kernels that lack the same taken together."""
    seen: dict[tuple[str, str, str], list[str]] = {}
    for kernel in kernels:
        for one in kernel["could_not_look"]:
            key = (one["title"], one["sentence"], "; ".join(one["measure_next"]))
            seen.setdefault(key, []).append(kernel["short_name"])
    if not seen:
        return Section("not-collected", "Not collected", paragraphs=("Every rule had what it needs.",))
    return Section(
        "not-collected",
        "Not collected, and how to collect it",
        paragraphs=("“Could not look” is not “no problem”.",),
        tables=(
            Table(
                "not-collected-table",
                "What rules could not look at",
                (
                    Column("rule", "Rule"),
                    Column("why", "Why", "prose"),
                    Column("how", "How to collect it", "prose"),
                    Column("kernels", "Kernels", "number"),
                    Column("names", "Such as"),
                ),
                tuple(
                    (title, why.removeprefix("Could not look: "), how or None, len(names), ", ".join(names[:2]))
                    for (title, why, how), names in seen.items()
                ),
            ),
        ),
    )


def _issues(connection: sqlite3.Connection, run_id: int) -> Section:
    total = connection.execute("SELECT count(*) FROM issue_overview WHERE run_id = ?", (run_id,)).fetchone()[0]
    if not total:
        return Section("issues", "Issues", paragraphs=("No problem was met when the run was taken in.",))
    rows = connection.execute(
        "SELECT severity, code, path, line, column_name, raw_text, message, cells, count FROM issue_overview"
        " WHERE run_id = ? ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END,"
        " path, line LIMIT ?",
        (run_id, _ISSUES),
    ).fetchall()
    return Section(
        "issues",
        "Issues",
        tables=(
            Table(
                "issues-table",
                "Problems met when the run was taken in",
                (
                    Column("severity", "Severity"),
                    Column("code", "Kind", "code"),
                    Column("path", "File", "code"),
                    Column("line", "Line", "number"),
                    Column("column_name", "Column", "code"),
                    Column("raw_text", "As it stood there", "code"),
                    Column("message", "What happened"),
                    Column("cells", "Cells lost", "number"),
                    Column("count", "Times", "number"),
                ),
                tuple(tuple(row) for row in rows),
                total=total,
            ),
        ),
    )


def _files(connection: sqlite3.Connection, run_id: int) -> Section:
    total, size = connection.execute(
        "SELECT count(*), sum(size_bytes) FROM artifacts WHERE run_id = ?", (run_id,)
    ).fetchone()
    rows = connection.execute(
        "SELECT path, kind, family, status, rows, size_bytes, sha256 FROM artifacts WHERE run_id = ?"
        " ORDER BY in_fingerprint DESC, path LIMIT ?",
        (run_id, _FILES),
    ).fetchall()
    return Section(
        "files",
        "Files",
        tables=(
            Table(
                "files-table",
                f"{total:,} files, {bytes_text(size)}",
                (
                    Column("path", "File in the run", "code"),
                    Column("kind", "Kind"),
                    Column("family", "Family"),
                    Column("status", "Status"),
                    Column("rows", "Rows", "number"),
                    Column("size_bytes", "Size", "bytes"),
                    Column("sha256", "SHA-256", "code"),
                ),
                tuple(tuple(row) for row in rows),
                total=total,
            ),
        ),
    )
