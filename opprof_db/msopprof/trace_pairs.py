"""Joins what a trace writes in two places: B and E events of a flag, s and t ends of a flow.

The writer puts the halves next to each other, so almost nothing waits here; what waits is bounded all the same,
and what never finds its half is given out with a flag (source: msopprof core_timeline_visualizer.cpp).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

import numpy as np
from msgspec import UNSET, to_builtins

from opprof_db.msopprof.trace_events import EventBatch, Flag, FlowBatch, Kind, KindOf, MendedEvent, RawArgs, RawEvent

MOST_WAITING = 50_000
"""Halves kept while their other half has not come; beyond that the oldest count as unmatched."""


@dataclass(slots=True)
class Half:
    """One half and where it stands."""

    mended: MendedEvent
    lane: int
    ordinal: int
    offset: int


Key = TypeVar("Key")
Held = TypeVar("Held")
Place = tuple[int, int, int]
"""Lane, ordinal and byte offset of an event."""


def _time(value: object) -> float | None:
    return value if isinstance(value, float) else None


def _text(value: object) -> str | None:
    return None if value is UNSET else str(value)


END = "end."
"""Before the names of arguments that only the E of a pair has; ``end.event.`` before members of the E itself."""
_NO_ARGS = RawArgs()


def goes_on(first: RawEvent, second: RawEvent) -> bool:
    """Whether the second event is the other half of the first and has nothing of its own to say."""
    if first.id != second.id or first.name != second.name:
        return False
    if first.ph == "B":
        return (
            second.ph == "E"
            and first.tid == second.tid
            and first.pid == second.pid
            and (second.args is UNSET or second.args == _NO_ARGS)
            and first.cname == second.cname
            and first.group_id == second.group_id
        )
    return second.ph == "t" and first.cat == second.cat


def _with_end(begin: MendedEvent, end: MendedEvent) -> str | None:
    """Further arguments of a pair: those of its B, and what its E does not share with it."""
    first, second = begin.event, end.event
    own: dict[str, object] = json.loads(end.other) if end.other else {}
    for key in ("cname", "group_id", "tid"):
        value = getattr(second, key)
        if value != getattr(first, key):
            own[f"event.{key}"] = None if value is UNSET else value
    if second.args is not UNSET:
        own |= to_builtins(second.args)
    if not own:
        return begin.other
    held = json.loads(begin.other) if begin.other else {}
    return json.dumps(held | {END + key: value for key, value in own.items()}, ensure_ascii=False)


class EventMaker:
    """Turns single events into rows of a batch."""

    def __init__(self, numbers: dict[str | int, int]) -> None:
        self._numbers = numbers
        self.kinds = KindOf()

    def number(self, value: object) -> int | None:
        """A whole number as decoded: its text or itself."""
        return self._numbers[value] if isinstance(value, str | int) else None

    def add(
        self,
        batch: EventBatch,
        half: Half,
        *,
        phase: str,
        kind: int | None = None,
        ts: float | None,
        dur: float | None,
        flags: int,
    ) -> None:
        """Append one row."""
        event = half.mended.event
        args = event.args
        if dur is not None and dur < 0:
            flags |= Flag.ENDS_BEFORE_START
        batch.ordinal.append(half.ordinal)
        batch.offset.append(half.offset)
        batch.phase.append(phase)
        batch.lane.append(half.lane)
        batch.kind.append(self.kinds[event.name] if kind is None else kind)
        batch.name.append(event.name)
        batch.ts_us.append(ts)
        batch.dur_us.append(dur)
        batch.pc_addr.append(None if args is UNSET else self.number(args.pc_addr))
        batch.code.append(None if args is UNSET else _text(args.code))
        batch.detail.append(None if args is UNSET else _text(args.detail))
        batch.process_bytes.append(None if args is UNSET else self.number(args.process_bytes))
        batch.group_id.append(_text(event.group_id))
        batch.colour.append(_text(event.cname))
        batch.pair_id.append(_text(event.id))
        batch.other.append(half.mended.other)
        batch.flags.append(int(flags))


class Pairs:
    """B and E events: of one process, lane, id and name.

    A 950 may end a flag in another lane than it began (SIMT): what is left at the end is joined without the lane.
    """

    def __init__(self, maker: EventMaker, flows: Flows) -> None:
        self._maker = maker
        self._flows = flows
        self._open: dict[tuple[int, str, str], Half] = {}
        self._ends: dict[tuple[int, str, str], Half] = {}
        self.joined = 0
        self.unmatched_begins = 0
        self.unmatched_ends = 0

    def add(self, batch: EventBatch, half: Half) -> None:
        """Take in one B or E."""
        event = half.mended.event
        key = (half.lane, str(event.id), event.name)
        mine, others = (self._open, self._ends) if event.ph == "B" else (self._ends, self._open)
        other = others.get(key)
        if other is not None and event.ph == "E":
            del others[key]
            self._join(batch, other, half)
            return
        before = mine.pop(key, None)
        if before is not None:
            self._alone(batch, before)
        for old in _oldest(mine):
            self._alone(batch, old)
        mine[key] = half

    def add_neighbours(self, batch: EventBatch, places: list[Place], begins: list[RawEvent], ends: list[float]) -> None:
        """Take in whole pairs, as the writer prints them: B, then E of the same flag.

        ``places`` are lane, ordinal and byte offset of each B, ``ends`` the times of the E.
        """
        args = [event.args for event in begins]
        starts: list[float] = [event.ts for event in begins]  # type: ignore[misc]
        durations = [end - start for start, end in zip(starts, ends, strict=True)]
        number = self._maker.number
        kinds = [self._maker.kinds[event.name] for event in begins]
        flags = [str(event.id) for event in begins]
        ordinals = [place[1] for place in places]
        batch.lane.extend([place[0] for place in places])
        batch.ordinal.extend(ordinals)
        batch.offset.extend([place[2] for place in places])
        batch.phase.extend(["P"] * len(begins))
        batch.kind.extend(kinds)
        batch.name.extend([event.name for event in begins])
        batch.ts_us.extend(starts)
        batch.dur_us.extend(durations)
        batch.pc_addr.extend([None if held is UNSET else number(held.pc_addr) for held in args])
        batch.code.extend([None if held is UNSET or held.code is UNSET else held.code for held in args])
        batch.detail.extend([None if held is UNSET or held.detail is UNSET else held.detail for held in args])
        batch.process_bytes.extend([None if held is UNSET else number(held.process_bytes) for held in args])
        batch.group_id.extend([None if event.group_id is UNSET else event.group_id for event in begins])
        batch.colour.extend([None if event.cname is UNSET else event.cname for event in begins])
        batch.pair_id.extend(flags)
        batch.other.extend([None] * len(begins))
        batch.flags.extend([Flag.ENDS_BEFORE_START.value if held < 0 else 0 for held in durations])
        self.joined += len(begins)
        self._flows.flag_pairs_met(flags, kinds, ordinals)

    def finish(self, batch: EventBatch, process_of: list[str]) -> None:
        """Join what is left without regard to the lane, and give out the rest as unmatched."""
        ends: dict[tuple[str, str, str], list[Half]] = {}
        for (lane, flag, name), half in self._ends.items():
            ends.setdefault((process_of[lane], flag, name), []).append(half)
        for (lane, flag, name), half in self._open.items():
            found = ends.get((process_of[lane], flag, name))
            if found and len(found) == 1:
                self._join(batch, half, found.pop())
            else:
                self._alone(batch, half)
        for left in ends.values():
            for half in left:
                self._alone(batch, half)
        self._open.clear()
        self._ends.clear()

    def _join(self, batch: EventBatch, begin: Half, end: Half) -> None:
        self.joined += 1
        ts, until = _time(begin.mended.event.ts), _time(end.mended.event.ts)
        dur = None if ts is None or until is None else until - ts
        flags = begin.mended.flags | end.mended.flags | (Flag.NO_TIME if dur is None else 0)
        begin = replace(begin, mended=replace(begin.mended, other=_with_end(begin.mended, end.mended)))
        self._maker.add(batch, begin, phase="P", ts=ts, dur=dur, flags=flags)
        self._flows.flag_met(str(begin.mended.event.id), batch.kind[-1], begin.ordinal)

    def _alone(self, batch: EventBatch, half: Half) -> None:
        event = half.mended.event
        if event.ph == "B":
            self.unmatched_begins += 1
        else:
            self.unmatched_ends += 1
        flags = half.mended.flags | Flag.UNMATCHED
        self._maker.add(batch, half, phase=event.ph, ts=_time(event.ts), dur=None, flags=flags)


class Flows:
    """s and t events of one id, with the SET and WAIT they join where those are known.

    All-core flows carry the id of their flags. In one-core files flags have no id; there a flow starts in the
    middle of its SET and ends at the end of its WAIT, in float32 (source: msopprof subcore_timeline_visualizer.cpp).
    """

    def __init__(self) -> None:
        self._starts: dict[tuple[str, str, str], Half] = {}
        self._ends: dict[tuple[str, str, str], Half] = {}
        self._flags: dict[tuple[str, int], int] = {}
        self._places: dict[tuple[int, float, int], int] = {}
        self.joined = 0
        self.unmatched = 0

    def flag_met(self, flag: str, kind: int, ordinal: int) -> None:
        """A SET or WAIT pair with an id."""
        _remember(self._flags, (flag, kind), ordinal)

    def flag_pairs_met(self, flags: list[str], kinds: list[int], ordinals: list[int]) -> None:
        """The same for many."""
        memo = self._flags
        memo.update(zip(zip(flags, kinds, strict=True), ordinals, strict=True))
        _oldest(memo)

    def flags_met(self, batch: EventBatch, kinds: list[int]) -> None:
        """SET and WAIT events without an id."""
        if Kind.SET not in kinds and Kind.WAIT not in kinds:
            return
        for at, kind in enumerate(kinds):
            if kind not in (Kind.SET, Kind.WAIT):
                continue
            ts, dur = batch.ts_us[at], batch.dur_us[at]
            if ts is not None and dur is not None:
                self.flag_placed(batch.lane[at], ts, dur, kind, batch.ordinal[at])

    def flag_placed(self, lane: int, ts: float, dur: float, kind: int, ordinal: int) -> None:
        """A SET or WAIT without an id."""
        place = ts + dur / 2 if kind == Kind.SET else ts + dur
        _remember(self._places, (lane, _float32(place), kind), ordinal)

    def add(self, batch: FlowBatch, half: Half) -> None:
        """Take in one s or t."""
        event = half.mended.event
        key = (str(event.id), str(event.cat), event.name)
        mine, others = (self._starts, self._ends) if event.ph == "s" else (self._ends, self._starts)
        other = others.pop(key, None)
        if other is not None:
            self.joined += 1
            begin, end = (half, other) if event.ph == "s" else (other, half)
            self._row(batch, begin, end)
            return
        before = mine.pop(key, None)
        if before is not None:
            self._alone(batch, before)
        for old in _oldest(mine):
            self._alone(batch, old)
        mine[key] = half

    def add_neighbours(
        self, batch: FlowBatch, places: list[Place], begins: list[RawEvent], to_lanes: list[int], ends: list[float]
    ) -> None:
        """Take in whole flows, as the writer prints them: s, then t of the same id."""
        starts: list[float] = [event.ts for event in begins]  # type: ignore[misc]
        ids = [str(event.id) for event in begins]
        lanes = [place[0] for place in places]
        batch.flow_id.extend(ids)
        batch.category.extend([None if event.cat is UNSET else event.cat for event in begins])
        batch.from_lane.extend(lanes)
        batch.from_ts_us.extend(starts)
        batch.from_event.extend(map(self._event, ids, lanes, starts, [Kind.SET] * len(ids)))
        batch.to_lane.extend(to_lanes)
        batch.to_ts_us.extend(ends)
        batch.to_event.extend(map(self._event, ids, to_lanes, ends, [Kind.WAIT] * len(ids)))
        batch.ordinal.extend([place[1] for place in places])
        batch.flags.extend([0] * len(ids))
        self.joined += len(ids)

    def finish(self, batch: FlowBatch) -> None:
        """Give out the flows that have one end only."""
        for half in (*self._starts.values(), *self._ends.values()):
            self._alone(batch, half)
        self._starts.clear()
        self._ends.clear()

    def _alone(self, batch: FlowBatch, half: Half) -> None:
        self.unmatched += 1
        self._row(batch, *((half, None) if half.mended.event.ph == "s" else (None, half)))

    def _row(self, batch: FlowBatch, begin: Half | None, end: Half | None) -> None:
        first = min((half for half in (begin, end) if half), key=lambda half: half.ordinal)
        both = begin is not None and end is not None
        batch.flow_id.append(_text(first.mended.event.id) or "")
        batch.category.append(_text(first.mended.event.cat))
        batch.from_lane.append(None if begin is None else begin.lane)
        batch.from_ts_us.append(None if begin is None else _time(begin.mended.event.ts))
        batch.from_event.append(None if begin is None else self._event_of(begin, Kind.SET))
        batch.to_lane.append(None if end is None else end.lane)
        batch.to_ts_us.append(None if end is None else _time(end.mended.event.ts))
        batch.to_event.append(None if end is None else self._event_of(end, Kind.WAIT))
        batch.ordinal.append(first.ordinal)
        flags = first.mended.flags | (end.mended.flags if both and end else 0)
        batch.flags.append(int(flags | (0 if both else Flag.UNMATCHED)))

    def _event_of(self, half: Half, kind: Kind) -> int | None:
        event = half.mended.event
        return self._event(str(event.id), half.lane, _time(event.ts), kind)

    def _event(self, flow: str, lane: int, ts: float | None, kind: int) -> int | None:
        by_id = self._flags.pop((flow, int(kind)), None)
        if by_id is not None or ts is None:
            return by_id
        return self._places.get((lane, _float32(ts), int(kind))) if self._places else None


def _float32(value: float) -> float:
    """As the writer rounds; infinite where a float cannot hold it."""
    return value if abs(value) > _LARGEST_FLOAT32 else float(np.float32(value))


_LARGEST_FLOAT32 = 3.4e38


def _oldest(waiting: dict[Key, Held]) -> list[Held]:
    """The older half of what waits, taken out, once too much does: all at once, as single steps would be slow."""
    if len(waiting) < MOST_WAITING:
        return []
    return [waiting.pop(key) for key in list(islice(waiting, MOST_WAITING // 2))]


def _remember(memo: dict[Key, int], key: Key, ordinal: int) -> None:
    _oldest(memo)
    memo[key] = ordinal
