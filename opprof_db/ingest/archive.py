"""Compresses files for the archive, in chunks of a bounded size."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

import zstandard

from opprof_db import scratch
from opprof_db.ingest.snapshot import (
    BLOCK_BYTES,
    ChangedWhileReadingError,
    FileState,
    Snapshot,
    blocks,
    load,
)
from opprof_db.warehouse.store import StoredContent

CHUNK_BYTES = BLOCK_BYTES
"""Raw bytes per chunk: bounds memory, and keeps each chunk below the value limit of ``query``."""
IN_MEMORY_BYTES = 4 * 1024 * 1024
"""Files up to this size are compressed in memory, larger ones through a file on disk."""
DEFAULT_ARCHIVE_MAX = 256 * 1024 * 1024
_LEVEL = 1
"""On counters as text, higher levels take twice the time for no smaller result (benchmarks/ingest_device.py)."""


@cache
def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(level=_LEVEL, write_checksum=False)


def pack(sha256: str, data: bytes) -> StoredContent:
    """Compress bytes held in memory."""
    compressor = _compressor()
    chunks = [
        compressor.compress(data[start : start + CHUNK_BYTES]) for start in range(0, max(len(data), 1), CHUNK_BYTES)
    ]
    return StoredContent(sha256, len(data), "zstd", sum(map(len, chunks)), chunks)


@dataclass(frozen=True, slots=True)
class LargeFile:
    """Stands for the chunks of a large file until ``pack_large`` makes them; travels between processes."""

    path: Path
    rel: str

    def __iter__(self) -> Iterator[bytes]:
        raise AssertionError("pack_large() comes first")


class SpooledChunks:
    """Compressed chunks of a large file, kept in a nameless file on disk until they are written."""

    def __init__(self, spool: IO[bytes], sizes: list[int]) -> None:
        self._spool = spool
        self._sizes = sizes
        weakref.finalize(self, spool.close)

    def __iter__(self) -> Iterator[bytes]:
        self._spool.seek(0)
        for size in self._sizes:
            yield self._spool.read(size)


def is_large(state: FileState) -> bool:
    """Whether a file is compressed through a file on disk."""
    return state.data is None and state.size > IN_MEMORY_BYTES


def pack_file(taken: Snapshot, state: FileState) -> StoredContent:
    """Compress a file, or note a large one for ``pack_large``.

    Raises:
        ChangedWhileReadingError: the file is not the one that was hashed.
    """
    assert state.sha256 is not None
    if is_large(state):
        large = LargeFile(taken.run.root / state.found.rel, state.found.rel)
        return StoredContent(state.sha256, state.size, "zstd", 0, large)
    return pack(state.sha256, load(taken, state))


def pack_large(taken: Snapshot, state: FileState) -> StoredContent:
    """Compress a large file in bounded memory, before the write lock is taken.

    Raises:
        ChangedWhileReadingError: the file is not the one that was hashed.
        DatabaseError: no room for temporary files.
    """
    assert state.sha256 is not None
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=False)  # one a thread
    digest = hashlib.sha256()
    sizes: list[int] = []
    total = 0
    stream = scratch.nameless_file()
    chunks = SpooledChunks(stream, sizes)
    try:
        for block in blocks(taken.run.root / state.found.rel):
            digest.update(block)
            total += len(block)
            with scratch.explained():
                sizes.append(stream.write(compressor.compress(block)))
        with scratch.explained():
            stream.flush()
    except OSError as error:
        raise ChangedWhileReadingError(state.found.rel) from error
    if digest.hexdigest() != state.sha256:
        raise ChangedWhileReadingError(state.found.rel)
    return StoredContent(state.sha256, total, "zstd", sum(sizes), chunks)


class DamagedArchiveError(ValueError):
    """Archived bytes are not what was archived."""


def unpack(codec: str, chunk: bytes) -> bytes:
    """One chunk as it was.

    Raises:
        DamagedArchiveError: the chunk cannot be decompressed.
    """
    if codec == "raw":
        return chunk
    try:
        return zstandard.ZstdDecompressor().decompress(chunk, max_output_size=CHUNK_BYTES)
    except zstandard.ZstdError as error:
        raise DamagedArchiveError(str(error)) from error
