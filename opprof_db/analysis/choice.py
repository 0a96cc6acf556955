"""A metric somebody names, and its one value for a kernel under the catalogue's rules of aggregation."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from opprof_db.errors import UsageError
from opprof_db.warehouse.resolve import did_you_mean

_SPEC = re.compile(r"(?P<name>[^@:\s]+)(?:@(?P<core>[a-z]+))?(?::(?P<better>lower|higher))?")
_OF_KERNELS = {"duration_us": "us", "block_dim": None}
"""Columns of ``kernel_overview`` that count as metrics, with their units; less is better."""
_KNOWN = (
    "SELECT unit, polarity, aggregate, formula IS NOT NULL, family FROM metrics WHERE column_name = ?"
    " ORDER BY id LIMIT 1"
)
_VALUES = (
    "SELECT core_kind, sum, mean, min, max FROM kernel_metric_values WHERE kernel_id = ? AND metric = ? AND family = ?"
)


@dataclass(frozen=True, slots=True)
class Choice:
    """A metric with the side that is better and the figure that stands for a kernel."""

    name: str
    core_kind: str | None
    """``None`` for facts of the whole launch, and until it is known which kind has the metric."""
    unit: str | None
    better: Literal["lower", "higher"]
    statistic: Literal["sum", "mean", "min", "max", "value"]
    """sum, mean or max as the catalogue allows; of printed ratios and bandwidths, which must not be put together, the
    worst core: max where lower is better, min where higher is; value: one figure for the launch."""
    family: str | None

    def __str__(self) -> str:
        core = f" of {self.core_kind}" if self.core_kind else ""
        return f"{self.name}{core}" + ("" if self.statistic == "value" else f" ({self.statistic} over cores)")


def chosen(connection: sqlite3.Connection, text: str) -> Choice:
    """The metric a text means: ``NAME[@CORE][:lower|:higher]``, such as ``aiv_mte2_ratio@aiv:lower``.

    Raises:
        UsageError: no such metric, or one of which neither direction is an improvement and none was given.
    """
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{text!r} names no metric", "write NAME[@CORE][:lower|:higher], such as duration_us")
    name, core = match["name"], match["core"]
    better: Any = match["better"]
    if name in _OF_KERNELS:
        return Choice(name, None, _OF_KERNELS[name], better or "lower", "value", None)
    row = connection.execute(_KNOWN, (name,)).fetchone()
    if row is None:
        names = [known for (known,) in connection.execute("SELECT DISTINCT column_name FROM metrics") if known]
        raise UsageError(f"no metric is called {name!r}", did_you_mean(name, names) or "`opprof-db metrics` lists them")
    unit, polarity, aggregate, derived, family = row
    if better is None:
        if polarity not in ("lower", "higher"):
            raise UsageError(
                f"neither less nor more {name} is an improvement in itself", f"write {name}:lower or {name}:higher"
            )
        better = polarity
    statistic: Any
    if derived:
        statistic = "value"
    elif aggregate in ("sum", "mean", "max"):
        statistic = aggregate
    else:
        statistic = "max" if better == "lower" else "min"
    return Choice(name, core, unit, better, statistic, family)


def values(
    connection: sqlite3.Connection, choice: Choice, kernel_ids: Sequence[int]
) -> tuple[Choice, dict[int, float | None]]:
    """The figure of each kernel; ``None`` where it was not collected. The choice comes back with its core kind.

    Raises:
        UsageError: both kinds of core have the metric and none was named.
    """
    if choice.family is None:
        sql = f"SELECT {choice.name} FROM kernel_overview WHERE kernel_id = ?"
        return choice, {kernel: connection.execute(sql, (kernel,)).fetchone()[0] for kernel in kernel_ids}
    held: dict[int, dict[str, float | None]] = {}
    for kernel in kernel_ids:
        rows = connection.execute(_VALUES, (kernel, choice.name, choice.family)).fetchall()
        figures = {"sum": 1, "mean": 2, "min": 3, "max": 4, "value": 4}[choice.statistic]
        held[kernel] = {row[0]: row[figures] for row in rows}
    kinds = sorted({kind for each in held.values() for kind in each})
    core = choice.core_kind
    if core is None:
        if len(kinds) > 1:
            raise UsageError(
                f"{choice.name} stands on {' and '.join(kinds)} cores, which are never put together",
                f"write {choice.name}@{kinds[0]} or {choice.name}@{kinds[1]}",
            )
        core = kinds[0] if kinds else None
    settled = Choice(choice.name, core, choice.unit, choice.better, choice.statistic, choice.family)
    return settled, {kernel: held[kernel].get(core) if core else None for kernel in kernel_ids}


def front(points: Sequence[tuple[float | None, float | None]], first: Choice, second: Choice) -> list[bool]:
    """Which points are on the Pareto front: no other is as good in both and better in one. Missing values are not."""

    def cost(value: float, choice: Choice) -> float:
        return value if choice.better == "lower" else -value

    costs = [None if x is None or y is None else (cost(x, first), cost(y, second)) for x, y in points]
    return [
        one is not None
        and not any(other is not None and other[0] <= one[0] and other[1] <= one[1] and other != one for other in costs)
        for one in costs
    ]
