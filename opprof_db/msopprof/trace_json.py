"""Cuts the events out of a trace of any size: Chrome's object and array forms, whole, cut off or damaged.

The text is decoded in groups of a few hundred events. Where a group ends is guessed (the last ``},{`` held) and
the guess is proven by the decoder: a cut inside a string or inside nested brackets is no JSON. Only where decoding
fails, the events are walked one by one, and only the events that are damaged are looked at in detail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from opprof_db.msopprof.issues import IssueLog, Severity
from opprof_db.msopprof.trace_blocks import Walk, Window

MAX_EVENT_BYTES = 16 << 20
"""Longest event that is held; what is longer is skipped with an issue."""
MAX_DEPTH = 64
"""Brackets within brackets in one event; what is deeper is skipped with an issue."""
_MAX_HEADER_BYTES = 1 << 16
_RAW_BYTES = 2_000
_RESCAN_ALLOWANCE = 16 << 20
"""Bytes that may be walked again when looking for the next event behind a damaged one."""
_SMALL_GROUP = 8

_SPACE = re.compile(rb"[\s\x00]*+")
_BETWEEN = re.compile(rb"[\s\x00,]*+")
_STRAY = re.compile(rb'[^{\[\]",]++')
_SCALAR = re.compile(rb"[^,}\]\[{\"\s]*+")
_MARKS = b"\xef\xbb\xbf"
_EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
_NEXT_EVENT = re.compile(rb'\}\s*,\s*(\{\s*"(?:args|cat|cname|dur|group_id|id|name|ph|pid|tid|ts)"\s*:)')
_LFS = b"version https://git-lfs"

Group = TypeVar("Group")
One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class Located(Generic[Group]):
    """A decoded group and where its events stand: ordinal of the first, byte offset of each."""

    held: Group
    first: int
    offsets: list[int]


@dataclass(frozen=True, slots=True)
class Mended(Generic[One]):
    """Events that were decoded one by one, each with its ordinal and byte offset."""

    held: list[tuple[One, int, int]]


@dataclass(slots=True)
class Shape:
    """What the text around the events turned out to be; complete once the events are read."""

    header: dict[str, str | int | float]
    form: str = "empty"
    """``object``, ``array``, ``empty``, ``lfs_pointer`` or ``other``."""
    truncated: bool = False
    elements: int = 0
    """Elements met in the event list, readable or not."""
    lost: int = 0
    """Elements that became no event."""
    bytes_read: int = 0


class EventText(Generic[Group, One]):
    """Iterates over the events of a trace text, decoded.

    ``decode`` takes a JSON array and gives its events, or ``None`` where anything in it is not as expected (its
    second argument: how many events there must be, where known). ``mend`` decodes one event at a byte offset and
    ordinal, leaving issues; ``None`` where nothing of it is usable, with ``unreadable`` set when it is no JSON.
    """

    def __init__(
        self,
        blocks: Iterable[bytes],
        decode: Callable[[bytes, int], Group | None],
        mend: Callable[[bytes, int, int], tuple[One | None, bool]],
        issues: IssueLog,
    ) -> None:
        self.shape = Shape({})
        self._window = Window(blocks)
        self._decode = decode
        self._mend = mend
        self._issues = issues
        self._rescanned = 0

    def __iter__(self) -> Iterator[Located[Group] | Mended[One]]:
        window = self._window
        while len(window.data) < len(_LFS) and window.more():
            pass
        if window.data.startswith(_MARKS):
            window.pos = len(_MARKS)
        if window.skip(_SPACE):
            first = window.data[window.pos : window.pos + 1]
            if first == b"[":
                self.shape.form = "array"
                window.pos += 1
                yield from self._array()
                self._after_root()
            elif first == b"{":
                self.shape.form = "object"
                window.pos += 1
                yield from self._members()
            else:
                lfs = window.data.startswith(_LFS, window.pos)
                self.shape.form = "lfs_pointer" if lfs else "other"
        self.shape.bytes_read = window.consumed

    def _members(self) -> Iterator[Located[Group] | Mended[One]]:
        """The members of the outer object; the events are one of them."""
        window = self._window
        while window.skip(_BETWEEN):
            if window.data[window.pos] == ord("}"):
                window.pos += 1
                self._after_root()
                return
            key = self._key()
            if key is None:
                if window.ended and window.pos >= len(window.data):
                    break
                self._report("bad_header", "what stands around the events is no JSON object", Severity.WARNING)
                if not self._find_events():
                    break
                yield from self._array()
                continue
            if key == "traceEvents" and window.data[window.pos] == ord("["):
                window.pos += 1
                yield from self._array()
            elif not self._header_value(key):
                break
        self.shape.truncated = True

    def _key(self) -> str | None:
        """The next key, the window then standing at its value; ``None`` where there is none."""
        window = self._window
        if window.data[window.pos] != ord('"'):
            return None
        text = self._take(_MAX_HEADER_BYTES)
        if text is None or not window.skip(_SPACE) or window.data[window.pos] != ord(":"):
            return None
        window.pos += 1
        if not window.skip(_SPACE):
            return None
        return text[1:-1].decode("utf-8", "replace")

    def _header_value(self, key: str) -> bool:
        """Keep a member that is a text or a number, skip any other; ``False`` when it was cut off."""
        window = self._window
        start = window.offset
        if key == "traceEvents":
            self._issues.add("wrong_type", Severity.WARNING, "traceEvents is no list", column=key, offset=start)
        if window.data[window.pos] in b'{["':
            text = self._take(_MAX_HEADER_BYTES)
            if text is None:
                return False
            if not text:
                return True  # too long to be of interest
        else:
            found = _SCALAR.match(window.data, window.pos)
            while found is not None and found.end() == len(window.data) and window.more():
                found = _SCALAR.match(window.data, window.pos)
            text = b"" if found is None else found.group()
            window.pos += max(len(text), 0 if window.data[window.pos : window.pos + 1] in (b",", b"}") else 1)
        if len(text) > 100:
            return True
        try:
            value = json.loads(text.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raw = text.decode("utf-8", "replace")
            message = f"the value of {key[:40]!r} is no JSON"
            self._issues.add("bad_header", Severity.WARNING, message, column=key, raw=raw, offset=start)
            return True
        if isinstance(value, str | int | float) and not isinstance(value, bool) and len(self.shape.header) < 100:
            self.shape.header.setdefault(key[:100], value)
        return True

    def _find_events(self) -> bool:
        """Move to the event list behind a damaged header; ``False`` where there is none."""
        window = self._window
        while True:
            found = _EVENTS_KEY.search(window.data, window.pos)
            if found:
                window.pos = found.end()
                return True
            window.pos = max(window.pos, len(window.data) - 64)
            if not window.more():
                window.pos = len(window.data)
                return False

    def _after_root(self) -> None:
        """Note what stands behind the end; it is not read."""
        if not self.shape.truncated and self._window.skip(_BETWEEN):
            self._report("trailing_text", "text behind the end of the trace was not read", Severity.WARNING)

    def _take(self, limit: int) -> bytes | None:
        """Consume one value; its text, empty where it is longer than ``limit``, ``None`` where it does not end."""
        window, walk = self._window, Walk()
        kept = True
        while True:
            end = walk.end(window.data, window.pos)
            if end is not None:
                text = window.data[window.pos : end] if kept else b""
                window.pos = end
                return text
            if walk.scanned > limit:
                kept = False
            if not kept:
                window.pos += walk.scanned
                walk.forget()
            if not window.more():
                window.pos = len(window.data)
                return None

    def _array(self) -> Iterator[Located[Group] | Mended[One]]:
        """The events, from behind the opening bracket to behind the closing one."""
        window = self._window
        while True:
            fast = self._guessed_group()
            if fast is not None:
                yield fast
                continue
            if not window.skip(_BETWEEN):
                self.shape.truncated = True
                return
            if window.data[window.pos] == ord("]") and self._closes():
                return
            yield from self._walked_group()

    def _guessed_group(self) -> Located[Group] | None:
        """All events up to the last ``},{`` held, if that is what they are."""
        window = self._window
        if len(window.data) - window.pos < 4096 and not window.ended:
            window.more()
        pos, data = window.pos, window.data
        if data[pos : pos + 1] != b"{":
            return None
        cut = data.rfind(b"},{", pos)
        if cut < 0:
            return None
        text = b"".join((b"[", data[pos : cut + 1], b"]"))
        letters = np.frombuffer(text, np.uint8)
        seams = np.flatnonzero((letters[:-1] == ord("}")) & (letters[1:] == ord(",")))
        seams = seams[letters[seams + 2] == ord("{")]
        group = self._decode(text, len(seams) + 1)
        if group is None:
            return None
        at = window.offset
        located = Located(group, self.shape.elements, [at, *(seams + (at + 1)).tolist()])
        self.shape.elements += len(seams) + 1
        window.pos = cut + 2
        return located

    def _walked_group(self) -> Iterator[Located[Group] | Mended[One]]:
        """The elements in the window, found by walking; at least one is consumed, if only by skipping it."""
        window = self._window
        spans: list[tuple[int, int]] = []
        at = window.pos
        while True:
            found = _BETWEEN.match(window.data, at)
            at = at if found is None else found.end()
            if window.data[at : at + 1] != b"{":
                break
            walk = Walk()
            end = walk.end(window.data, at, MAX_DEPTH)
            if end is None:
                break
            spans.append((at, end))
            at = end
        if not spans:
            yield from self._one_element()
            return
        restart: int | None = None
        base = window.offset - window.pos
        for made, behind in self._decoded(spans, base):
            if made is not None:
                yield made
            if behind is not None:
                restart = behind
                break
        window.pos = spans[-1][1] if restart is None else restart

    def _decoded(
        self, spans: list[tuple[int, int]], base: int
    ) -> Iterator[tuple[Located[Group] | Mended[One] | None, int | None]]:
        """Decode walked events: all at once, else in ever smaller groups, else one by one.

        The second value, where set, is where the walk must go on: in the middle of a damaged event.
        """
        data = self._window.data
        waiting = [spans]
        while waiting:
            part = waiting.pop()
            pieces = [data[start:end] for start, end in part]
            group = self._decode(b"[" + b",".join(pieces) + b"]", len(part))
            if group is not None:
                yield Located(group, self.shape.elements, [base + start for start, _ in part]), None
                self.shape.elements += len(part)
                continue
            if len(part) > _SMALL_GROUP:
                step = max(len(part) // 8, _SMALL_GROUP)
                waiting.extend(reversed([part[at : at + step] for at in range(0, len(part), step)]))
                continue
            kept: list[tuple[One, int, int]] = []
            for start, end in part:
                ordinal = self.shape.elements
                self.shape.elements += 1
                event, unreadable = self._mend(data[start:end], base + start, ordinal)
                if event is not None:
                    kept.append((event, ordinal, base + start))
                else:
                    self.shape.lost += 1
                restart = self._next_event(start, end) if unreadable else None
                if restart is not None:
                    yield Mended(kept), restart
                    return
            yield Mended(kept), None

    def _one_element(self) -> Iterator[Mended[One]]:
        """Deal with what is not a whole event in the window: read on, skip, or start again behind it."""
        window = self._window
        first = window.data[window.pos]
        if first not in b'{["':
            found = _STRAY.match(window.data, window.pos)
            self._lose("stray_text", "text between the events")
            window.pos = window.pos + 1 if found is None else found.end()
            return
        walk, size = Walk(), 0
        while True:
            end = walk.end(window.data, window.pos, MAX_DEPTH)
            size = len(window.data) - window.pos
            if end is not None or size > MAX_EVENT_BYTES or walk.deepest > MAX_DEPTH or not window.more():
                break
        if end is not None and first == ord("{"):
            return  # it has become whole; the caller walks it again
        seen = len(window.data) if end is None else end
        restart = self._next_event(window.pos, seen)
        if walk.deepest > MAX_DEPTH:
            self._lose("nested_too_deep", f"more than {MAX_DEPTH} brackets within brackets; skipped")
            if restart is None:
                self._skip_value()
            else:
                window.pos = restart
        elif restart is not None:
            self._lose("unreadable_event", "this event is no JSON; reading goes on at the next one")
            window.pos = restart
        elif end is not None:
            self._lose("not_an_event", "an element that is no object")
            window.pos = end
        elif window.ended and size <= MAX_EVENT_BYTES:
            self.shape.truncated = True
            window.pos = len(window.data)
        else:
            self._lose("event_too_large", f"an event of more than {MAX_EVENT_BYTES >> 20} MiB was skipped")
            self._skip_value()
        yield from ()

    def _skip_value(self) -> None:
        if self._take(0) is None:
            self.shape.truncated = True

    def _next_event(self, start: int, end: int) -> int | None:
        """Where behind a damaged event the next one seems to start, within what is held of it."""
        if self._rescanned > _RESCAN_ALLOWANCE + self._window.consumed:
            return None
        found = _NEXT_EVENT.search(self._window.data, start, end)
        self._rescanned += len(self._window.data) - start
        return None if found is None else found.start(1)

    def _closes(self) -> bool:
        """Whether the bracket here ends the list: not where more events follow it."""
        window = self._window
        if len(window.data) - window.pos < 64:
            window.more()
        found = _BETWEEN.match(window.data, window.pos + 1)
        behind = window.pos + 1 if found is None else found.end()
        if window.data[behind : behind + 1] == b"{":
            self._lose("stray_text", "a closing bracket between the events")
            window.pos += 1
            return False
        window.pos += 1
        return True

    def _lose(self, code: str, message: str) -> None:
        self._report(code, message, Severity.WARNING, cells=1)
        self.shape.elements += 1
        self.shape.lost += 1

    def _report(self, code: str, message: str, severity: Severity, cells: int = 0) -> None:
        window = self._window
        raw = window.data[window.pos : window.pos + _RAW_BYTES].decode("utf-8", "replace")
        message = f"{message} (element {self.shape.elements})"
        self._issues.add(code, severity, message, raw=raw, offset=window.offset, cells=cells)
