"""After a fix: did the metrics move as an entry of the knowledge base promised?

A figure moved when it changed by more than 2 % (two published measurements of one unchanged kernel, 2041.40 and
2049.78 us, differ by 0.4 %), of ratios by 0.005 at least, of percentages by half a point. "Same" is kept within 10 %.
How the cores of a launch become one figure is said in ``entry_metrics``; AIC and AIV are looked at apart.

The verdict rests on the movements that decide: ``denied`` when one of them went the other way; ``confirmed`` when all
of them that are recorded in both launches went as promised, the task duration among them where it was promised;
``not_confirmed`` when one stayed as it was (the time may have fallen for another reason); ``could_not_look`` when the
launches lack the figures. Whether the findings that the entry answers went away is shown beside it.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from opprof_db.analysis.diagnose import diagnose
from opprof_db.analysis.entry_metrics import CORE, EntryMetrics, MetricValue
from opprof_db.analysis.findings import Diagnosis
from opprof_db.analysis.pairs import Pair, pair
from opprof_db.errors import UsageError
from opprof_db.knowledge.model import Direction, Entry, Movement

NOISE = 0.02
FLOORS = {"ratio": 0.005, "%": 0.5}
"""Least change of figures with these units."""
KEPT = 0.10
DURATION = "duration_us"

Moved = Literal["as_promised", "opposite", "unmoved", "not_recorded"]
Verdict = Literal["confirmed", "denied", "not_confirmed", "could_not_look", "refused"]


@dataclass(frozen=True, slots=True)
class Checked:
    """One promised movement and what became of it."""

    metric: str
    core_kind: str | None
    statistic: str | None
    unit: str | None
    promised: Direction
    before: float | None
    after: float | None
    moved: Moved
    decides: bool
    why: str


@dataclass(frozen=True, slots=True)
class RuleBefore:
    """A finding before, of a rule the entry answers, and the same rule after."""

    rule: str
    after: str
    """finding, no_problem or could_not_look."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What ``verify`` found."""

    entry: str
    title: str
    verdict: Verdict
    sentence: str
    speed_up: float | None
    """Task duration before / after; ``None`` where one is not recorded."""
    checked: tuple[Checked, ...]
    rules: tuple[RuleBefore, ...]
    pair: Pair


def verify(
    connection: sqlite3.Connection, before: int, after: int, entry: Entry, *, force: bool = False
) -> Verification:
    """Compare two launches with what an entry promises; reads only. ``force`` looks at pairs that do not belong.

    Raises:
        UsageError: no such launch, twice the same, or the entry promises nothing.
    """
    if not entry.head.expected:
        raise UsageError(
            f"{entry.id} says of no metric how it should move", "patterns and recipes do: `opprof-db kb list`"
        )
    both = pair(connection, before, after)
    old, new = diagnose(connection, before), diagnose(connection, after)
    values = EntryMetrics(connection, before), EntryMetrics(connection, after)
    core = _core_of(entry, old, values[0])
    checked = tuple(found for promise in entry.head.expected for found in _checked(promise, core, *values))
    durations = both.before.duration_us, both.after.duration_us
    speed_up = durations[0] / durations[1] if durations[0] and durations[1] else None
    verdict, sentence = _verdict(checked)
    if both.refusals and not force:
        verdict, sentence = "refused", f"The two launches cannot be compared ({'; '.join(both.refusals)})."
        checked, speed_up = (), None
    return Verification(entry.id, entry.head.title, verdict, sentence, speed_up, checked, _rules(entry, old, new), both)


def _core_of(entry: Entry, diagnosis: Diagnosis, metrics: EntryMetrics) -> str:
    from opprof_db.analysis.recommend import core_of

    return core_of([one for one in diagnosis.findings if one.rule in entry.head.rules], metrics)


def _checked(promise: Movement, core: str, old: EntryMetrics, new: EntryMetrics) -> list[Checked]:
    metric = promise.metric.replace(CORE, core)
    before = {value.core_kind: value for value in old.of(metric)}
    after = {value.core_kind: value for value in new.of(metric)}
    kinds = [kind for kind in before if kind in after]
    if not kinds:
        known = next(iter([*before.values(), *after.values()]), None)
        kind, unit = (known.core_kind, known.unit) if known else (None, None)
        held = [each.get(kind) if kind else None for each in (before, after)]
        return [
            Checked(
                metric, kind, known.statistic if known else None, unit, promise.direction,
                held[0].value if held[0] else None, held[1].value if held[1] else None,
                "not_recorded", promise.decides, promise.why,
            )
        ]  # fmt: skip
    return [
        Checked(
            metric, kind, before[kind].statistic, before[kind].unit, promise.direction, before[kind].value,
            after[kind].value, moved(before[kind], after[kind], promise.direction), promise.decides, promise.why,
        )
        for kind in kinds
    ]  # fmt: skip


def moved(before: MetricValue, after: MetricValue, promised: Direction) -> Moved:
    """How a figure moved, against a promise."""
    change = after.value - before.value
    size = abs(before.value)
    floor = FLOORS.get(before.unit or "", 0.0)
    if promised == "same":
        return "as_promised" if abs(change) <= max(KEPT * size, floor) else "opposite"
    if abs(change) <= max(NOISE * size, floor):
        return "unmoved"
    return "as_promised" if (change > 0) == (promised == "up") else "opposite"


def _verdict(checked: tuple[Checked, ...]) -> tuple[Verdict, str]:
    deciding = [one for one in checked if one.decides and one.moved != "not_recorded"]
    if not deciding:
        return "could_not_look", "None of the metrics that decide is recorded in both launches."
    opposite = [one for one in deciding if one.moved == "opposite"]
    if opposite:
        return "denied", f"{_names(opposite)} went the other way than promised."
    kept = [one for one in deciding if one.moved == "as_promised"]
    unmoved = [one for one in deciding if one.moved == "unmoved"]
    if unmoved:
        said = f"{_names(kept)} moved as promised, but " if kept else ""
        return "not_confirmed", f"{said}{_names(unmoved)} did not move by more than 2 %."
    if any(one.metric == DURATION and one.decides and one.moved == "not_recorded" for one in checked):
        return "not_confirmed", f"{_names(kept)} moved as promised, but no task duration is recorded."
    return "confirmed", f"{_names(kept)} moved as promised."


def _names(checked: list[Checked]) -> str:
    names = list(dict.fromkeys(one.metric for one in checked))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _rules(entry: Entry, old: Diagnosis, new: Diagnosis) -> tuple[RuleBefore, ...]:
    found = dict.fromkeys(one.rule for one in old.findings if one.rule in entry.head.rules)
    return tuple(RuleBefore(rule, outcome_of(new, rule)) for rule in found)


def outcome_of(diagnosis: Diagnosis, rule: str) -> str:
    """What a rule says, a finding before anything else."""
    outcomes = {one.outcome for one in diagnosis.outcomes if one.rule == rule}
    return next((name for name in ("finding", "could_not_look", "no_problem") if name in outcomes), "could_not_look")
