"""Compresses files for the archive, in chunks of a bounded size."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from functools import cache
from typing import IO

import zstandard

from opprof_db.ingest.snapshot import BLOCK_BYTES, ChangedWhileReadingError, FileState, Snapshot, blocks
from opprof_db.warehouse.store import StoredContent

CHUNK_BYTES = BLOCK_BYTES
"""Raw bytes per chunk: bounds memory, and keeps each chunk below the value limit of ``query``."""
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


class SpooledChunks:
    """Compressed chunks of a large file, kept on disk until the write lock is held."""

    def __init__(self, spool: IO[bytes], sizes: list[int]) -> None:
        self._spool = spool
        self._sizes = sizes

    def __iter__(self) -> Iterator[bytes]:
        self._spool.seek(0)
        for size in self._sizes:
            yield self._spool.read(size)


def pack_file(taken: Snapshot, state: FileState) -> StoredContent:
    """Compress a file of any size in bounded memory.

    Raises:
        ChangedWhileReadingError: the file is not the one that was hashed.
    """
    assert state.sha256 is not None
    if state.data is not None:
        return pack(state.sha256, state.data)
    compressor = _compressor()
    digest = hashlib.sha256()
    sizes: list[int] = []
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - lives until the chunks were written
    total = 0
    try:
        for block, _ in blocks(taken.run.root / state.found.rel):
            digest.update(block)
            total += len(block)
            sizes.append(spool.write(compressor.compress(block)))
    except OSError as error:
        raise ChangedWhileReadingError(state.found.rel) from error
    if digest.hexdigest() != state.sha256:
        raise ChangedWhileReadingError(state.found.rel)
    return StoredContent(state.sha256, total, "zstd", sum(sizes), SpooledChunks(spool, sizes))


def unpack(codec: str, chunk: bytes) -> bytes:
    """One chunk as it was."""
    if codec == "raw":
        return chunk
    return zstandard.ZstdDecompressor().decompress(chunk, max_output_size=CHUNK_BYTES)
