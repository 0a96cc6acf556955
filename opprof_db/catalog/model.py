"""The records the catalogue is made of, and the rule that turns a vendor column into a SQL name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

BLOCK_ID = "block_id"
SUB_BLOCK_ID = "sub_block_id"
KEY_COLUMNS = (BLOCK_ID, SUB_BLOCK_ID)
BASIC_INFO = "OpBasicInfo"


class SqlType(StrEnum):
    """Column type in the STRICT tables."""

    REAL = "REAL"
    INTEGER = "INTEGER"
    TEXT = "TEXT"


class Core(StrEnum):
    """Which kind of core a column describes; ``both`` columns are filled on AIC and on AIV rows."""

    AIC = "aic"
    AIV = "aiv"
    BOTH = "both"


class Aggregate(StrEnum):
    """How the values of the cores may be put together into one value for a kernel.

    ``sum``: totals are meaningful (volumes, counts, cycles). ``max``: the slowest core decides
    (times). ``mean``: an average is meaningful, a total is not. ``never``: printed bandwidths,
    ratios and rates: only smallest and largest may be quoted.
    """

    SUM = "sum"
    MAX = "max"
    MEAN = "mean"
    NEVER = "never"


class Polarity(StrEnum):
    """Which direction is an improvement."""

    HIGHER = "higher"
    LOWER = "lower"
    NEUTRAL = "neutral"


_UNIT_SUFFIXES = (
    ("(us)", "_us"),
    ("(GB/s)", "_gb_s"),
    ("(%)", "_pct"),
    ("(KB)", "_kb"),
    ("(estimate)", "_estimate"),
)


def sql_name(vendor: str) -> str:
    """SQL column for a vendor column: lower case, the unit spelt out.

    >>> sql_name("L1_to_GM_bw_usage_rate(%)(estimate)")
    'l1_to_gm_bw_usage_rate_pct_estimate'
    """
    name = vendor
    for printed, spelt in _UNIT_SUFFIXES:
        name = name.replace(printed, spelt)
    return re.sub(r"[^0-9a-z]+", "_", name.lower()).strip("_")


def table_name(family: str) -> str:
    """Fact table of a CSV family.

    >>> table_name("L2Cache"), table_name("MemoryUB"), table_name("ResourceConflictRatio")
    ('l2_cache', 'memory_ub', 'resource_conflict_ratio')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", family).lower()


@dataclass(frozen=True, slots=True)
class Metric:
    """One vendor column of one CSV family."""

    family: str
    vendor: str
    column: str
    type: SqlType
    unit: str
    core: Core
    chips: dict[str, int]
    """Chip family -> place in today's header, from 1; 0: known there, but legacy or only on request."""
    aggregate: Aggregate
    polarity: Polarity
    meaning: str
    source: str
    aliases: tuple[str, ...] = ()
    unit_base: str | None = None
    denominator: str | None = None
    metric_set: dict[str, str] | None = None
    """Chip family -> value of ``--aic-metrics`` that fills this column, where it is not the family's own.

    Joined by commas where counters of several sets are needed.
    """
    pipe: str | None = None

    def metric_set_on(self, chip: str) -> str:
        """Value of ``--aic-metrics`` that fills this column on a chip family."""
        return (self.metric_set or {}).get(chip, self.family)

    @property
    def is_key(self) -> bool:
        """Whether the column says which core a row is about."""
        return self.column in KEY_COLUMNS


@dataclass(frozen=True, slots=True)
class DerivedMetric:
    """A figure for a whole kernel that has a defined formula over roll-ups.

    value = scale * sum(numerator) / sum(denominator), each over all cores of ``core``;
    ``statistic`` ``max`` takes the largest core instead of the sum in the numerator.
    ``denominator`` names columns, or ``("duration_us",)`` for the task duration.
    """

    column: str
    family: str
    numerator: tuple[str, ...]
    denominator: tuple[str, ...]
    scale: float
    statistic: str
    unit: str
    core: Core
    chips: tuple[str, ...]
    polarity: Polarity
    formula: str
    meaning: str
    source: str
    op_types: tuple[str, ...] = ()
    """Operator types the formula holds for; empty: all."""


@dataclass(frozen=True, slots=True)
class Change:
    """A build after which a column of the same name means something else."""

    date: str
    chips: tuple[str, ...]
    """Chip families (``Chip.family``): 910_93 is not implied by 910B."""
    family: str | None
    """CSV family; ``None``: any."""
    columns: tuple[str, ...]
    """Shell patterns over SQL columns; empty: no CSV column, but the simulator trace."""
    effect: str
    source: str


@dataclass(frozen=True, slots=True)
class Chip:
    """Facts of one SoC (source: msopprof, chip tables). ``None``: not known."""

    soc: str
    family: str
    """910B, 910_93, 310P, 310B or 950."""
    header_family: str
    """Whose CSV headers its runs have: 910B, 310P or 950."""
    aic_cores: int | None
    aiv_cores: int | None
    sim_clock_mhz: float | None
    l2_mib: float | None
    ub_kib: float | None
    gm_peak_tb_s: float | None
    gm_peak_other_hbm_tb_s: float | None
    l2_peak_tb_s: float | None
    l2_peak_other_hbm_tb_s: float | None
    gm_to_ub_core_peak_gib_s: float | None
    ub_to_gm_core_peak_gib_s: float | None
    gm_to_l1_core_peak_gib_s: float | None
    l1_to_gm_core_peak_gib_s: float | None
    l0c_to_l1_core_peak_gib_s: float | None
    l0c_to_gm_core_peak_gib_s: float | None
    source: str


@dataclass(frozen=True)
class Catalogue:
    """Everything known about columns and chips."""

    families: tuple[str, ...]
    """Device CSV families with rows per core, in msopprof's order; OpBasicInfo is apart."""
    metrics: tuple[Metric, ...]
    derived: tuple[DerivedMetric, ...]
    changes: tuple[Change, ...]
    chips: tuple[Chip, ...]
    denominators: dict[str, str]
    digest: str
    """Changes when any entry changes; a warehouse refreshes its copy of the catalogue by it."""

    @cached_property
    def _by_vendor(self) -> dict[str, dict[str, Metric]]:
        index: dict[str, dict[str, Metric]] = {}
        for metric in self.metrics:
            names = index.setdefault(metric.family, {})
            for spelling in (metric.vendor, *metric.aliases):
                names[spelling] = metric
        return index

    def find(self, family: str, vendor: str) -> Metric | None:
        """The entry for a header cell, matched exactly or through a written alias."""
        return self._by_vendor.get(family, {}).get(vendor)

    def of_family(self, family: str) -> tuple[Metric, ...]:
        """Entries of a family in the order of its table's columns."""
        return tuple(metric for metric in self.metrics if metric.family == family)

    def header(self, family: str, chip: str) -> tuple[str, ...]:
        """Today's header of a family on a chip family, as msopprof prints it (without the last comma)."""
        placed = [(m.chips[chip], m.vendor) for m in self.of_family(family) if m.chips.get(chip, 0) > 0]
        return tuple(vendor for _, vendor in sorted(placed))

    def chip(self, soc: str | None) -> Chip | None:
        """Facts for a SoC name such as ``Ascend910B2`` or ``910B2`` (exact, letter case ignored)."""
        if not soc:
            return None
        wanted = soc.strip().lower().removeprefix("ascend")
        for chip in self.chips:
            if chip.soc.lower().removeprefix("ascend") == wanted:
                return chip
        return None
