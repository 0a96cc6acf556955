"""The figures of two launches side by side, under the catalogue's rules: what moved, and how much it matters.

Volumes, counts and cycles are totals over the cores, times are the slowest core's, printed ratios, rates and bandwidths
keep their range over the working cores and are never put together. AIC and AIV stay apart.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from opprof_db.catalog import load

_FIGURES = (
    "SELECT m.family, m.column_name, v.core_kind, m.unit, m.aggregate, m.polarity, m.formula IS NOT NULL, v.sum,"
    " v.mean, v.min, v.max FROM kernel_metrics AS v INNER JOIN metrics AS m ON m.id = v.metric_id"
    " WHERE v.kernel_id = ? AND m.column_name IS NOT NULL ORDER BY m.id"
)
Direction = Literal["up", "down", "same", "mixed"]
LEAST_SHARE = 0.01
"""Figures that moved by less stayed the same; of ratios and percentages an absolute half per cent."""
LEAST_RATIO = 0.005


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a launch: a single value, or the range over its cores."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Move:
    """One metric on both sides."""

    family: str
    metric: str
    core_kind: str
    unit: str | None
    statistic: str
    """sum, max (slowest core), mean, range (smallest to largest core) or value (of the whole kernel)."""
    before: Figure
    after: Figure
    direction: Direction
    """Of ranges: both ends moved so; mixed: they did not move alike."""
    change_share: float | None
    """(after - before) / before, of ranges of their upper ends; ``None`` from zero."""
    good: bool | None
    """Whether the catalogue calls the direction an improvement; ``None``: neutral, or no direction."""
    importance: float
    """0..1: how much of the time, of a pipe or of the counts it stands for."""


def moves(connection: sqlite3.Connection, before: int, after: int, withheld: Mapping[str, str]) -> list[Move]:
    """Every metric that both launches have, the most important first; those that stayed the same last."""
    old, new = _figures(connection, before), _figures(connection, after)
    found = [_move(key, old[key], new[key]) for key in old if key in new and key[0] not in withheld]
    return sorted(found, key=lambda move: (-move.importance, move.metric, move.core_kind))


def slowest_cycles(connection: sqlite3.Connection, kernel_id: int) -> dict[str, float]:
    """Kind of core -> cycles of its slowest core."""
    sql = (
        "SELECT v.core_kind, v.max FROM kernel_metrics AS v INNER JOIN metrics AS m ON m.id = v.metric_id"
        " WHERE v.kernel_id = ? AND m.column_name IN ('aic_total_cycles', 'aiv_total_cycles') AND v.max > 0"
        " ORDER BY m.id DESC"
    )
    return dict(connection.execute(sql, (kernel_id,)).fetchall())


def _figures(connection: sqlite3.Connection, kernel_id: int) -> dict[tuple[str, str], tuple[Any, ...]]:
    """(column, core kind) -> family, unit, statistic, polarity, figure; the first family that has a column counts."""
    found: dict[tuple[str, str], tuple[Any, ...]] = {}
    for row in connection.execute(_FIGURES, (kernel_id,)):
        family, column, core, unit, aggregate, polarity, derived, total, mean, low, high = row
        if (column, core) in found or high is None or column.endswith("_real_freq_mhz"):
            continue
        statistic, figure = "range", Figure(low, high)
        if derived:
            statistic, figure = "value", Figure(high, high)
        elif aggregate == "sum" and total is not None:
            statistic, figure = "sum", Figure(total, total)
        elif aggregate == "mean" and mean is not None:
            statistic, figure = "mean", Figure(mean, mean)
        elif aggregate == "max":
            statistic, figure = "max", Figure(high, high)
        found[column, core] = (family, unit, statistic, polarity, figure)
    return found


def _move(key: tuple[str, str], old: tuple[Any, ...], new: tuple[Any, ...]) -> Move:
    family, unit, statistic, polarity, before = old
    after: Figure = new[4]
    ends = {_towards(before.low, after.low, unit), _towards(before.high, after.high, unit)}
    ends = ends - {"same"} if ends != {"same"} else ends
    direction: Direction = "mixed"
    if len(ends) == 1:
        (direction,) = ends
    good = None
    if direction in ("up", "down") and polarity in ("higher", "lower"):
        good = (direction == "up") == (polarity == "higher")
    share = (after.high - before.high) / before.high if before.high else None
    weight = 0.0 if direction in ("same", "mixed") else _importance(key[0], unit, before.high, after.high)
    return Move(family, key[0], key[1], unit, statistic, before, after, direction, share, good, weight)


def _towards(old: float, new: float, unit: str | None) -> Direction:
    least = LEAST_RATIO * (100 if unit == "%" else 1) if unit in ("ratio", "%") else LEAST_SHARE * abs(old)
    # Small shares and rates are told by their own size: usage from 9.5 to 8.8 % is a move.
    least = min(least, 0.02 * abs(old)) if unit in ("ratio", "%") else least
    if abs(new - old) <= least:
        return "same"
    return "up" if new > old else "down"


def _importance(column: str, unit: str | None, old: float, new: float) -> float:
    if unit == "us":
        return abs(new - old) / max(old, new)
    if unit == "ratio":
        return min(abs(new - old), 1.0) * (1.0 if column in _primary() else 0.7)
    if unit == "%":
        return min(abs(new - old) / 100, 1.0) * 0.9
    if old <= 0 or new <= 0:
        return 0.3
    return min(abs(math.log2(new / old)) / 4, 1.0)


@cache
def _primary() -> frozenset[str]:
    return frozenset(metric.column for metric in load().derived)
