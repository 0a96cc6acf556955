"""What a run's files hold right now: bytes of small runs, hashes of all, the fingerprint."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from opprof_db.msopprof.issues import Issue, Severity
from opprof_db.msopprof.layout import KernelFolder, RunFolder
from opprof_db.msopprof.names import RUN_NAME, parse_stamp
from opprof_db.msopprof.text import decode
from opprof_db.msopprof.walk import DUMP_FOLDER, DUMP_INFO, FoundFile

BLOCK_BYTES = 1024 * 1024
SMALL_RUN_BYTES = 8 * 1024 * 1024
"""Runs up to this size are held in memory whole; larger ones are read again, kernel by kernel."""
MAX_CSV_BYTES = 256 * 1024 * 1024
"""A larger "CSV" is none that msopprof wrote (65,535 blocks make about 100 MB) and is only listed."""
_TEXT_KINDS = frozenset({"device_csv", "basic_info"})


class ChangedWhileReadingError(Exception):
    """A file is not what it was when it was hashed: msopprof is still writing."""


@dataclass(slots=True)
class FileState:
    """One file as it was when it was read."""

    found: FoundFile
    sha256: str | None = None
    size: int = 0
    data: bytes | None = None
    """The bytes, where they are held in memory."""
    problem: Issue | None = None

    @property
    def has_rows(self) -> bool:
        """Whether the file says enough to tell this run from any other."""
        return self.size > 0 and self.found.kind in {"basic_info", "bin", "trace"}


@dataclass(slots=True)
class Snapshot:
    """A run's files and the run's identity."""

    run: RunFolder
    files: dict[str, FileState] = field(default_factory=dict)
    headers: dict[tuple[str, str], None] = field(default_factory=dict)
    """Distinct (family, header line) pairs, in order."""
    identifying: bool = False
    """Holds a file that no other run can hold by chance (a filled OpBasicInfo, bin or trace)."""

    @property
    def content(self) -> dict[str, str]:
        """Path -> hash of the result files."""
        return {
            rel: state.sha256
            for rel, state in self.files.items()
            if state.sha256 is not None and state.found.recognised
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the sorted (path in the run, content hash) pairs of the result files."""
        digest = hashlib.sha256()
        for rel, sha256 in sorted(self.content.items()):
            digest.update(f"{rel}\0{sha256}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def let_go(self) -> None:
        """Drop the bytes held in memory; they are read again (and checked) where they are needed."""
        for state in self.files.values():
            state.data = None

    def part(self, kernel: KernelFolder) -> Snapshot:
        """Only what concerns one launch, small enough to be sent to another process."""
        dump = dump_info_of(kernel)
        wanted = [found.rel for found in kernel.files] + ([dump] if dump in self.files else [])
        return Snapshot(RunFolder(self.run.root, []), {rel: self.files[rel] for rel in wanted})

    def started_at(self) -> tuple[str | None, str | None]:
        """(ISO local time, where it comes from)."""
        named = RUN_NAME.fullmatch(self.run.name)
        if named:
            moment = parse_stamp(named["stamp"])
            if moment:
                return moment, "folder_name"
        moments = sorted(filter(None, (parse_stamp(s.found.stamp) for s in self.files.values() if s.found.stamp)))
        if moments:
            return moments[0], "file_names"
        return None, None  # when files were written or copied says nothing about when the run was made


def dump_info_of(kernel: KernelFolder) -> str:
    """Where the launch's dump/op_basic_info.txt would be, below the run."""
    folder = kernel.rel.partition("#")[0]
    return f"{folder}/{DUMP_FOLDER}/{DUMP_INFO}" if folder else f"{DUMP_FOLDER}/{DUMP_INFO}"


def take(run: RunFolder) -> Snapshot:
    """Read and hash every file of a run."""
    snapshot = Snapshot(run)
    wanted = [found for found in run.files if found.kind != "other"]
    hold = sum(found.size for found in wanted) <= SMALL_RUN_BYTES
    for found in wanted:
        state = FileState(found, size=found.size)
        snapshot.files[found.rel] = state
        try:
            _read(run.root, state, snapshot, hold)
        except OSError as error:
            state.problem = Issue(
                "unreadable_file",
                Severity.ERROR,
                f"cannot be read: {error.strerror or error}",
                path=found.rel,
            )
    for found in run.others:
        if found.kind == "other":
            snapshot.files[found.rel] = FileState(found, size=found.size)
    return snapshot


def _read(root: Path, state: FileState, snapshot: Snapshot, hold: bool) -> None:
    found = state.found
    if found.kind in _TEXT_KINDS and found.size > MAX_CSV_BYTES:
        state.problem = Issue(
            "file_too_large",
            Severity.ERROR,
            f"{found.size} bytes are more than any msopprof CSV has (limit {MAX_CSV_BYTES}); only listed",
            path=found.rel,
        )
        return
    digest = hashlib.sha256()
    parts: list[bytes] = []
    size = 0
    for block in blocks(f"{root}/{found.rel}"):
        digest.update(block)
        size += len(block)
        if hold or not parts:
            parts.append(block)
    state.sha256 = digest.hexdigest()
    state.size = size
    head = parts[0] if parts else b""
    if hold:
        state.data = parts[0] if len(parts) == 1 else b"".join(parts)
    if found.kind in _TEXT_KINDS and found.family:
        snapshot.headers.setdefault((found.family, _first_line(head)))
    if state.has_rows and (found.kind != "basic_info" or head.strip().count(b"\n") + head.strip().count(b"\r")):
        snapshot.identifying = True


def _first_line(head: bytes) -> str:
    first = head[:65536].partition(b"\n")[0]
    if b"\0" in first:  # UTF-16, where a line end is no single byte
        first = head[:65536]
    return decode(first).text.replace("\r", "\n").partition("\n")[0]


def blocks(path: Path | str) -> Iterator[bytes]:
    """The bytes of a regular file, in blocks; an empty file yields one empty block.

    Raises:
        OSError: also when the path turned into a pipe or device meanwhile.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb", buffering=0) as stream:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(0, "not a regular file")
        # A buffer of the full block size costs more than reading a file of a few KB into one that fits.
        block = stream.read(min(BLOCK_BYTES, info.st_size + 1))
        yield block
        while block:
            block = stream.read(BLOCK_BYTES if info.st_size > BLOCK_BYTES else 4096)
            if block:
                yield block


def load(snapshot: Snapshot, state: FileState) -> bytes:
    """A file's bytes, the same that were hashed.

    Raises:
        ChangedWhileReadingError: the file changed since.
    """
    if state.data is not None:
        return state.data
    try:
        data = b"".join(blocks(snapshot.run.root / state.found.rel))
    except OSError as error:
        raise ChangedWhileReadingError(state.found.rel) from error
    if hashlib.sha256(data).hexdigest() != state.sha256:
        raise ChangedWhileReadingError(state.found.rel)
    return data
