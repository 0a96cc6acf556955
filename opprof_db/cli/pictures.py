"""Small pictures made of characters: sparklines, bars, scatter plots. Plain text, no colours: they go into any pipe."""

from __future__ import annotations

from collections.abc import Sequence

_SPARKS = "▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def sparkline(values: Sequence[float], low: float, high: float) -> str:
    """One character a value, from ``low`` to ``high``; in the middle where these are equal."""
    if high <= low:
        return _SPARKS[3] * len(values)
    top = len(_SPARKS) - 1
    return "".join(_SPARKS[min(top, max(0, round((value - low) / (high - low) * top)))] for value in values)


def bar(value: float, most: float, width: int) -> str:
    """A bar from zero, ``width`` characters for ``most``, drawn in eighths of a character."""
    if most <= 0 or value <= 0:
        return ""
    eighths = max(1, round(min(value / most, 1.0) * width * 8))
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def scatter(points: Sequence[tuple[float, float, str]], width: int = 48, height: int = 12) -> list[str]:
    """Lines of a plot: x grows to the right, y upwards; each point is drawn as its (first) character.

    Points that fall on one place show ``+`` there.
    """
    if not points:
        return []
    xs, ys = [point[0] for point in points], [point[1] for point in points]
    grid = [[" "] * width for _ in range(height)]
    for x, y, mark in points:
        column = _at(x, min(xs), max(xs), width)
        row = height - 1 - _at(y, min(ys), max(ys), height)
        grid[row][column] = mark[:1] if grid[row][column] == " " else "+"
    return ["│" + "".join(line).rstrip() for line in grid] + ["└" + "─" * width]


def _at(value: float, low: float, high: float, cells: int) -> int:
    return 0 if high <= low else round((value - low) / (high - low) * (cells - 1))
