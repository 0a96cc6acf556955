"""Kernels that behave alike: the nearest neighbours of a launch by the profile of its counters.

A profile holds shares, not counts: what a kernel is, not how large it is. Of each kind of core apart (AIC, AIV, or the
one row of a 310P), from the roll-up:

- ratios and rates of the whole kernel that the catalogue derives (busy shares of the pipes, L2 hit rates of reads and
  writes);
- waits, conflicts and data types as printed, on the worst core, because printed ratios are never averaged;
- what the slowest core is above the mean (1 - mean/max of the core times; two working cores at least);
- kilobytes per transfer instruction, as logarithm: 16 doublings (32 B to 2 MiB) are as far as 0 and 1.

The distance is Gower's (Biometrics 27, 1971) with fixed ranges: within a kind of core the mean of |a - b| / range over
the figures both have, then the mean over the kinds. 0 is the same profile, 1 as different as can be; ratios a little
above 1 count as they are. Fixed ranges make a distance independent of what else the warehouse holds.

Only launches with the same kinds of working cores are compared: the counters of a vector kernel are no half of a mix
kernel's, whose ratios have another denominator.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opprof_db.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DOUBLINGS = 16.0
LEAST_SHARED = 0.5
"""Share of the launch's figures a neighbour must have."""
_ALIKE, _STRONG, _APART = 0.05, 0.25, 0.1
"""Figures within 0.05 are in common, those from 0.25 on worth naming; from 0.1 on figures differ."""
_NAMED = 4

_METRICS = (
    "SELECT id, column_name, unit, formula IS NOT NULL FROM metrics"
    " WHERE (formula IS NOT NULL AND unit IN ('ratio', '%') AND column_name NOT LIKE '%l2_kernel_hit_rate%')"
    " OR (formula IS NOT NULL AND unit = 'KB' AND column_name LIKE '%per_instruction')"
    " OR (formula IS NULL AND unit = 'ratio' AND family IN ('ResourceConflictRatio', 'ArithmeticUtilization')"
    "     AND column_name NOT LIKE 'ai__cube_ratio' AND column_name NOT LIKE 'ai__vec_ratio')"
    " OR (formula IS NULL AND family = 'PipeUtilization' AND column_name IN ('aic_time_us', 'aiv_time_us'))"
    " ORDER BY id"
)
_VALUES = "SELECT kernel_id, metric_id, core_kind, max, mean, n - n_idle FROM kernel_metrics WHERE metric_id IN ({})"
_ABOUT = (
    "SELECT kernel_id, run_id, run, operator, op_type, chip, device_id, block_dim, duration_us, name"
    " FROM kernel_overview WHERE kernel_id = ?"
)
_GROUPS = "SELECT id, run_id, operator_id, device_id, block_dim, name FROM kernels"


@dataclass(frozen=True, slots=True)
class Figure:
    """One part of a profile, in both launches."""

    core_kind: str
    name: str
    """Column of the catalogue; ``imbalance`` of ``aiv_time_us`` for 1 - mean/max of the core times."""
    unit: str
    """ratio, % or KB."""
    value: float
    other: float
    distance: float
    """|value - other| / range."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A launch and how near it is; of equal launches of one run only the nearest."""

    kernel_id: int
    run_id: int
    run: str
    operator: str | None
    op_type: str | None
    chip: str | None
    block_dim: int | None
    duration_us: float | None
    distance: float
    by_kind: tuple[tuple[str, float], ...]
    """Distance within each kind of core."""
    shared: int
    """Figures both have."""
    in_common: tuple[Figure, ...]
    """Large figures that are alike, the largest first."""
    differ: tuple[Figure, ...]
    """Figures that differ most."""
    launches: int
    """Launches of the same kernel in the same run that this one stands for."""


@dataclass(frozen=True, slots=True)
class Similar:
    """What ``similar`` found."""

    kernel_id: int
    operator: str | None
    figures: int
    """Figures in the launch's own profile."""
    kinds: tuple[str, ...]
    neighbours: tuple[Neighbour, ...]
    """The nearest first."""
    compared: int
    """Launches a distance was computed to."""
    other_kinds: int
    """Launches left out because other kinds of cores worked."""
    too_little: int
    """Launches left out because they share fewer than half of the figures."""


def similar(
    connection: sqlite3.Connection, kernel_id: int, *, limit: int = 10, other_operators: bool = False
) -> Similar:
    """The nearest launches to one.

    ``other_operators`` leaves out launches of the same operator.

    Raises:
        UsageError: the launch has no counters (a simulator run, or none were collected).
    """
    import numpy as np

    features, rows = _profiles(connection)
    if kernel_id not in rows.ids:
        (mode,) = connection.execute("SELECT mode FROM kernels WHERE id = ?", (kernel_id,)).fetchone()
        raise UsageError(
            f"kernel:{kernel_id} has no counters to compare",
            "it is a simulator run" if mode == "simulator" else "collect with --aic-metrics=Default",
        )
    own = rows.ids[kernel_id]
    kinds = np.array([feature.core_kind for feature in features])
    names = tuple(sorted(set(kinds.tolist())))
    has = ~np.isnan(rows.values)
    # Which kinds of core each launch has figures of.
    present = np.stack([has[:, kinds == kind].any(axis=1) for kind in names], axis=1)
    same = (present == present[own]).all(axis=1)
    gaps = np.abs(rows.values - rows.values[own])
    shared = (has & has[own]).sum(axis=1)
    enough = shared >= LEAST_SHARED * has[own].sum()
    own_kinds = [kind for kind, there in zip(names, present[own].tolist(), strict=True) if there]
    by_kind = np.stack([_mean_known(gaps[:, kinds == kind]) for kind in own_kinds], axis=1)
    distance = by_kind.mean(axis=1)
    usable = same & enough & ~np.isnan(distance)
    groups = {row[0]: row[1:] for row in connection.execute(_GROUPS)}
    usable[own] = False
    if other_operators:
        mine = groups[kernel_id][1]
        usable &= np.array([groups[identifier][1] != mine or mine is None for identifier in rows.order])
    nearest: dict[Any, list[int]] = {}
    for at in np.lexsort((np.array(rows.order), distance)).tolist():
        if usable[at]:
            nearest.setdefault(groups[rows.order[at]], []).append(at)
    neighbours = [
        _neighbour(connection, features, rows, own, held, distance, by_kind, own_kinds, shared)
        for held in list(nearest.values())[: limit or None]
    ]
    others = np.arange(len(rows.order)) != own
    return Similar(
        kernel_id,
        connection.execute(_ABOUT, (kernel_id,)).fetchone()[3],
        int(has[own].sum()),
        tuple(own_kinds),
        tuple(neighbours),
        int(usable.sum()),
        int((others & ~same).sum()),
        int((others & same & ~enough).sum()),
    )


def distances(connection: sqlite3.Connection, kernel_id: int, others: Sequence[int]) -> dict[int, float]:
    """Distance of some launches to one, by launch; those that cannot be compared (see above) are not in it."""
    import numpy as np

    features, rows = _profiles(connection, {kernel_id, *others})
    if kernel_id not in rows.ids:
        return {}
    own = rows.ids[kernel_id]
    kinds = np.array([feature.core_kind for feature in features])
    has = ~np.isnan(rows.values)
    present = np.stack([has[:, kinds == kind].any(axis=1) for kind in sorted(set(kinds.tolist()))], axis=1)
    usable = (present == present[own]).all(axis=1) & ((has & has[own]).sum(axis=1) >= LEAST_SHARED * has[own].sum())
    gaps = np.abs(rows.values - rows.values[own])
    by_kind = [_mean_known(gaps[:, kinds == kind]) for kind in sorted(set(kinds[has[own]].tolist()))]
    distance = np.stack(by_kind, axis=1).mean(axis=1)
    usable &= ~np.isnan(distance)
    return {
        other: float(distance[rows.ids[other]]) for other in others if other in rows.ids and usable[rows.ids[other]]
    }


@dataclass(frozen=True, slots=True)
class _Feature:
    core_kind: str
    name: str
    unit: str

    def shown(self, scaled: float) -> float:
        """The figure in its own unit."""
        return float({"%": 100 * scaled, "KB": 2 ** (scaled * DOUBLINGS)}.get(self.unit, scaled))


@dataclass(frozen=True, slots=True)
class _Profiles:
    ids: dict[int, int]
    """Launch -> row."""
    order: list[int]
    values: npt.NDArray[np.float64]
    """A row a launch, a column a feature; NaN where the launch does not have it. Scaled: ranges are 1."""


def _profiles(connection: sqlite3.Connection, only: set[int] | None = None) -> tuple[list[_Feature], _Profiles]:
    import math

    import numpy as np

    metrics = {row[0]: row[1:] for row in connection.execute(_METRICS)}
    marks = ", ".join("?" * len(metrics))
    features: dict[tuple[int, str], int] = {}
    ids: dict[int, int] = {}
    found: list[tuple[int, int, float]] = []
    statement = _VALUES.format(marks)
    values: tuple[int, ...] = tuple(metrics)
    if only is not None:
        statement += f" AND kernel_id IN ({', '.join('?' * len(only))})"
        values = (*values, *only)
    for kernel_id, metric_id, core_kind, largest, mean, cores in connection.execute(statement, values):
        _, unit, _ = metrics[metric_id]
        if largest is None:
            continue
        if unit == "us":
            if mean is None or largest <= 0 or cores < 2:
                continue
            value = 1 - mean / largest
        elif unit == "KB":
            if largest <= 0:
                continue
            value = math.log2(largest) / DOUBLINGS
        else:
            value = largest / 100 if unit == "%" else largest
        row = ids.setdefault(kernel_id, len(ids))
        found.append((row, features.setdefault((metric_id, core_kind), len(features)), value))
    matrix = np.full((len(ids), len(features)), np.nan)
    if found:
        at, feature, numbers = zip(*found, strict=True)
        matrix[list(at), list(feature)] = numbers
    described = [
        _Feature(kind, f"imbalance of {metrics[metric][0]}", "ratio")
        if metrics[metric][1] == "us"
        else _Feature(kind, metrics[metric][0], metrics[metric][1])
        for metric, kind in features
    ]
    return described, _Profiles(ids, list(ids), matrix)


def _mean_known(gaps: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Mean of every row over what is known; NaN where nothing is."""
    import numpy as np

    known = ~np.isnan(gaps)
    count = known.sum(axis=1)
    total = np.where(known, gaps, 0.0).sum(axis=1)
    mean: npt.NDArray[np.float64] = np.divide(total, count, out=np.full(len(gaps), np.nan), where=count > 0)
    return mean


def _neighbour(
    connection: sqlite3.Connection,
    features: list[_Feature],
    rows: _Profiles,
    own: int,
    held: list[int],
    distance: npt.NDArray[np.float64],
    by_kind: npt.NDArray[np.float64],
    kinds: list[str],
    shared: npt.NDArray[np.int64],
) -> Neighbour:
    import numpy as np

    at = held[0]
    kernel_id, run_id, run, operator, op_type, chip, _, block_dim, duration, _ = connection.execute(
        _ABOUT, (rows.order[at],)
    ).fetchone()
    mine, other = rows.values[own], rows.values[at]
    both = np.flatnonzero(~np.isnan(mine) & ~np.isnan(other)).tolist()
    figures = [
        Figure(
            features[column].core_kind,
            features[column].name,
            features[column].unit,
            features[column].shown(mine[column]),
            features[column].shown(other[column]),
            float(abs(mine[column] - other[column])),
        )
        for column in both
    ]
    smaller = {id(figure): min(mine[column], other[column]) for figure, column in zip(figures, both, strict=True)}
    alike = [figure for figure in figures if figure.distance <= _ALIKE and smaller[id(figure)] >= _STRONG]
    alike.sort(key=lambda figure: (figure.unit != "ratio", -smaller[id(figure)]))
    apart = sorted((figure for figure in figures if figure.distance >= _APART), key=lambda figure: -figure.distance)
    return Neighbour(
        kernel_id,
        run_id,
        run,
        operator,
        op_type,
        chip,
        block_dim,
        duration,
        float(distance[at]),
        tuple((kind, float(by_kind[at, number])) for number, kind in enumerate(kinds)),
        int(shared[at]),
        tuple(alike[:_NAMED]),
        tuple(apart[:_NAMED]),
        len(held),
    )
