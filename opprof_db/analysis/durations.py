"""How a duration changed, and whether noise explains it.

With five launches and more on both sides: Mann-Whitney's U (two-sided, normal approximation, ties and continuity
corrected) and a bootstrap interval of the ratio of the medians, from a fixed seed. With fewer: whether the ranges
overlap. With one launch against one: no estimate, and it says so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

ENOUGH = 5
"""Launches on each side for a test."""
TIMER_STEP_US = {"910B": 0.02, "910_93": 0.02, "310P": 0.026, "310B": 0.026, "950": 0.001}
"""Steps of the scheduler's clock (source: formats of msopprof, section 2)."""
STEPS_OF_NOISE = 2
_RESAMPLES = 1000
_SEED = 20_260_101
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class DurationChange:
    """From one side's launches to the other's."""

    before_us: float
    """Median."""
    after_us: float
    change_us: float
    change_share: float
    """(after - before) / before; below zero is faster."""
    low_share: float | None
    """Ends of the 95 % interval of ``change_share``; ``None`` without an estimate."""
    high_share: float | None
    p_value: float | None
    """Of Mann-Whitney's test."""
    method: Literal["mann_whitney", "ranges", "single"]
    floor_us: float
    """Changes up to this are the timer's: two of its steps."""
    direction: Literal["faster", "slower", "same"]
    """same: within ``floor_us``."""
    shown: bool | None
    """True: noise does not explain it; False: it may; ``None``: no noise estimate."""
    uncertainty: str
    """In words."""


def duration_change(before: Sequence[float], after: Sequence[float], chip_family: str | None = None) -> DurationChange:
    """Compare two samples of task durations, us, all above zero; their order does not matter.

    Raises:
        ValueError: a side is empty.
    """
    if not before or not after:
        raise ValueError("a side without durations")
    old, new = sorted(before), sorted(after)
    one, other = median(old), median(new)
    change = other - one
    floor = STEPS_OF_NOISE * TIMER_STEP_US.get(chip_family or "", 0.026)
    direction: Literal["faster", "slower", "same"] = "same"
    if abs(change) > floor:
        direction = "faster" if change < 0 else "slower"
    low = high = p_value = None
    method: Literal["mann_whitney", "ranges", "single"]
    shown: bool | None
    if min(len(old), len(new)) >= ENOUGH:
        method, p_value = "mann_whitney", mann_whitney(old, new)
        low, high = _interval(old, new)
        shown = p_value < LEVEL and not low <= 0 <= high and direction != "same"
        text = f"95 % interval {low:+.1%} to {high:+.1%}, Mann-Whitney p = {p_value:.2g}, {len(old)} and {len(new)} launches"  # noqa: E501
    elif len(old) == 1 and len(new) == 1:
        method, shown = "single", False if direction == "same" else None
        text = "single launch: no noise estimate"
    else:
        method = "ranges"
        apart = old[-1] < new[0] or new[-1] < old[0]
        shown = apart and direction != "same"
        text = (
            f"{len(old)} and {len(new)} launches, {old[0]:g}..{old[-1]:g} and {new[0]:g}..{new[-1]:g} us: the ranges "
            + ("do not overlap" if apart else "overlap")
        )
        if apart and 1 in (len(old), len(new)):
            shown = None if direction != "same" else False
            text += ", of which one is a single launch"
    if direction == "same" and change:
        text += f"; no more than {STEPS_OF_NOISE} steps of the timer ({floor:g} us)"
    return DurationChange(one, other, change, change / one, low, high, p_value, method, floor, direction, shown, text)


def mann_whitney(one: Sequence[float], other: Sequence[float]) -> float:
    """Two-sided p-value of Mann-Whitney's U by the normal approximation, ties and continuity corrected."""
    counts = Counter([*one, *other])
    ranks, below = {}, 0
    for value in sorted(counts):
        ranks[value] = below + (counts[value] + 1) / 2
        below += counts[value]
    n, m = len(one), len(other)
    u = sum(ranks[value] for value in one) - n * (n + 1) / 2
    ties = sum(count**3 - count for count in counts.values())
    variance = n * m / 12 * ((n + m + 1) - ties / ((n + m) * (n + m - 1)))
    if variance <= 0:
        return 1.0
    z = max(abs(u - n * m / 2) - 0.5, 0.0) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


def _interval(one: Sequence[float], other: Sequence[float]) -> tuple[float, float]:
    import numpy as np

    draw = np.random.default_rng(_SEED)
    old, new = (
        np.median(np.asarray(side)[draw.integers(0, len(side), (_RESAMPLES, len(side)))], axis=1)
        for side in (one, other)
    )
    low, high = np.quantile(new / old - 1, [0.025, 0.975])
    return float(low), float(high)
