"""Walks the blocks of a visualize_data.bin, reading headers only (source: msopprof common/visualize.cpp).

A file is blocks one after another, little endian: ``u64 size, u8 type, u8 pad, u8 version, u8 reserved``,
for type 1 a path field of 4096 bytes, then ``size`` bytes, the last ``pad`` of them NUL. The writer
appends, so a run that was killed ends in a cut block, and what stands before it is good.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from opprof_db.msopprof.issues import IssueLog, Severity
from opprof_db.msopprof.text import decode

HEADER = struct.Struct("<QBBBB")
PATH_FIELD = 4096
UNVERSIONED = 0x5A

SOURCE_CODE, TRACE, HOT_LINES, HOT_INSTRUCTIONS, BASICS = 1, 2, 3, 4, 5
LOAD_FIGURE, LOAD_TABLE, MEMORY_MAP, MEMORY_TABLES = 6, 7, 8, 9
OCCUPANCY, ROOFLINE, CACHE_LINES, STALL_REASONS = 12, 13, 14, 15

BLOCK_NAMES = {
    SOURCE_CODE: "source_code",
    TRACE: "trace",
    HOT_LINES: "hot_lines",
    HOT_INSTRUCTIONS: "hot_instructions",
    BASICS: "operator_basics",
    LOAD_FIGURE: "compute_load_figure",
    LOAD_TABLE: "compute_load_table",
    MEMORY_MAP: "memory_map",
    MEMORY_TABLES: "memory_tables",
    OCCUPANCY: "occupancy",
    ROOFLINE: "roofline",
    CACHE_LINES: "cache_lines",
    STALL_REASONS: "stall_reasons",
}


@dataclass(frozen=True, slots=True)
class Block:
    """One block: what its header says and where its payload lies. The payload is read on demand."""

    file: Path
    type: int
    version: int | None
    """``None`` where the writer put its filler 0x5A."""
    offset: int
    """Of the header, in bytes from the start of the file."""
    size: int
    """As declared, padding included."""
    payload_at: int
    payload_size: int
    """Bytes that are really there, padding left out."""
    complete: bool
    """Whether the file holds as many bytes as the header declares."""
    source_path: str | None = None
    """Path of the source file, type 1 only."""

    @property
    def name(self) -> str:
        """What the block is about; ``unknown`` for types this program does not know."""
        return BLOCK_NAMES.get(self.type, "unknown")

    def stream(self, chunk: int = 1 << 20) -> Iterator[bytes]:
        """The payload in pieces of at most ``chunk`` bytes.

        Raises:
            OSError: the file cannot be read any more.
        """
        with self.file.open("rb") as handle:
            handle.seek(self.payload_at)
            left = self.payload_size
            while left > 0:
                piece = handle.read(min(chunk, left))
                if not piece:
                    return
                left -= len(piece)
                yield piece

    def read(self) -> bytes:
        """The whole payload; ask ``payload_size`` first.

        Raises:
            OSError: the file cannot be read any more.
        """
        return b"".join(self.stream())


def walk_blocks(path: Path, issues: IssueLog) -> Iterator[Block]:
    """Every block in file order; a cut last block comes with ``complete=False``.

    Memory does not depend on any size that the file declares. Never raises for what the file holds;
    a file that cannot be opened or read leaves an issue.
    """
    try:
        with path.open("rb") as handle:
            yield from _walk(path, handle, issues)
    except OSError as error:
        issues.add("unreadable_file", Severity.ERROR, f"cannot be read: {error.strerror or error}")


def _walk(path: Path, handle: BinaryIO, issues: IssueLog) -> Iterator[Block]:
    end = handle.seek(0, 2)
    if end == 0:
        issues.add("empty_file", Severity.WARNING, "the file is empty: nothing was written into it", offset=0)
    offset = 0
    while offset < end:
        handle.seek(offset)
        header = handle.read(HEADER.size)
        if len(header) < HEADER.size:
            message = f"{len(header)} bytes at the end are too few for a block header"
            issues.add("trailing_bytes", Severity.WARNING, message, offset=offset, raw=header.hex(" "))
            return
        if not any(header):
            message = f"no block header here; the last {end - offset} bytes are passed over"
            issues.add("trailing_bytes", Severity.WARNING, message, offset=offset, raw=header.hex(" "))
            return
        if header.startswith(b"version http") and offset == 0:
            message = "a Git LFS pointer, not the file itself: fetch it with `git lfs pull`"
            issues.add("lfs_pointer", Severity.ERROR, message, offset=0)
            return
        block = _block(path, handle, offset, end, header, issues)
        if block is None:
            return
        yield block
        if not block.complete:
            return
        offset = block.payload_at + block.size


def _block(path: Path, handle: BinaryIO, offset: int, end: int, header: bytes, issues: IssueLog) -> Block | None:
    size, kind, pad, version, _ = HEADER.unpack(header)
    payload_at = offset + HEADER.size
    source_path = None
    if kind == SOURCE_CODE:
        field = handle.read(PATH_FIELD)
        if len(field) < PATH_FIELD:
            issues.add("cut_block", Severity.WARNING, "the file ends inside the path of a source block", offset=offset)
            return None
        source_path = decode(field.partition(b"\x00")[0]).text
        payload_at += PATH_FIELD
    there = min(size, end - payload_at)
    complete = there == size
    if not complete:
        message = f"a block of type {kind} declares {size} bytes, the file holds {there} more"
        issues.add("cut_block", Severity.WARNING, message, offset=offset)
    payload_size = there
    if pad > size:
        message = f"a padding of {pad} bytes in a block of {size} bytes; taken as none"
        issues.add("bad_padding", Severity.WARNING, message, offset=offset)
    elif complete:
        payload_size = size - pad
        _check_padding(handle, payload_at + payload_size, pad, issues)
    return Block(
        file=path,
        type=kind,
        version=None if version == UNVERSIONED else version,
        offset=offset,
        size=size,
        payload_at=payload_at,
        payload_size=payload_size,
        complete=complete,
        source_path=source_path,
    )


def _check_padding(handle: BinaryIO, at: int, pad: int, issues: IssueLog) -> None:
    """Padding holds nothing: anything else there would be lost in silence."""
    handle.seek(at)
    padding = handle.read(pad)
    if any(padding):
        message = "the padding behind a block is not empty"
        issues.add("padding_not_empty", Severity.WARNING, message, offset=at, raw=padding.hex(" "))
