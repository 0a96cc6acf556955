"""The simulator's clock, inferred from cycles and running times: a simulator run does not record it.

Upstream divides cycles by a fixed clock per chip and rounds to 0.01 us (source: msopprof data_visualizer/
utility.cpp), so every row brackets the clock. Two things blur it. The time of an instruction is the union of
its calls, its cycles are their sum: overlapping calls raise cycles / time above the clock, never lower it.
And builds around CANN 8.0 leave the last call out of the time (seen in the real capture: what ran once
prints 0.00 us, and 1024 equal calls print the time of 1023).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

NOMINAL_MHZ = (500, 550, 800, 1060, 1224, 1650, 1800, 1850)
"""Clocks that upstream knows."""
_HALF_STEP_US = 0.005
_FLOAT32 = 2.0**-23
_PRINT_ERROR = 1e-6
_SATURATED = 2**31 - 1
_ENOUGH_SINGLE = 3
_FEWEST_UNTIMED = 5
"""Cycles from which "prints as 0.00" says something about the clock."""
_UNTIMED_CYCLES = 30
"""Cycles that print as more than 0.00 us at any clock: see simulator_csv.py."""
_PLAUSIBLE_MHZ = (100.0, 5000.0)
_WIDEST = 0.05
"""Relative width up to which the middle of a bracket is worth calling a clock."""


class TimedRow(Protocol):
    """What is needed of a statistics row."""

    @property
    def call_count(self) -> int | None:
        """Times executed."""

    @property
    def cycles(self) -> int | None:
        """Sum over calls."""

    @property
    def running_time_us(self) -> float | None:
        """As printed; ``None`` where unknown or below resolution."""

    @property
    def below_resolution(self) -> bool:
        """Whether 0.00 was printed beside cycles."""


@dataclass(frozen=True, slots=True)
class Clock:
    """An inferred clock."""

    mhz: float
    """The one nominal clock inside the bracket, else the middle of the bracket."""
    low_mhz: float
    high_mhz: float
    nominal: bool
    """Whether ``mhz`` is a clock that upstream knows."""
    rows: int
    """Distinct rows that agree with the bracket."""
    rows_used: int
    """Distinct rows that could say anything."""
    origin: str
    """How it was found, in words, for the database."""


@dataclass(frozen=True, slots=True)
class _Bracket:
    low: float
    high: float


def infer_clock(rows: Iterable[TimedRow]) -> Clock | None:
    """The clock of a run from its instruction rows, all cores together; ``None`` where they do not tell.

    Equal rows (idle cores run the same code) count once. Source line rows overlap by nature: leave them out
    unless there is nothing else.
    """
    facts = {(row.call_count, row.cycles, row.running_time_us or 0.0) for row in rows if _tells(row)}
    known = [(calls, cycles, time) for calls, cycles, time in facts if calls and cycles]
    if any(calls == 1 and cycles > _UNTIMED_CYCLES and time == 0 for calls, cycles, time in known):
        brackets = [_without_last(*fact) for fact in known if fact[0] > 1 and fact[2] > 0]
        return _agree(brackets, "cycles / running time, the last call of each instruction left out")
    # What ran once cannot overlap itself: where there are enough such rows, they alone decide.
    single = [fact for fact in known if fact[0] == 1]
    timed = [fact for fact in known if fact[2] > 0]
    enough = sum(time > 0 for _, _, time in single) >= _ENOUGH_SINGLE
    brackets = [_bracket(cycles, cycles, time) for _, cycles, time in (single if enough else {*single, *timed})]
    return _agree(brackets, "cycles / running time")


def _tells(row: TimedRow) -> bool:
    """Whether a row says anything about the clock."""
    if not row.call_count or not row.cycles or row.cycles >= _SATURATED:
        return False
    return row.running_time_us is not None or (row.below_resolution and row.cycles >= _FEWEST_UNTIMED)


def _bracket(fewest: float, most: float, time: float) -> _Bracket:
    """Clocks at which between ``fewest`` and ``most`` cycles print as ``time``."""
    blur = _HALF_STEP_US + time * _FLOAT32 + _PRINT_ERROR
    exact = round(time, 2) if abs(round(time, 2) - time) <= time * _FLOAT32 + _PRINT_ERROR else time
    shortest = exact - blur
    return _Bracket(fewest / (exact + blur), most / shortest if shortest > 0 else float("inf"))


def _without_last(calls: int, cycles: int, time: float) -> _Bracket:
    """The same where the time leaves one call out, which may have taken up to twice the mean."""
    mean = cycles / calls
    return _bracket(max(cycles - 2 * mean, 0.0), cycles, time)


def _agree(brackets: list[_Bracket], origin: str) -> Clock | None:
    """The clocks that the most brackets allow, if at least half of them do."""
    # A bracket's low end opens it, its high end closes it; at equal clocks opening comes first.
    ends = sorted([(bracket.low, 0) for bracket in brackets] + [(bracket.high, 1) for bracket in brackets])
    best, count = 0, 0
    low = high = 0.0
    open_best = False
    for at, closing in ends:
        if closing:
            if open_best and count == best:
                high, open_best = at, False
            count -= 1
            continue
        count += 1
        if count > best:
            best, low, open_best = count, at, True
    if 2 * best < len(brackets) or low < _PLAUSIBLE_MHZ[0] or high > _PLAUSIBLE_MHZ[1]:
        return None
    inside = [mhz for mhz in NOMINAL_MHZ if low <= mhz <= high]
    nominal = len(inside) == 1
    if not nominal and high - low > _WIDEST * low:
        return None
    mhz = float(inside[0]) if nominal else (low + high) / 2
    return Clock(mhz, low, high, nominal, best, len(brackets), origin)
