"""What each core did: time and the busy share of each pipe, as a heat map with the slowest core marked."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from opprof_db.report.figures.common import GREY, KIND_COLORS, KIND_LABELS, SCALE, VERMILION, axis, pipe_label, spec
from opprof_db.report.model import Column, Figure, Table
from opprof_db.report.numbers import percent, us_text

_PIPES = {
    "aic": ("cube", "mte1", "mte2", "mte3", "fixpipe", "scalar"),
    "aiv": ("vec", "mte2", "mte3", "scalar"),
}
_TABLE_FROM = 400
"""More cores than this are not repeated in a table."""


def core_times(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Figure | None:
    """Time of every core beside the mean of its kind."""
    rows = connection.execute(
        "SELECT core_kind, block_id, sub_block_id, time_us, is_idle, share_of_slowest, above_mean_us FROM core_times"
        " WHERE kernel_id = ? AND time_us IS NOT NULL AND block_id >= 0 ORDER BY core_kind, block_id, sub_block_id",
        (kernel_id,),
    ).fetchall()
    if len(rows) < 2:
        return None
    balance = {
        row[0]: row[1:]
        for row in connection.execute(
            "SELECT core_kind, mean_us, max_us, slowest_block_id, slowest_sub_block_id, recoverable_us,"
            " recoverable_share, idle_cores FROM core_balance WHERE kernel_id = ?",
            (kernel_id,),
        )
    }
    data: list[Mapping[str, Any]] = []
    marks, said = [], []
    for kind in dict.fromkeys(row[0] for row in rows):
        of_kind = [row for row in rows if row[0] == kind]
        names = [_name(row[1], row[2]) for row in of_kind]
        color, label = KIND_COLORS.get(kind, GREY), KIND_LABELS.get(kind, kind)
        data.append(
            {
                "type": "bar",
                "name": label,
                "x": names,
                "y": [row[3] for row in of_kind],
                "marker": {
                    "color": color,
                    "opacity": [0.35 if row[4] else 1.0 for row in of_kind],
                    "pattern": {"shape": ["/" if row[4] else "" for row in of_kind]},
                },
                "hovertemplate": "%{x}: %{y} us<extra>" + label + "</extra>",
            }
        )
        mean, most, block, sub, stake, share, idle = balance.get(kind, (None,) * 7)
        if mean is None:
            continue
        slowest = _name(block, sub)
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{label} mean",
                "x": [names[0], names[-1]],
                "y": [mean, mean],
                "line": {"color": color, "dash": "dash", "width": 1.5},
                "hovertemplate": f"{label} mean %{{y}} us<extra></extra>",
            }
        )
        marks.append(
            {
                "x": slowest,
                "y": most,
                "text": "slowest" if len(balance) == 1 else f"slowest {label}",
                "showarrow": True,
                "arrowhead": 2,
                "ax": 0,
                "ay": -22,
            }
        )
        text = f"{label}: {slowest} is the slowest with {us_text(most)}, the mean is {us_text(mean)}"
        if stake is not None and share is not None:
            text += f"; an even spread would save {us_text(stake)} ({percent(share)})"
        said.append(text + (f"; {idle} idle cores are hatched" if idle else ""))
    figure = spec(
        data,
        barmode="overlay",
        bargap=0.15,
        xaxis=axis("block and sub-block", type="category", tickangle=-45 if len(rows) > 12 else 0, nticks=24),
        yaxis=axis("core time, us", rangemode="tozero"),
        annotations=marks,
        showlegend=True,
    )
    return Figure(
        f"{anchor}-core-times",
        "Time of each core",
        ". ".join(said) + ".",
        figure,
        height=340,
        wide=len(rows) > 24,
        table=_times_table(rows, anchor),
    )


def _times_table(rows: list[tuple[Any, ...]], anchor: str) -> Table | None:
    if len(rows) > _TABLE_FROM:
        return None
    return Table(
        f"{anchor}-core-times-table",
        "Core times",
        (
            Column("core_kind", "Cores"),
            Column("core", "Core"),
            Column("time_us", "Time", "number", "us"),
            Column("share_of_slowest", "Of the slowest", "share"),
            Column("above_mean_us", "Above the mean", "number", "us"),
            Column("idle", "Idle"),
        ),
        tuple(
            (KIND_LABELS.get(kind, kind), _name(block, sub), time, share, above, "idle" if idle else None)
            for kind, block, sub, time, idle, share, above in rows
        ),
    )


def heat_map(connection: sqlite3.Connection, kernel_id: int, anchor: str, kind: str) -> Figure | None:
    """Busy share of each pipe on each core of a kind; ``None`` where PipeUtilization was not collected."""
    prefix, pipes = kind, _PIPES.get(kind)
    if pipes is None:
        return None
    columns = ", ".join(f"p.{prefix}_{pipe}_time_us" for pipe in pipes)
    # Columns come from the lines above.
    rows = connection.execute(
        f"SELECT c.block_id, c.sub_block_id, c.time_us, c.is_idle, {columns} FROM kernel_cores AS c"
        " JOIN pipe_utilization AS p ON p.kernel_id = c.kernel_id AND p.block_id = c.block_id"
        " AND p.sub_block_id = c.sub_block_id WHERE c.kernel_id = ? AND c.core_kind = ? AND c.block_id >= 0"
        " ORDER BY c.block_id, c.sub_block_id",
        (kernel_id, kind),
    ).fetchall()
    rows = [row for row in rows if row[2]]
    if len(rows) < 2:
        return None
    names = [_name(row[0], row[1]) for row in rows]
    slowest = max(range(len(rows)), key=lambda at: rows[at][2])
    labels = ["time"] + [pipe_label(pipe) for pipe in pipes]
    longest = rows[slowest][2]
    shares = [[100 * row[2] / longest for row in rows]]
    times = [[row[2] for row in rows]]
    for at in range(len(pipes)):
        shares.append([None if row[4 + at] is None else 100 * row[4 + at] / row[2] for row in rows])
        times.append([row[4 + at] for row in rows])
    figure = spec(
        [
            {
                "type": "heatmap",
                "x": names,
                "y": labels,
                "z": [[_three(value) for value in line] for line in shares],
                "customdata": times,
                "colorscale": SCALE,
                "zmin": 0,
                "zmax": 100,
                "xgap": 1,
                "ygap": 1,
                "hoverongaps": False,
                "colorbar": {"title": {"text": "%"}, "thickness": 12},
                "hovertemplate": "%{x}, %{y}: %{customdata} us, %{z} %<extra></extra>",
            }
        ],
        xaxis=axis("block and sub-block", type="category", tickangle=-45 if len(rows) > 12 else 0, nticks=24),
        yaxis=axis("", type="category", autorange="reversed"),
        shapes=[
            {
                "type": "rect",
                "x0": slowest - 0.5,
                "x1": slowest + 0.5,
                "y0": -0.5,
                "y1": len(labels) - 0.5,
                "line": {"color": VERMILION, "width": 3},
            }
        ],
        annotations=[
            {
                "x": slowest,
                "y": -0.5,
                "yanchor": "bottom",
                "text": f"slowest: {names[slowest]}",
                "showarrow": False,
            }
        ],
        margin={"l": 64, "r": 16, "t": 28, "b": 56},
    )
    label = KIND_LABELS[kind]
    busiest = max(range(len(pipes)), key=lambda at: rows[slowest][4 + at] or 0.0)
    share = (rows[slowest][4 + busiest] or 0.0) / longest
    description = (
        f"Each column is one of {len(rows)} {label} cores. The row “time” is in per cent of the slowest core, the "
        f"others are the pipe's busy time in per cent of that core's own time. The slowest, {names[slowest]}, takes "
        f"{us_text(longest)}, of which {pipe_label(pipes[busiest])} is busy {percent(share)}."
    )
    return Figure(
        f"{anchor}-heat-{kind}",
        f"{label} cores: time and busy shares",
        description,
        figure,
        height=150 + 30 * len(labels),
        wide=len(rows) > 16,
    )


def _three(value: float | None) -> float | None:
    """Colours need no more; the times beside them are exact."""
    return None if value is None else float(f"{value:.4g}")


def _name(block: int | None, sub: str | None) -> str:
    return f"{block} {sub}"
