"""Where a launch stands under its roofs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opprof_db.analysis.roofline import Point, Roofline
from opprof_db.report.figures.common import COLORS, axis, spec
from opprof_db.report.model import Column, Figure, Table
from opprof_db.report.numbers import percent, readable
from opprof_db.report.texts import for_figure

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star", "x", "pentagon")


def figure(found: Roofline, anchor: str, title: str = "Roofline") -> Figure | None:
    """All points of a launch below their roofs; ``None`` without points."""
    points = [point for point in found.points if point.intensity > 0 and point.achieved > 0]
    if not points:
        return None
    low = min(*(point.intensity for point in points), *(point.ridge for point in points)) / 8
    high = max(*(point.intensity for point in points), *(point.ridge for point in points)) * 8
    data: list[Mapping[str, Any]] = []
    for at, point in enumerate(points):
        name, color = for_figure(_name(point)), COLORS[at % len(COLORS)]
        data += [_roof(point, name, color, low, high), _mark(point, name, color, _SYMBOLS[at % len(_SYMBOLS)])]
        if point.bandwidth_other_tb_s:
            data.append(_other(point, name, color, low))
    return Figure(
        f"{anchor}-roofline",
        title,
        description(found),
        spec(
            data,
            xaxis=axis("intensity, operations per byte", type="log", exponentformat="power"),
            yaxis=axis("performance, 10¹² operations per second", type="log", exponentformat="power"),
            showlegend=True,
            hovermode="closest",
        ),
        height=430,
        table=_table(points, anchor),
    )


def description(found: Roofline) -> str:
    """The nearest roof in words."""
    best = found.best
    text = f"This launch is {found.bound}." if found.bound != "unknown" else "What bounds the launch cannot be told."
    if best is not None and best.share is not None:
        text = (
            f"The nearest roof is {_name(best)}: {readable(best.achieved)} of {readable(best.roof)} x 10¹² operations "
            f"per second ({percent(best.share)}) at {readable(best.intensity)} operations per byte. {text}"
        )
    if found.derived:
        text += " Points are derived from the CSVs' counts and the chip's facts; dotted: the other HBM vendor's memory."
    return text


def _roof(point: Point, name: str, color: str, low: float, high: float) -> dict[str, Any]:
    xs = [low, point.ridge, high]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "legendgroup": name,
        "showlegend": False,
        "x": xs,
        "y": [min(x * point.bandwidth_tb_s, point.compute_tops) for x in xs],
        "line": {"color": color, "width": 2},
        "hovertemplate": f"{name}: {point.bandwidth_tb_s} TB/s,"
        f" {for_figure(point.compute_name)} {point.compute_tops} TOPS<extra></extra>",
    }


def _other(point: Point, name: str, color: str, low: float) -> dict[str, Any]:
    peak = point.bandwidth_other_tb_s or point.bandwidth_tb_s
    return {
        "type": "scatter",
        "mode": "lines",
        "legendgroup": name,
        "showlegend": False,
        "x": [low, point.compute_tops / peak],
        "y": [low * peak, point.compute_tops],
        "line": {"color": color, "width": 1, "dash": "dot"},
        "hovertemplate": f"{name}, other HBM vendor: {peak} TB/s<extra></extra>",
    }


def _mark(point: Point, name: str, color: str, symbol: str) -> dict[str, Any]:
    share = "above its roof" if point.share is None else f"{percent(point.share)} of its roof"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "legendgroup": name,
        "x": [point.intensity],
        "y": [point.achieved],
        "marker": {"color": color, "size": 12, "symbol": symbol, "line": {"width": 1, "color": "white"}},
        "hovertemplate": f"{name}<br>%{{x}} operations per byte, %{{y}} x 10¹²/s<br>{share}<extra></extra>",
    }


def _name(point: Point) -> str:
    title = point.title.strip()
    return f"{title} {point.name}" if title and title != point.name else point.name


def _table(points: list[Point], anchor: str) -> Table:
    return Table(
        f"{anchor}-roofline-table",
        "Points under their roofs",
        (
            Column("name", "Roof"),
            Column("intensity", "Intensity", "number", "op/B"),
            Column("achieved", "Achieved", "number", "10¹² op/s"),
            Column("roof", "Roof there", "number", "10¹² op/s"),
            Column("share", "Share", "share"),
            Column("side", "Under the"),
            Column("bandwidth", "Path's peak", "number", "TB/s"),
            Column("compute", "Unit's peak", "number", "10¹² op/s"),
            Column("origin", "From"),
        ),
        tuple(
            (
                _name(point),
                point.intensity,
                point.achieved,
                point.roof,
                point.share,
                "slope" if point.side == "memory" else "flat part",
                point.bandwidth_tb_s,
                point.compute_tops,
                "derived" if point.derived else "msopprof",
            )
            for point in points
        ),
    )
