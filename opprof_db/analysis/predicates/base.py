"""What a predicate is: a small named function that looks at one kernel and says what it found, with its evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from opprof_db.analysis.findings import Confidence, Evidence, Severity
from opprof_db.analysis.measures import Measures

Limits = Mapping[str, float]
"""Thresholds of a rule under a profile, by name."""


@dataclass(frozen=True)
class Verdict:
    """What a predicate says about one kernel, kind of core, or core."""

    found: bool
    values: Mapping[str, object] = field(default_factory=dict)
    """What the rule's sentence is filled with."""
    evidence: tuple[Evidence, ...] = ()
    recoverable_us: float | None = None
    why: str | None = None
    """How ``recoverable_us`` was reckoned."""
    confidence: Confidence = "medium"
    severity: Severity | None = None
    """``None``: graded by the time at stake."""
    kind: str | None = None
    """Kind of core it is about, for rules that give way to others."""
    core: str | None = None
    note: str | None = None
    """Sentence of its own instead of the rule's: why there is no problem."""


class CouldNotLookError(Exception):
    """Something the predicate needs is not there. ``wants``: columns ``table.column`` whose sets to collect."""

    def __init__(self, what: str, *wants: str, how: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.wants = wants
        self.how = how
        """What to do, where collecting a metric set is not it."""


Predicate = Callable[[Measures, Limits], Verdict | tuple[Verdict, ...]]
PREDICATES: dict[str, Predicate] = {}


def predicate(function: Predicate) -> Predicate:
    """Make a predicate known by its function's name."""
    PREDICATES[function.__name__] = function
    return function


def fine(note: str, *evidence: Evidence, kind: str | None = None) -> Verdict:
    """Looked, no problem."""
    return Verdict(False, note=note, evidence=evidence, kind=kind)


def device(m: Measures) -> None:
    """Raise unless the launch has device figures with cores and a duration."""
    if not m.on_device:
        raise CouldNotLookError("there is no device run of it", how="collect with `msprof op` on a device")
    if not m.kinds:
        raise CouldNotLookError(
            "no core's time was recorded", "pipe_utilization.aiv_time_us", "pipe_utilization.aic_time_us"
        )


def duration(m: Measures) -> float:
    """The task duration, us."""
    if m.duration_us is None:
        raise CouldNotLookError("the task duration was not recorded", how="collect again: OpBasicInfo.csv has none")
    return m.duration_us


def plural(count: float, what: str) -> str:
    """``1 core``, ``8 cores``."""
    return f"{count:g} {what}" if count == 1 else f"{count:g} {what}s"
