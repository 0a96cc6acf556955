"""Blocks 3 and 4 of visualize_data.bin: cycles and executions per source line and per instruction.

Source: msopprof simulator/data_parse/api_data.cpp (simulator: lists by index in ``Cores``, -1 = no value)
and device/data_parse/hotspot_function_generator.cpp (device: ``Cores`` is ["ALL"], executions a list of one,
the rest plain numbers, cache rate and stall samples on some chips). Older builds print the rate as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opprof_db.msopprof.bin_stalls import SAMPLING_KEYS, StallSample, read_sampling
from opprof_db.msopprof.bin_values import Node
from opprof_db.msopprof.cells import MAX_INTEGER
from opprof_db.msopprof.values import Number

COUNTS = {
    "Cycles": "cycles",
    "Instructions Executed": "executed",
    "GPR Count": "gpr_count",
    "Process Bytes": "process_bytes",
    "Vector Utilization Percentage": "vector_utilization_pct",
    "UB Read Conflict": "ub_read_conflicts",
    "UB Write Conflict": "ub_write_conflicts",
    "RealStallCycles": "real_stall_cycles",
    "TheoreticalStallCycles": "theoretical_stall_cycles",
    "ICacheCycles": "icache_cycles",
    "CcuCycles": "ccu_cycles",
    "ScalarCycles": "scalar_cycles",
    "L2Cache Hit Rate": "l2_hit_rate_pct",
}
"""Key upstream -> field of HotValues."""
_NOT_WHOLE = frozenset({"Vector Utilization Percentage", "L2Cache Hit Rate"})
_TYPE_KEYS = ("Files Dtype", "Instructions Dtype")
"""How the viewer draws the columns: no data."""


@dataclass(frozen=True, slots=True)
class HotValues:
    """The figures of one line or instruction on one core; ``None`` = NA or not recorded."""

    core: str
    """A name such as core0.veccore1, or ALL on a device."""
    cycles: int | None = None
    executed: int | None = None
    gpr_count: int | None = None
    process_bytes: int | None = None
    vector_utilization_pct: Number = None
    ub_read_conflicts: int | None = None
    ub_write_conflicts: int | None = None
    real_stall_cycles: int | None = None
    theoretical_stall_cycles: int | None = None
    """Older builds only."""
    icache_cycles: int | None = None
    ccu_cycles: int | None = None
    scalar_cycles: int | None = None
    l2_hit_rate_pct: Number = None


@dataclass(frozen=True, slots=True)
class HotLine:
    """One source line; cores without any value are left out of ``values``."""

    position: int
    file: str | None
    line: int | None
    address_ranges: tuple[tuple[int | None, int | None], ...]
    """First and last address of each run of instructions, both included."""
    values: tuple[HotValues, ...]


@dataclass(frozen=True, slots=True)
class HotInstruction:
    """One instruction; cores without any value are left out of ``values``."""

    position: int
    address: int | None
    code: str | None
    """Source position, ``path:line``."""
    source: str | None
    """The instruction as text."""
    pipe: str | None
    gpr_status: str | None
    """Register states as JSON text (950 SIMT)."""
    values: tuple[HotValues, ...]


def read_hot_lines(root: Node) -> tuple[list[HotLine], list[StallSample]]:
    """Records of block 3."""
    root.known("Cores", "Files", *_TYPE_KEYS)
    cores = _cores(root)
    lines: list[HotLine] = []
    samples: list[StallSample] = []
    for file in root.get("Files").items():
        file.known("Source", "Lines")
        name = file.get("Source").text()
        for item in file.get("Lines").items():
            item.known("Line", "Address Range", *COUNTS, *SAMPLING_KEYS)
            position = len(lines)
            ranges = read_ranges(item.get("Address Range"))
            lines.append(HotLine(position, name, item.get("Line").whole(), ranges, _values(item, cores)))
            samples.extend(read_sampling(item, "line", position))
    return lines, samples


def read_hot_instructions(root: Node) -> tuple[list[HotInstruction], list[StallSample]]:
    """Records of block 4."""
    root.known("Cores", "Instructions", *_TYPE_KEYS)
    cores = _cores(root)
    instructions: list[HotInstruction] = []
    samples: list[StallSample] = []
    for position, item in enumerate(root.get("Instructions").items()):
        item.known("Address", "AscendC Inner Code", "Source", "Pipe", "GPR Status", *COUNTS, *SAMPLING_KEYS)
        status = item.get("GPR Status")
        instructions.append(
            HotInstruction(
                position=position,
                address=item.get("Address").address(),
                code=item.get("AscendC Inner Code").text(),
                source=item.get("Source").text(),
                pipe=item.get("Pipe").text(),
                gpr_status=status.as_json() if status.value else None,
                values=_values(item, cores),
            )
        )
        samples.extend(read_sampling(item, "instruction", position))
    return instructions, samples


def read_ranges(node: Node) -> tuple[tuple[int | None, int | None], ...]:
    """Pairs of addresses; a pair of another shape leaves an issue."""
    ranges = []
    for pair in node.items():
        ends = [end.address() for end in pair.items()]
        if len(ends) == 2:
            ranges.append((ends[0], ends[1]))
        else:
            pair.complain("wrong_size", "an address range that is not two addresses")
    return tuple(ranges)


def _cores(root: Node) -> list[str]:
    return [core.text() or f"#{at}" for at, core in enumerate(root.get("Cores").items())]


def _values(item: Node, cores: Sequence[str]) -> tuple[HotValues, ...]:
    """Turn lists by core, and numbers that are for all cores, into one record per core."""
    by_core: dict[int, dict[str, Number]] = {}
    for key, name in COUNTS.items():
        node = item.get(key)
        if node.value is None:
            continue
        cells = node.value if isinstance(node.value, list) else [node.value]
        if len(cells) > len(cores):
            node.complain("more_values_than_cores", f"{len(cells)} values for {len(cores)} cores; all are kept")
        for at, cell in enumerate(cells):
            # Most cells are plain small integers: only the others need a place for their issues.
            if type(cell) is int and abs(cell) <= MAX_INTEGER:
                value: Number = cell
            else:
                place = Node(cell, f"{node.where}[{at}]", node.place)
                value = place.number() if key in _NOT_WHOLE else place.whole()
            if value is not None and value != -1:
                by_core.setdefault(at, {})[name] = value
    return tuple(
        HotValues(core=cores[at] if at < len(cores) else f"#{at}", **by_core[at])  # type: ignore[arg-type]
        for at in sorted(by_core)
    )
