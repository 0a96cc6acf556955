"""Bytes of a trace in a sliding window, and how JSON text is walked without parsing it.

Nothing here recurses or keeps what was consumed: nesting is a counter, and a string may be longer than the window.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

BLOCK_SIZE = 1 << 16
"""Bytes read at a time: small blocks keep freed memory in use, which is up to twice as fast as large ones."""

_PLAIN = re.compile(rb'[^"{}\[\]]*+')
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_OPENING = re.compile(rb"[{\[]++")
_CLOSING = re.compile(rb"[}\]]++")


def file_blocks(path: Path, size: int = BLOCK_SIZE) -> Iterator[bytes]:
    """The bytes of a file, block by block.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as handle:
        while block := handle.read(size):
            yield block


def _even(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in blocks near ``BLOCK_SIZE``: neither one giant block nor a million tiny ones."""
    small: list[bytes] = []
    held = 0
    for block in blocks:
        if len(block) > 2 * BLOCK_SIZE:
            yield b"".join(small)
            small, held = [], 0
            view = memoryview(block)
            for at in range(0, len(block), BLOCK_SIZE):
                yield bytes(view[at : at + BLOCK_SIZE])
            continue
        small.append(block)
        held += len(block)
        if held >= BLOCK_SIZE:
            yield b"".join(small)
            small, held = [], 0
    if small:
        yield b"".join(small)


class Window:
    """The part of the input that is held: ``data`` from ``pos`` on is still to be read."""

    __slots__ = ("_base", "_blocks", "data", "ended", "pos")

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(_even(blocks))
        self._base = 0
        self.data = b""
        self.pos = 0
        self.ended = False

    @property
    def offset(self) -> int:
        """Where in the input ``pos`` is, in bytes."""
        return self._base + self.pos

    @property
    def consumed(self) -> int:
        """Bytes of input taken into the window so far."""
        return self._base + len(self.data)

    def more(self) -> bool:
        """Drop what was consumed and read on; ``False`` at the end of the input."""
        if self.ended:
            return False
        rest = self.data[self.pos :] if self.pos else self.data
        self._base += self.pos
        self.pos = 0
        parts, held = [rest], 0
        while held < max(BLOCK_SIZE // 2, len(rest)):
            block = next(self._blocks, None)
            if block is None:
                self.ended = True
                break
            parts.append(block)
            held += len(block)
        self.data = b"".join(parts)
        return held > 0

    def skip(self, pattern: re.Pattern[bytes]) -> bool:
        """Consume everything that ``pattern`` matches; ``False`` when that was all there is."""
        while True:
            found = pattern.match(self.data, self.pos)
            if found is not None:
                self.pos = found.end()
            if self.pos < len(self.data):
                return True
            if not self.more():
                return False


class Walk:
    """Finds the end of a JSON value that starts with a bracket or a quote, in as many steps as the input takes.

    ``scanned`` is how far behind the start of the value the walk has come; feed it the same start, or, when the
    value is skipped, the data behind what it has seen.
    """

    __slots__ = ("deepest", "depth", "in_string", "scanned")

    def __init__(self) -> None:
        self.depth = 0
        self.deepest = 0
        self.in_string = False
        self.scanned = 0

    def forget(self) -> None:
        """What was scanned has been consumed."""
        self.scanned = 0

    def end(self, data: bytes, start: int, max_depth: int | None = None) -> int | None:
        """The position behind the value that starts at ``start``; ``None`` while it is not in the data.

        With ``max_depth`` it stops where the value is nested deeper: ``deepest`` says so.
        """
        at, size = start + self.scanned, len(data)
        while at < size:
            if self.in_string:
                at = _string_part(data, at)
                if at >= size or data[at] != _QUOTE:
                    break  # the end of the data, perhaps in the middle of an escape
                self.in_string = False
                at += 1
                if not self.depth:
                    return at
                continue
            if self.depth:
                at = _matched(_PLAIN, data, at)
                if at >= size:
                    break
            if data[at] == _QUOTE:
                self.in_string = True
                at += 1
                continue
            if data[at] in b"{[":
                behind = _matched(_OPENING, data, at)
                self.depth += behind - at
                self.deepest = max(self.deepest, self.depth)
                at = behind
                if max_depth is not None and self.depth > max_depth:
                    break
                continue
            behind = _matched(_CLOSING, data, at)
            if behind - at >= self.depth:
                at += max(self.depth, 1)
                self.depth = 0
                return at
            self.depth -= behind - at
            at = behind
        self.scanned = at - start
        return None


_QUOTE = ord('"')


def _matched(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    found = pattern.match(data, at)
    return at if found is None else found.end()


def _string_part(data: bytes, at: int) -> int:
    """Where the string that goes on at ``at`` ends or leaves the data."""
    return _matched(_IN_STRING, data, at)
