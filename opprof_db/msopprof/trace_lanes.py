"""Lanes of a trace and what they are called; names may come after the events they belong to.

In all-core files a process is a core and a lane a pipe; in the file of one core a process is a pipe, known by number
or by its process_name, and lanes only keep overlapping events apart (source: msopprof subcore_timeline_visualizer.h).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from opprof_db.msopprof.issues import IssueLog, Severity
from opprof_db.msopprof.values import visible

PIPE_OF_PROCESS = {
    "10": "SCALAR",
    "20": "SCALARLDST",
    "30": "VECTOR",
    "40": "CUBE",
    "50": "MTE1",
    "60": "MTE2",
    "70": "MTE3",
    "80": "FIXP",
    "90": "FLOWCTRL",
    "100": "ALL",
    "110": "CACHEMISS",
    "120": "USERMARK",
}
MARK_PIPE = "USERMARK"
MOST_LANES = 100_000
"""Lanes told apart; a hostile file cannot make more."""
_CORE = re.compile(r"core\d+\.(?:vec|cube)core\d+")
_DEVICE = re.compile(r"BLOCK|AI CORE|AI CPU|TURN|HCCL|warp\..*|AIC BLOCK|AIV BLOCK")
_LANE_NUMBER = re.compile(r"_\d+$")


class TraceKind(StrEnum):
    """What wrote a trace."""

    ALL_CORES = "simulator_all_cores"
    """Cores and pipes by name. A device run's pipe timeline looks the same: the folder tells."""
    ONE_CORE = "simulator_one_core"
    DEVICE = "device"
    LEGACY = "legacy_simulator"
    """msopgen: cycles instead of microseconds. Not msopprof."""
    OTHER = "not_msopprof"
    LFS_POINTER = "lfs_pointer"
    EMPTY = "empty"


@dataclass(slots=True)
class Lane:
    """One (pid, tid) of the file."""

    process: str
    """pid as written."""
    thread: str
    """tid as written."""
    numeric: bool
    """Whether pid is a number."""
    core: str | None = None
    pipe: str | None = None
    process_name: str | None = None
    thread_name: str | None = None
    process_sort: int | None = None
    thread_sort: int | None = None


class Lanes:
    """Gives lanes their numbers as they are met, and their names at the end."""

    def __init__(self, issues: IssueLog) -> None:
        self.lanes: list[Lane] = []
        self._issues = issues
        self._numbers: dict[tuple[str, str], int] = {}
        self._process: dict[tuple[str, str], tuple[str | None, int | None]] = {}
        self._memo = _Memo(self)
        self.of = self._memo.__getitem__
        """Number of the lane of a (pid, tid) as decoded."""

    def number(self, pid: str | int, tid: str | int) -> int:
        """The number of a lane, new or known; pid 30 and pid "30" are one."""
        key = (visible(str(pid)), visible(str(tid)))
        known = self._numbers.get(key)
        if known is not None:
            if isinstance(pid, int):
                self.lanes[known].numeric = True
            return known
        if len(self.lanes) >= MOST_LANES:
            if len(self.lanes) == MOST_LANES:
                self._issues.add("too_many_lanes", Severity.WARNING, f"more than {MOST_LANES} lanes; the rest are one")
                self.lanes.append(Lane("", "", numeric=False))
            return MOST_LANES
        self._numbers[key] = len(self.lanes)
        self.lanes.append(Lane(key[0], key[1], isinstance(pid, int)))
        return len(self.lanes) - 1

    def name(self, what: str, pid: str | int, tid: str | int, name: str | None, sort: int | None) -> bool:
        """Take in a metadata event; ``False`` where it is none of the known ones."""
        if what in ("process_name", "process_sort_index"):
            if len(self._process) < MOST_LANES:
                self._process[visible(str(pid)), what] = (name, sort)
        elif what == "thread_name":
            self.lanes[self.number(pid, tid)].thread_name = name
        elif what == "thread_sort_index":
            self.lanes[self.number(pid, tid)].thread_sort = sort
        else:
            return False
        return True

    def resolve(self, core: str | None) -> None:
        """Give all lanes their core and pipe; ``core`` is that of a one-core file."""
        several = self._processes_with_several_names()
        for lane in self.lanes:
            lane.process_name = self._process.get((lane.process, "process_name"), (None, None))[0]
            lane.process_sort = self._process.get((lane.process, "process_sort_index"), (None, None))[1]
            if not lane.numeric:
                lane.core = lane.process or core
                lane.pipe = lane.thread or lane.thread_name
                continue
            lane.core = core
            by_thread = _LANE_NUMBER.sub("", lane.thread_name) if lane.thread_name else None
            ambiguous = lane.process in several or lane.process == "0"
            known = PIPE_OF_PROCESS.get(lane.process)
            named = by_thread or lane.process_name if ambiguous else lane.process_name or known or by_thread
            lane.pipe = named or f"process {lane.process}"

    def _processes_with_several_names(self) -> set[str]:
        names: dict[str, set[str]] = {}
        for lane in self.lanes:
            if lane.thread_name:
                names.setdefault(lane.process, set()).add(_LANE_NUMBER.sub("", lane.thread_name))
        return {process for process, held in names.items() if len(held) > 1}

    def kind(self, header: dict[str, str | int | float], form: str, *, legacy: bool, elements: int) -> TraceKind:
        """What wrote the trace."""
        if form == "lfs_pointer":
            return TraceKind.LFS_POINTER
        if form == "empty":
            return TraceKind.EMPTY
        if legacy:
            return TraceKind.LEGACY
        if header.get("profilingType") != "op":
            return TraceKind.OTHER
        used = [lane for lane in self.lanes if lane.process]
        if any(lane.numeric for lane in used):
            return TraceKind.ONE_CORE
        if any(_DEVICE.fullmatch(lane.process) for lane in used):
            return TraceKind.DEVICE
        if any(_CORE.fullmatch(lane.process) for lane in used) or not elements:
            return TraceKind.ALL_CORES
        return TraceKind.OTHER if used else TraceKind.ALL_CORES


class _Memo(dict[tuple[str | int, str | int], int]):
    def __init__(self, lanes: Lanes) -> None:
        super().__init__()
        self._lanes = lanes

    def __missing__(self, key: tuple[str | int, str | int]) -> int:
        number = self._lanes.number(*key)
        if len(self) < MOST_LANES:
            self[key] = number
        return number
