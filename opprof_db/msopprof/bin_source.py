"""Block 1 of visualize_data.bin: source texts.

Source: msopprof sim_code_to_pc.cpp and hotspot_function_generator.cpp. The device writer puts the same file in
once per line that it refers to, so texts are told apart by their hash and kept once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from opprof_db.msopprof.bin_blocks import Block
from opprof_db.msopprof.issues import IssueLog, Severity
from opprof_db.msopprof.text import decode
from opprof_db.msopprof.values import visible

LARGEST_SOURCE = 64 << 20
"""Bytes; the writer takes files up to 10 MiB."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One source file as it was when the kernel was profiled."""

    path: str
    sha256: str
    """Of the bytes in the block, padding left out."""
    size: int
    encoding: str


@dataclass(slots=True)
class SourceFiles:
    """All source files of a bin; each text once, by its hash."""

    files: dict[tuple[str, str], SourceFile] = field(default_factory=dict)
    """(path, sha256) -> file."""
    texts: dict[str, str] = field(default_factory=dict)
    """sha256 -> text, NUL characters written as an escape."""

    def add(self, block: Block, issues: IssueLog) -> bool:
        """Take one block of type 1; false, and an issue, where it is too large."""
        if block.payload_size > LARGEST_SOURCE:
            message = f"a source text of {block.payload_size} bytes is not taken in"
            issues.add("block_too_large", Severity.WARNING, message, offset=block.offset)
            return False
        data = block.read()
        digest = hashlib.sha256(data).hexdigest()
        path = visible(block.source_path or "")
        if not path:
            issues.add("no_source_path", Severity.INFO, "a source text without a path", offset=block.offset)
        if (path, digest) in self.files:
            return True
        decoded = decode(data)
        if decoded.damaged or "\x00" in decoded.text:
            message = "the source text holds NUL or undecodable bytes, which were replaced; the hash is of the original"
            issues.add("damaged_source", Severity.WARNING, message, offset=block.offset, raw=path)
        self.files[path, digest] = SourceFile(path, digest, len(data), decoded.encoding)
        self.texts.setdefault(digest, visible(decoded.text))
        return True
