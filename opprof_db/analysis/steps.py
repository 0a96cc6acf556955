"""Where a series of durations changes its level: step changes against noise.

The method is the L1-Potts functional solved exactly by dynamic programming (Friedrich, Kempe, Liebscher and Winkler
2008; Weinmann, Storath and Demaret 2015): of all ways to cut the series into levels, the one with the least

    sum of |x - median of its level|  +  penalty x (number of levels - 1)

Medians make single outlying runs harmless: no level of fewer than two runs is made, and one point off the line costs
its distance once, whatever it is. Values are logarithms, so a step is a factor and a doubling weighs as a halving.

The noise is the median of the steps from one run to the next over 0.954 (what it is for normal noise of unit
deviation): a level that changes now and then hardly moves it. It is never taken below a floor. The penalty is
5 x noise, from ten values on times log10 of their number; ``docs/across.md`` has the measured rate of false steps.
"""

from __future__ import annotations

import itertools
import math
from bisect import insort
from collections.abc import Sequence
from statistics import median, median_low

FEWEST = 4
"""Values from which levels are looked for: two of each."""
LEAST_IN_LEVEL = 2
PENALTY = 5.0
"""In units of the noise; chosen so that noise alone makes a step in about one series of fifteen or fewer."""
MOST = 2000
"""Values looked at, the newest: the work grows with their square."""
_NORMAL = 0.9538725524
"""Median of |a - b| for two normal values of unit deviation: sqrt(2) x 0.6745."""


def noise_of(values: Sequence[float]) -> float:
    """Spread of one value around its level, in the unit of the values; 0 for fewer than two."""
    steps = [abs(after - before) for before, after in itertools.pairwise(values)]
    return median_low(steps) / _NORMAL if steps else 0.0


def levels(values: Sequence[float], noise: float, *, least_step: float = 0.0) -> tuple[tuple[int, int], ...]:
    """Cut values into levels: (first, behind the last) of each, together the whole series.

    ``noise`` is in the unit of the values, above zero. Neighbouring levels that differ by less than ``least_step``
    are joined. A series shorter than ``FEWEST`` is one level.
    """
    count = len(values)
    if count < FEWEST:
        return ((0, count),) if count else ()
    penalty = PENALTY * noise * max(1.0, math.log10(count))
    found = _cheapest(values, penalty)
    while len(found) > 1:
        sizes = [abs(median(values[a:b]) - median(values[c:d])) for (a, b), (c, d) in itertools.pairwise(found)]
        smallest = min(range(len(sizes)), key=sizes.__getitem__)
        if sizes[smallest] >= least_step:
            break
        found[smallest : smallest + 2] = [(found[smallest][0], found[smallest + 1][1])]
    return tuple(found)


def _cheapest(values: Sequence[float], penalty: float) -> list[tuple[int, int]]:
    """The cheapest cut, from left to right: ``best[j]`` is the least cost of the first j values."""
    count = len(values)
    best = [0.0, *[math.inf] * count]
    came_from = [0] * (count + 1)
    best[0] = -penalty
    for end in range(LEAST_IN_LEVEL, count + 1):
        held: list[float] = []
        cost = 0.0
        for start in range(end - 1, -1, -1):
            value = values[start]
            if held:  # the sum of distances grows by the distance from the interval of medians
                low, high = held[(len(held) - 1) // 2], held[len(held) // 2]
                cost += max(low - value, value - high, 0.0)
            insort(held, value)
            if cost >= best[end]:
                break  # going further left only adds
            if len(held) >= LEAST_IN_LEVEL and best[start] + cost + penalty < best[end]:
                best[end] = best[start] + cost + penalty
                came_from[end] = start
    found = []
    end = count
    while end > 0:
        found.append((came_from[end], end))
        end = came_from[end]
    return found[::-1]
