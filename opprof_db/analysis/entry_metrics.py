"""The figures of a launch that knowledge entries speak of, one number each: how cores become one is the catalogue's.

Totals are summed, times are those of the slowest core, means are means over working cores; of what must not be put
together (printed ratios, rates, bandwidths) the largest working core stands. ``None`` is "not recorded", never zero.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cache

from opprof_db.catalog import load
from opprof_db.catalog.model import Aggregate

CORE = "{core}"
"""What entries write for aic and aiv."""
_KERNEL_UNITS = {"duration_us": "us", "block_dim": None, "mix_block_dim": None, "current_freq_mhz": "MHz"}


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One number about a launch."""

    metric: str
    core_kind: str
    """aic, aiv, aicore, or kernel."""
    statistic: str
    """sum, mean or max over the working cores; ``kernel`` where the whole launch has one number."""
    unit: str | None
    value: float

    def text(self) -> str:
        """As people read it: ``aiv_mte2_kb_per_instruction 4 KB``."""
        unit = f" {self.unit}" if self.unit and self.unit not in ("ratio", "count") else ""
        return f"{self.metric} {self.value:.4g}{unit}"


@cache
def _statistic(metric: str) -> str:
    if any(each.column == metric for each in load().derived):
        return "kernel"
    for each in load().metrics:
        if each.column == metric:
            by_rule = {Aggregate.SUM: "sum", Aggregate.MEAN: "mean", Aggregate.MAX: "max", Aggregate.NEVER: "max"}
            return by_rule[each.aggregate]
    return "max"


class EntryMetrics:
    """The figures of one launch, read once."""

    def __init__(self, connection: sqlite3.Connection, kernel_id: int) -> None:
        self._found: dict[str, list[MetricValue]] = {}
        for metric, kind, unit, total, mean, largest in connection.execute(
            "SELECT metric, core_kind, unit, sum, mean, max FROM kernel_metric_values WHERE kernel_id = ?"
            " ORDER BY metric, core_kind",
            (kernel_id,),
        ):
            statistic = _statistic(metric)
            value = {"sum": total, "mean": mean}.get(statistic, largest)
            if value is not None:
                self._found.setdefault(metric, []).append(MetricValue(metric, kind, statistic, unit, float(value)))
        row = connection.execute(
            "SELECT duration_us, block_dim, mix_block_dim, current_freq_mhz FROM kernels WHERE id = ?", (kernel_id,)
        ).fetchone()
        for (name, unit), value in zip(_KERNEL_UNITS.items(), row or (), strict=False):
            if value is not None:
                self._found[name] = [MetricValue(name, "kernel", "kernel", unit, float(value))]
        cores = connection.execute(
            "SELECT count(*), sum(is_idle) FROM kernel_cores WHERE kernel_id = ? AND time_us IS NOT NULL", (kernel_id,)
        ).fetchone()
        if cores[0]:
            self._found["cores"] = [MetricValue("cores", "kernel", "kernel", None, float(cores[0]))]
            self._found["idle_cores"] = [MetricValue("idle_cores", "kernel", "kernel", None, float(cores[1] or 0))]

    def of(self, metric: str) -> list[MetricValue]:
        """A metric for every kind of core that has it; ``{core}`` is replaced by both prefixes."""
        names = [metric.replace(CORE, core) for core in ("aic", "aiv")] if CORE in metric else [metric]
        return [value for name in names for value in self._found.get(name, ())]

    def names(self) -> list[str]:
        """Every metric there is."""
        return list(self._found)
