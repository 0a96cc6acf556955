"""Roll-up per kernel, metric and core kind, computed while the cells are at hand.

AIC and AIV are never mixed. Idle cores count in sums and in ``n``, but are left out of mean, min,
max and std: a core that did nothing has ratios that mean nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import compress

from opprof_db.catalog import Aggregate, Core, DerivedMetric, Metric, load
from opprof_db.msopprof.device_csv import FamilyData, Value
from opprof_db.msopprof.names import core_kind

IDLE_SHARE = 0.01
"""A core busy for less than this share of the slowest core of its kind is idle (diagnosis facts)."""

UNKNOWN_KIND = "unknown"
DURATION = "duration_us"
WHOLE_KERNEL = "kernel"


@dataclass(frozen=True, slots=True)
class CoreRow:
    """One core of a kernel."""

    block_id: int
    sub_block_id: str
    kind: str | None
    time_us: float | None
    total_cycles: int | None
    idle: bool


@dataclass(frozen=True, slots=True)
class RollupRow:
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


@dataclass(slots=True)
class _Group:
    """Rows of one core kind in one family file."""

    kind: str
    mask: list[bool] | None
    """``None``: all rows."""
    working: list[bool] | None
    """Among the group's rows; ``None``: all of them work."""
    blocks: list[int]
    subs: list[str]


@dataclass(slots=True)
class CoreTable:
    """Cores met so far, over the family files of one kernel; the first time seen for a core stays."""

    rows: dict[tuple[int, str], CoreRow] = field(default_factory=dict)

    def idle(self) -> set[tuple[int, str]]:
        """Cores that did (almost) nothing."""
        return {key for key, row in self.rows.items() if row.idle}


def core_table(families: Iterable[FamilyData]) -> CoreTable:
    """Times and cycles of every core, idle ones marked; they repeat in every family file."""
    found: dict[tuple[int, str], tuple[float | None, int | None]] = {}
    for data in families:
        columns = data.columns
        size = data.rows
        nothing: list[Value] = [None] * size
        aic = (columns.get("aic_time_us", nothing), columns.get("aic_total_cycles", nothing))
        aiv = (columns.get("aiv_time_us", nothing), columns.get("aiv_total_cycles", nothing))
        for at, key in enumerate(zip(data.block_ids, data.sub_block_ids, strict=True)):
            known = found.get(key)
            if known is not None and known[0] is not None:
                continue
            times, cycles = aiv if core_kind(key[1]) == "aiv" else aic
            time, count = times[at], cycles[at]
            found[key] = (None if time is None else float(time), count if isinstance(count, int) else None)
    slowest: dict[str | None, float] = {}
    for (_, sub), (time, _) in found.items():
        if time is not None:
            kind = core_kind(sub)
            slowest[kind] = max(slowest.get(kind, 0.0), time)
    table = CoreTable()
    for (block, sub), (time, count) in found.items():
        kind = core_kind(sub)
        idle = time is not None and time < IDLE_SHARE * slowest[kind]
        table.rows[block, sub] = CoreRow(block, sub, kind, time, count, idle)
    return table


def roll_up(data: FamilyData, idle: set[tuple[int, str]]) -> list[RollupRow]:
    """Roll up one family file."""
    if not data.rows:
        return []
    groups = _groups(data, idle)
    rows: list[RollupRow] = []
    for column, values in data.columns.items():
        missing = values.count(None)
        if missing == len(values):
            continue
        metric = data.metrics[column]
        found = 0
        for group in _likely_first(groups, metric):
            row = _statistics(metric, group, values)
            if row is not None:
                rows.append(row)
                found += row.n
            if found == len(values) - missing:
                break
    return rows


def _groups(data: FamilyData, idle: set[tuple[int, str]]) -> list[_Group]:
    kinds = [core_kind(sub) or UNKNOWN_KIND for sub in data.sub_block_ids]
    keys = list(zip(data.block_ids, data.sub_block_ids, strict=True))
    groups = []
    for kind in dict.fromkeys(kinds):
        mask = [other == kind for other in kinds]
        own = list(compress(keys, mask))
        working = [key not in idle for key in own]
        groups.append(
            _Group(
                kind=kind,
                mask=None if all(mask) else mask,
                working=None if all(working) else working,
                blocks=[block for block, _ in own],
                subs=[sub for _, sub in own],
            )
        )
    return groups


def _likely_first(groups: list[_Group], metric: Metric) -> list[_Group]:
    """The core kind a column is about first: usually it holds all its values."""
    if metric.core is Core.BOTH or len(groups) == 1:
        return groups
    return sorted(groups, key=lambda group: group.kind != metric.core)


def _statistics(metric: Metric, group: _Group, values: Sequence[Value]) -> RollupRow | None:
    own = values if group.mask is None else list(compress(values, group.mask))
    blocks, subs, working = group.blocks, group.subs, group.working
    if None in own:
        present = [value is not None for value in own]
        if not any(present):
            return None
        blocks, subs = list(compress(blocks, present)), list(compress(subs, present))
        working = None if working is None else list(compress(working, present))
        own = list(compress(own, present))
    numbers: Sequence[int | float] = own  # type: ignore[assignment]
    n = len(numbers)
    aggregate = metric.aggregate
    summable = aggregate is Aggregate.SUM
    total = math.fsum(numbers) if summable or (metric.family, metric.column) in _summed() else None
    shown = total if summable else None
    n_idle = 0
    if working is not None:
        n_idle = working.count(False)
        if n_idle == n:
            return RollupRow(metric, group.kind, n, n_idle, shown, None, None, None, None, None, None, total)
        numbers, blocks, subs = (
            list(compress(numbers, working)),
            list(compress(blocks, working)),
            list(compress(subs, working)),
        )
    low, high = min(numbers), max(numbers)
    at = numbers.index(high)
    mean = std = None
    if aggregate is not Aggregate.NEVER:
        mean, std = _spread(numbers, low, high)
    return RollupRow(metric, group.kind, n, n_idle, shown, mean, low, high, std, blocks[at], subs[at], total)


def _spread(numbers: Sequence[int | float], low: int | float, high: int | float) -> tuple[float, float]:
    """Mean and population standard deviation."""
    if low == high:
        return float(low), 0.0
    count = len(numbers)
    mean = math.fsum(numbers) / count
    return mean, math.sqrt(math.fsum([(number - mean) ** 2 for number in numbers]) / count)


@dataclass(frozen=True, slots=True)
class DerivedRow:
    """One derived metric of a kernel."""

    metric: DerivedMetric
    kind: str
    n: int
    value: float


def derive(rows: Iterable[RollupRow], duration_us: float | None, op_type: str | None) -> list[DerivedRow]:
    """Figures with a defined formula (catalogue: derived.toml); undefined ones (0/0) have no row."""
    table: dict[tuple[str, str], list[RollupRow]] = {}
    for row in rows:
        table.setdefault((row.metric.family, row.metric.column), []).append(row)
    derived = []
    for metric in load().derived:
        if metric.op_types and op_type not in metric.op_types:
            continue
        for kind in _kinds(metric, table):
            top = _total(table, metric, metric.numerator, kind, metric.statistic)
            if metric.denominator == (DURATION,):
                bottom = None if duration_us is None else (duration_us, 1)
            else:
                bottom = _total(table, metric, metric.denominator, kind, "sum")
            if top is not None and bottom is not None and bottom[0] > 0:
                value = metric.scale * top[0] / bottom[0]
                derived.append(DerivedRow(metric, kind or WHOLE_KERNEL, top[1], value))
    return derived


def _kinds(metric: DerivedMetric, table: dict[tuple[str, str], list[RollupRow]]) -> list[str | None]:
    """Core kinds to derive for: the metric's own, or all together (``None``) for un-prefixed columns.

    On 310P the one row of a kernel is of kind ``aicore`` and fills the aic_* columns.
    """
    if metric.core is Core.BOTH:
        return [None]
    present = {row.kind for column in metric.numerator for row in table.get((metric.family, column), ())}
    return [kind for kind in (metric.core.value, "aicore") if kind in present]


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
    total = max(numbers) if statistic == "max" else math.fsum(numbers)
    return total, max(row.n for row in found)


@cache
def _summed() -> frozenset[tuple[str, str]]:
    """(family, column) pairs whose total some formula needs."""
    return frozenset(
        (metric.family, column)
        for metric in load().derived
        for column in (*metric.numerator, *metric.denominator)
        if column != DURATION
    )
