"""What the figures share: colours that colour-blind readers tell apart, axes with units, texts for hovering.

Colours are Okabe and Ito's. Whoever shows the page gives the theme (text, grid, background), so that a figure fits
light and dark: see ``static/report.js``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, GREY, YELLOW = "#56B4E9", "#CC79A7", "#8C8C8C", "#C9B800"
COLORS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY, YELLOW)
KIND_COLORS = {"aic": VERMILION, "aiv": BLUE, "aicore": BLUE}
KIND_LABELS = {"aic": "AIC", "aiv": "AIV", "aicore": "AI Core"}
PIPE_COLORS = {
    "cube": PURPLE,
    "vec": BLUE,
    "vector": BLUE,
    "scalar": GREY,
    "scalarldst": "#B0B0B0",
    "cachemiss": "#7A5C00",
    "all": "#3D3D3D",
    "mte1": YELLOW,
    "mte2": ORANGE,
    "mte3": VERMILION,
    "fixpipe": GREEN,
    "fixp": GREEN,
    "flowctrl": SKY,
}
PIPE_LABELS = {"vec": "vector", "mte1": "MTE1", "mte2": "MTE2", "mte3": "MTE3"}
SCALE = "Cividis"
"""Colours of heat maps: lightness alone tells the order, with or without colour vision."""


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with its title, which holds the unit."""
    return {"title": {"text": title}, **more}


def spec(data: Sequence[Mapping[str, Any]], **layout: Any) -> dict[str, Any]:
    """A figure's specification."""
    return {"data": list(data), "layout": dict(layout)}


def pipe_label(pipe: str) -> str:
    """As people write it: vector, MTE2."""
    return PIPE_LABELS.get(pipe, pipe)


def pipe_color(pipe: str | None) -> str:
    """The same colour for a pipe in every figure."""
    return PIPE_COLORS.get((pipe or "").lower(), "#6B6B6B")
