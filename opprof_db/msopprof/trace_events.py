"""Events of a trace: as they stand in the file, and as columns that a writer can store as they are.

source: msopprof timeline_defs.h, core_timeline_visualizer.cpp, subcore_timeline_visualizer.cpp,
mte_log_visualizer.cpp. Times are microseconds whatever displayTimeUnit says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

import msgspec
from msgspec import UNSET, Struct, UnsetType

THROUGHPUT = "throughput(MB/s)"
"""The argument of a counter sample."""


class RawArgs(Struct, gc=False):
    """The arguments msopprof writes; what else there is, a mended event keeps as text."""

    pc_addr: str | int | UnsetType = UNSET
    code: str | UnsetType = UNSET
    detail: str | UnsetType = UNSET
    process_bytes: str | int | UnsetType = UNSET
    name: str | UnsetType = UNSET
    sort_index: int | UnsetType = UNSET
    throughput: float | UnsetType = msgspec.field(name=THROUGHPUT, default=UNSET)


class RawEvent(Struct, gc=False):
    """One event as it stands in the file."""

    name: str
    ph: str
    pid: str | int
    tid: str | int
    ts: float | UnsetType = UNSET
    dur: float | UnsetType = UNSET
    cname: str | UnsetType = UNSET
    id: str | int | UnsetType = UNSET
    cat: str | UnsetType = UNSET
    group_id: str | UnsetType = UNSET
    args: RawArgs | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class MendedEvent:
    """An event that was decoded with care: what of it can be kept."""

    event: RawEvent
    other: str | None
    """What has no field of its own, as JSON text."""
    flags: int


class Kind(IntEnum):
    """What an event stands for. Drawn lengths of all but work (and of heads) are artificial."""

    WORK = 0
    WAIT = 1
    SET = 2
    BARRIER = 3
    CACHE_HEAD = 4
    """cache_time: instruction fetch before the work of the same ``group_id``."""
    CCU_HEAD = 5
    """ccu_time: from fetch to issue."""
    MARKER = 6
    """A stretch the user marked, or an instant."""
    OTHER = 7
    """A phase msopprof does not write."""


class Flag(IntFlag):
    """What is wrong with an event."""

    NONE = 0
    NO_TIME = 1
    """No usable ts or dur: that field is ``None``; part of no total."""
    ENDS_BEFORE_START = 2
    UNMATCHED = 4
    """A B without E, an E without B, or a flow with one end; its missing fields are ``None``."""
    MENDED = 8
    """Some field could not be kept; an issue says which."""
    BEYOND_RUN = 16
    """It starts before 0 or ends far beyond all others: part of no total."""


_KINDS = {
    "SET_FLAG": Kind.SET,
    "set_event": Kind.SET,
    "SET_INTRA_BLOCK": Kind.SET,
    "SET_INTRA_BLOCKI": Kind.SET,
    "WAIT_FLAG": Kind.WAIT,
    "wait_event": Kind.WAIT,
    "WAIT_INTRA_BLOCK": Kind.WAIT,
    "WAIT_INTRA_BLOCKI": Kind.WAIT,
    "BAR": Kind.BARRIER,
    "cache_time": Kind.CACHE_HEAD,
    "ccu_time": Kind.CCU_HEAD,
}
_MOST_NAMES = 10_000


class KindOf(dict[str, int]):
    """Kind of an X event by its name. A bounded memo: names may be addresses."""

    def __missing__(self, name: str) -> int:
        if len(self) > _MOST_NAMES:
            self.clear()
        kind = _KINDS.get(name)
        if kind is None:
            kind = Kind.BARRIER if name.startswith(("BAR.", "BAR_")) else Kind.WORK
        self[name] = int(kind)
        return int(kind)


@dataclass(slots=True)
class EventBatch:
    """Events column by column, all lists of one length.

    ``lane`` refers to ``TraceSummary.lanes``, whose names are complete only at the end of the trace.
    """

    ordinal: list[int] = field(default_factory=list)
    """Place in the file's event list, from 0; of a pair, where it begins."""
    offset: list[int] = field(default_factory=list)
    """Byte offset of that place."""
    phase: list[str] = field(default_factory=list)
    """``X``; ``P`` for a B-E pair made one; ``B`` or ``E`` unmatched; else as written."""
    lane: list[int] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    """Values of ``Kind``."""
    name: list[str] = field(default_factory=list)
    ts_us: list[float | None] = field(default_factory=list)
    dur_us: list[float | None] = field(default_factory=list)
    pc_addr: list[int | None] = field(default_factory=list)
    code: list[str | None] = field(default_factory=list)
    """Source frames, innermost first, joined by line ends."""
    detail: list[str | None] = field(default_factory=list)
    process_bytes: list[int | None] = field(default_factory=list)
    group_id: list[str | None] = field(default_factory=list)
    """Joins an instruction to its cache and ccu heads."""
    colour: list[str | None] = field(default_factory=list)
    """``cname``."""
    pair_id: list[str | None] = field(default_factory=list)
    """``id``: of a SET/WAIT pair, and of its flow."""
    other: list[str | None] = field(default_factory=list)
    """Further arguments as JSON text; members of the event itself are prefixed by ``event.``."""
    flags: list[int] = field(default_factory=list)
    """Values of ``Flag``."""

    def __len__(self) -> int:
        return len(self.ordinal)

    def extend(self, more: EventBatch) -> None:
        """Append another batch."""
        for column in self.__slots__:
            getattr(self, column).extend(getattr(more, column))


@dataclass(slots=True)
class FlowBatch:
    """Flows: s and t events of one id made one row; a missing end is ``None``."""

    flow_id: list[str] = field(default_factory=list)
    category: list[str | None] = field(default_factory=list)
    """``<pipe>To<pipe>``."""
    from_lane: list[int | None] = field(default_factory=list)
    from_ts_us: list[float | None] = field(default_factory=list)
    from_event: list[int | None] = field(default_factory=list)
    """Ordinal of the SET it starts from, where that is known."""
    to_lane: list[int | None] = field(default_factory=list)
    to_ts_us: list[float | None] = field(default_factory=list)
    to_event: list[int | None] = field(default_factory=list)
    """Ordinal of the WAIT it ends at, where that is known."""
    ordinal: list[int] = field(default_factory=list)
    """Of the first end met."""
    flags: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.flow_id)


@dataclass(slots=True)
class CounterBatch:
    """Counter samples: ``C`` events, one row a value (MTE throughput, MB/s)."""

    ordinal: list[int] = field(default_factory=list)
    process: list[str] = field(default_factory=list)
    name: list[str] = field(default_factory=list)
    unit: list[str] = field(default_factory=list)
    """The argument's name: ``throughput(MB/s)``."""
    ts_us: list[float] = field(default_factory=list)
    value: list[float] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ordinal)


@dataclass(frozen=True, slots=True)
class TraceBatch:
    """What a stretch of the file held."""

    events: EventBatch
    flows: FlowBatch
    counters: CounterBatch
