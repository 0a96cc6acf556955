"""The wide tables of the device CSVs, and their roll-up."""

from __future__ import annotations

from sqlalchemy import REAL, Column, Integer, MetaData, Table, Text

from opprof_db.catalog import Catalogue, Metric, SqlType, table_name
from opprof_db.warehouse.schema.columns import CLUSTERED, grain, integer, parent, real, text


def fact_metrics(catalogue: Catalogue, family: str) -> list[Metric]:
    """The catalogue entries that are columns of a family's table, in table order."""
    return [metric for metric in catalogue.of_family(family) if not metric.is_key]


def add_facts(metadata: MetaData, catalogue: Catalogue) -> None:
    """Add one table per CSV family, its columns from the catalogue."""
    types = {SqlType.REAL: REAL, SqlType.INTEGER: Integer, SqlType.TEXT: Text}
    for family in catalogue.families:
        Table(
            table_name(family),
            metadata,
            *grain(),
            *(
                Column(metric.column, types[metric.type], comment=describe(metric))
                for metric in fact_metrics(catalogue, family)
            ),
            comment=f"{family}.csv: one row per core of a kernel, as msopprof printed it.",
            **CLUSTERED,
        )


def describe(metric: Metric) -> str:
    """Documentation of a fact column: unit first, then the meaning."""
    unit = metric.unit_base or metric.unit
    return f"[{unit}] {metric.meaning}" if unit else metric.meaning


def add_rollup(metadata: MetaData) -> None:
    """Add the roll-up and the values of unknown columns."""
    Table(
        "kernel_metrics",
        metadata,
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        parent("metric_id", "metrics", "The metric.", primary_key=True),
        text("core_kind", "aic, aiv, aicore (310P) or kernel (derived for the whole kernel).", primary_key=True),
        integer("n", "Cores with a value, idle ones included.", nullable=False),
        integer("n_idle", "Idle cores among them, left out of mean, min, max and std.", nullable=False),
        real("sum", "Sum over all cores; NULL where the catalogue says the metric must not be summed."),
        real("mean", "Mean over working cores; NULL where it must not be averaged."),
        real("min", "Smallest value of a working core."),
        real("max", "Largest value of a working core."),
        real("std", "Population standard deviation over working cores; NULL where mean is."),
        integer("max_block_id", "Block with the largest value."),
        text("max_sub_block_id", "Sub-block with the largest value."),
        comment="Roll-up per kernel, metric and core kind; AIC and AIV are never mixed.",
        **CLUSTERED,
    )
    Table(
        "extra_metric_values",
        metadata,
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        parent("metric_id", "metrics", "The metric, known = 0.", primary_key=True),
        integer("block_id", "Logical block; -1 for the whole kernel.", primary_key=True),
        text("sub_block_id", "cube0, vector0, vector1; all for the whole kernel.", primary_key=True),
        real("value", "The number; NULL when the cell holds none."),
        text("raw_text", "The cell exactly as printed.", nullable=False),
        comment="Values under columns that the catalogue does not know.",
        **CLUSTERED,
    )
