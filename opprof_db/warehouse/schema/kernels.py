"""Operators, launches, their labels and cores."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Integer, MetaData, Table, UniqueConstraint

from opprof_db.warehouse.schema.columns import CLUSTERED, STRICT, grain, integer, key, one_of, parent, real, text


def add_kernels(metadata: MetaData) -> None:
    """Add the tables of launches."""
    Table(
        "operators",
        metadata,
        key("Identifier of the operator."),
        text("name", "Kernel name without _mix_aic/_mix_aiv, hash and tiling key.", nullable=False),
        text("op_type", "vector, cube, mix, or AiCore on 310P; unknown when not recorded.", nullable=False),
        UniqueConstraint("name", "op_type"),
        comment="Families of kernels: the same operator over rebuilds and runs.",
        **STRICT,
    )
    Table(
        "kernels",
        metadata,
        key("Identifier of the launch; kernel:<id> on the command line."),
        parent("run_id", "runs", "The run."),
        Column(
            "operator_id",
            Integer,
            ForeignKey("operators.id"),
            comment="The operator; NULL when the data names none.",
        ),
        text("name", "Full kernel name from OpBasicInfo.csv; NULL when that file is missing."),
        text("op_type", "vector, cube, mix, or AiCore on 310P; NULL when not recorded."),
        text("folder_name", "Name of the operator's folder, where the run has one."),
        text("source_path", "Folder of the launch below the run; empty for the run itself.", nullable=False),
        integer("device_id", "Device, from OpBasicInfo.csv, else from the folder; NULL when unknown."),
        integer("launch_index", "Launch folder's number; NULL when the run has no such level."),
        text("mode", "device, simulator, mixed or unknown.", nullable=False),
        text("status", "complete, partial (some files missing) or incomplete (no results).", nullable=False),
        text("missing", "What is missing, in words; NULL when complete."),
        real("duration_us", "Task Duration, us, by the scheduler's clock; NULL when not recorded."),
        integer("block_dim", "Blocks launched."),
        integer("mix_block_dim", "Blocks of the other core kind in a mix kernel; NULL when not mix."),
        integer("pid", "Process that launched the kernel."),
        integer("current_freq_mhz", "Frequency during collection, MHz; NULL when the tool could not read it."),
        integer("rated_freq_mhz", "Rated frequency, MHz."),
        text("captured_at", "When msopprof parsed the kernel (digits in the file names), local time."),
        text("tiling_key", "Tiling key taken off the name; NULL when the name has none."),
        real("clock_mhz", "Clock of a simulator run, MHz."),
        text("clock_source", "Where clock_mhz comes from."),
        real("clock_low_mhz", "Lower end of the bracket the data leaves for an inferred clock, MHz."),
        real("clock_high_mhz", "Upper end of that bracket, MHz."),
        one_of("mode", "device", "simulator", "mixed", "unknown"),
        one_of("status", "complete", "partial", "incomplete"),
        UniqueConstraint("run_id", "source_path"),
        Index("ix_kernels_operator_id", "operator_id"),
        comment="One launch of one kernel on one device.",
        **STRICT,
    )
    Table(
        "kernel_labels",
        metadata,
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        text("key", "The user's key.", primary_key=True),
        text("value", "The value, as given.", nullable=False),
        text("source", "user, or path (taken from a folder name).", nullable=False),
        comment="The user's labels on single kernels, for sweeps.",
        **CLUSTERED,
    )
    Table(
        "kernel_cores",
        metadata,
        *grain(),
        text("core_kind", "aic, aiv, or aicore for a 310P row; NULL when the sub-block is of no known kind."),
        real("time_us", "aic_time or aiv_time of this core, us."),
        integer("total_cycles", "Cycles of this core."),
        integer(
            "is_idle",
            "1: busy for less than 1 % of the slowest core of its kind; kept out of means.",
            nullable=False,
        ),
        CheckConstraint("is_idle IN (0, 1)", name="is_idle"),
        comment="The cores (blocks) of a kernel, one row each, idle ones marked.",
        **CLUSTERED,
    )
