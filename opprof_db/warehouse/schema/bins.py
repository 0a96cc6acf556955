"""What visualize_data.bin holds: the data behind every page of MindStudio Insight."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CheckConstraint, Column, ForeignKey, MetaData, Table, Text

from opprof_db.warehouse.schema.columns import CLUSTERED, integer, parent, real, text


def _kernel() -> Column[Any]:
    return parent("kernel_id", "kernels", "The kernel.", primary_key=True)


def _place(name: str, comment: str) -> Column[Any]:
    return integer(name, comment, primary_key=True)


def add_bins(metadata: MetaData) -> None:
    """Add the tables of visualize_data.bin."""
    _add_basics(metadata)
    _add_loads(metadata)
    _add_memory(metadata)
    _add_occupancy(metadata)
    _add_sources(metadata)
    _add_hotspots(metadata)


def _add_basics(metadata: MetaData) -> None:
    Table(
        "bin_blocks",
        metadata,
        _kernel(),
        _place("byte_offset", "Where the block starts in the file."),
        integer("type", "Block type: 1 source, 2 trace, 3 lines, 4 instructions, 5 basics, …", nullable=False),
        text("name", "What the type holds.", nullable=False),
        integer("version", "Version in the header; NULL for unversioned blocks."),
        integer("size_bytes", "Size as declared.", nullable=False),
        text("status", "read, trace, not_asked_for, repeated, unknown, cut, too_large or unparsable.", nullable=False),
        comment="Every block of the kernel's visualize_data.bin and what became of it.",
        **CLUSTERED,
    )
    Table(
        "bin_basics",
        metadata,
        _kernel(),
        text("name", "Kernel name."),
        text("op_type", "vector, cube, mix or AiCore (310P)."),
        text("soc", "Chip."),
        real("duration_us", "Task duration, us."),
        integer("block_dim", "Blocks launched."),
        integer("mix_block_dim", "Blocks of the other core kind; NULL when not mix."),
        integer("device_id", "Device."),
        integer("pid", "Process."),
        real("current_freq_mhz", "Frequency during collection, MHz."),
        real("rated_freq_mhz", "Rated frequency, MHz."),
        integer("detail_rows", "Rows of the table of durations as declared, its head counted."),
        integer("detail_columns", "Columns of that table as declared."),
        comment="Block 5: what the bin says about the launch, beside what OpBasicInfo.csv says in kernels.",
        **CLUSTERED,
    )
    Table(
        "block_durations",
        metadata,
        _kernel(),
        _place("position", "Row in the block's table: block ids may repeat, rows do not."),
        text("core", "vector, cube or AiCore; cube0, vector0 and vector1 in mix kernels.", primary_key=True),
        integer("block_id", "Logical block; NULL on 310P."),
        real("duration_us", "Time of that core, us; NULL where NA is printed."),
        comment="Block 5: how long each core of each block worked.",
        **CLUSTERED,
    )
    Table(
        "vendor_advice",
        metadata,
        _kernel(),
        text("block", "Block of the bin the text stood in.", primary_key=True),
        _place("ordinal", "Place among the texts of that block."),
        integer("position", "Which core or block of the list it stood at; NULL for the whole kernel."),
        integer("block_id", "Logical block; NULL for the whole kernel."),
        text("advice", "The text. It is data, not truth.", nullable=False),
        text(
            "reliability",
            "as_printed, unreliable (known upstream mistake) or maybe_other_kernel (roofline).",
            nullable=False,
        ),
        comment="Advice that msopprof itself gives, with how far it may be believed.",
        **CLUSTERED,
    )


def _add_loads(metadata: MetaData) -> None:
    Table(
        "compute_load",
        metadata,
        _kernel(),
        text("view", "figure (block 6) or table (block 7).", primary_key=True),
        _place("position", "Place in the list."),
        integer("block_id", "Logical block; 8 bits wide upstream, so it repeats above 255."),
        text("block_type", "The operator's type, or cube0, vector0, vector1 in mix kernels."),
        text("name", "What is counted."),
        integer("unit_code", "Unit as coded: 0 us, 1 instructions, 2 bytes, 3 per cent, 4 operations."),
        text("unit", "Meaning of unit_code; NULL for an unknown code."),
        real("value", "The figure; NULL where NA is printed."),
        real("origin_value", "Cycles behind a percentage."),
        comment="Blocks 6 and 7: how busy the compute units of each block were.",
        **CLUSTERED,
    )


def _add_memory(metadata: MetaData) -> None:
    Table(
        "memory_cores",
        metadata,
        _kernel(),
        _place("position", "Place in the list."),
        integer("core_no", "Core; NULL on 310P."),
        text("op_type", "Type of the kernel."),
        text("soc", "Chip family as the heat map names it."),
        integer("l2_hit", "L2 requests that hit."),
        integer("l2_miss", "L2 requests that missed."),
        integer("l2_total", "L2 requests."),
        real("l2_hit_rate_pct", "L2 hit rate, per cent; NULL where NA is printed."),
        integer("memory_detail", "Whether the kernel was collected with MemoryDetail (950)."),
        comment="Block 8: L2 figures of each core.",
        **CLUSTERED,
    )
    Table(
        "memory_units",
        metadata,
        _kernel(),
        _place("position", "Place of the core in the list."),
        text("unit", "Cube, Vector or Vector1.", primary_key=True),
        integer("core_no", "Core; NULL on 310P."),
        integer("busy_cycles", "Cycles the unit was busy."),
        integer("total_cycles", "Cycles of the core."),
        real("busy_pct", "Busy share, per cent."),
        comment="Block 8: how busy the compute units of each core were.",
        **CLUSTERED,
    )
    Table(
        "memory_paths",
        metadata,
        _kernel(),
        _place("ordinal", "Place among all paths of the kernel."),
        integer("position", "Place of the core in the list.", nullable=False),
        integer("core_no", "Core; NULL on 310P."),
        integer("path_code", "Path as coded upstream."),
        text("path", "Meaning of path_code such as GM>L2; NULL for an unknown code."),
        real("bandwidth_gb_s", "Bandwidth, GiB/s; NULL where NA is printed."),
        integer("request", "Requests."),
        real("peak_pct", "Share of one core's peak, per cent."),
        integer("display", "Whether MindStudio Insight draws the path."),
        text("bandwidth_suffix", "Remark behind the bandwidth."),
        text("request_suffix", "Remark behind the requests."),
        integer("theoretical", "1: derived by the tool, not counted.", nullable=False),
        CheckConstraint("theoretical IN (0, 1)", name="theoretical"),
        comment="Block 8: traffic of each core on each memory path.",
        **CLUSTERED,
    )
    Table(
        "core_table_heads",
        metadata,
        _kernel(),
        _place("position", "Place of the block in the list."),
        text("table_name", "Name of the table.", primary_key=True),
        integer("block_id", "Logical block; 8 bits wide upstream."),
        text("op_type", "Type of the kernel."),
        integer("row_count", "Rows as declared."),
        integer("column_count", "Value columns as declared."),
        comment="Block 9: which tables each block has.",
        **CLUSTERED,
    )
    Table(
        "core_tables",
        metadata,
        _kernel(),
        _place("position", "Place of the block in the list."),
        text("table_name", "Name of the table.", primary_key=True),
        _place("row_number", "Row, from 0."),
        _place("column_number", "Value column, from 0."),
        integer("block_id", "Logical block; 8 bits wide upstream."),
        text("row_name", "Name of the row."),
        text("column_name", "Name of the column; HBM in older builds is GM in newer ones."),
        real("value", "The number; NULL where NA is printed."),
        text("flag", "other_pipes_volume: upstream divides the other pipe's volume by this pipe's time."),
        comment="Block 9: the tables of each block, cell by cell; holds instruction cache counts that no CSV has.",
        **CLUSTERED,
    )


def _add_occupancy(metadata: MetaData) -> None:
    Table(
        "core_occupancy",
        metadata,
        _kernel(),
        _place("ordinal", "Place among all sub-cores of the kernel."),
        integer("position", "Place of the core in the list.", nullable=False),
        integer("core_id", "Lowest block id on that physical core; mix kernels are not merged."),
        text("subcore_type", "cube or vector."),
        integer("subcore_id", "Number of the sub-core."),
        integer("cycles", "Cycles."),
        integer("throughput_bytes", "Bytes moved."),
        real("l2_hit_rate_pct", "L2 hit rate, per cent."),
        integer("simt_instructions", "SIMT vector function instructions (950)."),
        real("simt_instructions_per_cycle", "The same per cycle."),
        text("op_type", "Type of the kernel."),
        text("soc", "Chip."),
        comment="Block 12: what each physical core did.",
        **CLUSTERED,
    )
    Table(
        "roofline_points",
        metadata,
        _kernel(),
        _place("position", "Place among all points of the kernel."),
        text("title", "Which roofline."),
        text("bandwidth_name", "Memory path of the roof."),
        real("bandwidth_tb_s", "Peak of that path, decimal TB/s."),
        text("compute_name", "Compute unit and data type of the roof."),
        real("compute_tflops", "Peak of that unit, TFLOPS."),
        real("ops_per_byte", "Intensity of the kernel, operations per byte."),
        real("tops", "What the kernel reached, 10^12 operations per second."),
        real("roof_share", "Share of the roof that is reached; NULL where NA is printed: above the roof."),
        comment="Block 13: where the kernel stands under each roof.",
        **CLUSTERED,
    )


def _add_sources(metadata: MetaData) -> None:
    Table(
        "source_texts",
        metadata,
        text("sha256", "SHA-256 of the bytes in the bin.", primary_key=True),
        Column("source", Text, nullable=False, comment="The text; NUL characters are written as an escape."),
        comment="Source texts, each stored once per content.",
        **CLUSTERED,
    )
    Table(
        "source_files",
        metadata,
        _kernel(),
        text("path", "Path as the compiler saw it.", primary_key=True),
        Column(
            "sha256",
            Text,
            ForeignKey("source_texts.sha256"),
            primary_key=True,
            comment="The text.",
        ),
        integer("size_bytes", "Size of the text.", nullable=False),
        text("encoding", "How it was encoded.", nullable=False),
        comment="Block 1: source files of the kernel as they were when it was profiled.",
        **CLUSTERED,
    )


_FIGURES = (
    ("cycles", "Cycles."),
    ("executed", "Times executed."),
    ("gpr_count", "General purpose registers in use."),
    ("process_bytes", "Bytes processed."),
    ("ub_read_conflicts", "Read conflicts in the unified buffer."),
    ("ub_write_conflicts", "Write conflicts in the unified buffer."),
    ("real_stall_cycles", "Cycles stalled."),
    ("theoretical_stall_cycles", "Cycles stalled by the tool's theory (builds before 2026-04-17)."),
    ("icache_cycles", "Cycles waiting for the instruction cache."),
    ("ccu_cycles", "Cycles in the issue head."),
    ("scalar_cycles", "Cycles of the scalar unit."),
)


def _add_hotspots(metadata: MetaData) -> None:
    Table(
        "hot_lines",
        metadata,
        _kernel(),
        _place("position", "Place in the list."),
        text("file", "Source file."),
        integer("line", "Line."),
        text("address_ranges", "JSON array of [first, last] addresses, both included.", nullable=False),
        comment="Block 3: source lines; their figures stand in hot_line_values.",
        **CLUSTERED,
    )
    Table(
        "hot_instructions",
        metadata,
        _kernel(),
        _place("position", "Place in the list."),
        integer("address", "Program counter."),
        text("code", "Source position, path:line."),
        text("source", "The instruction as text."),
        text("pipe", "Pipe."),
        text("gpr_status", "Register states as JSON (950 SIMT)."),
        comment="Block 4: instructions; their figures stand in hot_instruction_values.",
        **CLUSTERED,
    )
    for table, owner in (("hot_line_values", "hot_lines"), ("hot_instruction_values", "hot_instructions")):
        Table(
            table,
            metadata,
            _kernel(),
            _place("position", f"The row of {owner}."),
            text("core", "Simulated core, or ALL on a device.", primary_key=True),
            *(integer(name, comment) for name, comment in _FIGURES),
            real("vector_utilization_pct", "Vector utilization, per cent."),
            real("l2_hit_rate_pct", "L2 hit rate, per cent."),
            comment=f"Figures of {owner} per core; cores without any are left out, NULL where NA.",
            **CLUSTERED,
        )
    Table(
        "stall_samples",
        metadata,
        _kernel(),
        _place("ordinal", "Place among the kernel's samples."),
        text("owner", "kernel (block 15), line or instruction.", nullable=False),
        integer("position", "Row of hot_lines or hot_instructions."),
        text("scope", "top, all_samples or not_issue.", nullable=False),
        text("reason", "Why warps stalled; NULL: the owner's share in the kernel's samples."),
        integer("samples", "Samples."),
        real("share", "Fraction of the kernel's samples of this scope."),
        comment="Blocks 3, 4 and 15: stall samples of SIMT kernels (950).",
        **CLUSTERED,
    )
    Table(
        "cache_lines",
        metadata,
        _kernel(),
        _place("ordinal", "Place among the lines that were used."),
        integer("line_id", "Cache line."),
        integer("hits", "Hits."),
        real("hit_share", "Fraction of hits."),
        text("hit_ranges", "JSON array of address ranges.", nullable=False),
        integer("misses", "Misses."),
        real("miss_share", "Fraction of misses."),
        text("miss_ranges", "JSON array of address ranges.", nullable=False),
        comment="Block 14: L2 cache lines that were used; only with --cache-lines.",
        **CLUSTERED,
    )
