"""One launch's visualize_data.bin as rows to store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from typing import Any

from opprof_db.msopprof.bin_hotspots import HotInstruction, HotLine, HotValues
from opprof_db.msopprof.visualize_bin import BinData
from opprof_db.warehouse.store import TableRows


def tables_of(data: BinData) -> list[TableRows]:
    """Every record of a bin in its table; tables without rows are left out."""
    made = [
        _named("bin_blocks", data.blocks, byte_offset="offset", type=None, name=None, version=None,
               size_bytes="size", status=None),
        _named("bin_basics", [data.basics] if data.basics else [], name=None, op_type=None, soc=None,
               duration_us=None, block_dim=None, mix_block_dim=None, device_id=None, pid=None,
               current_freq_mhz=None, rated_freq_mhz=None, detail_rows=None, detail_columns=None),
        _named("block_durations", data.durations, position=None, core=None, block_id=None, duration_us=None),
        _numbered("vendor_advice", data.advice, block=None, position=None, block_id=None, advice="text",
                  reliability=lambda record: str(record.reliability)),
        _named("compute_load", data.loads, view=None, position=None, block_id=None, block_type=None, name=None,
               unit_code=None, unit=None, value=None, origin_value=None),
        _named("memory_cores", data.memory.cores, position=None, core_no=None, op_type=None, soc=None,
               l2_hit=None, l2_miss=None, l2_total=None, l2_hit_rate_pct=None, memory_detail=None),
        _named("memory_units", data.memory.units, position=None, unit=None, core_no=None, busy_cycles=None,
               total_cycles=None, busy_pct=None),
        _numbered("memory_paths", data.memory.paths, position=None, core_no=None, path_code=None, path=None,
                  bandwidth_gb_s=None, request=None, peak_pct=None, display=None, bandwidth_suffix=None,
                  request_suffix=None, theoretical=lambda record: int(record.theoretical)),
        _named("core_table_heads", data.tables, position=None, table_name="table", block_id=None, op_type=None,
               row_count="rows", column_count="columns"),
        _named("core_tables", data.table_cells, position=None, table_name="table", row_number="row",
               column_number="column", block_id=None, row_name=None, column_name=None, value=None, flag=None),
        _numbered("core_occupancy", data.occupancy, position=None, core_id=None, subcore_type=None, subcore_id=None,
               cycles=None, throughput_bytes=None, l2_hit_rate_pct=None, simt_instructions=None,
               simt_instructions_per_cycle=None, op_type=None, soc=None),
        _named("roofline_points", data.roofline, position=None, title=None, bandwidth_name=None,
               bandwidth_tb_s=None, compute_name=None, compute_tflops=None, ops_per_byte=None, tops=None,
               roof_share=None),
        _named("source_files", data.sources.files.values(), path=None, sha256=None, size_bytes="size",
               encoding=None),
        _named("hot_lines", data.hot_lines, position=None, file=None, line=None,
               address_ranges=lambda record: json.dumps(record.address_ranges)),
        _named("hot_instructions", data.hot_instructions, position=None, address=None, code=None, source=None,
               pipe=None, gpr_status=None),
        _values("hot_line_values", data.hot_lines),
        _values("hot_instruction_values", data.hot_instructions),
        _numbered("stall_samples", data.stalls, owner=None, position=None, scope=None, reason=None, samples=None,
                  share=None),
        _numbered("cache_lines", data.cache_lines, line_id=None, hits=None, hit_share=None,
                  hit_ranges=lambda record: json.dumps(record.hit_ranges), misses=None, miss_share=None,
                  miss_ranges=lambda record: json.dumps(record.miss_ranges)),
    ]  # fmt: skip
    return [table for table in made if table.rows]


Source = str | None | Callable[[Any], object]
"""Attribute a column comes from: ``None``: the one of its name; a function: computed."""


def _named(table: str, records: Iterable[Any], **columns: Source) -> TableRows:
    return TableRows(table, tuple(columns), [_row(record, columns) for record in records])


def _numbered(table: str, records: Iterable[Any], **columns: Source) -> TableRows:
    """Records that may repeat in everything: their place in the list is their key."""
    rows = [(ordinal, *_row(record, columns)) for ordinal, record in enumerate(records)]
    return TableRows(table, ("ordinal", *columns), rows)


def _row(record: Any, columns: dict[str, Source]) -> tuple[object, ...]:
    return tuple(
        source(record) if callable(source) else getattr(record, source or column) for column, source in columns.items()
    )


def _values(table: str, owners: Sequence[HotLine | HotInstruction]) -> TableRows:
    rows = [(owner.position, *astuple(values)) for owner in owners for values in owner.values]
    return TableRows(table, ("position", *_VALUE_FIELDS), rows)


_VALUE_FIELDS = tuple(HotValues.__dataclass_fields__)
