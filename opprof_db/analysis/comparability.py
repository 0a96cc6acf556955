"""Whether two groups of launches may be compared, and why not.

Differences that the data proves refuse; what it does not record warns, after the real frequency was estimated from the
counters. Block dim and core types are what tuning changes: they warn, and columns that are over other denominators then
are withheld (source: formats of msopprof, section 2).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

from opprof_db.analysis.circumstances import STATED, Circumstances, circumstances
from opprof_db.catalog import load

Verdict = Literal["comparable", "comparable_with_warnings", "not_comparable"]
FREQUENCY_SHARE = 0.01
"""Frequencies may differ by so much."""
_UNRECORDED = {"tool_version": "msopprof build", "aic_metrics": "metric sets", "warm_up": "warm-up",
               "replay_mode": "replay mode", "l2_state": "L2 state"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that differs, or is not known."""

    kind: str
    """mode, timer, chip, rated_frequency, frequency, clock, build, block_dim, mix, families, unrecorded, …"""
    refuses: bool
    sentence: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether two groups of launches may be compared."""

    reasons: tuple[Reason, ...]
    withheld: Mapping[str, str] = field(default_factory=dict)
    """Metrics (SQL column) that must not be set side by side -> why."""

    @property
    def verdict(self) -> Verdict:
        """The worst that the reasons say."""
        if any(reason.refuses for reason in self.reasons):
            return "not_comparable"
        return "comparable_with_warnings" if self.reasons else "comparable"

    @property
    def comparable(self) -> bool:
        """Whether nothing refuses."""
        return self.verdict != "not_comparable"


def comparability(connection: sqlite3.Connection, before: Sequence[int], after: Sequence[int]) -> Judgement:
    """Judge two groups of launches by their ids."""
    known = circumstances(connection, sorted({*before, *after}))
    return judge([known[one] for one in before], [known[one] for one in after])


def judge(before: Sequence[Circumstances], after: Sequence[Circumstances]) -> Judgement:
    """Judge two groups of launches. A group with itself is comparable, whatever is not known of it."""
    if {one.kernel_id for one in before} == {one.kernel_id for one in after}:
        return Judgement(())
    reasons = [*_known(before, after), *_stated(before, after)]
    withheld: dict[str, str] = {}
    reasons += _frequency(before, after)
    reasons += _build(before, after, withheld)
    reasons += _shape(before, after, withheld)
    reasons += _unrecorded(before, after)
    return Judgement(tuple(reasons), withheld)


Side = Sequence[Circumstances]


def _known(before: Side, after: Side) -> Iterable[Reason]:
    facts: tuple[tuple[str, str, Callable[[Circumstances], Any]], ...] = (
        ("mode", "mode", lambda one: one.mode),
        ("timer", "timer", lambda one: one.timer),
        ("chip", "chip", lambda one: one.soc),
        ("chip", "chip family", lambda one: one.chip_family),
        ("rated_frequency", "rated frequency, MHz", lambda one: one.rated_freq_mhz),
        ("clock", "simulated clock, MHz", lambda one: one.clock_mhz),
    )
    told: set[str] = set()
    for kind, what, get in facts:
        reason = _differ(kind, what, _values(before, get), _values(after, get))
        if reason is not None and kind not in told and not (kind == "timer" and "mode" in told):
            told.add(kind)
            yield reason


def _stated(before: Side, after: Side) -> Iterable[Reason]:
    for key in STATED[1:]:
        reason = _differ(
            key,
            key,
            {one.stated[key] for one in before if key in one.stated},
            {one.stated[key] for one in after if key in one.stated},
        )
        if reason is not None:
            yield reason


def _values(side: Side, get: Callable[[Circumstances], Any]) -> set[Any]:
    return {value for value in map(get, side) if value is not None}


def _differ(kind: str, what: str, one: set[Any], other: set[Any]) -> Reason | None:
    """A refusal where both sides know a value and they are not all the same."""
    if not one or not other or len(one | other) == 1:
        return None
    numbers = [value for value in one | other if isinstance(value, int | float)]
    if len(numbers) == len(one | other) and max(numbers) - min(numbers) <= FREQUENCY_SHARE * max(numbers):
        return None
    mine, theirs = _listed(one), _listed(other)
    return Reason(kind, True, f"{what}: {mine} before, {theirs} after", mine, theirs)


def _listed(values: Iterable[Any]) -> str:
    return " and ".join(sorted(f"{value:g}" if isinstance(value, float) else str(value) for value in values))


def _frequency(before: Side, after: Side) -> Iterable[Reason]:
    if all(one.mode == "simulator" for one in (*before, *after)):
        return
    one, other = (_values(side, lambda each: each.current_freq_mhz) for side in (before, after))
    refused = _differ("frequency", "frequency, MHz", one, other)
    if refused is not None:
        yield refused
    unknown = [
        name
        for name, side in (("before", before), ("after", after))
        if any(each.current_freq_mhz is None and each.mode != "simulator" for each in side)
    ]
    if not unknown:
        return
    where = "on both sides" if len(unknown) == 2 else unknown[0]
    mine, theirs = _between(before), _between(after)
    if mine is None or theirs is None:
        yield Reason(
            "frequency", False, f"frequency not recorded {where}, and the counters do not allow to estimate it"
        )
        return
    texts = tuple(f"{low:.0f} to {high:.0f} MHz" for low, high in (mine, theirs))
    if mine[1] * (1 + FREQUENCY_SHARE) < theirs[0] or theirs[1] * (1 + FREQUENCY_SHARE) < mine[0]:
        sentence = (
            f"frequency not recorded {where}; the counters say {texts[0]} before, {texts[1]} after: it probably "
            "changed, trust cycles rather than times"
        )
    else:
        sentence = f"frequency not recorded {where}; the counters say {texts[0]} before, {texts[1]} after: alike"
    yield Reason("frequency", False, sentence, *texts)


def _between(side: Side) -> tuple[float, float] | None:
    """Where the real frequency of a side lies: as recorded, else as the counters say."""
    held = []
    for one in side:
        if one.current_freq_mhz is not None:
            held.append((float(one.current_freq_mhz),) * 2)
        elif one.estimated_mhz is not None:
            held.append(one.estimated_mhz)
    return (min(low for low, _ in held), max(high for _, high in held)) if held else None


def _build(before: Side, after: Side, withheld: dict[str, str]) -> Iterable[Reason]:
    """Refuse where columns prove that the builds differ; withhold what changed in between."""
    for old, new, names in ((before, after, ("before", "after")), (after, before, ("after", "before"))):
        until = min((one.built_before for one in old if one.built_before), default=None)
        since = max((one.built_since for one in new if one.built_since), default=None)
        if until is None or since is None or until > since:
            continue
        families = {one.chip_family for one in (*old, *new) if one.chip_family}
        changes = [
            change
            for change in load().changes
            if until <= change.date <= since and (not families or families & set(change.chips))
        ]
        for change in changes:
            for metric in load().metrics:
                if (change.family in (None, metric.family)) and any(
                    fnmatchcase(metric.column, pattern) for pattern in change.columns if pattern != "*"
                ):
                    withheld[metric.column] = f"changed on {change.date}: {change.effect}"
        dates = ", ".join(sorted({change.date for change in changes}))
        yield Reason(
            "build",
            True,
            f"msopprof builds: the columns {names[0]} are those of a build before {until}, the columns {names[1]} of "
            f"one since {since}"
            + (f"; formulas changed on {dates}: {len(withheld)} columns mean something else" if changes else ""),
            f"before {until}" if names[0] == "before" else f"since {since}",
            f"since {since}" if names[0] == "before" else f"before {until}",
        )
        return


def _shape(before: Side, after: Side, withheld: dict[str, str]) -> Iterable[Reason]:
    for kind, what, get in (
        ("block_dim", "block dim", lambda one: one.block_dim),
        ("mix_block_dim", "mix block dim", lambda one: one.mix_block_dim),
    ):
        one, other = _values(before, get), _values(after, get)
        if one and other and one != other:
            mine, theirs = _listed(one), _listed(other)
            yield Reason(kind, False, f"{what}: {mine} before, {theirs} after", mine, theirs)
    one, other = _values(before, lambda each: each.op_type), _values(after, lambda each: each.op_type)
    if not one or not other or one == other:
        return
    mine, theirs = _listed(one), _listed(other)
    yield Reason("op_type", False, f"type: {mine} before, {theirs} after", mine, theirs)
    if ("mix" in one) == ("mix" in other):
        return
    why = "of mix kernels it is over the task duration, of others over the core's own cycles"
    on_950 = "950" in {each.chip_family for each in (*before, *after)}
    over = {"bandwidth_time", "one_core_peak"} if on_950 else {"core_cycles", "bandwidth_time", "one_core_peak"}
    withheld.update({metric.column: why for metric in load().metrics if metric.denominator in over})


def _unrecorded(before: Side, after: Side) -> Iterable[Reason]:
    if {one.run_id for one in before} == {one.run_id for one in after} and len({one.run_id for one in before}) == 1:
        return
    one = frozenset[str]().union(*(each.families for each in before))
    other = frozenset[str]().union(*(each.families for each in after))
    if one != other:
        only = [
            f"only {name}: {', '.join(sorted(held))}"
            for name, held in (("before", one - other), ("after", other - one))
            if held
        ]
        yield Reason("families", False, f"not the same metrics were collected ({'; '.join(only)})")
    missing = [
        name
        for key, name in _UNRECORDED.items()
        if not all(key in each.stated for each in (*before, *after))
        and not (key == "tool_version" and any(each.built_since or each.built_before for each in (*before, *after)))
    ]
    if missing:
        yield Reason("unrecorded", False, f"not recorded on both sides, taken for equal: {', '.join(missing)}")
