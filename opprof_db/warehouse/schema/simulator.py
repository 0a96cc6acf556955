"""What the simulator counted: per instruction and per source line of every core."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, ForeignKey, Integer, MetaData, Table, UniqueConstraint

from opprof_db.warehouse.schema.columns import CLUSTERED, STRICT, integer, key, parent, real, text


def add_simulator(metadata: MetaData) -> None:
    """Add the tables of simulator statistics."""
    Table(
        "instruction_details",
        metadata,
        key("Identifier of the text."),
        text("detail", "The detail of an instruction as printed.", nullable=False),
        text(
            "pairs",
            'Its key:value pairs as a JSON array of {"key", "value"}, in order; keys may repeat.',
            nullable=False,
        ),
        UniqueConstraint("detail"),
        comment="Operand texts of instructions, each stored once; json_each(pairs) takes them apart.",
        **STRICT,
    )
    Table(
        "instruction_stats",
        metadata,
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        text("core", "Simulated core such as core0.veccore1.", primary_key=True),
        integer("line_number", "Line in the core's file, the header being line 1.", primary_key=True),
        text("core_kind", "aic, aiv, or aicore on chips with one kind of core."),
        text("instruction", "Instruction name."),
        integer("address", "Program counter; decimal and hexadecimal prints give the same number."),
        text("pipe", "Pipe as the simulator names it: SCALAR, VECTOR, MTE2, FLOWCTRL, …"),
        integer("call_count", "Times executed."),
        integer("cycles", "Cycles, summed over the calls: the primary figure."),
        integer(
            "saturated", "1: the counter stood at its end (2147483647); left out of sums and shares.", nullable=False
        ),
        real("running_time_us", "Union of the calls' intervals, us, in steps of 0.01; NULL below that resolution."),
        integer("below_resolution", "1: 0.00 us was printed beside cycles, which is not zero.", nullable=False),
        Column(
            "detail_id", Integer, ForeignKey("instruction_details.id"), comment="Operands; NULL when none were printed."
        ),
        CheckConstraint("saturated IN (0, 1)", name="saturated"),
        CheckConstraint("below_resolution IN (0, 1)", name="below_resolution"),
        comment="*_instr_exe.csv: one row per program counter of a simulated core.",
        **CLUSTERED,
    )
    Table(
        "source_line_stats",
        metadata,
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        text("core", "Simulated core such as core0.veccore1.", primary_key=True),
        integer("line_number", "Line in the core's file, the header being line 1.", primary_key=True),
        text("core_kind", "aic, aiv, or aicore on chips with one kind of core."),
        text("code", "Source position as printed, path:line."),
        text("file", "Path of the source file."),
        integer("line", "Line in the source file."),
        integer("call_count", "Times executed."),
        integer("cycles", "Cycles; rows overlap (inlined callees), so they add up to no total."),
        integer("saturated", "1: the counter stood at its end (2147483647).", nullable=False),
        real("running_time_us", "us, in steps of 0.01; NULL below that resolution."),
        integer("below_resolution", "1: 0.00 us was printed beside cycles, which is not zero.", nullable=False),
        CheckConstraint("saturated IN (0, 1)", name="saturated"),
        CheckConstraint("below_resolution IN (0, 1)", name="below_resolution"),
        comment="*_code_exe.csv: one row per source line of a simulated core.",
        **CLUSTERED,
    )
