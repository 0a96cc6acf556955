"""Baselines: named sets of launches that later ones are compared with."""

from __future__ import annotations

from sqlalchemy import Index, MetaData, Table

from opprof_db.warehouse.schema.columns import CLUSTERED, parent, text


def add_baselines(metadata: MetaData) -> None:
    """Add the tables of baselines."""
    Table(
        "baselines",
        metadata,
        text("name", "What the baseline is called.", primary_key=True),
        text("selection", "What was named when it was set: a run, a launch, a label.", nullable=False),
        text("set_at", "When, UTC (ISO 8601).", nullable=False),
        comment="Named sets of launches that later ones are compared with.",
        **CLUSTERED,
    )
    baseline_kernels = Table(
        "baseline_kernels",
        metadata,
        text("name", "The baseline.", primary_key=True),
        parent("kernel_id", "kernels", "A launch of it; forgetting its run takes it out.", primary_key=True),
        comment="The launches of each baseline, fixed when it was set.",
        **CLUSTERED,
    )
    Index("ix_baseline_kernels_kernel_id", baseline_kernels.c.kernel_id)
