"""Every file met, its archived bytes, and every problem."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Integer, MetaData, Table, UniqueConstraint
from sqlalchemy.types import BLOB

from opprof_db.warehouse.schema.columns import STRICT, integer, key, one_of, parent, text


def add_provenance(metadata: MetaData) -> None:
    """Add the tables of provenance."""
    Table(
        "contents",
        metadata,
        key("Identifier of the content."),
        text("sha256", "SHA-256 of the bytes.", nullable=False),
        integer("size_bytes", "Size of the file.", nullable=False),
        text("codec", "How the chunks are stored: zstd or raw.", nullable=False),
        integer("stored_bytes", "Bytes the chunks take.", nullable=False),
        one_of("codec", "zstd", "raw"),
        UniqueConstraint("sha256"),
        comment="Archived file contents, each stored once however many runs hold it.",
        **STRICT,
    )
    Table(
        "content_chunks",
        metadata,
        parent("content_id", "contents", "The content.", primary_key=True),
        integer("seq", "Order of the chunk, from 0.", primary_key=True),
        Column("data", BLOB, nullable=False, comment="The bytes, compressed as contents.codec says."),
        comment="The archived bytes in chunks of a bounded size.",
        **STRICT,
    )
    Table(
        "artifacts",
        metadata,
        key("Identifier of the file."),
        parent("run_id", "runs", "The run."),
        parent("kernel_id", "kernels", "The kernel it belongs to; NULL for files of the run.", nullable=True),
        text("path", "Path below the run's folder.", nullable=False),
        text(
            "kind",
            "device_csv, basic_info, bin, trace, instr_csv, code_csv, dump_info or other.",
            nullable=False,
        ),
        text("family", "CSV family, for device CSVs."),
        text(
            "status",
            "read, header_only, empty, unrecognised, archived, listed or unreadable.",
            nullable=False,
        ),
        integer("size_bytes", "Size, bytes.", nullable=False),
        text("sha256", "SHA-256 of the bytes; NULL for files that were only listed."),
        integer("in_fingerprint", "1: a result file that makes up the run's identity.", nullable=False),
        text("encoding", "How the text was encoded; NULL for other files."),
        integer("rows", "Data rows kept from it; NULL for files that are no tables."),
        Column(
            "content_id",
            Integer,
            ForeignKey("contents.id"),
            comment="The archived bytes; NULL when the file was not archived.",
        ),
        UniqueConstraint("run_id", "path"),
        Index("ix_artifacts_sha256", "sha256"),
        Index("ix_artifacts_content_id", "content_id"),
        Index("ix_artifacts_kernel_id", "kernel_id"),
        CheckConstraint("in_fingerprint IN (0, 1)", name="in_fingerprint"),
        comment="Every file met in a run.",
        **STRICT,
    )
    Table(
        "ingest_issues",
        metadata,
        key("Identifier of the issue."),
        parent("run_id", "runs", "The run."),
        parent("kernel_id", "kernels", "The kernel; NULL for issues of the whole run.", nullable=True),
        text("code", "Kind of problem, for example not_a_number.", nullable=False),
        text("severity", "error (a file was lost), warning (values lost or doubtful) or info.", nullable=False),
        text("message", "What happened, in words.", nullable=False),
        text("path", "File below the run's folder; NULL when no file is meant."),
        integer("line", "Line in the file, the header being line 1."),
        text("column_name", "Column as spelt in the file."),
        text("raw_text", "The text as it stood there (cut at 500 characters)."),
        integer("byte_offset", "Offset in the file, bytes, for files that are no tables."),
        integer("cells", "Cells this issue explains the loss of; 0 for remarks.", nullable=False),
        integer("count", "How many like it this row stands for.", nullable=False),
        one_of("severity", "error", "warning", "info"),
        Index("ix_ingest_issues_run_id", "run_id"),
        Index("ix_ingest_issues_kernel_id", "kernel_id"),
        comment="Problems met at ingest: nothing is dropped without a row here.",
        **STRICT,
    )
