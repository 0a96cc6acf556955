"""Blocks 8 and 9 of visualize_data.bin: the memory heat map and the tables of every block.

Source: msopprof storage_access.cpp and its path list in data_visualize_const.h. "HBM" in old builds is
"GM" in new ones; names are kept as printed.
"""

from __future__ import annotations

from dataclasses import dataclass

from opprof_db.msopprof.bin_basics import declared_size
from opprof_db.msopprof.bin_values import Node
from opprof_db.msopprof.values import Number

MEMORY_PATHS = {
    0: "GM>L2",
    1: "L2>GM",
    2: "L2>L1",
    3: "L1>L2",
    4: "GM/L1>L0A",
    5: "GM/L1>L0B",
    6: "L0A>cube",
    7: "L0B>cube",
    8: "cube>L0C",
    9: "L0C>L1",
    10: "L0C>L2",
    11: "L0C>cube",
    12: "L2>UB",
    13: "UB>L2",
    14: "UB>vec",
    15: "vec>UB",
    16: "L2>UB1",
    17: "UB1>L2",
    18: "UB1>vec1",
    19: "vec1>UB1",
    20: "L2/UB>L1",
    21: "L1>L0A",
    22: "L2/L1>L0B",
    23: "vec>L0C",
    24: "L0C>vec",
    25: "L2/L1>UB",
    35: "GM>L0A",
    36: "GM>L0B",
    37: "L1>L0A",
    38: "L1>L0B",
    39: "L0C>FIXP",
    40: "FIXP>L2",
    41: "FIXP>L1",
    42: "FIXP>UB0",
    43: "FIXP>UB1",
    44: "L1>UB0",
    45: "L1>UB1",
    46: "UB0>L1",
    47: "UB1>L1",
    48: "L2>DCache",
    49: "L2>DCache1",
    50: "DCache>L2",
    51: "DCache1>L2",
    52: "vec>DCache",
    53: "vec1>DCache1",
    54: "DCache>vec",
    55: "DCache1>vec1",
}
"""Code -> where the bytes go; a trailing 1 means the second vector core of a block."""

L2_TO_GM = 1
SOC_950 = "910A5"
COMPUTE_UNITS = ("Cube", "Vector", "Vector1")
ACTIVE_BANDWIDTH = "active bw(GB/s)"
OTHER_PIPES_VOLUME = "other_pipes_volume"
"""Flag of a cell: in 910B mix kernels the writer divides what MTE3 moved by the cycles of MTE2, and the other way
round. Exchanging the two printed values is not enough: the bandwidth of MTE2 is the value printed at MTE3 times
the cycles of MTE3 over those of MTE2 (source: msopprof storage_access.cpp; vector kernels have it right)."""


@dataclass(frozen=True, slots=True)
class MemoryCore:
    """L2 figures of one core (one for the whole kernel on 310P)."""

    position: int
    core_no: int | None
    op_type: str | None
    soc: str | None
    """Chip family as the heat map names it: 910B, 310P, or 910A5 for the 950."""
    l2_hit: int | None
    l2_miss: int | None
    l2_total: int | None
    l2_hit_rate_pct: Number
    memory_detail: int | None
    """1 where MemoryDetail was collected; 950 only."""


@dataclass(frozen=True, slots=True)
class ComputeUnit:
    """How busy one compute unit of a core was."""

    position: int
    core_no: int | None
    unit: str
    """Cube, Vector or Vector1."""
    busy_cycles: int | None
    total_cycles: int | None
    busy_pct: Number


@dataclass(frozen=True, slots=True)
class MemoryPath:
    """Traffic of one core on one path."""

    position: int
    core_no: int | None
    path_code: int | None
    path: str | None
    """Meaning of ``path_code``; ``None`` for a code this program does not know."""
    bandwidth_gb_s: Number
    request: int | None
    peak_pct: Number
    """Share of one core's peak."""
    display: int | None
    bandwidth_suffix: str | None
    request_suffix: str | None
    theoretical: bool
    """Whether the figure is derived, not counted: what L2 writes back to GM is on 910B, in builds that do not
    say so too."""


@dataclass(frozen=True, slots=True)
class CoreTable:
    """Head of one table of one block."""

    position: int
    """Of the block in the list."""
    block_id: int | None
    op_type: str | None
    table: str
    rows: int | None
    """As declared."""
    columns: int | None
    """As declared: value columns, the column of row names not counted."""


@dataclass(frozen=True, slots=True)
class CoreTableCell:
    """One number of one table of one block; ``value`` is ``None`` where NA is printed."""

    position: int
    block_id: int | None
    table: str
    row: int
    row_name: str
    column: int
    column_name: str
    value: Number
    flag: str | None = None
    """``other_pipes_volume`` or nothing."""


@dataclass(slots=True)
class MemoryMap:
    """Content of block 8."""

    cores: list[MemoryCore]
    units: list[ComputeUnit]
    paths: list[MemoryPath]


def read_memory_map(root: Node) -> MemoryMap:
    """Records of block 8; its advice is read elsewhere."""
    root.known("core_memory_map")
    found = MemoryMap([], [], [])
    for position, core in enumerate(root.get("core_memory_map").items()):
        core.known("core_no", "op_type", "soc", "L2cache", "memory_unit", "memory_detail", "advice", *COMPUTE_UNITS)
        core_no = core.get("core_no").whole()
        soc = core.get("soc").text()
        cache = core.get("L2cache")
        cache.known("hit", "miss", "hit_ratio", "total_request")
        found.cores.append(
            MemoryCore(
                position=position,
                core_no=core_no,
                op_type=core.get("op_type").text(),
                soc=soc,
                l2_hit=cache.get("hit").whole(),
                l2_miss=cache.get("miss").whole(),
                l2_total=cache.get("total_request").whole(),
                l2_hit_rate_pct=cache.get("hit_ratio").number(),
                memory_detail=core.get("memory_detail").whole(),
            )
        )
        for name in COMPUTE_UNITS:
            if name in core:
                found.units.append(_unit(core.get(name), position, core_no, name))
        found.paths.extend(_path(item, position, core_no, soc) for item in core.get("memory_unit").items())
    return found


def _unit(unit: Node, position: int, core_no: int | None, name: str) -> ComputeUnit:
    unit.known("cycle", "ratio", "total_cycles")
    return ComputeUnit(
        position=position,
        core_no=core_no,
        unit=name,
        busy_cycles=unit.get("cycle").whole(),
        total_cycles=unit.get("total_cycles").whole(),
        busy_pct=unit.get("ratio").number(),
    )


def _path(item: Node, position: int, core_no: int | None, soc: str | None) -> MemoryPath:
    figures = ("memory_path", "bandwidth", "request", "peak_ratio", "display")
    # 310P writes "requests_suffix" where the others write "request_suffix".
    item.known(*figures, "bandwidth_suffix", "request_suffix", "requests_suffix")
    code = item.get("memory_path").whole()
    if code is not None and code not in MEMORY_PATHS:
        item.get("memory_path").complain("unknown_memory_path", "a path code that is not known")
    bandwidth_suffix = item.get("bandwidth_suffix").text()
    suffix = "request_suffix" if "request_suffix" in item else "requests_suffix"
    return MemoryPath(
        position=position,
        core_no=core_no,
        path_code=code,
        path=None if code is None else MEMORY_PATHS.get(code),
        bandwidth_gb_s=item.get("bandwidth").number(),
        request=item.get("request").whole(),
        peak_pct=item.get("peak_ratio").number(),
        display=item.get("display").whole(),
        bandwidth_suffix=bandwidth_suffix,
        request_suffix=item.get(suffix).text(),
        theoretical="theoretical" in (bandwidth_suffix or "") or (code == L2_TO_GM and soc == "910B"),
    )


def read_memory_tables(root: Node, *, chip_950: bool = False) -> tuple[list[CoreTable], list[CoreTableCell]]:
    """Records of block 9. ``chip_950``: the mistake in active bandwidths is not made there."""
    root.known("table_per_block")
    tables: list[CoreTable] = []
    cells: list[CoreTableCell] = []
    for position, block in enumerate(root.get("table_per_block").items()):
        block.known("block_id", "table_op_type", "table_detail", "advice")
        block_id = block.get("block_id").whole()
        op_type = block.get("table_op_type").text()
        swapped = op_type == "mix" and not chip_950
        for table in block.get("table_detail").items():
            table.known("table_name", "header_name", "row", "size")
            name = table.get("table_name").text() or ""
            rows, columns = declared_size(table.get("size"))
            tables.append(CoreTable(position, block_id, op_type, name, rows, columns))
            cells.extend(_cells(table, position, block_id, name, swapped=swapped))
    return tables, cells


def _cells(table: Node, position: int, block_id: int | None, name: str, *, swapped: bool) -> list[CoreTableCell]:
    heads = [head.text() or "" for head in table.get("header_name").items()][1:]
    swapped = swapped and name.startswith("Pipe Vector")
    found: list[CoreTableCell] = []
    for at, row in enumerate(table.get("row").items()):
        row.known("name", "value")
        row_name = row.get("name").text() or ""
        for column, cell in enumerate(row.get("value").items()):
            head = heads[column] if column < len(heads) else ""
            if not head:
                cell.complain("unnamed_column", "a cell without a head; kept under its number")
                head = f"#{column + 1}"
            wrong = swapped and head == ACTIVE_BANDWIDTH and row_name in ("MTE2", "MTE3")
            found.append(
                CoreTableCell(
                    position=position,
                    block_id=block_id,
                    table=name,
                    row=at,
                    row_name=row_name,
                    column=column,
                    column_name=head,
                    value=cell.number(),
                    flag=OTHER_PIPES_VOLUME if wrong else None,
                )
            )
    return found
