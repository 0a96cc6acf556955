"""A kernel's stored trace as a Chrome trace file, event by event, whole or a stretch of time.

The result opens in Perfetto and Chrome's viewer, and reads back as the same events (a test proves
it); the end of a SET/WAIT pair is start + length, exact to the last bit or two of a double.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TextIO


@dataclass(frozen=True, slots=True)
class Window:
    """Stretch of time, us; what overlaps it is exported."""

    start_us: float = float("-inf")
    end_us: float = float("inf")

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self == Window()


@dataclass(frozen=True, slots=True)
class _Lane:
    pid: str | int
    tid: str | int


def export(connection: sqlite3.Connection, kernel_id: int, out: TextIO, window: Window | None = None) -> int:
    """Write the trace; returns the number of event objects written."""
    window = window or Window()
    version = connection.execute(
        "SELECT max(schema_version) FROM trace_files WHERE kernel_id = ?", (kernel_id,)
    ).fetchone()[0]
    head = {"schemaVersion": version or 1, "displayTimeUnit": "ns", "profilingType": "op"}
    out.write(json.dumps(head)[:-1] + ', "traceEvents": [')
    count = 0
    for event in _events(connection, kernel_id, window):
        out.write((",\n" if count else "\n") + json.dumps(event, ensure_ascii=False))
        count += 1
    out.write("\n]}\n")
    return count


def _events(connection: sqlite3.Connection, kernel_id: int, window: Window) -> Iterator[dict[str, Any]]:
    lanes, metadata = _lanes(connection, kernel_id)
    yield from metadata
    yield from _work(connection, kernel_id, lanes, window)
    yield from _flows(connection, kernel_id, lanes, window)
    yield from _counters(connection, kernel_id, window)


def _number(text: str) -> str | int:
    return int(text) if text.isascii() and text.lstrip("-").isdigit() and len(text) < 16 else text


def _lanes(connection: sqlite3.Connection, kernel_id: int) -> tuple[dict[tuple[int, int], _Lane], list[dict[str, Any]]]:
    """Lanes by (trace, number), and the metadata events that name them."""
    several = connection.execute(
        "SELECT count(*) FROM trace_files WHERE kernel_id = ? AND events > 0", (kernel_id,)
    ).fetchone()[0] > 1  # fmt: skip
    lanes: dict[tuple[int, int], _Lane] = {}
    metadata: dict[str, dict[str, Any]] = {}
    rows = connection.execute(
        "SELECT trace_no, lane, process, thread, is_numeric, core, process_name, thread_name, process_sort, thread_sort"
        " FROM trace_lanes WHERE kernel_id = ? ORDER BY trace_no, lane",
        (kernel_id,),
    )
    for trace, lane, process, thread, numeric, core, process_name, thread_name, process_sort, thread_sort in rows:
        # Per-core files number their pipes alike: together in one file they need the core's name before it.
        pid: str | int = _number(process) if numeric else process
        tid: str | int = _number(thread) if numeric else thread
        if several and core is not None and numeric:
            pid, tid = core, f"{thread_name or process_name or process} {thread}"
            process_name = thread_name = None
        lanes[trace, lane] = _Lane(pid, tid)
        for name, value, target in (
            ("process_name", process_name, "NA"),
            ("process_sort_index", process_sort, "NA"),
            ("thread_name", thread_name, tid),
            ("thread_sort_index", thread_sort, tid),
        ):
            if value is not None:
                key = "sort_index" if name.endswith("sort_index") else "name"
                event = {"name": name, "ph": "M", "pid": pid, "tid": target, "args": {key: value}}
                metadata[json.dumps(event)] = event
    return lanes, list(metadata.values())


def _work(
    connection: sqlite3.Connection, kernel_id: int, lanes: dict[tuple[int, int], _Lane], window: Window
) -> Iterator[dict[str, Any]]:
    texts = _Texts(connection, kernel_id)
    sql = (
        "SELECT trace_no, lane, phase, name_id, ts_us, dur_us, pc_addr, code_id, detail_id, process_bytes, group_id,"
        " colour_id, pair_id, other_id FROM trace_events WHERE kernel_id = ?"
    )
    parameters: tuple[Any, ...] = (kernel_id,)
    if not window.whole:
        sql += " AND ts_us < ? AND ts_us + coalesce(dur_us, 0) >= ?"
        parameters = (kernel_id, window.end_us, window.start_us)
    for row in connection.execute(sql + " ORDER BY trace_no, ordinal", parameters):
        trace, lane, phase, name, ts, dur, pc, code, detail, size, group, colour, pair, other = row
        place = lanes[trace, lane]
        event: dict[str, Any] = {"name": texts[name], "ph": phase, "pid": place.pid, "tid": place.tid}
        if ts is not None:
            event["ts"] = ts
        if dur is not None and phase != "P":
            event["dur"] = dur
        for key, number in (("group_id", group), ("cname", colour), ("id", pair)):
            if number is not None:
                event[key] = texts[number]
        arguments: dict[str, Any] = {}
        if pc is not None:
            arguments["pc_addr"] = hex(pc)
        for key, number in (("code", code), ("detail", detail)):
            if number is not None:
                arguments[key] = texts[number]
        if size is not None:
            arguments["process_bytes"] = str(size)
        end: dict[str, Any] = {}
        if other is not None:
            end = _spread(json.loads(texts[other] or "{}"), event, arguments)
        if arguments:
            event["args"] = arguments
        if phase == "P":
            yield {**event, "ph": "B"}
            yield _end_of(event, end, None if ts is None or dur is None else ts + dur)
        else:
            yield event


def _spread(other: object, event: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Further arguments back to where they stood; returns those of the E of a pair."""
    end = {}
    for key, value in other.items() if isinstance(other, dict) else ():
        if key.startswith("end."):
            end[key.removeprefix("end.")] = value
        elif key.startswith("event."):
            event.setdefault(key.removeprefix("event."), value)
        else:
            arguments.setdefault(key, value)
    return end


def _end_of(begin: dict[str, Any], own: dict[str, Any], ts: float | None) -> dict[str, Any]:
    """The E of a pair: what it shares with its B, but for what it has of its own."""
    event: dict[str, Any] = {key: begin[key] for key in _SHARED_BY_PAIRS if key in begin} | {"ph": "E"}
    if ts is not None:
        event["ts"] = ts
    arguments: dict[str, Any] = {}
    for key, value in own.items():
        if not key.startswith("event."):
            arguments[key] = value
        elif value is None:
            event.pop(key.removeprefix("event."), None)
        else:
            event[key.removeprefix("event.")] = value
    return event | ({"args": arguments} if arguments else {})


_SHARED_BY_PAIRS = ("name", "cname", "group_id", "id", "pid", "tid")


class _Texts(dict[int | None, str | None]):
    """Texts of the kernel by number, fetched as they are needed, a bounded number held."""

    def __init__(self, connection: sqlite3.Connection, kernel_id: int) -> None:
        super().__init__({None: None})
        self._connection = connection
        self._kernel_id = kernel_id

    def __missing__(self, number: int | None) -> str | None:
        row = self._connection.execute(
            "SELECT string FROM trace_strings WHERE kernel_id = ? AND id = ?", (self._kernel_id, number)
        ).fetchone()
        if len(self) > 100_000:
            self.clear()
            self[None] = None
        self[number] = None if row is None else row[0]
        return self[number]


def _flows(
    connection: sqlite3.Connection, kernel_id: int, lanes: dict[tuple[int, int], _Lane], window: Window
) -> Iterator[dict[str, Any]]:
    rows = connection.execute(
        "SELECT trace_no, flow_id, category, from_lane, from_ts_us, to_lane, to_ts_us FROM trace_flows"
        " WHERE kernel_id = ? ORDER BY trace_no, ordinal",
        (kernel_id,),
    )
    for trace, flow, category, from_lane, from_ts, to_lane, to_ts in rows:
        ends = [("s", from_lane, from_ts), ("t", to_lane, to_ts)]
        there = [(phase, lane, ts) for phase, lane, ts in ends if lane is not None and ts is not None]
        if not all(window.start_us <= ts < window.end_us for _, _, ts in there):
            continue
        for phase, lane, ts in there:
            place = lanes[trace, lane]
            event = {"name": "flow", "ph": phase, "id": flow, "pid": place.pid, "tid": place.tid, "ts": ts}
            yield event if category is None else {**event, "cat": category}


def _counters(connection: sqlite3.Connection, kernel_id: int, window: Window) -> Iterator[dict[str, Any]]:
    rows = connection.execute(
        "SELECT process, name, unit, ts_us, value FROM trace_counters WHERE kernel_id = ? ORDER BY trace_no, sample",
        (kernel_id,),
    )
    for process, name, unit, ts, value in rows:
        if window.start_us <= ts < window.end_us:
            yield {"name": name, "ph": "C", "pid": process, "tid": "NA", "ts": ts, "args": {unit: value}}
