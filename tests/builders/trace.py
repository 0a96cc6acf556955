"""Writes traces the way msopprof does: compact JSON, keys sorted, times as C floats in microseconds.

All cores follow msopprof core_timeline_visualizer.cpp (flags as B-E pairs behind the work, each matched pair followed
by its flow; lane order first, counters last), one core subcore_timeline_visualizer.cpp (numbered pipes, lanes made
when needed, flags as X events, flows behind everything with ids and lanes as text), device runs biu_timeline.cpp and
warp_timeline_visualize.cpp, counters mte_log_visualizer.cpp.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

PIPE_NUMBER = {"SCALAR": 10, "SCALARLDST": 20, "VECTOR": 30, "CUBE": 40, "MTE1": 50, "MTE2": 60, "MTE3": 70}
PIPE_NUMBER |= {"FIXP": 80, "FLOWCTRL": 90, "ALL": 100, "CACHEMISS": 110, "USERMARK": 120}
COUNTERS = ("GM_TO_UB", "GM_TO_L1", "GM_TO_TOTAL", "UB_TO_GM", "L1_TO_GM", "TOTAL_TO_GM")
Event = dict[str, object]


def float32(value: float) -> float:
    """The double that a C float prints as."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def dump(events: Iterable[Event], version: int = 1, **header: object) -> bytes:
    """A whole trace file."""
    document = {"displayTimeUnit": "ns", "profilingType": "op", "schemaVersion": version, **header}
    text = json.dumps({**document, "traceEvents": list(events)}, sort_keys=True, separators=(",", ":"))
    return text.encode()


@dataclass(frozen=True)
class Instruction:
    """One executed instruction, in cycles."""

    pipe: str
    name: str
    start: int
    end: int
    detail: str = ""
    pc: int = 0x10D0D000
    code: str = ""
    moved: int = 0
    fetched: int | None = None
    """Cycle of the instruction fetch, with Overhead."""
    issued: int | None = None

    @property
    def args(self) -> dict[str, str]:
        held = {"code": self.code, "detail": self.detail, "pc_addr": f"0x{self.pc:x}"}
        return {**held, "process_bytes": str(self.moved)} if self.moved else held


@dataclass
class AllCoresTrace:
    """simulator/trace.json."""

    cores: dict[str, list[Instruction]]
    clock: float = 1850.0
    throughput: Sequence[Sequence[float]] = field(default_factory=list)
    """Six values (MB/s) a microsecond, with PMSampling."""

    def us(self, cycles: float) -> float:
        return float32(cycles / self.clock)

    def events(self) -> list[Event]:
        lanes: list[Event] = []
        rest: list[Event] = []
        for at, (core, instructions) in enumerate(self.cores.items()):
            order: Event = {
                "name": "process_sort_index",
                "ph": "M",
                "pid": core,
                "tid": "NA",
                "args": {"sort_index": at},
            }
            lanes.append(order)
            rest.extend(self._core(core, sorted(instructions, key=lambda one: (one.end, one.pc))))
        return lanes + rest + self._counters()

    def text(self, version: int = 2) -> bytes:
        """The file."""
        return dump(self.events(), version)

    def _core(self, core: str, instructions: list[Instruction]) -> list[Event]:
        made: list[Event] = []
        pipes = sorted({one.pipe for one in instructions})
        for at, pipe in enumerate(pipes):
            order = {"sort_index": at + 1}
            made.append({"name": "thread_sort_index", "ph": "M", "pid": core, "tid": pipe, "args": order})
        sets: dict[str, list[Instruction]] = {}
        waits: dict[str, list[Instruction]] = {}
        count = 0
        for one in instructions:
            if one.name in ("SET_FLAG", "WAIT_FLAG"):
                (sets if one.name == "SET_FLAG" else waits).setdefault(one.detail, []).append(one)
                continue
            start, end = (one.end - 1, one.end) if one.name == "BAR" else (one.start, one.end)
            event = self._work(core, one, one.name, start, end)
            if one.fetched is not None and one.issued is not None:
                group = {"group_id": f"{one.name}{count}"}
                made.append({**self._work(core, one, "cache_time", one.fetched, one.issued), **group})
                made.append({**self._work(core, one, "ccu_time", one.issued, one.start), **group})
                event |= group
            made.append(event)
            count += 1
        return made + self._flags(core, sets, waits)

    def _work(self, core: str, one: Instruction, name: str, start: int, end: int) -> Event:
        times = {"ts": self.us(start), "dur": self.us(end - start)}
        return {"name": name, "cname": "startup", "ph": "X", "pid": core, "tid": one.pipe, "args": one.args, **times}

    def _flags(self, core: str, sets: dict[str, list[Instruction]], waits: dict[str, list[Instruction]]) -> list[Event]:
        made: list[Event] = []
        number = 0
        for detail, waiting in sorted(waits.items()):
            for wait in waiting:
                identity = f"{core}_{number}"
                number += 1
                setting = sets.get(detail, [])
                if not setting:
                    made.extend(self._flag(core, wait, identity))
                    continue
                begin = setting.pop(0)
                made.extend(self._flag(core, begin, identity) + self._flag(core, wait, identity))
                flow = {"name": "flow", "id": identity, "cat": f"{begin.pipe}To{wait.pipe}", "pid": core}
                made.append({**flow, "ph": "s", "tid": begin.pipe, "ts": self.us(begin.end)})
                made.append({**flow, "ph": "t", "tid": wait.pipe, "ts": self.us(wait.end)})
        for _, setting in sorted(sets.items()):
            for left in setting:
                made.extend(self._flag(core, left, f"{core}_{number}"))
                number += 1
        return made

    def _flag(self, core: str, one: Instruction, identity: str) -> list[Event]:
        start = one.end - 1 if one.name == "SET_FLAG" else one.start
        shared = {"name": one.name, "cname": "black", "pid": core, "tid": one.pipe, "id": identity}
        begin = {**shared, "ph": "B", "ts": self.us(start), "args": one.args}
        return [begin, {**shared, "ph": "E", "ts": self.us(one.end), "args": {}}]

    def _counters(self) -> list[Event]:
        if not self.throughput:
            return []
        points = [*enumerate(self.throughput), (len(self.throughput), [0.0] * len(COUNTERS))]
        return [
            {"pid": "MTE Throughput", "tid": 0, "name": name, "ph": "C", "ts": ts, "args": {"throughput(MB/s)": value}}
            for ts, values in points
            for name, value in zip(COUNTERS, values, strict=True)
        ]


@dataclass
class OneCoreTrace:
    """simulator/coreN.…/trace.json."""

    instructions: list[Instruction]
    clock: float = 1850.0

    def us(self, cycles: float) -> float:
        return float32(cycles / self.clock)

    def events(self) -> list[Event]:
        made: list[Event] = []
        pipes = list(dict.fromkeys(one.pipe for one in self.instructions))
        for pipe in pipes:
            number = PIPE_NUMBER.get(pipe, 0)
            named = {"ph": "M", "pid": number, "tid": 0}
            made.append({**named, "name": "process_name", "args": {"name": pipe}})
            made.append({**named, "name": "process_sort_index", "args": {"sort_index": number}})
        sets: dict[str, list[Event]] = {}
        waits: dict[str, list[Event]] = {}
        for number in sorted({PIPE_NUMBER.get(pipe, 0) for pipe in pipes}):
            taken: list[set[int]] = []
            for one in self.instructions:
                if PIPE_NUMBER.get(one.pipe, 0) == number:
                    event = self._event(one, number, taken, made)
                    if one.name in ("SET_FLAG", "WAIT_FLAG"):
                        (sets if one.name == "SET_FLAG" else waits).setdefault(one.detail, []).append(event)
        return made + self._flows(sets, waits)

    def text(self) -> bytes:
        """The file."""
        return dump(self.events(), 1)

    def _event(self, one: Instruction, number: int, taken: list[set[int]], made: list[Event]) -> Event:
        cycles = set(range(one.start, one.end + 1))
        lane = next((at for at, held in enumerate(taken) if not held & cycles), None)
        if lane is None:
            lane = len(taken)
            taken.append(set())
            named = {"ph": "M", "pid": number, "tid": lane + 1}
            made.append({**named, "name": "thread_name", "args": {"name": f"{one.pipe}_{lane + 1}"}})
            made.append({**named, "name": "thread_sort_index", "args": {"sort_index": lane + 1}})
        taken[lane] |= cycles
        start = one.end - 1 if one.name in ("BAR", "SET_FLAG") else one.start
        times = {"ts": self.us(start), "dur": self.us(one.end - start)}
        shared: Event = {"name": one.name, "cname": "startup", "ph": "X", "pid": number, "tid": lane + 1}
        made.append({**shared, **times, "args": one.args})
        return made[-1]

    def _flows(self, sets: dict[str, list[Event]], waits: dict[str, list[Event]]) -> list[Event]:
        made: list[Event] = []
        for detail, waiting in sorted(waits.items()):
            for begin, end in zip(sets.get(detail, []), waiting, strict=False):
                flow = {"name": "flow", "id": str(len(made) // 2), "cat": "ATOB"}
                middle = float32(begin["ts"] + begin["dur"] / 2)  # type: ignore[operator]
                until = float32(end["ts"] + end["dur"])  # type: ignore[operator]
                for phase, event, ts in (("s", begin, middle), ("t", end, until)):
                    made.append({**flow, "ph": phase, "pid": str(event["pid"]), "tid": str(event["tid"]), "ts": ts})
        return made


def device_trace() -> bytes:
    """A 950 device run: its blocks, its warps."""
    block: Event = {"cname": "good", "ph": "X", "pid": "BLOCK", "name": "cube time", "ts": 0.5, "dur": 9.0, "args": {}}
    warp: Event = {"cname": "good", "ph": "X", "pid": "warp.core0.veccore0", "tid": "Warp 3", "name": "Warp_3"}
    ids = {"block_id": 0, "core_id": 0, "core_type": 1, "warp_id": 3}
    order: Event = {
        "ph": "M",
        "name": "thread_sort_index",
        "pid": warp["pid"],
        "tid": "Warp 3",
        "args": {"sort_index": 3},
    }
    return dump([{**block, "tid": "core0.cubecore0"}, {**warp, "ts": 1.25, "dur": 2.5, "args": ids}, order])
