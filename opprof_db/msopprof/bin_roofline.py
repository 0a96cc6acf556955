"""Blocks 12 and 13 of visualize_data.bin: how evenly the cores worked, and the roofline points.

Source: msopprof occupancy.cpp and roofline.cpp.
"""

from __future__ import annotations

from dataclasses import dataclass

from opprof_db.msopprof.bin_values import Node
from opprof_db.msopprof.values import Number


@dataclass(frozen=True, slots=True)
class CoreOccupancy:
    """What one sub-core did."""

    position: int
    core_id: int | None
    """Lowest block id on that physical core; mix kernels are not merged."""
    subcore_type: str | None
    subcore_id: int | None
    cycles: int | None
    throughput_bytes: int | None
    l2_hit_rate_pct: Number
    simt_instructions: int | None
    """950 only, with SIMT code."""
    simt_instructions_per_cycle: Number
    op_type: str | None
    soc: str | None


@dataclass(frozen=True, slots=True)
class RooflinePoint:
    """Where the kernel stands under one roof."""

    position: int
    title: str | None
    bandwidth_name: str | None
    bandwidth_tb_s: Number
    compute_name: str | None
    compute_tflops: Number
    ops_per_byte: Number
    tops: Number
    roof_share: Number
    """Share of the roof that is reached (1 = on it); ``None`` where NA is printed: above the roof."""


def read_occupancy(root: Node) -> list[CoreOccupancy]:
    """Records of block 12; its advice is read elsewhere."""
    root.known("op_detail", "soc", "op_type", "advice")
    op_type, soc = root.get("op_type").text(), root.get("soc").text()
    found: list[CoreOccupancy] = []
    for position, core in enumerate(root.get("op_detail").items()):
        core.known("core_id", "core_detail")
        core_id = core.get("core_id").whole()
        for item in core.get("core_detail").items():
            plain = ("subcore_type", "subcore_id", "cycles", "throughput", "L2cache_hit_rate")
            item.known(*plain, "simt_vf_instructions")
            simt = item.get("simt_vf_instructions")
            if isinstance(simt.value, dict):
                simt.known("instructions", "instruction_per_cycle")
                instructions = simt.get("instructions")
            else:
                instructions = simt
            found.append(
                CoreOccupancy(
                    position=position,
                    core_id=core_id,
                    subcore_type=item.get("subcore_type").text(),
                    subcore_id=item.get("subcore_id").whole(),
                    cycles=item.get("cycles").whole(),
                    throughput_bytes=item.get("throughput").whole(),
                    l2_hit_rate_pct=item.get("L2cache_hit_rate").number(),
                    simt_instructions=instructions.whole(),
                    simt_instructions_per_cycle=simt.get("instruction_per_cycle").number(),
                    op_type=op_type,
                    soc=soc,
                )
            )
    return found


def read_roofline(root: Node) -> list[RooflinePoint]:
    """Records of block 13; its advice is read elsewhere."""
    root.known("multiple_rooflines", "advice")
    found: list[RooflinePoint] = []
    for chart in root.get("multiple_rooflines").items():
        chart.known("title", "rooflines")
        for item in chart.get("rooflines").items():
            item.known("bw_name", "bw", "computility", "computility_name", "point", "ratio")
            point = [number.number() for number in item.get("point").items()]
            if len(point) > 2:
                item.get("point").complain("wrong_size", "a point of more than two numbers")
            found.append(
                RooflinePoint(
                    position=len(found),
                    title=chart.get("title").text(),
                    bandwidth_name=item.get("bw_name").text(),
                    bandwidth_tb_s=item.get("bw").number(),
                    compute_name=item.get("computility_name").text(),
                    compute_tflops=item.get("computility").number(),
                    ops_per_byte=point[0] if point else None,
                    tops=point[1] if len(point) > 1 else None,
                    roof_share=item.get("ratio").number(),
                )
            )
    return found
