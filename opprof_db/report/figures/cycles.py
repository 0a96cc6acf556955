"""Cycles of simulated cores, from the instruction statistics: where the true cost of waiting is."""

from __future__ import annotations

import sqlite3

from opprof_db.report.figures.common import SCALE, VERMILION, axis, spec
from opprof_db.report.model import Column, Figure, Table
from opprof_db.report.numbers import readable
from opprof_db.report.texts import for_figure

_CORES = 96
"""Cores shown side by side, those with the most cycles."""


def by_core(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Figure | None:
    """Cycles of each pipe on each core, as a heat map with the core that has most marked."""
    rows = connection.execute(
        "SELECT core, pipe, sum(cycles), sum(wait_cycles), sum(barrier_cycles) FROM simulated_pipes WHERE kernel_id = ?"
        " GROUP BY core, pipe",
        (kernel_id,),
    ).fetchall()
    total: dict[str, int] = {}
    waits: dict[str, int] = {}
    held: dict[tuple[str, str], int] = {}
    for core, pipe, cycles, wait, barrier in rows:
        total[core] = total.get(core, 0) + (cycles or 0)
        waits[core] = waits.get(core, 0) + (wait or 0) + (barrier or 0)
        held[core, pipe] = cycles or 0
    if len(total) < 2 or not any(total.values()):
        return None
    cores = sorted(sorted(total, key=lambda core: -total[core])[:_CORES], key=_natural)
    pipes = sorted({pipe for _, pipe in held}, key=lambda pipe: -sum(held.get((core, pipe), 0) for core in cores))
    most = max(cores, key=lambda core: total[core])
    at = cores.index(most)
    labels = [for_figure(pipe) for pipe in pipes]
    # Waits and barriers are cycles of the pipes above, not further ones.
    lines = [[held.get((core, pipe)) for core in cores] for pipe in pipes] + [[waits[core] for core in cores]]
    labels.append("waits and barriers")
    top = max(value for line in lines for value in line if value is not None)
    share = sum(waits[core] for core in cores) / max(1, sum(total[core] for core in cores))
    few = "" if len(cores) == len(total) else f" ({len(cores)} of {len(total)} cores are shown)"
    return Figure(
        f"{anchor}-cycles",
        "Cycles of each core and pipe",
        f"{most} has the most, {readable(total[most])} cycles over all pipes; waits and barriers are "
        f"{readable(100 * share)} % of all cycles{few}. Pipes work at the same time, and calls of one pipe overlap.",
        spec(
            [
                {
                    "type": "heatmap",
                    "x": [for_figure(core) for core in cores],
                    "y": labels,
                    "z": lines,
                    "colorscale": SCALE,
                    "zmin": 0,
                    "zmax": top,
                    "xgap": 1,
                    "ygap": 1,
                    "colorbar": {"title": {"text": "cycles"}, "thickness": 12},
                    "hovertemplate": "%{x}, %{y}: %{z} cycles<extra></extra>",
                }
            ],
            xaxis=axis("simulated core", type="category", tickangle=-45, nticks=24),
            yaxis=axis("", type="category", autorange="reversed"),
            shapes=[
                {
                    "type": "rect",
                    "x0": at - 0.5,
                    "x1": at + 0.5,
                    "y0": -0.5,
                    "y1": len(labels) - 0.5,
                    "line": {"color": VERMILION, "width": 3},
                }
            ],
            annotations=[
                {"x": at, "y": -0.5, "yanchor": "bottom", "text": f"most: {for_figure(most)}", "showarrow": False}
            ],
            margin={"l": 64, "r": 16, "t": 28, "b": 56},
        ),
        height=190 + 28 * len(labels),
        wide=True,
    )


def by_pipe(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Figure | None:
    """Cycles of all cores by pipe: waits, barriers, and the rest."""
    rows = connection.execute(
        "SELECT core_kind, pipe, sum(cycles), sum(wait_cycles), sum(barrier_cycles), sum(call_count), max(cycles),"
        " count(DISTINCT core) FROM simulated_pipes WHERE kernel_id = ? GROUP BY core_kind, pipe ORDER BY sum(cycles)",
        (kernel_id,),
    ).fetchall()
    held = [row for row in rows if row[2]]
    if not held:
        return None
    names = [for_figure(f"{(row[0] or '').upper()} {row[1]}") for row in held]
    parts = (
        ("waiting for flags", [row[3] or 0 for row in held], "#E69F00", "/"),
        ("barriers", [row[4] or 0 for row in held], "#CC79A7", "x"),
        ("other instructions", [row[2] - (row[3] or 0) - (row[4] or 0) for row in held], "#0072B2", ""),
    )
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": names,
            "x": values,
            "marker": {"color": color, "pattern": {"shape": pattern, "fillmode": "overlay", "fgcolor": "#000000"}},
            "hovertemplate": "%{y}: %{x} cycles " + name + "<extra></extra>",
        }
        for name, values, color, pattern in parts
        if any(values)
    ]
    top = held[-1]
    waiting = sum(row[3] or 0 for row in held)
    barrier = sum(row[4] or 0 for row in held)
    return Figure(
        f"{anchor}-pipe-cycles",
        "Cycles by pipe",
        f"Cycles of the instructions of all cores: {names[-1]} has the most, {readable(top[2])}. "
        f"Waiting for flags takes {readable(waiting)} cycles, barriers {readable(barrier)}.",
        spec(data, barmode="stack", xaxis=axis("cycles, all cores"), yaxis=axis("", type="category"), showlegend=True),
        height=140 + 28 * len(held),
        table=Table(
            f"{anchor}-pipe-cycles-table",
            "Cycles by pipe",
            (
                Column("core_kind", "Cores"),
                Column("pipe", "Pipe"),
                Column("cycles", "Cycles", "number"),
                Column("wait_cycles", "Waiting for flags", "number"),
                Column("barrier_cycles", "Barriers", "number"),
                Column("call_count", "Calls", "number"),
                Column("max_cycles", "Most on one core", "number"),
                Column("cores", "Cores", "number"),
            ),
            tuple(((row[0] or "").upper(), *row[1:]) for row in reversed(rows)),
        ),
    )


def _natural(core: str) -> tuple[tuple[int, str], ...]:
    """Order in which core10 comes behind core2."""
    parts: list[tuple[int, str]] = []
    number = ""
    for character in core + "\0":
        if character.isdigit():
            number += character
            continue
        if number:
            parts.append((int(number[:15]), ""))
            number = ""
        parts.append((-1, character))
    return tuple(parts)
