"""What the program knows, copied into every warehouse: metrics, dated changes, chips."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, MetaData, Table, UniqueConstraint

from opprof_db.warehouse.schema.columns import CLUSTERED, STRICT, integer, key, real, text


def add_reference(metadata: MetaData) -> None:
    """Add the tables of reference data."""
    Table(
        "warehouse_info",
        metadata,
        text("key", "What the value says: catalogue_digest, created_with, created_at.", primary_key=True),
        text("value", "The value."),
        comment="Facts about this warehouse file itself.",
        **CLUSTERED,
    )
    Table(
        "metrics",
        metadata,
        key("Identifier of the metric."),
        text(
            "family",
            "CSV family such as PipeUtilization; OpBasicInfo for columns of kernels.",
            nullable=False,
        ),
        text("vendor_name", "Spelling in the CSV header; for derived metrics the column name.", nullable=False),
        text("column_name", "SQL column in the family's table; NULL for unknown columns."),
        text("unit", "Unit as msopprof prints it; what it means exactly stands in unit_base."),
        text("unit_base", "Exact base of the unit, for example GiB/s (2^30 bytes per second)."),
        text("core_kind", "Cores the column describes: aic, aiv or both."),
        text("aggregate", "How cores may be put together: sum, max, mean, or never."),
        text("polarity", "Which direction is an improvement: higher, lower or neutral."),
        text("denominator", "What a ratio or bandwidth is divided by, per chip and kernel type."),
        text("metric_set", "Value of --aic-metrics that fills the column, where it is a special one."),
        text("pipe", "Pipe the column belongs to: cube, vec, mte1, mte2, mte3, fixpipe or scalar."),
        text("chips", "Chip families whose CSVs have the column, separated by commas."),
        text("formula", "Formula of a derived metric; NULL for columns that msopprof prints."),
        text("meaning", "What the number says, in our own words."),
        text("source", "Where the definition comes from (upstream file or capture)."),
        integer("known", "1: in the catalogue; 0: met in a file, not known to this program.", nullable=False),
        CheckConstraint("known IN (0, 1)", name="known"),
        UniqueConstraint("family", "vendor_name"),
        comment="The catalogue of metrics, plus every unknown column that was met.",
        **STRICT,
    )
    Table(
        "metric_changes",
        metadata,
        key("Identifier of the change."),
        text("changed_on", "Date (YYYY-MM-DD) of the msopprof change; builds before it differ.", nullable=False),
        text("chips", "Chip families concerned, separated by commas.", nullable=False),
        text("family", "CSV family concerned; NULL when several are."),
        text("columns", "SQL columns concerned, as shell patterns separated by commas.", nullable=False),
        text("effect", "What changed under the same name.", nullable=False),
        text("source", "Where this is known from.", nullable=False),
        comment="msopprof builds after which a column of the same name means something else.",
        **STRICT,
    )
    Table(
        "chips",
        metadata,
        text("soc", "SoC name such as Ascend910B2.", primary_key=True),
        text("family", "Chip family: 910B, 910_93, 310P, 310B or 950.", nullable=False),
        text("header_family", "Chip family whose CSV headers it shares.", nullable=False),
        integer("aic_cores", "Cube cores (on 310P: AI Cores)."),
        integer("aiv_cores", "Vector cores."),
        real("sim_clock_mhz", "Clock the simulator uses, MHz."),
        real("l2_mib", "L2 cache, MiB."),
        real("ub_kib", "Unified buffer of one core, KiB."),
        real("gm_peak_tb_s", "Peak of global memory, decimal TB/s."),
        real("gm_peak_other_hbm_tb_s", "The same with the other HBM vendor, which the output does not name."),
        real("l2_peak_tb_s", "Peak of L2, decimal TB/s."),
        real("l2_peak_other_hbm_tb_s", "The same with the other HBM vendor."),
        real("gm_to_ub_core_peak_gib_s", "One core's peak from GM to UB, GiB/s."),
        real("ub_to_gm_core_peak_gib_s", "One core's peak from UB to GM, GiB/s."),
        real("gm_to_l1_core_peak_gib_s", "One core's peak from GM to L1, GiB/s."),
        real("l1_to_gm_core_peak_gib_s", "One core's peak from L1 to GM, GiB/s."),
        real("l0c_to_l1_core_peak_gib_s", "One core's peak from L0C to L1, GiB/s."),
        real("l0c_to_gm_core_peak_gib_s", "One core's peak from L0C to GM, GiB/s."),
        text("source", "Where the facts come from.", nullable=False),
        comment="Facts about chips: cores, clocks, peaks.",
        **CLUSTERED,
    )
