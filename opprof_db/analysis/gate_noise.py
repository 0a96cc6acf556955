"""How far two medians may lie apart by chance: the timer's steps, and the spread of the launches.

The standard error of a median of n values is 1.2533 s / sqrt(n) for values that spread normally (M. G. Kendall and
A. Stuart, The Advanced Theory of Statistics, vol. 1); the half-width of the 95 % interval of a difference of two takes
Student's t with the degrees of freedom of both samples. A single launch has no spread of its own: the other side's is
taken, and where both have one launch there is no estimate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

MEDIAN_ERROR = 1.2533
STEPS_US = {"910B": 0.02, "910_93": 0.02, "310P": 0.026, "310B": 0.026, "950": 0.001}
"""Steps of the scheduler's stamps that a task duration is the difference of, us (source: formats section 2)."""
UNKNOWN_STEP_US = 0.026
"""The coarsest of them."""
_T_95 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Noise:
    """How far two medians may lie apart by chance, us."""

    timer_us: float
    """One step of the timer on each side."""
    spread_us: float | None
    """Half-width of the 95 % interval of the difference of medians; ``None``: single launches, no estimate."""

    @property
    def total_us(self) -> float:
        """The larger one: the spread holds the timer's steps already."""
        return max(self.timer_us, self.spread_us or 0.0)


def noise(base_us: Sequence[float], candidate_us: Sequence[float], chip_family: str | None) -> Noise:
    """Noise of the difference between the medians of two samples of durations, us."""
    timer = 2 * STEPS_US.get(chip_family or "", UNKNOWN_STEP_US)
    spreads = [_spread(sample) for sample in (base_us, candidate_us)]
    known = [one for one in spreads if one is not None]
    if not known:
        return Noise(timer, None)
    filled = [known[0] if one is None else one for one in spreads]
    sizes = (len(base_us), len(candidate_us))
    error = MEDIAN_ERROR * math.sqrt(sum(one**2 / size for one, size in zip(filled, sizes, strict=True)))
    return Noise(timer, _quantile(sum(size - 1 for size in sizes)) * error)


def _spread(sample: Sequence[float]) -> float | None:
    """Standard deviation of a sample; the order of its values does not matter, to the last bit."""
    if len(sample) < 2:
        return None
    mean = math.fsum(sample) / len(sample)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in sample) / (len(sample) - 1))


def _quantile(freedom: int) -> float:
    """Beyond 30 degrees of freedom the error of taking 1.96 for it is below 4 %."""
    return _T_95[freedom - 1] if freedom <= len(_T_95) else 1.96
