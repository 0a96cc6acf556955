"""What a diagnosis said, kept for SQL and reports, and the work that people state for operators."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKeyConstraint, Index, MetaData, Table

from opprof_db.warehouse.schema.columns import CLUSTERED, integer, one_of, parent, real, text


def add_findings(metadata: MetaData) -> None:
    """Add the tables of diagnoses and of operator work."""
    Table(
        "operator_work",
        metadata,
        text("operator", "Normalised name of the operator, as in operators.name.", primary_key=True),
        real("flops", "Operations of one launch, a multiply-add being two; NULL when not stated."),
        real("bytes_read", "Bytes that must be read at the least; NULL when not stated apart."),
        real("bytes_written", "Bytes that must be written at the least; NULL when not stated apart."),
        real("bytes_total", "Bytes read and written together, where they were stated so."),
        text("shape", "The shape it was worked out from: MxKxN, or in=…,out=…."),
        text("dtype", "Data type of the shape."),
        text("source", "command line, or the TOML file it came from.", nullable=False),
        text("stated_at", "When, UTC (ISO 8601).", nullable=False),
        comment="What an operator has to do at the least, as somebody stated it; never guessed from counters.",
        **CLUSTERED,
    )
    Table(
        "diagnoses",
        metadata,
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        text("profile", "Profile of the rule set: default, strict or upstream.", primary_key=True),
        text("rules_version", "Version of the rule set; another one means that it should be diagnosed again.",
             nullable=False),
        text("diagnosed_at", "When, UTC (ISO 8601).", nullable=False),
        comment="Which kernels were diagnosed, with which rules; each diagnosis replaces the one before.",
        **CLUSTERED,
    )  # fmt: skip
    _add_outcomes(metadata)


def _of_diagnosis(table: str) -> list[ForeignKeyConstraint]:
    return [
        ForeignKeyConstraint(
            ["kernel_id", "profile"],
            ["diagnoses.kernel_id", "diagnoses.profile"],
            ondelete="CASCADE",
            name=f"fk_{table}_kernel_id_diagnoses",
        )
    ]


def _add_outcomes(metadata: MetaData) -> None:
    def key() -> list[Column[Any]]:
        return [
            integer("kernel_id", "The kernel.", primary_key=True),
            text("profile", "Profile of the rule set.", primary_key=True),
        ]

    Table(
        "diagnosis_facts",
        metadata,
        *key(),
        integer("position", "Place in the list.", primary_key=True),
        text("name", "What the fact is about: cores_aiv, frequency, collected, …", nullable=False),
        text("value", "The value as text; NULL when unknown."),
        text("unit", "Unit of the value."),
        text("sentence", "The fact in words.", nullable=False),
        *_of_diagnosis("diagnosis_facts"),
        comment="Facts that a diagnosis starts with.",
        **CLUSTERED,
    )
    Table(
        "findings",
        metadata,
        *key(),
        integer("position", "Rank: 0 is the most important.", primary_key=True),
        text("rule", "Identifier of the rule.", nullable=False),
        text("outcome", "finding, no_problem or could_not_look.", nullable=False),
        text("severity", "critical, high, medium, low or info.", nullable=False),
        text("confidence", "high, medium or low.", nullable=False),
        text("title", "What the finding is called.", nullable=False),
        text("sentence", "What it means, with the figures in it.", nullable=False),
        text("core", "The core it is about; NULL for the kernel."),
        real("recoverable_us", "Upper bound of the time at stake, us; NULL where nothing supports an estimate."),
        text("recoverable_why", "How that was reckoned."),
        text("advice", "What to try: a JSON array of texts.", nullable=False),
        text("measure_next", "What to collect or look at next: a JSON array of texts.", nullable=False),
        text("expected", "Which metric should move which way: a JSON array of {column, direction, why}.",
             nullable=False),
        text("source", "Where the rule comes from."),
        *_of_diagnosis("findings"),
        one_of("outcome", "finding", "no_problem", "could_not_look"),
        one_of("severity", "critical", "high", "medium", "low", "info"),
        one_of("confidence", "high", "medium", "low"),
        Index("ix_findings_rule", "rule"),
        comment="What every rule of a profile said about a kernel; view kernel_findings has the names.",
        **CLUSTERED,
    )  # fmt: skip
    Table(
        "finding_evidence",
        metadata,
        *key(),
        integer("position", "The finding.", primary_key=True),
        integer("ordinal", "Place in its evidence.", primary_key=True),
        text("table_name", "Table or view that holds the number.", nullable=False),
        text("column_name", "Column of it.", nullable=False),
        text("row_key", "What picks the row: a JSON object of column and value.", nullable=False),
        real("value_number", "The number; NULL for texts."),
        text("value_text", "The text; NULL for numbers."),
        text("unit", "Unit of the number."),
        text("note", "What was done with it where it is not the cell itself."),
        ForeignKeyConstraint(
            ["kernel_id", "profile", "position"],
            ["findings.kernel_id", "findings.profile", "findings.position"],
            ondelete="CASCADE",
            name="fk_finding_evidence_kernel_id_findings",
        ),
        CheckConstraint("value_number IS NULL OR value_text IS NULL", name="one_value"),
        comment="The numbers each finding rests on, and where they stand.",
        **CLUSTERED,
    )
