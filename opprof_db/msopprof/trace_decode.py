"""Decodes groups of events at once and proves that nothing in them went unnoticed.

A typed decoder drops unknown members and keeps the last of duplicate keys in silence. So the keys of the fields
that were filled are counted and compared with the ``":`` in the text: only when both agree, the group is taken.
Anything else is decoded event by event (see trace_mend.py), which is slow and says what it found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import msgspec
import numpy as np
from msgspec import UNSET

from opprof_db.msopprof.trace_events import RawArgs, RawEvent
from opprof_db.msopprof.trace_lanes import Lanes
from opprof_db.msopprof.values import parse_address

_KEYS_OF_WORK = 11
"""args, cname, dur, name, ph, pid, tid, ts; pc_addr, code, detail."""
_DECODER = msgspec.json.Decoder(list[RawEvent], strict=True)
_MOST_NUMBERS = 100_000


class Numbers(dict[str | int, int]):
    """Whole numbers by their decimal or hexadecimal text; a bounded memo.

    Raises:
        ValueError: no whole number, or one that does not fit.
    """

    def __missing__(self, text: str | int) -> int:
        value = parse_address(text) if isinstance(text, str) else text
        if not isinstance(value, int) or not 0 <= value < 2**63:
            raise ValueError(text)
        if len(self) > _MOST_NUMBERS:
            self.clear()
        self[text] = value
        return value


@dataclass(slots=True)
class Sound:
    """A group without surprises: its work events as columns, all others as they are."""

    count: int
    places: list[int] | None
    """Where in the group the work events stand; ``None`` when there is nothing else."""
    lane: list[int]
    name: list[str]
    ts: list[float]
    dur: list[float]
    colour: list[str]
    pc_addr: list[int]
    code: list[str]
    detail: list[str]
    process_bytes: list[int | None]
    group_id: list[str | None]
    rest: list[tuple[int, RawEvent]]


class GroupDecoder:
    """Decodes the text of a group; ``None`` where a closer look is needed."""

    def __init__(self, numbers: Numbers, lanes: Lanes) -> None:
        self._numbers = numbers
        self._lanes = lanes

    def __call__(self, text: bytes, count: int) -> Sound | None:
        """The events of a JSON array of ``count`` elements."""
        if b"\\u0000" in text:
            return None
        try:
            events = _DECODER.decode(text)
            if len(events) != count:
                return None
            return self._sound(text, events)
        except (ValueError, TypeError, AttributeError, RecursionError, OverflowError):
            return None

    def _sound(self, text: bytes, events: list[RawEvent]) -> Sound | None:
        phases = [event.ph for event in events]
        places: list[int] | None = None
        rest: list[tuple[int, RawEvent]] = []
        work = events
        if phases.count("X") != len(events):
            places = [at for at, phase in enumerate(phases) if phase == "X"]
            rest = [(at, event) for at, event in enumerate(events) if event.ph != "X"]
            work = [events[at] for at in places]
        args: list[RawArgs] = [event.args for event in work]  # type: ignore[misc]
        ts: list[float] = [event.ts for event in work]  # type: ignore[misc]
        dur: list[float] = [event.dur for event in work]  # type: ignore[misc]
        colour: list[str] = [event.cname for event in work]  # type: ignore[misc]
        code: list[str] = [held.code for held in args]  # type: ignore[misc]
        detail: list[str] = [held.detail for held in args]  # type: ignore[misc]
        moved = [held.process_bytes for held in args]
        group = [event.group_id for event in work]
        "".join(colour), "".join(code), "".join(detail)  # a missing one is no text: TypeError
        if work and not _plausible(ts, dur):
            return None
        keys = (_KEYS_OF_WORK + 2) * len(work) - moved.count(UNSET) - group.count(UNSET)
        for _, event in rest:
            if not _rest_is_sound(event):
                return None
            if event.args is not UNSET:
                for number in (event.args.pc_addr, event.args.process_bytes):
                    if isinstance(number, str | int):
                        self._numbers[number]  # no number: ValueError
            keys += _filled(event)
        letters = np.frombuffer(text, np.uint8)
        if keys != np.count_nonzero((letters[:-1] == ord('"')) & (letters[1:] == ord(":"))):
            return None
        numbers = self._numbers
        return Sound(
            count=len(events),
            places=places,
            lane=self._lane_numbers(work),
            name=[event.name for event in work],
            ts=ts,
            dur=dur,
            colour=colour,
            pc_addr=[numbers[held.pc_addr] for held in args],  # type: ignore[index]
            code=code,
            detail=detail,
            process_bytes=[None if held is UNSET else numbers[held] for held in moved],
            group_id=[None if held is UNSET else held for held in group],
            rest=rest,
        )

    def _lane_numbers(self, work: list[RawEvent]) -> list[int]:
        """The lanes of events, which mostly are of one process."""
        of = self._lanes.of
        if not work:
            return []
        pids, tids = [event.pid for event in work], [event.tid for event in work]
        pid = pids[0]
        if pids.count(pid) != len(pids):
            return list(map(of, zip(pids, tids, strict=True)))
        known = {tid: of((pid, tid)) for tid in set(tids)}
        return list(map(known.__getitem__, tids))


def _plausible(ts: list[float], dur: list[float]) -> bool:
    """Whether all times are there and finite and no event ends before it starts."""
    return math.isfinite(sum(ts)) and math.isfinite(sum(dur)) and min(dur) >= 0


_PLAIN_PHASES = frozenset("BEstCM")


def _rest_is_sound(event: RawEvent) -> bool:
    """Whether an event other than X has what its phase needs and nothing out of place."""
    phase = event.ph
    if phase not in _PLAIN_PHASES:
        return False
    if phase == "M":
        return event.args is not UNSET
    if event.ts is UNSET or not math.isfinite(event.ts) or event.dur is not UNSET:
        return False
    if phase == "C":
        return event.args is not UNSET and event.args.throughput is not UNSET
    return event.id is not UNSET


def _filled(event: RawEvent) -> int:
    """Keys that the fields of an event stand for."""
    keys = (
        4
        + (event.ts is not UNSET)
        + (event.dur is not UNSET)
        + (event.cname is not UNSET)
        + (event.id is not UNSET)
        + (event.cat is not UNSET)
        + (event.group_id is not UNSET)
    )
    args = event.args
    if args is UNSET:
        return keys
    return (
        keys
        + 1
        + (args.pc_addr is not UNSET)
        + (args.code is not UNSET)
        + (args.detail is not UNSET)
        + (args.process_bytes is not UNSET)
        + (args.name is not UNSET)
        + (args.sort_index is not UNSET)
        + (args.throughput is not UNSET)
    )
