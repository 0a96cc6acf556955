"""Achieved against possible: how near a launch comes to what the chip could do."""

from __future__ import annotations

from opprof_db.analysis.achieved import of_measures as achieved_of
from opprof_db.analysis.measures import Measures
from opprof_db.analysis.memory_roof import memory_roof
from opprof_db.analysis.roofline import Roofline
from opprof_db.report.figures.common import BLUE, KIND_LABELS, axis, spec
from opprof_db.report.figures.memory import possible as memory_limits
from opprof_db.report.model import Column, Figure, Table
from opprof_db.report.numbers import percent, readable, us_text

_AT_WORK = " cores at work"

Limit = tuple[str, float, str, str]
"""What is limited, share reached (0..1), what was reached, what is possible."""


def figure(m: Measures, found: Roofline, anchor: str) -> Figure | None:
    """Bars of what was reached of each known limit; ``None`` where no limit is known."""
    limits = [*_cores(m), *memory_limits(m.connection, m.kernel_id), *_roof(found), *_stated(m)]
    if not limits:
        return None
    limits.sort(key=lambda limit: limit[1])
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "y": [limit[0] for limit in limits],
            "x": [100 * limit[1] for limit in limits],
            "text": [percent(limit[1]) for limit in limits],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {"color": BLUE},
            "customdata": [[limit[2], limit[3]] for limit in limits],
            "hovertemplate": "%{y}: %{x} %<br>%{customdata[0]} of %{customdata[1]}<extra></extra>",
        }
    ]
    rates = [limit for limit in limits if not limit[0].endswith(_AT_WORK)]
    text = "How much of the chip's cores works, and how near the launch comes to the limits that are known."
    if rates:
        top = rates[-1]
        text = f"Nearest to its limit: {top[0]}, {percent(top[1])} ({top[2]} of {top[3]})."
    roof = memory_roof(m)
    if roof is not None and m.duration_us:
        least = roof.least_us()
        if 0 < least < m.duration_us:
            text += f" The volume it moves needs {us_text(least)} at the least; it takes {us_text(m.duration_us)}."
    return Figure(
        f"{anchor}-possible",
        "Achieved and possible",
        text,
        spec(
            data,
            xaxis=axis("reached, % of what is possible", range=[0, max(112.0, 112 * limits[-1][1])]),
            yaxis=axis(""),
            shapes=[
                {
                    "type": "line",
                    "x0": 100,
                    "x1": 100,
                    "yref": "paper",
                    "y0": 0,
                    "y1": 1,
                    "line": {"dash": "dot", "width": 1},
                }
            ],
            showlegend=False,
        ),
        height=110 + 34 * len(limits),
        table=Table(
            f"{anchor}-possible-table",
            "Achieved and possible",
            (
                Column("limit", "Limit"),
                Column("share", "Reached", "share"),
                Column("reached", "Value"),
                Column("possible", "Possible"),
            ),
            tuple(reversed(limits)),
        ),
    )


def _cores(m: Measures) -> list[Limit]:
    made = []
    for kind in m.kinds:
        known = m.chip.cores(kind)
        if known is None or kind == "aicore" or kind in m.unused:
            continue
        working = len(m.working(kind))
        of = f"{known[1]}" if known[0] == known[1] else f"{known[0]} to {known[1]}"
        made.append((f"{KIND_LABELS[kind]}{_AT_WORK}", min(1.0, working / known[1]), f"{working}", f"{of} cores"))
    return made


def _roof(found: Roofline) -> list[Limit]:
    best = found.best
    if best is None or best.share is None:
        return []
    name = f"Roofline ({best.title} {best.name})" if best.title else f"Roofline ({best.name})"
    return [(name, best.share, readable(best.achieved), f"{readable(best.roof)} x 10¹² operations/s")]


def _stated(m: Measures) -> list[Limit]:
    """From the work that somebody stated for the operator (``opprof-db work set``)."""
    held = achieved_of(m, m.work)
    made: list[Limit] = []
    if held is not None and held.flops_share is not None and held.tflops is not None:
        made.append(
            ("Stated operations", held.flops_share, f"{readable(held.tflops)}", f"{readable(held.peak_tflops)} TFLOPS")
        )
    if held is not None and held.bytes_share is not None and held.gb_s is not None:
        made.append(
            ("Stated bytes", held.bytes_share, f"{readable(held.gb_s)}", f"{readable(held.peak_gb_s)} GB/s (10⁹)")
        )
    return made
