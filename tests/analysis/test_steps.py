"""Levels of a series: found where they are, silent where there is only noise."""

from __future__ import annotations

import math
import random
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from opprof_db.analysis.steps import PENALTY, levels, noise_of

QUIET = [10.0, 10.1, 9.9, 10.0]


def cost(values: list[float], cuts: tuple[tuple[int, int], ...], penalty: float) -> float:
    """The functional, reckoned anew: sums of distances from a median, and a penalty for every further level."""
    total = penalty * (len(cuts) - 1)
    for first, last in cuts:
        held = sorted(values[first:last])
        total += sum(abs(value - held[len(held) // 2]) for value in held)
    return total


def test_a_step_is_found_where_it_is() -> None:
    assert levels([*QUIET, *(value + 5 for value in QUIET)], 0.1) == ((0, 4), (4, 8))


def test_a_quiet_series_is_one_level() -> None:
    assert levels(QUIET * 3, 0.1) == ((0, 12),)


def test_one_outlier_makes_no_level() -> None:
    assert levels([*QUIET, 99.0, *QUIET], 0.1) == ((0, 9),)


def test_two_runs_make_a_level() -> None:
    assert levels([*QUIET, 15.0, 15.1], 0.1) == ((0, 4), (4, 6))


def test_too_few_values_are_one_level() -> None:
    assert levels([1.0, 1.0, 9.0], 0.1) == ((0, 3),)
    assert levels([], 0.1) == ()


def test_a_step_below_the_least_is_none() -> None:
    values = [1.0] * 10 + [1.5] * 10
    assert levels(values, 0.01) == ((0, 10), (10, 20))
    assert levels(values, 0.01, least_step=0.6) == ((0, 20),)


def test_the_noise_is_not_moved_by_a_step_or_an_outlier() -> None:
    steady = [0.0, 1.0] * 10
    assert noise_of(steady) == noise_of([*steady, 50.0, *(value + 100 for value in steady)])
    assert noise_of(steady) == 1.0 / 0.9538725524
    assert noise_of([1.0]) == 0.0


@given(st.lists(st.integers(0, 40), min_size=4, max_size=9), st.integers(1, 4))
def test_no_other_cut_is_cheaper(numbers: list[int], noise: int) -> None:
    values = [float(number) for number in numbers]
    penalty = PENALTY * noise
    found = cost(values, levels(values, noise), penalty)
    inner = range(1, len(values))
    for count in range(len(values)):
        for cuts in combinations(inner, count):
            borders = (0, *cuts, len(values))
            parts = tuple(pairwise(borders))
            if all(last - first >= 2 for first, last in parts):
                assert found <= cost(values, parts, penalty) + 1e-9


def test_noise_alone_makes_few_steps() -> None:
    draw = random.Random(20261204)
    shapes = (
        lambda: draw.gauss(0, 1),
        lambda: draw.choice((-1, 1)) * draw.expovariate(1),
        lambda: draw.gauss(0, 1) / math.sqrt(sum(draw.gauss(0, 1) ** 2 for _ in range(3)) / 3),
    )
    for shape in shapes:
        for count in (4, 8, 20, 60):
            series = [[shape() for _ in range(count)] for _ in range(150)]
            false = sum(len(levels(values, noise_of(values))) > 1 for values in series)
            assert false <= 0.12 * len(series)


def test_a_step_of_eight_times_the_noise_is_seen() -> None:
    draw = random.Random(20261204)
    seen = 0
    for _ in range(100):
        values = [draw.gauss(0, 1) + 8 * (at >= 5) for at in range(10)]
        seen += levels(values, noise_of(values)) == ((0, 5), (5, 10))
    assert seen >= 90
