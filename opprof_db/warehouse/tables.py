"""Tables of the warehouse. Fact tables come from the catalogue, column by column.

Every table and column carries a comment: docs/reference/schema.md is generated from them, and a
test fails when one is missing. All tables are STRICT; NULL means "not applicable or not recorded".
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import REAL as REAL_TYPE
from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import BLOB

from opprof_db.catalog import Catalogue, Metric, SqlType, load, table_name

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


def _text(name: str, comment: str, **options: Any) -> Column[Any]:
    return Column(name, Text, comment=comment, **options)


def _integer(name: str, comment: str, **options: Any) -> Column[Any]:
    return Column(name, Integer, comment=comment, **options)


def _real(name: str, comment: str, **options: Any) -> Column[Any]:
    return Column(name, REAL_TYPE, comment=comment, **options)


def _key(comment: str) -> Column[Any]:
    return Column("id", Integer, primary_key=True, comment=comment)


def _parent(name: str, target: str, comment: str, **options: Any) -> Column[Any]:
    return Column(
        name,
        Integer,
        ForeignKey(f"{target}.id", ondelete="CASCADE"),
        comment=comment,
        nullable=options.pop("nullable", False),
        **options,
    )


def _one_of(column: str, *values: str) -> CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def build(catalogue: Catalogue) -> MetaData:
    """All tables for a catalogue."""
    metadata = MetaData(naming_convention=NAMING)
    _add_reference(metadata)
    _add_runs(metadata)
    _add_kernels(metadata)
    _add_facts(metadata, catalogue)
    _add_rollup(metadata)
    _add_provenance(metadata)
    return metadata


def _add_reference(metadata: MetaData) -> None:
    Table(
        "warehouse_info",
        metadata,
        _text("key", "What the value says: catalogue_digest, created_with, created_at.", primary_key=True),
        _text("value", "The value."),
        comment="Facts about this warehouse file itself.",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    Table(
        "metrics",
        metadata,
        _key("Identifier of the metric."),
        _text(
            "family",
            "CSV family such as PipeUtilization; OpBasicInfo for columns of kernels.",
            nullable=False,
        ),
        _text("vendor_name", "Spelling in the CSV header; for derived metrics the column name.", nullable=False),
        _text("column_name", "SQL column in the family's table; NULL for unknown columns."),
        _text("unit", "Unit as msopprof prints it; what it means exactly stands in unit_base."),
        _text("unit_base", "Exact base of the unit, for example GiB/s (2^30 bytes per second)."),
        _text("core_kind", "Cores the column describes: aic, aiv or both."),
        _text("aggregate", "How cores may be put together: sum, max, mean, or never."),
        _text("polarity", "Which direction is an improvement: higher, lower or neutral."),
        _text("denominator", "What a ratio or bandwidth is divided by, per chip and kernel type."),
        _text("metric_set", "Value of --aic-metrics that fills the column, where it is a special one."),
        _text("pipe", "Pipe the column belongs to: cube, vec, mte1, mte2, mte3, fixpipe or scalar."),
        _text("chips", "Chip families whose CSVs have the column, separated by commas."),
        _text("formula", "Formula of a derived metric; NULL for columns that msopprof prints."),
        _text("meaning", "What the number says, in our own words."),
        _text("source", "Where the definition comes from (upstream file or capture)."),
        _integer("known", "1: in the catalogue; 0: met in a file, not known to this program.", nullable=False),
        CheckConstraint("known IN (0, 1)", name="known"),
        UniqueConstraint("family", "vendor_name"),
        comment="The catalogue of metrics, plus every unknown column that was met.",
        sqlite_strict=True,
    )
    Table(
        "metric_changes",
        metadata,
        _key("Identifier of the change."),
        _text("changed_on", "Date (YYYY-MM-DD) of the msopprof change; builds before it differ.", nullable=False),
        _text("chips", "Chip families concerned, separated by commas.", nullable=False),
        _text("family", "CSV family concerned; NULL when several are."),
        _text("columns", "SQL columns concerned, as shell patterns separated by commas.", nullable=False),
        _text("effect", "What changed under the same name.", nullable=False),
        _text("source", "Where this is known from.", nullable=False),
        comment="msopprof builds after which a column of the same name means something else.",
        sqlite_strict=True,
    )
    Table(
        "chips",
        metadata,
        _text("soc", "SoC name such as Ascend910B2.", primary_key=True),
        _text("family", "Chip family: 910B, 910_93, 310P, 310B or 950.", nullable=False),
        _text("header_family", "Chip family whose CSV headers it shares.", nullable=False),
        _integer("aic_cores", "Cube cores (on 310P: AI Cores)."),
        _integer("aiv_cores", "Vector cores."),
        _real("sim_clock_mhz", "Clock the simulator uses, MHz."),
        _real("l2_mib", "L2 cache, MiB."),
        _real("ub_kib", "Unified buffer of one core, KiB."),
        _real("gm_peak_tb_s", "Peak of global memory, decimal TB/s."),
        _real("gm_peak_other_hbm_tb_s", "The same with the other HBM vendor, which the output does not name."),
        _real("l2_peak_tb_s", "Peak of L2, decimal TB/s."),
        _real("l2_peak_other_hbm_tb_s", "The same with the other HBM vendor."),
        _real("gm_to_ub_core_peak_gib_s", "One core's peak from GM to UB, GiB/s."),
        _real("ub_to_gm_core_peak_gib_s", "One core's peak from UB to GM, GiB/s."),
        _real("gm_to_l1_core_peak_gib_s", "One core's peak from GM to L1, GiB/s."),
        _real("l1_to_gm_core_peak_gib_s", "One core's peak from L1 to GM, GiB/s."),
        _real("l0c_to_l1_core_peak_gib_s", "One core's peak from L0C to L1, GiB/s."),
        _real("l0c_to_gm_core_peak_gib_s", "One core's peak from L0C to GM, GiB/s."),
        _text("source", "Where the facts come from.", nullable=False),
        comment="Facts about chips: cores, clocks, peaks.",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )


def _add_runs(metadata: MetaData) -> None:
    Table(
        "runs",
        metadata,
        _key("Identifier of the run."),
        _text("name", "Folder name when first seen: a hint, not the identity.", nullable=False),
        _text("mode", "device, simulator, mixed (both kinds of results), or unknown.", nullable=False),
        _text("status", "complete, or partial: something listed in missing was not there.", nullable=False),
        _text("missing", "What is missing, in words; NULL when complete."),
        _text("started_at", "Start of the collection, local time of the machine that ran it (ISO 8601)."),
        _text("started_at_source", "Where started_at comes from: folder_name, file_names or file_times."),
        _text("soc", "Chip such as Ascend910B2; NULL when not recorded and not given."),
        _text("soc_source", "Where soc comes from: dump, bin or user."),
        _text("chip_family", "910B, 910_93, 310P, 310B or 950; NULL when it cannot be told."),
        _text("chip_family_source", "Where chip_family comes from: soc, or inferred from the CSV headers."),
        _text("tool_version", "Version of msopprof as given by the user; the output does not record it."),
        _text("fingerprint", "SHA-256 over the sorted (path in the run, content hash) pairs.", nullable=False),
        _text("ingested_at", "When this content was stored, UTC (ISO 8601).", nullable=False),
        _text("ingested_with", "Version of opprof-db that stored it.", nullable=False),
        _integer("cells_read", "Cells of tabular files read.", nullable=False),
        _integer("cells_stored", "Cells stored as values.", nullable=False),
        _integer("cells_null", "Cells that say NA or nothing, stored as NULL.", nullable=False),
        _integer("cells_lost", "Cells that an issue explains; read = stored + null + lost.", nullable=False),
        _one_of("mode", "device", "simulator", "mixed", "unknown"),
        _one_of("status", "complete", "partial"),
        CheckConstraint("cells_read = cells_stored + cells_null + cells_lost", name="accounting"),
        UniqueConstraint("fingerprint"),
        comment="One collection by msopprof: one OPPROF folder, whatever it is called now.",
        sqlite_strict=True,
    )
    Table(
        "run_locations",
        metadata,
        _parent("run_id", "runs", "The run.", primary_key=True),
        _text("path", "Absolute path at which this content was seen.", primary_key=True),
        _text("content", "whole: all files of the run were there; part: only some of them.", nullable=False),
        _text("first_seen_at", "UTC (ISO 8601).", nullable=False),
        _text("last_seen_at", "UTC (ISO 8601).", nullable=False),
        _one_of("content", "whole", "part"),
        comment="Every path at which a run's content was seen.",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    Table(
        "run_conditions",
        metadata,
        _parent("run_id", "runs", "The run.", primary_key=True),
        _text("kind", "condition (a fact about the collection) or label (the user's own key).", primary_key=True),
        _text(
            "key",
            "cann_version, tool_version, soc, git_commit, aic_metrics, … or the label.",
            primary_key=True,
        ),
        _text("value", "The value, as given.", nullable=False),
        _text("source", "user, path (taken from a folder name) or dump.", nullable=False),
        _one_of("kind", "condition", "label"),
        comment="Under what conditions a run was collected, and the user's labels.",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )


def _add_kernels(metadata: MetaData) -> None:
    Table(
        "operators",
        metadata,
        _key("Identifier of the operator."),
        _text("name", "Kernel name without _mix_aic/_mix_aiv, hash and tiling key.", nullable=False),
        _text("op_type", "vector, cube, mix, or AiCore on 310P; unknown when not recorded.", nullable=False),
        UniqueConstraint("name", "op_type"),
        comment="Families of kernels: the same operator over rebuilds and runs.",
        sqlite_strict=True,
    )
    Table(
        "kernels",
        metadata,
        _key("Identifier of the launch; kernel:<id> on the command line."),
        _parent("run_id", "runs", "The run."),
        Column(
            "operator_id",
            Integer,
            ForeignKey("operators.id"),
            comment="The operator; NULL when the data names none.",
        ),
        _text("name", "Full kernel name from OpBasicInfo.csv; NULL when that file is missing."),
        _text("op_type", "vector, cube, mix, or AiCore on 310P; NULL when not recorded."),
        _text("folder_name", "Name of the operator's folder, where the run has one."),
        _text("source_path", "Folder of the launch below the run; empty for the run itself.", nullable=False),
        _integer("device_id", "Device, from OpBasicInfo.csv, else from the folder; NULL when unknown."),
        _integer("launch_index", "Launch folder's number; NULL when the run has no such level."),
        _text("mode", "device, simulator, mixed or unknown.", nullable=False),
        _text("status", "complete, partial (some files missing) or incomplete (no results).", nullable=False),
        _text("missing", "What is missing, in words; NULL when complete."),
        _real("duration_us", "Task Duration, us, by the scheduler's clock; NULL when not recorded."),
        _integer("block_dim", "Blocks launched."),
        _integer("mix_block_dim", "Blocks of the other core kind in a mix kernel; NULL when not mix."),
        _integer("pid", "Process that launched the kernel."),
        _integer("current_freq_mhz", "Frequency during collection, MHz; NULL when the tool could not read it."),
        _integer("rated_freq_mhz", "Rated frequency, MHz."),
        _text("captured_at", "When msopprof parsed the kernel (digits in the file names), local time."),
        _text("tiling_key", "Tiling key taken off the name; NULL when the name has none."),
        _real("clock_mhz", "Clock of a simulator run, MHz."),
        _text("clock_source", "Where clock_mhz comes from."),
        _one_of("mode", "device", "simulator", "mixed", "unknown"),
        _one_of("status", "complete", "partial", "incomplete"),
        UniqueConstraint("run_id", "source_path"),
        Index("ix_kernels_operator_id", "operator_id"),
        comment="One launch of one kernel on one device.",
        sqlite_strict=True,
    )
    Table(
        "kernel_labels",
        metadata,
        _parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        _text("key", "The user's key.", primary_key=True),
        _text("value", "The value, as given.", nullable=False),
        _text("source", "user, or path (taken from a folder name).", nullable=False),
        comment="The user's labels on single kernels, for sweeps.",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    Table(
        "kernel_cores",
        metadata,
        *_grain(),
        _text("core_kind", "aic, aiv, or aicore for a 310P row; NULL when the sub-block is of no known kind."),
        _real("time_us", "aic_time or aiv_time of this core, us."),
        _integer("total_cycles", "Cycles of this core."),
        _integer(
            "is_idle",
            "1: busy for less than 1 % of the slowest core of its kind; kept out of means.",
            nullable=False,
        ),
        CheckConstraint("is_idle IN (0, 1)", name="is_idle"),
        comment="The cores (blocks) of a kernel, one row each, idle ones marked.",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )


def _grain() -> list[Column[Any]]:
    return [
        _parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        _integer("block_id", "Logical block; -1 for a row that stands for the whole kernel.", primary_key=True),
        _text("sub_block_id", "cube0, vector0, vector1; all for the whole kernel.", primary_key=True),
    ]


def fact_metrics(catalogue: Catalogue, family: str) -> list[Metric]:
    """The catalogue entries that are columns of a family's table, in table order."""
    return [metric for metric in catalogue.of_family(family) if not metric.is_key]


def _add_facts(metadata: MetaData, catalogue: Catalogue) -> None:
    types = {SqlType.REAL: REAL_TYPE, SqlType.INTEGER: Integer, SqlType.TEXT: Text}
    for family in catalogue.families:
        Table(
            table_name(family),
            metadata,
            *_grain(),
            *(
                Column(metric.column, types[metric.type], comment=describe(metric))
                for metric in fact_metrics(catalogue, family)
            ),
            comment=f"{family}.csv: one row per core of a kernel, as msopprof printed it.",
            sqlite_strict=True,
            sqlite_with_rowid=False,
        )


def describe(metric: Metric) -> str:
    """Documentation of a fact column: unit first, then the meaning."""
    unit = metric.unit_base or metric.unit
    return f"[{unit}] {metric.meaning}" if unit else metric.meaning


def _add_rollup(metadata: MetaData) -> None:
    Table(
        "kernel_metrics",
        metadata,
        _parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        _parent("metric_id", "metrics", "The metric.", primary_key=True),
        _text("core_kind", "aic, aiv, aicore (310P) or kernel (derived for the whole kernel).", primary_key=True),
        _integer("n", "Cores with a value, idle ones included.", nullable=False),
        _integer("n_idle", "Idle cores among them, left out of mean, min, max and std.", nullable=False),
        _real("sum", "Sum over all cores; NULL where the catalogue says the metric must not be summed."),
        _real("mean", "Mean over working cores; NULL where it must not be averaged."),
        _real("min", "Smallest value of a working core."),
        _real("max", "Largest value of a working core."),
        _real("std", "Population standard deviation over working cores; NULL where mean is."),
        _integer("max_block_id", "Block with the largest value."),
        _text("max_sub_block_id", "Sub-block with the largest value."),
        comment="Roll-up per kernel, metric and core kind; AIC and AIV are never mixed.",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    Table(
        "extra_metric_values",
        metadata,
        _parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        _parent("metric_id", "metrics", "The metric, known = 0.", primary_key=True),
        _integer("block_id", "Logical block; -1 for the whole kernel.", primary_key=True),
        _text("sub_block_id", "cube0, vector0, vector1; all for the whole kernel.", primary_key=True),
        _real("value", "The number; NULL when the cell holds none."),
        _text("raw_text", "The cell exactly as printed.", nullable=False),
        comment="Values under columns that the catalogue does not know.",
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )


def _add_provenance(metadata: MetaData) -> None:
    Table(
        "contents",
        metadata,
        _key("Identifier of the content."),
        _text("sha256", "SHA-256 of the bytes.", nullable=False),
        _integer("size_bytes", "Size of the file.", nullable=False),
        _text("codec", "How the chunks are stored: zstd or raw.", nullable=False),
        _integer("stored_bytes", "Bytes the chunks take.", nullable=False),
        _one_of("codec", "zstd", "raw"),
        UniqueConstraint("sha256"),
        comment="Archived file contents, each stored once however many runs hold it.",
        sqlite_strict=True,
    )
    Table(
        "content_chunks",
        metadata,
        _parent("content_id", "contents", "The content.", primary_key=True),
        _integer("seq", "Order of the chunk, from 0.", primary_key=True),
        Column("data", BLOB, nullable=False, comment="The bytes, compressed as contents.codec says."),
        comment="The archived bytes in chunks of a bounded size.",
        sqlite_strict=True,
    )
    Table(
        "artifacts",
        metadata,
        _key("Identifier of the file."),
        _parent("run_id", "runs", "The run."),
        _parent("kernel_id", "kernels", "The kernel it belongs to; NULL for files of the run.", nullable=True),
        _text("path", "Path below the run's folder.", nullable=False),
        _text(
            "kind",
            "device_csv, basic_info, bin, trace, instr_csv, code_csv, dump_info or other.",
            nullable=False,
        ),
        _text("family", "CSV family, for device CSVs."),
        _text(
            "status",
            "read, header_only, empty, unrecognised, archived, listed or unreadable.",
            nullable=False,
        ),
        _integer("size_bytes", "Size, bytes.", nullable=False),
        _text("sha256", "SHA-256 of the bytes; NULL for files that were only listed."),
        _integer("in_fingerprint", "1: a result file that makes up the run's identity.", nullable=False),
        _text("encoding", "How the text was encoded; NULL for other files."),
        _integer("rows", "Data rows kept from it; NULL for files that are no tables."),
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
        sqlite_strict=True,
    )
    Table(
        "ingest_issues",
        metadata,
        _key("Identifier of the issue."),
        _parent("run_id", "runs", "The run."),
        _parent("kernel_id", "kernels", "The kernel; NULL for issues of the whole run.", nullable=True),
        _text("code", "Kind of problem, for example not_a_number.", nullable=False),
        _text("severity", "error (a file was lost), warning (values lost or doubtful) or info.", nullable=False),
        _text("message", "What happened, in words.", nullable=False),
        _text("path", "File below the run's folder; NULL when no file is meant."),
        _integer("line", "Line in the file, the header being line 1."),
        _text("column_name", "Column as spelt in the file."),
        _text("raw_text", "The text as it stood there (cut at 500 characters)."),
        _integer("byte_offset", "Offset in the file, bytes, for files that are no tables."),
        _integer("cells", "Cells this issue explains the loss of; 0 for remarks.", nullable=False),
        _integer("count", "How many like it this row stands for.", nullable=False),
        _one_of("severity", "error", "warning", "info"),
        Index("ix_ingest_issues_run_id", "run_id"),
        Index("ix_ingest_issues_kernel_id", "kernel_id"),
        comment="Problems met at ingest: nothing is dropped without a row here.",
        sqlite_strict=True,
    )


metadata = build(load())
"""Tables for the catalogue that ships with this program."""
