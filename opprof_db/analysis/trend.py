"""How the duration of a kernel developed over the runs, with step changes marked.

Only what may be compared stands in one line: launches of the same shape (operator, type, tiling key, block dim, chip,
mode) make a series, and a series is broken into stretches of runs that were collected alike: runs that alternate
between two frequencies make two stretches, and runs of unknown frequency beside them a third. Steps are looked for
within a stretch (``analysis.steps``); a change from one stretch to another is never called one.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from opprof_db.analysis.history import Point, Shape, history
from opprof_db.analysis.steps import FEWEST, MOST, PENALTY, levels, noise_of

LEAST_STEP = 0.01
"""Share by which levels must differ to count as a step."""
_TIMER_US = 0.02
"""Task durations are printed in steps of 20 ns on 910B (source: formats of msopprof); 26 on 310P."""
_LEAST_NOISE = 0.002
"""Noise is never taken for less than this share: a perfectly quiet series would make every tremor a step."""


@dataclass(frozen=True, slots=True)
class Place:
    """One run of a stretch: the point and what the stretch says of it."""

    point: Point
    change_us: float | None
    """Median against the run before in this stretch, us; ``None`` for the first."""
    change_share: float | None
    """The same over the median before."""
    level: int
    """Number of the level it belongs to, from 1."""
    level_us: float | None
    """Median of the level's medians, us; ``None`` where there are too few runs to speak of levels."""
    outlier: bool
    """Further from its level than noise explains (5 x noise)."""


@dataclass(frozen=True, slots=True)
class Step:
    """A change of level between two runs of a stretch."""

    after: Point
    """First run of the new level."""
    before: Point
    """Last run of the level before."""
    before_us: float
    """Median of the level before, us."""
    after_us: float
    change_share: float
    """(after - before) / before; below zero is faster."""
    runs_before: int
    runs_after: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Runs that may be compared with each other."""

    places: tuple[Place, ...]
    noise_share: float | None
    """Spread of one run around its level as a share of the duration; ``None``: too few runs to tell."""
    steps: tuple[Step, ...]
    apart: tuple[str, ...]
    """Why its first run does not continue the stretch before; empty for the first stretch of a series."""
    cautions: tuple[str, ...]
    """What is not recorded, so that comparability within the stretch is assumed."""


@dataclass(frozen=True, slots=True)
class Series:
    """All runs of one shape, as stretches of comparable runs in the order they begin."""

    shape: Shape
    stretches: tuple[Stretch, ...]
    undated: tuple[Point, ...]
    """Points without a start (or without the label the order follows): they have no place in the line."""


@dataclass(frozen=True, slots=True)
class Trend:
    """What ``trend`` found."""

    operator: str
    series: tuple[Series, ...]
    """The one with most runs first."""
    order: str
    """``started_at``, or the label that orders the runs."""
    least_step: float
    without_duration: int
    """Launches that record no duration, and so have no place here."""
    unusable: int
    """Points whose duration is not above zero."""


def trend(
    connection: sqlite3.Connection,
    operator: str,
    *,
    kernel_id: int | None = None,
    labels: Mapping[str, str] | None = None,
    device_id: int | None = None,
    order_by: str | None = None,
    least_step: float = LEAST_STEP,
) -> Trend:
    """Durations of an operator over the runs.

    ``kernel_id`` keeps the series this launch is part of; ``labels`` and ``device_id`` keep the runs that have them;
    ``order_by`` is a label whose values order the runs instead of their start. ``least_step`` is a share.
    """
    found = history(connection, operator)
    points = [point for point in found.points if point.median_us > 0]
    wanted = [
        point
        for point in points
        if (device_id is None or point.device_id == device_id)
        and all(point.labels.get(key) == value for key, value in (labels or {}).items())
    ]
    if kernel_id is not None:
        shapes = {point.shape for point in points if kernel_id in point.kernel_ids}
        wanted = [point for point in wanted if point.shape in shapes]
    by_shape: dict[Shape, list[Point]] = {}
    for point in wanted:
        by_shape.setdefault(point.shape, []).append(point)
    series = [_series(shape, held, order_by, least_step) for shape, held in by_shape.items()]
    series.sort(key=lambda one: -len(one.undated) - sum(len(stretch.places) for stretch in one.stretches))
    return Trend(
        operator,
        tuple(series),
        order_by or "started_at",
        least_step,
        found.without_duration,
        len(found.points) - len(points),
    )


def _series(shape: Shape, points: Sequence[Point], order_by: str | None, least_step: float) -> Series:
    if order_by is None:
        placed = [point for point in points if point.started_at is not None]
        undated = [point for point in points if point.started_at is None]
    else:
        undated = [point for point in points if order_by not in point.labels]
        placed = [point for point in points if order_by in point.labels]
        placed.sort(key=lambda point: natural(point.labels[order_by]))
    return Series(shape, tuple(_stretches(placed, least_step)), tuple(undated))


def _stretches(points: Sequence[Point], least_step: float) -> Iterator[Stretch]:
    known: dict[str, set[str]] = {}
    for point in points:
        for fact, value in circumstances(point).items():
            known.setdefault(fact, set()).add(value)
    # Where only one value is known, runs that do not record it are taken for the same (and a caution says so).
    telling = sorted(fact for fact, values in known.items() if len(values) > 1)
    held: dict[tuple[str | None, ...], list[Point]] = {}
    apart: dict[tuple[str | None, ...], tuple[str, ...]] = {}
    before: tuple[str | None, ...] | None = None
    for point in points:
        key = tuple(circumstances(point).get(fact) for fact in telling)
        if key not in held and before is not None:
            pairs = zip(telling, before, key, strict=True)
            apart[key] = tuple(
                f"{fact} {one or 'unknown'} and {other or 'unknown'}" for fact, one, other in pairs if one != other
            )
        held.setdefault(key, []).append(point)
        before = key
    for key, run in held.items():
        yield _stretch(run, apart.get(key, ()), least_step)


def circumstances(point: Point) -> dict[str, str]:
    """What is known of how a point was collected, as far as it moves durations."""
    facts = {key: point.conditions[key] for key in ("replay_mode", "warm_up") if key in point.conditions}
    if point.current_freq_mhz is not None:
        facts["frequency"] = f"{point.current_freq_mhz} MHz"
    return facts


def _stretch(points: Sequence[Point], why: tuple[str, ...], least_step: float) -> Stretch:
    values = [math.log(point.median_us) for point in points]
    noise: float | None = None
    cuts: tuple[tuple[int, int], ...] = ((0, len(points)),)
    skipped = max(0, len(points) - MOST)
    if len(points) >= FEWEST:
        floor = max(_LEAST_NOISE, _TIMER_US / median(point.median_us for point in points))
        noise = max(noise_of(values[skipped:]), floor)
        cuts = levels(values[skipped:], noise, least_step=math.log1p(least_step))
        cuts = tuple((first + skipped * (first > 0), last + skipped) for first, last in cuts)
    level_us = [median(point.median_us for point in points[first:last]) for first, last in cuts]
    places = []
    for number, (first, last) in enumerate(cuts):
        for at in range(first, last):
            before = points[at - 1].median_us if at else None
            change = None if before is None else points[at].median_us - before
            off = abs(values[at] - math.log(level_us[number]))
            places.append(
                Place(
                    points[at],
                    change,
                    None if before is None or change is None else change / before,
                    number + 1,
                    None if noise is None else level_us[number],
                    noise is not None and off > max(PENALTY * noise, math.log1p(least_step)),
                )
            )
    steps = tuple(
        Step(
            points[first],
            points[first - 1],
            level_us[number - 1],
            level_us[number],
            level_us[number] / level_us[number - 1] - 1,
            first - cuts[number - 1][0],
            last - first,
        )
        for number, (first, last) in enumerate(cuts)
        if number
    )
    return Stretch(tuple(places), noise, steps, why, _cautions(points))


def _cautions(points: Sequence[Point]) -> tuple[str, ...]:
    cautions = []
    unknown = [point for point in points if point.current_freq_mhz is None]
    if unknown and len(points) > 1:
        cautions.append(f"frequency not recorded in {len(unknown)} of {len(points)} runs")
    return tuple(cautions)


def natural(text: str) -> tuple[tuple[bool, float, str], ...]:
    """Sort key that takes runs of digits as numbers: tile=8 before tile=16, numbers before words."""
    parts = [part for part in re.split(r"([0-9]+(?:[.][0-9]+)?)", text) if part]
    return tuple((False, float(part), "") if part[0] in "0123456789" else (True, 0.0, part) for part in parts)
