"""Block 5 of visualize_data.bin: the operator's basics and how long each block took.

Source: msopprof basic_op_and_pmu.cpp. Builds before CANN 8.5 have no frequencies. Rows of a mix kernel
with one vector core per cube core are shorter than the head.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from opprof_db.msopprof.bin_values import Node
from opprof_db.msopprof.values import Number

_DURATION = re.compile(r"(?P<core>\w+?)?\s*Duration\s*\(.?s\)")
_DETAILS = ("block_detail", "mix_block_detail")


@dataclass(frozen=True, slots=True)
class OperatorBasics:
    """What block 5 says about the kernel; ``None`` where it says nothing."""

    name: str | None
    op_type: str | None
    """vector, cube, mix or AiCore (310P)."""
    soc: str | None
    duration_us: Number
    block_dim: int | None
    mix_block_dim: int | None
    device_id: int | None
    pid: int | None
    current_freq_mhz: Number
    rated_freq_mhz: Number
    detail_rows: int | None
    """Size of the table of durations as declared, its head counted."""
    detail_columns: int | None


@dataclass(frozen=True, slots=True)
class BlockDuration:
    """How long one core of one block worked; 310P has one row without a block."""

    position: int
    """Row in the table: block ids wrap around at 256 upstream in some blocks, rows do not."""
    block_id: int | None
    core: str
    """vector, cube or AiCore; cube0, vector0 and vector1 in mix kernels."""
    duration_us: Number


def read_basics(root: Node) -> tuple[OperatorBasics, list[BlockDuration]]:
    """Records of block 5; its advice is read elsewhere."""
    plain = ("name", "op_type", "soc", "duration", "block_dim", "mix_block_dim")
    root.known(*plain, "device_id", "pid", "cur_freq", "rated_freq", "advice", *_DETAILS)
    sizes: list[int | None] = [None, None]
    durations: list[BlockDuration] = []
    for key in _DETAILS:
        if key in root:
            detail = root.get(key)
            detail.known("head_name", "row", "size")
            sizes = declared_size(detail.get("size"))
            durations.extend(_durations(detail, len(durations)))
    basics = OperatorBasics(
        name=root.get("name").text(),
        op_type=root.get("op_type").text(),
        soc=root.get("soc").text(),
        duration_us=root.get("duration").number(),
        block_dim=root.get("block_dim").whole(),
        mix_block_dim=root.get("mix_block_dim").whole(),
        device_id=root.get("device_id").whole(),
        pid=root.get("pid").whole(),
        current_freq_mhz=root.get("cur_freq").number(),
        rated_freq_mhz=root.get("rated_freq").number(),
        detail_rows=sizes[0],
        detail_columns=sizes[1],
    )
    return basics, durations


def declared_size(size: Node) -> list[int | None]:
    """[rows, columns] as declared; what is missing is ``None``, what is more leaves an issue."""
    numbers = [item.whole() for item in size.items()]
    if len(numbers) > 2:
        size.complain("wrong_size", "a size of more than two numbers")
    return [*numbers, None, None][:2]


def _durations(detail: Node, start: int) -> list[BlockDuration]:
    heads = [head.text() or "" for head in detail.get("head_name").items()]
    found: list[BlockDuration] = []
    for position, row in enumerate(detail.get("row").items(), start):
        row.known("value")
        cells = list(row.get("value").items())
        block_id: int | None = None
        core = ""
        for head, cell in zip([*heads, *[""] * (len(cells) - len(heads))], cells, strict=False):
            named = _DURATION.fullmatch(head)
            if head == "Block ID":
                block_id = cell.whole()
            elif head == "Core Type":
                core = cell.text() or ""
            elif named:
                own = named["core"].lower() if named["core"] else core
                found.append(BlockDuration(position, block_id, own, cell.number()))
            else:
                cell.complain("unknown_column", f"a cell under {head!r}, which is not known; it is only kept here")
    return found
