"""Sets of time intervals as sorted, disjoint arrays of starts and ends; and a store that holds many of them.

All sums are over the intervals as given: nothing is rounded to cycles.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import IO, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from opprof_db import scratch

Times = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)

BYTES_PER_INTERVAL = 16
"""A start and an end in double precision; what an event costs in memory or, past ``MOST_HELD``, on disk."""
MOST_HELD = 1_000_000
"""Intervals held in memory; beyond that they are moved to a temporary file."""


class Union:
    """Disjoint intervals in order, made of any intervals: overlapping and touching ones are joined."""

    __slots__ = ("_before", "ends", "starts")

    def __init__(self, starts: Times, ends: Times) -> None:
        """From ends that are not before their starts, in any order."""
        if len(starts):
            order = np.argsort(starts, kind="stable")
            starts = starts[order]
            reached = np.maximum.accumulate(ends[order])
            opens = np.empty(len(starts), bool)
            opens[0] = True
            np.greater(starts[1:], reached[:-1], out=opens[1:])
            starts = starts[opens]
            closes = np.empty(len(opens), bool)
            closes[-1] = True
            closes[:-1] = opens[1:]
            ends = reached[closes]
        self.starts = starts
        self.ends = ends
        self._before: Times | None = None

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def length(self) -> float:
        """Total time covered."""
        return float(np.sum(self.ends - self.starts))

    def gaps(self) -> Times:
        """Times between neighbours."""
        gaps: Times = self.starts[1:] - self.ends[:-1]
        return gaps

    def covered_until(self, times: Times) -> Times:
        """Time covered before each of ``times``."""
        if not len(self.starts):
            return np.zeros(len(times))
        if self._before is None:
            self._before = np.concatenate(([0.0], np.cumsum(self.ends - self.starts)))
        at = np.searchsorted(self.starts, times, side="right")
        last = np.maximum(at - 1, 0)
        inside = np.clip(times - self.starts[last], 0.0, self.ends[last] - self.starts[last])
        covered: Times = np.where(at > 0, self._before[last] + inside, 0.0)
        return covered

    def overlap(self, other: Union) -> float:
        """Time that both cover."""
        if not len(self) or not len(other):
            return 0.0
        few, many = (self, other) if len(self) <= len(other) else (other, self)
        return float(np.sum(many.covered_until(few.ends) - many.covered_until(few.starts)))


NO_TIMES: Times = np.empty(0, np.float64)


class IntervalStore(Generic[Key]):
    """Intervals by key: 16 bytes each, in memory up to a limit, then in a temporary file."""

    def __init__(self, most_held: int = MOST_HELD) -> None:
        self._most_held = most_held
        self._held: dict[Key, list[tuple[Times, Times]]] = {}
        self._count = 0
        self._file: IO[bytes] | None = None
        self._filed: dict[Key, list[tuple[int, int]]] = {}

    def add(self, key: Key, starts: Times, ends: Times) -> None:
        """Take in intervals."""
        self._held.setdefault(key, []).append((starts, ends))
        self._count += len(starts)
        if self._count > self._most_held:
            self._spill()

    def keys(self) -> set[Key]:
        """All keys met."""
        return set(self._held) | set(self._filed)

    def take(self, key: Key) -> tuple[Times, Times]:
        """The starts and ends of a key, which is forgotten."""
        parts = self._held.pop(key, [])
        for at, count in self._filed.pop(key, []):
            assert self._file is not None
            self._file.seek(at)
            both = np.frombuffer(self._file.read(count * BYTES_PER_INTERVAL), np.float64)
            parts.append((both[:count], both[count:]))
        if not parts:
            return NO_TIMES, NO_TIMES
        return np.concatenate([starts for starts, _ in parts]), np.concatenate([ends for _, ends in parts])

    def close(self) -> None:
        """Give back the temporary file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _spill(self) -> None:
        with scratch.explained():
            self._write()

    def _write(self) -> None:
        if self._file is None:
            self._file = scratch.nameless_file()
        self._file.seek(0, 2)
        for key, parts in self._held.items():
            at = self._file.tell()
            starts = np.concatenate([part for part, _ in parts])
            self._file.write(starts.tobytes())
            self._file.write(np.concatenate([part for _, part in parts]).tobytes())
            self._filed.setdefault(key, []).append((at, len(starts)))
        self._held.clear()
        self._count = 0
