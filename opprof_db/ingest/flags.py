"""Values that are kept but deserve a remark, and zeros that are none.

Out-of-range values are real output of the tool (counters come from different replays), so they
stay; the issue says so. On the 950 a counter that was not collected prints 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from opprof_db.catalog import Metric, load
from opprof_db.ingest.rollup import RollupRow
from opprof_db.msopprof.device_csv import CellCounts, FamilyData
from opprof_db.msopprof.issues import Severity

SATURATED = frozenset({2**31 - 1, 2**32 - 1})
"""Counters of the tool stop here instead of wrapping around."""


def flag_extremes(data: FamilyData, rows: Iterable[RollupRow]) -> None:
    """Leave one remark per column with values outside its range, judged by the roll-up's extremes."""
    flagged: set[str] = set()
    for row in rows:
        found = _extreme(row)
        if found is not None and row.metric.column not in flagged:
            flagged.add(row.metric.column)
            _flag(data, row.metric, *found)


_USAGE = ("_bw_usage_rate_pct", "_bw_usage_rate_pct_estimate")
Test = Callable[[int | float], bool]


def _extreme(row: RollupRow) -> tuple[str, str, Test] | None:
    """(code, words, test) when a value of this metric lies outside its range."""
    metric, low, high = row.metric, row.min, row.max
    if low is None or high is None:
        return None
    if low < 0:
        return "negative_value", "below zero", lambda value: value < 0
    if metric.unit == "ratio":
        return ("ratio_above_one", "a ratio above 1", lambda value: value > 1) if high > 1 else None
    if metric.unit == "%" and high >= 100:
        if high > 100:
            return "percent_above_100", "more than 100 %", lambda value: value > 100
        if metric.column.endswith(_USAGE):
            return "usage_clamped", "exactly 100 %: clamped by the tool", lambda value: value == 100
    if high in SATURATED:
        return "saturated_counter", "the counter is saturated", lambda value: value in SATURATED
    return None


def _flag(data: FamilyData, metric: Metric, code: str, what: str, test: Test) -> None:
    hits = [cell for cell in data.cells(metric.column) if cell[2] is not None and test(cell[2])]
    block, sub_block, value = hits[0]
    data.issues.add(
        code,
        Severity.INFO,
        f"{what}; kept as printed (first at block {block} {sub_block})",
        column=metric.vendor,
        raw=str(value),
        count=len(hits),
    )


def drop_uncollected_zeros(data: FamilyData, chip_family: str | None, collected: frozenset[str] | None) -> None:
    """On the 950, turn the zeros of a metric set that was not collected into unknown.

    A set counts as collected when it is in ``collected`` (as the user or the command line says), or
    when any of its counters in the file is not zero. Times and cycles are always measured.
    """
    if chip_family != "950":
        return
    sets: dict[str, list[Metric]] = {}
    for column, metric in data.metrics.items():
        if column not in _ALWAYS_MEASURED:
            sets.setdefault(metric.metric_set_on("950"), []).append(metric)
    for metric_set, metrics in sets.items():
        if collected is not None and collected.issuperset(metric_set.lower().split(",")):
            continue
        if not any(value for metric in metrics for _, _, value in data.cells(metric.column)):
            for metric in metrics:
                _drop(data, metric_set, metric)


_ALWAYS_MEASURED = frozenset({"aic_time_us", "aic_total_cycles", "aiv_time_us", "aiv_total_cycles"})


def _drop(data: FamilyData, metric_set: str, metric: Metric) -> None:
    lost = sum(value is not None for _, _, value in data.cells(metric.column))
    if not lost:
        return
    data.issues.add(
        "not_collected",
        Severity.INFO,
        f"the 950 prints 0 for counters that were not collected: unknown without {metric_set}"
        f" (collect with --aic-metrics={metric_set})",
        column=metric.vendor,
        raw="0",
        cells=lost,
        count=lost,
    )
    for group in data.groups:
        group.columns.pop(metric.column, None)
    counts = data.counts
    data.counts = CellCounts(counts.read, counts.stored - lost, counts.nulls, counts.lost + lost)


def parse_metric_sets(text: str | None) -> frozenset[str] | None:
    """``--aic-metrics`` text to lower-case names, with the families that Default stands for."""
    if not text:
        return None
    names = {part.strip().lower() for part in text.split(",") if part.strip()}
    implied = {"roofline", "memorydetail", "kernelscale"} & names
    if "default" in names or implied:
        names |= {family.lower() for family in load().families}
    return frozenset(names)
