"""Roll-up per kernel, metric and core kind, computed while the cells are at hand.

AIC and AIV are never mixed. Idle cores count in sums and in ``n``, but are left out of mean, min,
max and std: a core that did nothing has ratios that mean nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import compress, repeat

import msgspec

from opprof_db.catalog import Aggregate, Core, DerivedMetric, Metric, load
from opprof_db.msopprof.device_csv import CoreGroup, FamilyData
from opprof_db.msopprof.headers import Value

IDLE_SHARE = 0.01
"""A core busy for less than this share of the slowest core of its kind is idle (diagnosis facts)."""

UNKNOWN_KIND = "unknown"
DURATION = "duration_us"
WHOLE_KERNEL = "kernel"
WHOLE_CORE = "aicore"
"""Kind of the one row that the 310P prints for all cores of a kernel."""


class CoreRow(msgspec.Struct, frozen=True):
    """One core of a kernel."""

    block_id: int
    sub_block_id: str
    kind: str | None
    time_us: float | None
    total_cycles: int | None
    idle: bool


class RollupRow(msgspec.Struct, frozen=True):
    """Statistics of one metric over the cores of one kind in one kernel."""

    metric: Metric
    kind: str
    n: int
    n_idle: int
    sum: float | None
    mean: float | None
    min: float | None
    max: float | None
    std: float | None
    max_block_id: int | None
    max_sub_block_id: str | None
    total: float | None = None
    """Sum for derived metrics, also where a sum of its own may not be quoted (busy times)."""


CoreKey = tuple[int, str]


def core_table(families: Iterable[FamilyData]) -> list[CoreRow]:
    """Times and cycles of every core, idle ones marked.

    They repeat in every family file; the first file that has a core's time is believed.
    """
    found: dict[CoreKey, tuple[str | None, float | None, int | None]] = {}
    for data in families:
        for group in data.groups:
            keys = zip(group.block_ids, group.sub_block_ids, strict=True)
            head = "aiv" if group.kind == "aiv" else "aic"
            times = group.columns.get(f"{head}_time_us")
            if times is None:
                for key in keys:
                    found.setdefault(key, (group.kind, None, None))
                continue
            cycles = group.columns.get(f"{head}_total_cycles") or repeat(None)
            for key, time, count in zip(keys, times, cycles, strict=False):
                known = found.get(key)
                if known is None or known[1] is None:
                    found[key] = (group.kind, time, count)  # type: ignore[assignment]
    slowest: dict[str | None, float] = {}
    for kind, time, _ in found.values():
        if time is not None and time > slowest.get(kind, 0.0):
            slowest[kind] = time
    return [
        CoreRow(block, sub, kind, time, count, time is not None and time < IDLE_SHARE * slowest.get(kind, 0.0))
        for (block, sub), (kind, time, count) in found.items()
    ]


def roll_up(data: FamilyData, idle: set[CoreKey], *, whole: bool = True) -> list[RollupRow]:
    """Roll up one family file; where it lacks cores (``whole`` false), sums over the kernel are withheld."""
    rows: list[RollupRow] = []
    summed = _summed()
    for group in data.groups:
        working = None
        if idle:
            marks = [key not in idle for key in zip(group.block_ids, group.sub_block_ids, strict=True)]
            working = None if all(marks) else marks
        kind = group.kind or UNKNOWN_KIND
        for column, values in group.columns.items():
            metric = data.metrics[column]
            summable = metric.aggregate is Aggregate.SUM
            with_total = whole and (summable or (metric.family, column) in summed)
            rows.append(_statistics(metric, kind, group, values, working, with_total))
    return rows


def _statistics(
    metric: Metric,
    kind: str,
    group: CoreGroup,
    values: Sequence[Value],
    working: list[bool] | None,
    with_total: bool,
) -> RollupRow:
    blocks, subs = group.block_ids, group.sub_block_ids
    numbers: Sequence[int | float] = values  # type: ignore[assignment]
    if None in values:
        present = [value is not None for value in values]
        blocks, subs = list(compress(blocks, present)), list(compress(subs, present))
        working = None if working is None else list(compress(working, present))
        numbers = [value for value in values if value is not None]
    n = len(numbers)
    total = _sum(numbers) if with_total else None
    shown = total if metric.aggregate is Aggregate.SUM else None
    n_idle = 0
    if working is not None:
        n_idle = working.count(False)
        if n_idle == n:
            return RollupRow(metric, kind, n, n_idle, shown, None, None, None, None, None, None, total)
        blocks, subs = list(compress(blocks, working)), list(compress(subs, working))
        numbers = list(compress(numbers, working))
    low, high = min(numbers), max(numbers)
    at = numbers.index(high)
    mean = std = None
    if metric.aggregate is not Aggregate.NEVER:
        mean, std = _spread(numbers, low, high, None if n_idle else total)
    return RollupRow(metric, kind, n, n_idle, shown, mean, low, high, std, blocks[at], subs[at], total)


def _spread(
    numbers: Sequence[int | float], low: int | float, high: int | float, total: float | None
) -> tuple[float | None, float | None]:
    """Mean and population standard deviation; ``None`` where a hostile value makes them overflow."""
    if low == high:
        return float(low), 0.0
    count = len(numbers)
    total = _sum(numbers) if total is None else total
    if total is None:
        return None, None
    mean = total / count
    std = math.dist(numbers, [mean] * count) / math.sqrt(count)
    return mean, std if math.isfinite(std) else None


def _sum(numbers: Sequence[int | float]) -> float | None:
    """Exactly rounded sum, the same in any order; ``None`` when it exceeds a double."""
    try:
        return math.fsum(numbers)
    except OverflowError:
        return None


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """One derived metric of a kernel."""

    metric: DerivedMetric
    kind: str
    n: int
    value: float


def derive(
    families: Iterable[FamilyData], rows: Iterable[RollupRow], duration_us: float | None, op_type: str | None
) -> list[DerivedRow]:
    """Figures with a defined formula (catalogue: derived.toml).

    Undefined ones (0/0) have no row, nor those for which a file lacks one of the formula's columns.
    """
    present = {(data.family, column) for data in families for column in data.metrics}
    table: dict[tuple[str, str], list[RollupRow]] = {}
    for row in rows:
        table.setdefault((row.metric.family, row.metric.column), []).append(row)
    on_310p = any(row.kind == WHOLE_CORE for found in table.values() for row in found)
    derived = []
    for metric, needed in _formulas(on_310p):
        if (metric.op_types and op_type not in metric.op_types) or not needed <= present:
            continue
        for kind in _kinds(metric, table):
            top = _total(table, metric, metric.numerator, kind, metric.statistic)
            if top is None:
                continue
            if metric.denominator == (DURATION,):
                bottom = None if duration_us is None else (duration_us, 1)
            else:
                bottom = _total(table, metric, metric.denominator, kind, "sum")
            if bottom is not None and bottom[0] > 0:
                value = metric.scale * top[0] / bottom[0]
                if math.isfinite(value):
                    derived.append(DerivedRow(metric, kind or WHOLE_KERNEL, top[1], value))
    return derived


@cache
def _formulas(on_310p: bool) -> tuple[tuple[DerivedMetric, frozenset[tuple[str, str]]], ...]:
    """Derived metrics that hold for the chip, with the (family, column) pairs each needs."""
    return tuple(
        (
            metric,
            frozenset(
                (metric.family, column) for column in (*metric.numerator, *metric.denominator) if column != DURATION
            ),
        )
        for metric in load().derived
        if ("310P" in metric.chips if on_310p else any(chip != "310P" for chip in metric.chips))
    )


def _kinds(metric: DerivedMetric, table: dict[tuple[str, str], list[RollupRow]]) -> list[str | None]:
    """Core kinds to derive for: the metric's own, or all together (``None``) for un-prefixed columns.

    On 310P the one row of a kernel is of kind ``aicore`` and fills the aic_* columns.
    """
    if metric.core is Core.BOTH:
        return [None]
    present = {row.kind for column in metric.numerator for row in table.get((metric.family, column), ())}
    return [kind for kind in (metric.core.value, WHOLE_CORE) if kind in present]


def _total(
    table: dict[tuple[str, str], list[RollupRow]],
    metric: DerivedMetric,
    columns: tuple[str, ...],
    kind: str | None,
    statistic: str,
) -> tuple[float, int] | None:
    """Sum (or largest) of columns over all cores, and how many cores; ``None`` when nothing was recorded."""
    found = [
        row for column in columns for row in table.get((metric.family, column), ()) if kind is None or row.kind == kind
    ]
    if not found:
        return None
    values = [row.max if statistic == "max" else row.total for row in found]
    numbers = [value for value in values if value is not None]
    if not numbers:
        return None
    total = max(numbers) if statistic == "max" else _sum(numbers)
    return None if total is None else (total, max(row.n for row in found))


@cache
def _summed() -> frozenset[tuple[str, str]]:
    """(family, column) pairs whose total some formula needs."""
    return frozenset(
        (metric.family, column)
        for metric in load().derived
        for column in (*metric.numerator, *metric.denominator)
        if column != DURATION
    )
