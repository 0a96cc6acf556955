"""Values that are kept but deserve a remark, and zeros that are none.

Out-of-range values are real output of the tool (counters come from different replays), so they
stay; the issue says so. On the 950 a counter that was not collected prints 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opprof_db.catalog import Metric, load
from opprof_db.ingest.rollup import RollupRow
from opprof_db.msopprof.device_csv import CellCounts, FamilyData, Value
from opprof_db.msopprof.issues import Severity

SATURATED = frozenset({2**31 - 1, 2**32 - 1})
"""Counters of the tool stop here instead of wrapping around."""


def flag_extremes(data: FamilyData, rows: Iterable[RollupRow]) -> None:
    """Leave one remark per column with values outside its range, judged by the roll-up's extremes."""
    flagged: set[str] = set()
    for row in rows:
        metric = row.metric
        if metric.column in flagged or row.max is None or row.min is None:
            continue
        values = data.columns[metric.column]
        if row.min < 0:
            _flag(data, metric, values, "negative_value", "below zero", lambda v: v < 0)
        elif metric.unit == "ratio" and row.max > 1:
            _flag(data, metric, values, "ratio_above_one", "a ratio above 1", lambda v: v > 1)
        elif metric.unit == "%" and row.max > 100:
            _flag(data, metric, values, "percent_above_100", "more than 100 %", lambda v: v > 100)
        elif metric.column.endswith(_USAGE) and row.max == 100:
            _flag(
                data,
                metric,
                values,
                "usage_clamped",
                "exactly 100 %: clamped by the tool",
                lambda v: v == 100,
            )
        elif row.max in SATURATED:
            _flag(
                data,
                metric,
                values,
                "saturated_counter",
                "the counter is saturated",
                lambda v: v in SATURATED,
            )
        else:
            continue
        flagged.add(metric.column)


_USAGE = ("_bw_usage_rate_pct", "_bw_usage_rate_pct_estimate")


def _flag(data: FamilyData, metric: Metric, values: Sequence[Value], code: str, what: str, test: object) -> None:
    assert callable(test)
    hits = [at for at, value in enumerate(values) if value is not None and test(value)]
    first = hits[0]
    data.issues.add(
        code,
        Severity.INFO,
        f"{what}; kept as printed (first at block {data.block_ids[first]} {data.sub_block_ids[first]})",
        column=metric.vendor,
        raw=str(values[first]),
        count=len(hits),
    )


def drop_uncollected_zeros(data: FamilyData, chip_family: str | None, collected: frozenset[str] | None) -> None:
    """On the 950, turn the zeros of a metric set that was not collected into unknown.

    A set counts as collected when it is in ``collected`` (as the user or the command line says), or
    when any of its counters in the file is not zero. Times and cycles are always measured.
    """
    if chip_family != "950" or not data.rows:
        return
    groups: dict[str, list[str]] = {}
    for column, metric in data.metrics.items():
        if column not in _ALWAYS_MEASURED:
            groups.setdefault(metric.metric_set_on("950") or data.family, []).append(column)
    for metric_set, columns in groups.items():
        if collected is not None and metric_set.lower() in collected:
            continue
        if any(value for column in columns for value in data.columns[column]):
            continue
        _drop(data, metric_set, columns)


_ALWAYS_MEASURED = frozenset({"aic_time_us", "aic_total_cycles", "aiv_time_us", "aiv_total_cycles"})


def _drop(data: FamilyData, metric_set: str, columns: Iterable[str]) -> None:
    lost = 0
    for column in columns:
        values = data.columns[column]
        zeros = [at for at, value in enumerate(values) if value is not None]
        if not zeros:
            continue
        data.issues.add(
            "not_collected",
            Severity.INFO,
            f"the 950 prints 0 for counters that were not collected: unknown without {metric_set}"
            f" (collect with --aic-metrics={metric_set})",
            column=data.metrics[column].vendor,
            raw="0",
            cells=len(zeros),
            count=len(zeros),
        )
        lost += len(zeros)
        data.columns[column] = [None] * len(values)
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
