"""Blocks 6 and 7 of visualize_data.bin: the compute load of every core, as figure and as table.

Source: msopprof compute_load_calculator.cpp. The same names stand in both; the figure holds percentages of
the core's cycles (with the cycles as ``origin_value``), the table counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from opprof_db.msopprof.bin_values import Node
from opprof_db.msopprof.values import Number

UNITS = {0: "us", 1: "instructions", 2: "bytes", 3: "percent", 4: "operations"}


@dataclass(frozen=True, slots=True)
class ComputeLoad:
    """One figure of one core."""

    view: str
    """``figure`` (block 6) or ``table`` (block 7)."""
    position: int
    """Place in the list: block ids are 8 bits wide upstream and repeat above 255."""
    block_id: int | None
    block_type: str | None
    """The operator's type, or cube0, vector0, vector1 in mix kernels."""
    name: str | None
    unit_code: int | None
    unit: str | None
    """Meaning of ``unit_code``; ``None`` for a code this program does not know."""
    value: Number
    origin_value: Number
    """Cycles behind a percentage."""


def read_loads(root: Node, view: str) -> list[ComputeLoad]:
    """Records of block 6 (``figure``) or 7 (``table``)."""
    root.known("subblock_detail", "advice")
    loads: list[ComputeLoad] = []
    for position, item in enumerate(root.get("subblock_detail").items()):
        item.known("block_id", "block_type", "name", "unit", "value", "origin_value")
        unit = item.get("unit").whole()
        if unit is not None and unit not in UNITS:
            item.get("unit").complain("unknown_unit", "a unit code that is not known")
        loads.append(
            ComputeLoad(
                view=view,
                position=position,
                block_id=item.get("block_id").whole(),
                block_type=item.get("block_type").text(),
                name=item.get("name").text(),
                unit_code=unit,
                unit=None if unit is None else UNITS.get(unit),
                value=item.get("value").number(),
                origin_value=item.get("origin_value").number(),
            )
        )
    return loads
