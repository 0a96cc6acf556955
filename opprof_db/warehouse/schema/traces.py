"""Traces: events, flows, counters, and what they say about each pipe of each core."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CheckConstraint, Column, MetaData, Table

from opprof_db.warehouse.schema.columns import CLUSTERED, integer, one_of, parent, real, text


def _trace_key() -> list[Column[Any]]:
    return [
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        integer("trace_no", "Number of the trace file within the kernel, from 0.", primary_key=True),
    ]


def add_traces(metadata: MetaData) -> None:
    """Add the tables of traces."""
    Table(
        "trace_files",
        metadata,
        *_trace_key(),
        text("path", "File below the run's folder; visualize_data.bin for its block 2.", nullable=False),
        text("kind", "simulator_all_cores, simulator_one_core, device, …", nullable=False),
        integer("schema_version", "schemaVersion of the file."),
        integer("truncated", "1: cut off; its events are good, its spans and shares are withheld.", nullable=False),
        text("kept", "full: events are stored; summary: only pipe_activity and pipe_overlap.", nullable=False),
        integer("elements", "Elements of the event list.", nullable=False),
        integer("lost", "Elements that became nothing; issues say why.", nullable=False),
        integer("events", "Events, a SET/WAIT pair being one.", nullable=False),
        integer("pairs", "SET/WAIT pairs among them.", nullable=False),
        integer("flows", "Flows, both ends being one.", nullable=False),
        integer("counters", "Counter samples.", nullable=False),
        integer("unmatched", "Begins, ends and flow ends without a partner.", nullable=False),
        integer("has_flags", "0: no SET or WAIT: not collected (ResourceConflictRatio).", nullable=False),
        integer("has_heads", "0: no cache_time or ccu_time: not collected (Overhead).", nullable=False),
        one_of("kept", "full", "summary"),
        CheckConstraint("truncated IN (0, 1)", name="truncated"),
        comment="Traces that were read; of several with the same events only one is.",
        **CLUSTERED,
    )
    Table(
        "trace_lanes",
        metadata,
        *_trace_key(),
        integer("lane", "Number of the lane.", primary_key=True),
        text("process", "pid as written.", nullable=False),
        text("thread", "tid as written.", nullable=False),
        integer("is_numeric", "Whether pid is a number in the file.", nullable=False),
        text("core", "Core such as core0.veccore1."),
        text("pipe", "Pipe such as MTE2."),
        text("process_name", "Name from the file's metadata."),
        text("thread_name", "Name from the file's metadata."),
        integer("process_sort", "Sort index of the process."),
        integer("thread_sort", "Sort index of the thread."),
        comment="Lanes of a trace: a pipe of a core, or part of one.",
        **CLUSTERED,
    )
    Table(
        "trace_strings",
        metadata,
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        integer("id", "Identifier of the text within the kernel.", primary_key=True),
        text("string", "The text.", nullable=False),
        comment="Names, operands, source frames of trace events; the columns ending in _id of trace_events refer here.",
        **CLUSTERED,
    )
    Table(
        "trace_events",
        metadata,
        *_trace_key(),
        integer("ordinal", "Place in the file's event list, from 0; of a pair, where it begins.", primary_key=True),
        text("phase", "X; P for a SET/WAIT pair made one; B or E unmatched; else as written.", nullable=False),
        integer("lane", "Lane of trace_lanes.", nullable=False),
        integer(
            "kind",
            "0 work, 1 wait, 2 set, 3 barrier, 4 cache_time head, 5 ccu_time head, 6 marker, 7 other; "
            "the drawn lengths of 1 to 3 are artificial.",
            nullable=False,
        ),
        integer("name_id", "Name.", nullable=False),
        real("ts_us", "Start, us; NULL where unusable."),
        real("dur_us", "Length, us; NULL where unusable."),
        integer("pc_addr", "Program counter."),
        integer("code_id", "Source frames, innermost first, one a line."),
        integer("detail_id", "Operands."),
        integer("process_bytes", "Bytes processed."),
        integer("group_id", "Joins an instruction to its heads."),
        integer("colour_id", "Colour name."),
        integer("pair_id", "Identifier of a SET/WAIT pair, and of its flow."),
        integer("other_id", "Further arguments as JSON."),
        integer(
            "flags",
            "1 no usable time, 2 ends before its start, 4 unmatched, 8 mended, 16 outside of the run.",
            nullable=False,
        ),
        integer("byte_offset", "Where the event stands in the file.", nullable=False),
        comment="Events of a trace in the order of the file; view trace_event_list has the texts.",
        **CLUSTERED,
    )
    Table(
        "trace_flows",
        metadata,
        *_trace_key(),
        integer("ordinal", "Place in the file's event list of the end met first.", primary_key=True),
        text("flow_id", "id as written.", nullable=False),
        text("category", "<pipe>To<pipe>."),
        integer("from_lane", "Lane it starts from."),
        real("from_ts_us", "When, us."),
        integer("from_event", "Event it starts from (ordinal), where that is known."),
        integer("to_lane", "Lane it ends at."),
        real("to_ts_us", "When, us."),
        integer("to_event", "Event it ends at (ordinal), where that is known."),
        integer("flags", "4: one end is missing.", nullable=False),
        comment="Who waited for whom: flows from SET to WAIT.",
        **CLUSTERED,
    )
    Table(
        "trace_counters",
        metadata,
        *_trace_key(),
        integer("sample", "Place among the samples of the trace.", primary_key=True),
        integer("ordinal", "Place in the file's event list.", nullable=False),
        text("process", "pid as written.", nullable=False),
        text("name", "Counter such as GM_TO_UB.", nullable=False),
        text("unit", "Name of the value: throughput(MB/s).", nullable=False),
        real("ts_us", "When, us.", nullable=False),
        real("value", "The value.", nullable=False),
        comment="Waveforms: MTE throughput over time.",
        **CLUSTERED,
    )
    _add_activity(metadata)


_COUNTS = (
    ("work_events", "Events of work."),
    ("wait_events", "Waits."),
    ("set_events", "Sets."),
    ("barrier_events", "Barriers."),
    ("cache_head_events", "cache_time heads: instruction fetch, no work."),
    ("ccu_head_events", "ccu_time heads: issue, no work."),
    ("other_events", "Marks and unknown phases."),
    ("impossible_events", "Without a usable time, ending before the start, or beyond the run."),
)
_LENGTHS = (
    ("busy_us", "Union of the work intervals, impossible events left out, us."),
    ("busy_with_impossible_us", "The same with those that have a length at all, us."),
    ("work_us", "Sum of the work intervals, us; above busy_us where they overlap."),
    ("wait_us", "Union of the drawn waits, us: artificial; the true cost is in instruction_stats."),
    ("set_us", "Union of the drawn sets, us: artificial."),
    ("barrier_us", "Union of the drawn barriers, us: artificial."),
    ("cache_head_us", "Union of the fetch heads, us."),
    ("ccu_head_us", "Union of the issue heads, us."),
    ("first_us", "Start of the first work, us; withheld in a truncated trace."),
    ("last_us", "End of the last work, us; withheld in a truncated trace."),
    ("span_us", "last_us - first_us; withheld in a truncated trace."),
    ("busy_share", "busy_us / span_us; withheld in a truncated trace."),
    ("waiting_share", "Share of drawn waits; NULL where flags were not collected or the trace is truncated."),
    ("gap_p50_us", "Median gap between neighbours of the work, us."),
    ("gap_p90_us", "90th percentile of the gaps, us."),
    ("gap_p99_us", "99th percentile of the gaps, us."),
    ("gap_max_us", "Longest gap, us."),
)


def _add_activity(metadata: MetaData) -> None:
    Table(
        "pipe_activity",
        metadata,
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        integer("position", "Place in the list of cores and pipes.", primary_key=True),
        text("core", "Core; NULL where the trace names none."),
        text("pipe", "Pipe; NULL where the trace names none."),
        *(integer(name, comment, nullable=False) for name, comment in _COUNTS),
        *(real(name, comment) for name, comment in _LENGTHS),
        integer("gaps", "Gaps between neighbours of the work.", nullable=False),
        integer("truncated", "1: the trace was cut off.", nullable=False),
        comment="How busy each pipe of each core was, exact on the events of the traces.",
        **CLUSTERED,
    )
    Table(
        "pipe_overlap",
        metadata,
        parent("kernel_id", "kernels", "The kernel.", primary_key=True),
        integer("position", "Place in the list of pairs.", primary_key=True),
        text("core", "Core; NULL where the trace names none."),
        text("pipe_a", "First pipe by name.", nullable=False),
        text("pipe_b", "Second pipe.", nullable=False),
        real("both_us", "Time both worked, us.", nullable=False),
        real("either_us", "Time at least one worked, us.", nullable=False),
        real("overlap_share", "both_us / either_us; withheld in a truncated trace."),
        comment="Which pipes of a core worked at the same time.",
        **CLUSTERED,
    )
