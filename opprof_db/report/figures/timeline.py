"""What the pipes of a simulated core did over time. What is too fine for a figure is joined, and it is said how far.

Work of a pipe is the union of its events. Where there are more stretches of work than a figure can hold, those with the
shortest gaps between them are joined until they fit; a bar says how many events are in it and how much of it was
work. So nothing is left out: only gaps shorter than the stated length are not drawn.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opprof_db.report.figures.common import axis, pipe_color, spec
from opprof_db.report.model import Column, Figure, Table
from opprof_db.report.numbers import readable, us_text
from opprof_db.report.texts import for_figure

WORK_BARS = 3000
"""Bars of work in a figure, all pipes together."""
SYNC_BARS = 1500
"""Bars of waits, and of barriers and sets, in a figure."""
_LANE = (
    "SELECT l.pipe, e.kind, e.ts_us, e.dur_us FROM trace_lanes AS l JOIN trace_events AS e"
    " ON e.kernel_id = l.kernel_id AND e.trace_no = l.trace_no AND e.lane = l.lane"
    " WHERE l.kernel_id = ? AND l.core = ? AND l.pipe IS NOT NULL AND e.kind BETWEEN 0 AND 3 AND e.ts_us >= 0"
    " AND e.dur_us >= 0 AND e.flags & 16 = 0"
)
_KINDS = {1: "wait", 2: "set", 3: "barrier"}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bars:
    """Stretches of one pipe; times in us."""

    start: Floats
    length: Floats
    events: NDArray[np.int64]
    busy: Floats
    """Time in each stretch in which there was an event; ``length`` where nothing was joined."""


def union(starts: Floats, ends: Floats) -> Bars:
    """Events as stretches that do not overlap."""
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], ends[order]
    reach = np.maximum.accumulate(ends)
    first = np.flatnonzero(np.concatenate(([True], starts[1:] > reach[:-1])))
    last = np.concatenate((first[1:], [len(starts)])) - 1
    length = reach[last] - starts[first]
    return Bars(starts[first], length, (last - first + 1).astype(np.int64), length)


def gaps(bars: Bars) -> Floats:
    """Lengths of the gaps between neighbours."""
    return np.asarray(bars.start[1:] - (bars.start + bars.length)[:-1])


def joined(bars: Bars, shortest_gap: float) -> Bars:
    """Neighbours with a gap up to this length made one."""
    if len(bars.start) < 2:
        return bars
    first = np.flatnonzero(np.concatenate(([True], gaps(bars) > shortest_gap)))
    last = np.concatenate((first[1:], [len(bars.start)])) - 1
    end = bars.start + bars.length
    return Bars(
        bars.start[first],
        end[last] - bars.start[first],
        np.add.reduceat(bars.events, first),
        np.add.reduceat(bars.busy, first),
    )


def fitting(lanes: Sequence[Bars], most: int) -> tuple[list[Bars], float]:
    """The lanes with so many bars together at the most, and the longest gap that was closed for it, us (0: none)."""
    if sum(len(lane.start) for lane in lanes) <= most:
        return list(lanes), 0.0
    between = np.sort(np.concatenate([gaps(lane) for lane in lanes]))
    # A lane without any gap left is one bar: so many gaps may stay open.
    keep = max(0, most - len(lanes))
    closed = float(between[len(between) - keep - 1])
    return [joined(lane, closed) for lane in lanes], closed


def busiest_cores(connection: sqlite3.Connection, kernel_id: int) -> list[str]:
    """Cores with stored events, those that worked most first."""
    return [
        row[0]
        for row in connection.execute(
            "SELECT a.core FROM pipe_activity AS a WHERE a.kernel_id = ? AND a.core IS NOT NULL AND EXISTS ("
            "SELECT 1 FROM trace_lanes AS l JOIN trace_files AS f ON f.kernel_id = l.kernel_id"
            " AND f.trace_no = l.trace_no WHERE l.kernel_id = a.kernel_id AND l.core = a.core AND f.kept = 'full')"
            " GROUP BY a.core ORDER BY sum(a.busy_us) DESC, a.core",
            (kernel_id,),
        )
    ]


def timeline(connection: sqlite3.Connection, kernel_id: int, core: str, anchor: str) -> Figure | None:
    """Work, waits, sets and barriers of each pipe of a core; ``None`` without events."""
    held = _events(connection, kernel_id, core)
    work = {pipe: union(*kinds[0]) for pipe, kinds in held.items() if 0 in kinds}
    if not work:
        return None
    pipes = sorted(work, key=lambda pipe: (-float(work[pipe].length.sum()), pipe))
    others = sorted(set(held) - set(work))
    drawn, closed = fitting([work[pipe] for pipe in pipes], WORK_BARS)
    labels = [*pipes, *others]
    data: list[dict[str, Any]] = [
        _bars(for_figure(pipe), bars, pipe_color(pipe), "work", 0.72) for pipe, bars in zip(pipes, drawn, strict=True)
    ]
    told = [f"{pipe} {us_text(float(work[pipe].length.sum()))}" for pipe in pipes[:5]]
    counts = {}
    for kind, name in _KINDS.items():
        lanes = {pipe: union(*kinds[kind]) for pipe, kinds in held.items() if kind in kinds}
        if not lanes:
            continue
        shown, _ = fitting(list(lanes.values()), SYNC_BARS)
        counts[name] = sum(len(held[pipe][kind][0]) for pipe in lanes)
        data += [
            _sync(for_figure(pipe), bars, name, index)
            for index, (pipe, bars) in enumerate(zip(lanes, shown, strict=True))
        ]
    span = max(float((bars.start + bars.length)[-1]) for bars in work.values())
    events = sum(int(bars.events.sum()) for bars in work.values())
    text = f"Work of {core} over {us_text(span)} of simulated time, {events:,} events: {', '.join(told)}."
    if closed:
        text += f" Gaps up to {us_text(closed)} are closed in the drawing; a paler bar holds such gaps."
    else:
        text += " Every gap is drawn."
    if counts:
        text += (
            " Waits, sets and barriers are thin marks: their lengths are drawn, not measured; cycles tell their cost."
        )
        text += f" There are {', '.join(f'{count:,} {name}s' for name, count in counts.items())}."
    else:
        text += " No waits are in the trace: they were not collected, or there are none."
    text += " Drag over a stretch to look closer, double-click to see all."
    return Figure(
        f"{anchor}-timeline-{_slug(core)}",
        f"Pipes of {core} over time",
        text,
        spec(
            data,
            barmode="overlay",
            bargap=0,
            xaxis=axis("simulated time, us", rangemode="nonnegative"),
            yaxis=axis(
                "",
                type="category",
                categoryorder="array",
                categoryarray=[for_figure(p) for p in reversed(labels)],
                fixedrange=True,
            ),
            showlegend=bool(counts),
            dragmode="zoom",
            hovermode="closest",
        ),
        height=130 + 38 * len(labels),
        wide=True,
        table=_table(connection, kernel_id, core, anchor),
    )


def _events(connection: sqlite3.Connection, kernel_id: int, core: str) -> dict[str, dict[int, tuple[Floats, Floats]]]:
    """Pipe -> kind -> (starts, ends)."""
    lists: dict[tuple[str, int], tuple[list[float], list[float]]] = {}
    for pipe, kind, start, length in connection.execute(_LANE, (kernel_id, core)):
        starts, ends = lists.setdefault((pipe, kind), ([], []))
        starts.append(start)
        ends.append(start + length)
    held: dict[str, dict[int, tuple[Floats, Floats]]] = {}
    for (pipe, kind), (starts, ends) in lists.items():
        held.setdefault(pipe, {})[kind] = (np.array(starts), np.array(ends))
    return held


def _bars(pipe: str, bars: Bars, color: str, name: str, width: float) -> dict[str, Any]:
    share = np.divide(bars.busy, bars.length, out=np.ones_like(bars.busy), where=bars.length > 0)
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "showlegend": False,
        "y": [pipe] * len(bars.start),
        "base": _short(bars.start),
        "x": _short(bars.length),
        "width": width,
        "marker": {
            "color": color,
            "opacity": [round(0.45 + 0.55 * float(one), 2) for one in share],
            "line": {"width": 0},
        },
        "customdata": [[int(n), round(100 * float(one), 1)] for n, one in zip(bars.events, share, strict=True)],
        "hovertemplate": "%{y}: %{x} us from %{base} us<br>%{customdata[0]} events, busy %{customdata[1]} %<extra>"
        + name
        + "</extra>",
    }


def _sync(pipe: str, bars: Bars, name: str, index: int) -> dict[str, Any]:
    """Waits as hatched thin bars, sets and barriers as marks: told apart without colour."""
    if name == "wait":
        return {
            "type": "bar",
            "orientation": "h",
            "name": "wait (drawn)",
            "legendgroup": name,
            "showlegend": index == 0,
            "y": [pipe] * len(bars.start),
            "base": _short(bars.start),
            "x": _short(bars.length),
            "width": 0.3,
            "marker": {
                "color": "#FFFFFF",
                "line": {"color": "#000000", "width": 0.8},
                "pattern": {"shape": "/", "fgcolor": "#000000", "size": 5},
            },
            "customdata": [int(n) for n in bars.events],
            "hovertemplate": "%{y} waits from %{base} us, drawn as %{x} us, %{customdata} events<extra>wait</extra>",
        }
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "legendgroup": name,
        "showlegend": index == 0,
        "x": _short(bars.start),
        "y": [pipe] * len(bars.start),
        "marker": {
            "symbol": "triangle-up" if name == "set" else "x",
            "size": 7,
            "color": "#FFFFFF",
            "line": {"color": "#000000", "width": 1},
        },
        "customdata": [int(n) for n in bars.events],
        "hovertemplate": "%{y}: " + name + " at %{x} us, %{customdata} events<extra></extra>",
    }


def _short(values: Floats) -> list[float]:
    """Times to a tenth of a nanosecond, below a cycle of any chip."""
    return [round(float(value), 4) for value in values]


def _table(connection: sqlite3.Connection, kernel_id: int, core: str, anchor: str) -> Table:
    rows = connection.execute(
        "SELECT pipe, work_events, busy_us, busy_share, wait_events, gaps, gap_p50_us, gap_p90_us, gap_max_us"
        " FROM pipe_activity WHERE kernel_id = ? AND core = ? ORDER BY busy_us DESC, pipe",
        (kernel_id, core),
    ).fetchall()
    return Table(
        f"{anchor}-activity-{_slug(core)}",
        f"Pipes of {core}",
        (
            Column("pipe", "Pipe"),
            Column("work_events", "Events of work", "number"),
            Column("busy_us", "Busy", "number", "us"),
            Column("busy_share", "Of its span", "share"),
            Column("wait_events", "Waits", "number"),
            Column("gaps", "Gaps", "number"),
            Column("gap_p50_us", "Median gap", "number", "us"),
            Column("gap_p90_us", "90 % of the gaps below", "number", "us"),
            Column("gap_max_us", "Longest gap", "number", "us"),
        ),
        tuple(rows),
    )


def _slug(core: str) -> str:
    return "".join(character if character.isalnum() else "-" for character in core)[:40]


def overlap(connection: sqlite3.Connection, kernel_id: int, core: str, anchor: str) -> Figure | None:
    """Which pipes of a core worked at the same time."""
    rows = connection.execute(
        "SELECT pipe_a, pipe_b, both_us, either_us, overlap_share FROM pipe_overlap WHERE kernel_id = ? AND core = ?"
        " ORDER BY position",
        (kernel_id, core),
    ).fetchall()
    held = [row for row in rows if row[4] is not None]
    if not held:
        return None
    names = list(dict.fromkeys(name for row in held for name in row[:2]))
    shares = {frozenset(row[:2]): row for row in held}
    matrix, times = [], []
    for a in names:
        line = [shares.get(frozenset((a, b))) if a != b else None for b in names]
        matrix.append([None if row is None else round(100 * row[4], 2) for row in line])
        times.append([None if row is None else row[2] for row in line])
    best = max(held, key=lambda row: row[4])
    labels = [for_figure(name) for name in names]
    return Figure(
        f"{anchor}-overlap-{_slug(core)}",
        f"Which pipes of {core} work together",
        f"Time both pipes worked in per cent of the time at least one did. Most: {best[0]} and {best[1]}, "
        f"{readable(100 * best[4])} % ({us_text(best[2])}). Above 60 % is good, below 5 % they take turns.",
        spec(
            [
                {
                    "type": "heatmap",
                    "x": labels,
                    "y": labels,
                    "z": matrix,
                    "customdata": times,
                    "text": [["" if value is None else f"{readable(value)} %" for value in line] for line in matrix],
                    "texttemplate": "%{text}",
                    "colorscale": "Cividis",
                    "zmin": 0,
                    "zmax": 100,
                    "xgap": 1,
                    "ygap": 1,
                    "hoverongaps": False,
                    "colorbar": {"title": {"text": "%"}, "thickness": 12},
                    "hovertemplate": "%{y} and %{x}: both worked %{customdata} us, %{z} %<extra></extra>",
                }
            ],
            xaxis=axis("pipe", type="category"),
            yaxis=axis("pipe", type="category", autorange="reversed"),
        ),
        height=170 + 38 * len(names),
        table=Table(
            f"{anchor}-overlap-table-{_slug(core)}",
            f"Overlap of pipes on {core}",
            (
                Column("pipe_a", "Pipe"),
                Column("pipe_b", "and pipe"),
                Column("both_us", "Both worked", "number", "us"),
                Column("either_us", "At least one", "number", "us"),
                Column("overlap_share", "Overlap", "share"),
            ),
            tuple(rows),
        ),
    )


def gap_figure(connection: sqlite3.Connection, kernel_id: int, core: str, anchor: str) -> Figure | None:
    """Gaps in the work of each pipe of a core: median, 90th percentile, longest."""
    rows = connection.execute(
        "SELECT pipe, gaps, gap_p50_us, gap_p90_us, gap_p99_us, gap_max_us FROM pipe_activity WHERE kernel_id = ?"
        " AND core = ? AND gaps > 0 AND gap_max_us > 0 ORDER BY gap_max_us",
        (kernel_id, core),
    ).fetchall()
    if not rows:
        return None
    names = [for_figure(row[0] or "unnamed") for row in rows]
    marks = (
        ("median", 2, "circle", "#0072B2"),
        ("90th percentile", 3, "diamond", "#E69F00"),
        ("longest", 5, "x", "#D55E00"),
    )
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": [row[at] if row[at] else None for row in rows],
            "y": names,
            "customdata": [row[1] for row in rows],
            "marker": {"symbol": symbol, "color": color, "size": 10},
            "hovertemplate": "%{y}: " + name + " %{x} us of %{customdata} gaps<extra></extra>",
        }
        for name, at, symbol, color in marks
    ]
    worst = rows[-1]
    return Figure(
        f"{anchor}-gaps-{_slug(core)}",
        f"Gaps in the work of {core}",
        f"Pauses between neighbouring work of one pipe. The longest is {us_text(worst[5])} on {worst[0]}, "
        f"whose median is {us_text(worst[2])} over {worst[1]:,} gaps.",
        spec(
            data,
            xaxis=axis("gap, us", type="log", exponentformat="power"),
            yaxis=axis("", type="category"),
            showlegend=True,
            hovermode="closest",
        ),
        height=150 + 30 * len(rows),
    )
