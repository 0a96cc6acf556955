"""Runs: where and under which conditions they were collected."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, MetaData, Table, UniqueConstraint

from opprof_db.warehouse.schema.columns import CLUSTERED, STRICT, integer, key, one_of, parent, text


def add_runs(metadata: MetaData) -> None:
    """Add the tables of runs."""
    Table(
        "runs",
        metadata,
        key("Identifier of the run."),
        text("name", "Folder name when first seen: a hint, not the identity.", nullable=False),
        text("mode", "device, simulator, mixed (both kinds of results), or unknown.", nullable=False),
        text("status", "complete, or partial: something listed in missing was not there.", nullable=False),
        text("missing", "What is missing, in words; NULL when complete."),
        text("started_at", "Start of the collection, local time of the machine that ran it (ISO 8601)."),
        text(
            "started_at_source",
            "Where started_at comes from: folder_name or file_names (file_times in files of schema 0003 and before).",
        ),
        text("soc", "Chip such as Ascend910B2; NULL when not recorded and not given."),
        text("soc_source", "Where soc comes from: dump, bin or user."),
        text("chip_family", "910B, 910_93, 310P, 310B or 950; NULL when it cannot be told."),
        text("chip_family_source", "Where chip_family comes from: soc, or inferred from the CSV headers."),
        text("tool_version", "Version of msopprof as given by the user; the output does not record it."),
        text("fingerprint", "SHA-256 over the sorted (path in the run, content hash) pairs.", nullable=False),
        text("ingested_at", "When this content was stored, UTC (ISO 8601).", nullable=False),
        text("ingested_with", "Version of opprof-db that stored it.", nullable=False),
        integer("cells_read", "Cells of tabular files read.", nullable=False),
        integer("cells_stored", "Cells stored as values.", nullable=False),
        integer("cells_null", "Cells that say NA or nothing, stored as NULL.", nullable=False),
        integer("cells_lost", "Cells that an issue explains; read = stored + null + lost.", nullable=False),
        one_of("mode", "device", "simulator", "mixed", "unknown"),
        one_of("status", "complete", "partial"),
        CheckConstraint("cells_read = cells_stored + cells_null + cells_lost", name="accounting"),
        UniqueConstraint("fingerprint"),
        comment="One collection by msopprof: one OPPROF folder, whatever it is called now.",
        **STRICT,
    )
    Table(
        "run_locations",
        metadata,
        parent("run_id", "runs", "The run.", primary_key=True),
        text("path", "Absolute path at which this content was seen.", primary_key=True),
        text("content", "whole: all files of the run were there; part: only some of them.", nullable=False),
        text("first_seen_at", "UTC (ISO 8601).", nullable=False),
        text("last_seen_at", "UTC (ISO 8601).", nullable=False),
        one_of("content", "whole", "part"),
        comment="Every path at which a run's content was seen.",
        **CLUSTERED,
    )
    Table(
        "run_conditions",
        metadata,
        parent("run_id", "runs", "The run.", primary_key=True),
        text("kind", "condition (a fact about the collection) or label (the user's own key).", primary_key=True),
        text(
            "key",
            "cann_version, tool_version, soc, git_commit, aic_metrics, … or the label.",
            primary_key=True,
        ),
        text("value", "The value, as given.", nullable=False),
        text("source", "user, path (taken from a folder name) or dump.", nullable=False),
        one_of("kind", "condition", "label"),
        comment="Under what conditions a run was collected, and the user's labels.",
        **CLUSTERED,
    )
