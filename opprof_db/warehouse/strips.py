"""Where in time the pipes of a core worked: shares per stretch, for a picture in a line of text."""

from __future__ import annotations

import sqlite3


def work_strips(
    connection: sqlite3.Connection, kernel_id: int, core: str, stretches: int
) -> dict[str, list[float]] | None:
    """Pipe -> share of each stretch of the core's time in which the pipe worked; ``None`` without events.

    The time runs from the first to the last work of the core. Overlapping work counts once.
    """
    intervals: dict[str, list[tuple[float, float]]] = {}
    rows = connection.execute(
        "SELECT l.pipe, e.ts_us, e.ts_us + e.dur_us FROM trace_lanes l JOIN trace_events e"
        " ON e.kernel_id = l.kernel_id AND e.trace_no = l.trace_no AND e.lane = l.lane"
        " WHERE l.kernel_id = ? AND l.core = ? AND l.pipe IS NOT NULL AND e.kind = 0 AND e.dur_us >= 0"
        " AND e.ts_us >= 0 AND e.flags & 16 = 0 ORDER BY e.ts_us",
        (kernel_id, core),
    )
    for pipe, start, end in rows:
        held = intervals.setdefault(pipe, [])
        if held and start <= held[-1][1]:
            held[-1] = (held[-1][0], max(held[-1][1], end))
        else:
            held.append((start, end))
    if not intervals:
        return None
    first = min(held[0][0] for held in intervals.values())
    last = max(held[-1][1] for held in intervals.values())
    width = (last - first) / stretches
    return {pipe: _shares(held, first, width, stretches) for pipe, held in sorted(intervals.items())}


def _shares(intervals: list[tuple[float, float]], first: float, width: float, stretches: int) -> list[float]:
    shares = [0.0] * stretches
    if width <= 0:
        return shares
    for start, end in intervals:
        low = min(int((start - first) / width), stretches - 1)
        high = min(int((end - first) / width), stretches - 1)
        for at in range(low, high + 1):
            begin, finish = first + at * width, first + (at + 1) * width
            shares[at] += max(0.0, min(end, finish) - max(start, begin)) / width
    return shares
