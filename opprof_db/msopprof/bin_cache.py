"""Block 14 of visualize_data.bin: instruction cache lines, all 16384 of them, mostly zero.

Source: msopprof cacheline_heat_map.cpp. Filled only with MemoryDetail.
"""

from __future__ import annotations

from dataclasses import dataclass

from opprof_db.msopprof.bin_hotspots import read_ranges
from opprof_db.msopprof.bin_values import Node
from opprof_db.msopprof.values import Number

AddressRanges = tuple[tuple[int | None, int | None], ...]


@dataclass(frozen=True, slots=True)
class CacheLine:
    """One cache line that was used."""

    line_id: int | None
    hits: int | None
    hit_share: Number
    """Fraction 0..1."""
    hit_ranges: AddressRanges
    misses: int | None
    miss_share: Number
    miss_ranges: AddressRanges


def read_cache_lines(root: Node) -> list[CacheLine]:
    """The lines of block 14 in which anything is not zero."""
    root.known("Cacheline Records")
    found = []
    for item in root.get("Cacheline Records").items():
        item.known("Cacheline Id", "Hit", "Miss")
        hits, hit_share, hit_ranges = _side(item.get("Hit"))
        misses, miss_share, miss_ranges = _side(item.get("Miss"))
        if hits or misses or hit_share or miss_share or hit_ranges or miss_ranges:
            line = item.get("Cacheline Id").whole()
            found.append(CacheLine(line, hits, hit_share, hit_ranges, misses, miss_share, miss_ranges))
    return found


def _side(node: Node) -> tuple[int | None, Number, AddressRanges]:
    """(count, share, address ranges) of the hits or the misses."""
    node.known("Value", "Address Range")
    values = list(node.get("Value").items())
    if len(values) > 2:
        node.get("Value").complain("wrong_size", "more than a count and a share")
    count = values[0].whole() if values else None
    share = values[1].number() if len(values) > 1 else None
    return count, share, read_ranges(node.get("Address Range"))
