"""Reader for visualize_data.bin: every block into records, by any build of msopprof.

The file is never required and never fatal: unknown, cut, too large and unparsable blocks are listed with
their size, and the other blocks go in. Which blocks are proven on real captures, and which only on builders
that follow msopprof's source, is said in the documentation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from opprof_db.msopprof import bin_blocks as kinds
from opprof_db.msopprof.bin_advice import VendorAdvice, read_advice
from opprof_db.msopprof.bin_basics import BlockDuration, OperatorBasics, read_basics
from opprof_db.msopprof.bin_blocks import Block, walk_blocks
from opprof_db.msopprof.bin_cache import CacheLine, read_cache_lines
from opprof_db.msopprof.bin_hotspots import HotInstruction, HotLine, read_hot_instructions, read_hot_lines
from opprof_db.msopprof.bin_loads import ComputeLoad, read_loads
from opprof_db.msopprof.bin_memory import (
    SOC_950,
    CoreTable,
    CoreTableCell,
    MemoryMap,
    read_memory_map,
    read_memory_tables,
)
from opprof_db.msopprof.bin_roofline import CoreOccupancy, RooflinePoint, read_occupancy, read_roofline
from opprof_db.msopprof.bin_source import SourceFiles
from opprof_db.msopprof.bin_stalls import StallSample, read_top_stalls
from opprof_db.msopprof.bin_values import Node, PayloadError, Place, parse_payload
from opprof_db.msopprof.cells import MAX_INTEGER
from opprof_db.msopprof.issues import IssueLog, Severity

LARGEST_JSON = 128 << 20
"""Bytes of one JSON block that are parsed at once; only the trace, which is streamed, is larger in practice."""


@dataclass(frozen=True, slots=True)
class BlockStatus:
    """What became of one block."""

    offset: int
    type: int
    name: str
    version: int | None
    size: int
    """As declared, at most 2^63-1."""
    status: str
    """``read``, ``trace`` (for the trace reader), ``not_asked_for``, ``repeated``, ``unknown``, ``cut``,
    ``too_large`` or ``unparsable``."""


@dataclass(slots=True)
class BinData:
    """Content of one visualize_data.bin."""

    issues: IssueLog
    blocks: list[BlockStatus] = field(default_factory=list)
    basics: OperatorBasics | None = None
    durations: list[BlockDuration] = field(default_factory=list)
    loads: list[ComputeLoad] = field(default_factory=list)
    memory: MemoryMap = field(default_factory=lambda: MemoryMap([], [], []))
    tables: list[CoreTable] = field(default_factory=list)
    table_cells: list[CoreTableCell] = field(default_factory=list)
    occupancy: list[CoreOccupancy] = field(default_factory=list)
    roofline: list[RooflinePoint] = field(default_factory=list)
    advice: list[VendorAdvice] = field(default_factory=list)
    sources: SourceFiles = field(default_factory=SourceFiles)
    hot_lines: list[HotLine] = field(default_factory=list)
    hot_instructions: list[HotInstruction] = field(default_factory=list)
    stalls: list[StallSample] = field(default_factory=list)
    cache_lines: list[CacheLine] = field(default_factory=list)
    traces: list[Block] = field(default_factory=list)
    """Blocks of type 2, to be streamed; a cut one has ``complete`` false."""

    @property
    def status(self) -> str:
        """``empty`` (no block at all), ``partial`` (something was cut or could not be read) or ``read``."""
        if not self.blocks:
            return "empty"
        bad = {"cut", "too_large", "unparsable"}
        return "partial" if any(block.status in bad for block in self.blocks) else "read"


def read_bin(path: Path, label: str | None = None, *, cache_lines: bool = False) -> BinData:
    """Read a visualize_data.bin; ``label`` is the path that issues name, ``cache_lines`` takes block 14 in.

    Never raises for what the file holds or for a file that cannot be read: that is an issue.
    """
    reader = _Reader(BinData(IssueLog(label)), cache_lines=cache_lines)
    for block in walk_blocks(path, reader.data.issues):
        try:
            status = reader.take(block)
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            reader.data.issues.add("unreadable_file", Severity.ERROR, message, offset=block.offset)
            status = "unparsable"
        if block.size > MAX_INTEGER:
            message = f"block type {block.type} declares {block.size} bytes; kept as the largest size that fits"
            reader.data.issues.add(
                "integer_too_large", Severity.WARNING, message, raw=str(block.size), offset=block.offset
            )
        size = min(block.size, MAX_INTEGER)
        reader.data.blocks.append(BlockStatus(block.offset, block.type, block.name, block.version, size, status))
    return reader.data


class _Reader:
    """One file being read: which blocks were met, and where records go."""

    def __init__(self, data: BinData, *, cache_lines: bool) -> None:
        self.data = data
        self._cache_lines = cache_lines
        self._seen: dict[int, str] = {}
        """Type -> hash of the block that was read."""
        self._readers: dict[int, Callable[[Node], None]] = {
            kinds.BASICS: self._basics,
            kinds.LOAD_FIGURE: lambda root: data.loads.extend(read_loads(root, "figure")),
            kinds.LOAD_TABLE: lambda root: data.loads.extend(read_loads(root, "table")),
            kinds.MEMORY_MAP: self._memory_map,
            kinds.MEMORY_TABLES: self._memory_tables,
            kinds.OCCUPANCY: lambda root: data.occupancy.extend(read_occupancy(root)),
            kinds.ROOFLINE: lambda root: data.roofline.extend(read_roofline(root)),
            kinds.HOT_LINES: self._hot_lines,
            kinds.HOT_INSTRUCTIONS: self._hot_instructions,
            kinds.CACHE_LINES: lambda root: data.cache_lines.extend(read_cache_lines(root)),
            kinds.STALL_REASONS: lambda root: data.stalls.extend(read_top_stalls(root)),
        }

    def take(self, block: Block) -> str:
        """Read one block; returns its status."""
        if block.type == kinds.TRACE:
            self.data.traces.append(block)
            return "trace"
        if not block.complete:
            return "cut"
        if block.type == kinds.SOURCE_CODE:
            return "read" if self.data.sources.add(block, self.data.issues) else "too_large"
        if block.type not in self._readers:
            message = f"a block of type {block.type}, which is not known, of {block.size} bytes; not read"
            return self._refuse(block, "unknown", "unknown_block", message)
        if block.type == kinds.CACHE_LINES and not self._cache_lines:
            return "not_asked_for"
        if block.payload_size > LARGEST_JSON:
            message = f"a block of type {block.type} of {block.size} bytes is too large to be parsed; not read"
            return self._refuse(block, "too_large", "block_too_large", message)
        return self._take_json(block)

    def _take_json(self, block: Block) -> str:
        payload = block.read()
        digest = hashlib.sha256(payload).hexdigest()
        seen = self._seen.get(block.type)
        if seen is not None:
            same = "the same content" if seen == digest else "other content"
            message = f"a second block of type {block.type} with {same}, {block.size} bytes; the first one is kept"
            return self._refuse(block, "repeated", "repeated_block", message)
        place = Place(self.data.issues, block.offset, block.name)
        try:
            root = parse_payload(payload, place)
        except PayloadError as error:
            message = f"a block of type {block.type}, {block.size} bytes: {error}"
            return self._refuse(block, "unparsable", "unparsable_block", message)
        self._seen[block.type] = digest
        self._readers[block.type](root)
        self.data.advice.extend(read_advice(root, block.name))
        return "read"

    def _refuse(self, block: Block, status: str, code: str, message: str) -> str:
        self.data.issues.add(code, Severity.WARNING, message, offset=block.offset)
        return status

    def _basics(self, root: Node) -> None:
        self.data.basics, durations = read_basics(root)
        self.data.durations.extend(durations)

    def _memory_map(self, root: Node) -> None:
        self.data.memory = read_memory_map(root)

    def _memory_tables(self, root: Node) -> None:
        basics, cores = self.data.basics, self.data.memory.cores
        is_950 = bool(basics and (basics.soc or "").startswith("Ascend950"))
        is_950 = is_950 or any(core.soc == SOC_950 for core in cores)
        tables, cells = read_memory_tables(root, chip_950=is_950)
        self.data.tables.extend(tables)
        self.data.table_cells.extend(cells)

    def _hot_lines(self, root: Node) -> None:
        lines, samples = read_hot_lines(root)
        self.data.hot_lines.extend(lines)
        self.data.stalls.extend(samples)

    def _hot_instructions(self, root: Node) -> None:
        instructions, samples = read_hot_instructions(root)
        self.data.hot_instructions.extend(instructions)
        self.data.stalls.extend(samples)
