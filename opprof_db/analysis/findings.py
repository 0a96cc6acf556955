"""What a diagnosis says, as plain data: the shape that commands, reports, SQL and agents share.

Every statement rests on evidence: numbers named by the table, column and row they stand in. A rule has three
outcomes, and "could not look" is not "no problem" (../shared design, rule 9).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Severity = Literal["critical", "high", "medium", "low", "info"]
Confidence = Literal["high", "medium", "low"]
Outcome = Literal["finding", "no_problem", "could_not_look"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One number a statement rests on, and where it stands."""

    table: str
    """Table or view of the warehouse, such as ``pipe_utilization``."""
    column: str
    """Column of it, such as ``aiv_mte2_ratio``."""
    row: Mapping[str, int | str | None]
    """What picks the row: ``{"kernel_id": 7, "block_id": 0, "sub_block_id": "vector0"}``; of a roll-up the kernel."""
    value: float | int | str | None
    unit: str | None
    """As the catalogue spells it: us, cycles, ratio, %, GB/s …; ``None`` for names and counts."""
    note: str | None = None
    """What was done with it where it is not the cell itself: ``max over 8 cores``."""


@dataclass(frozen=True, slots=True)
class Movement:
    """Which way a metric should move when the advice works."""

    column: str
    direction: Literal["up", "down", "same"]
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says about one kernel (and core)."""

    rule: str
    """Identifier in the rule file: ``one_core_only``, ``small_transfers``, …"""
    outcome: Outcome
    kernel_id: int
    title: str
    sentence: str
    """One sentence of meaning, with the figures in it."""
    severity: Severity = "info"
    confidence: Confidence = "medium"
    core: str | None = None
    evidence: tuple[Evidence, ...] = ()
    recoverable_us: float | None = None
    """Upper bound of the time at stake, us, from the counters; ``None`` where nothing supports an estimate."""
    recoverable_why: str | None = None
    """How ``recoverable_us`` was reckoned, with its figures."""
    advice: tuple[str, ...] = ()
    measure_next: tuple[str, ...] = ()
    """What to collect or look at next; of ``could_not_look`` what is missing and the option that records it."""
    expected: tuple[Movement, ...] = ()
    source: str | None = None
    """Where the rule comes from: an upstream file name, a guide, or measured captures."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One line that every diagnosis starts with: cores used, real frequency, what was collected."""

    name: str
    value: float | int | str | None
    unit: str | None
    sentence: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The facts and outcomes of one kernel under one profile of the rule set; findings first, the worst on top."""

    kernel_id: int
    run_id: int
    operator: str | None
    mode: str
    duration_us: float | None
    profile: str
    rules_version: str
    facts: tuple[Fact, ...]
    outcomes: tuple[Finding, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Outcomes that are findings, the most time at stake first."""
        return tuple(outcome for outcome in self.outcomes if outcome.outcome == "finding")
