"""Durations of the launches of a run, one after another."""

from __future__ import annotations

import sqlite3

from opprof_db.report.figures.common import COLORS, axis, spec
from opprof_db.report.model import Column, Figure, Table
from opprof_db.report.numbers import percent, us_text
from opprof_db.report.texts import for_figure

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x", "pentagon")
_KERNELS = 8
"""So many kernels are told apart in one figure, those with the most time; the others have no line."""


def launches(connection: sqlite3.Connection, run_id: int, anchor: str, kernel_id: int | None = None) -> Figure | None:
    """Launches over time (in the order they were parsed); ``None`` unless a kernel was launched twice."""
    rows = connection.execute(
        "SELECT k.id, coalesce(o.name, k.folder_name, 'kernel'), k.name, k.device_id, k.block_dim, k.launch_index,"
        " k.duration_us FROM kernels AS k LEFT JOIN operators AS o ON o.id = k.operator_id"
        " WHERE k.run_id = ? AND k.duration_us IS NOT NULL ORDER BY k.launch_index, k.id",
        (run_id,),
    ).fetchall()
    groups: dict[tuple[object, ...], list[tuple[int, int, float]]] = {}
    names: dict[tuple[object, ...], str] = {}
    for identifier, operator, name, device, blocks, index, duration in rows:
        key = (device, name, blocks)
        held = groups.setdefault(key, [])
        held.append((identifier, index if index is not None else len(held), duration))
        names[key] = f"{operator}, block dim {blocks}" + (f", device {device}" if device is not None else "")
    if kernel_id is not None:
        groups = {key: held for key, held in groups.items() if any(item[0] == kernel_id for item in held)}
    several = {key: held for key, held in groups.items() if len(held) > 1}
    if not several:
        return None
    shown = sorted(several, key=lambda key: -sum(item[2] for item in several[key]))[:_KERNELS]
    data = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": for_figure(names[key]),
            "x": [item[1] for item in several[key]],
            "y": [item[2] for item in several[key]],
            "customdata": [item[0] for item in several[key]],
            "marker": {"color": COLORS[at % len(COLORS)], "symbol": _SYMBOLS[at % len(_SYMBOLS)], "size": 8},
            "line": {"color": COLORS[at % len(COLORS)], "width": 1.5},
            "hovertemplate": "launch %{x}: %{y} us (kernel:%{customdata})<extra>" + for_figure(names[key]) + "</extra>",
        }
        for at, key in enumerate(shown)
    ]
    statistics = connection.execute(
        "SELECT operator, device_id, block_dim, launches, min_us, median_us, max_us, cv, cold_factor, cold_first"
        " FROM launch_statistics WHERE run_id = ? AND launches > 1 ORDER BY median_us * launches DESC",
        (run_id,),
    ).fetchall()
    said = [
        f"{row[0]}: {row[3]} launches, {us_text(row[4])} to {us_text(row[6])}, median {us_text(row[5])}"
        + (f", variation {percent(row[7])}" if row[7] is not None else "")
        + (f", the first {row[8]:.2f} times the later ones (cold)" if row[9] else "")
        for row in statistics[:3]
    ]
    return Figure(
        f"{anchor}-launches",
        "Launches over time",
        ". ".join(said) + ".",
        spec(
            data,
            xaxis=axis("launch", rangemode="tozero"),
            yaxis=axis("task duration, us", rangemode="tozero"),
            showlegend=True,
            hovermode="closest",
        ),
        height=340,
        wide=True,
        table=Table(
            f"{anchor}-launches-table",
            "Launches of the same kernel",
            (
                Column("operator", "Kernel"),
                Column("device_id", "Device", "number"),
                Column("block_dim", "Block dim", "number"),
                Column("launches", "Launches", "number"),
                Column("min_us", "Shortest", "number", "us"),
                Column("median_us", "Median", "number", "us"),
                Column("max_us", "Longest", "number", "us"),
                Column("cv", "Variation", "share", help="standard deviation / mean"),
                Column("cold_factor", "First / later median", "number"),
                Column("cold_first", "Cold first launch"),
            ),
            tuple((*row[:9], "yes" if row[9] else None) for row in statistics),
        ),
    )
