"""A gate for CI: is the candidate slower than the base by more than the rules allow, and is that sure?

Per pair of kernels, in this order: refused comparisons fail with the reason; the very same launches pass; a change up
to the threshold (or below the smallest change that counts) passes; one that noise could have made, and every change of
one launch against one, is inconclusive; what is left is a regression.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal

from opprof_db.analysis.gate_noise import Noise, noise
from opprof_db.analysis.gate_rules import KernelRules, Rules
from opprof_db.analysis.limits import Checked, check
from opprof_db.analysis.work import Work

Status = Literal["pass", "regression", "inconclusive", "refused", "ignored"]
_ROUNDING = 1e-9
"""A change of exactly the threshold is within it, whatever the last bits say."""


@dataclass(frozen=True, slots=True)
class GateSide:
    """The launches of a kernel on one side."""

    kernel_ids: tuple[int, ...]
    durations_us: tuple[float, ...]
    """Task durations that are recorded, us, in any order."""

    @property
    def median_us(self) -> float | None:
        """Median duration."""
        return median(self.durations_us) if self.durations_us else None


@dataclass(frozen=True, slots=True)
class GatePair:
    """A kernel that both sides have."""

    operator: str | None
    group: str
    """What tells it from other pairs of the same operator: block dim, device …; empty when it is the only one."""
    base: GateSide
    candidate: GateSide
    refused: tuple[str, ...] = ()
    """Why the two must not be compared."""
    warnings: tuple[str, ...] = ()
    chip_family: str | None = None


@dataclass(frozen=True, slots=True)
class Alone:
    """A kernel that only one side has."""

    operator: str | None
    group: str
    kernel_ids: tuple[int, ...]
    duration_us: float | None


@dataclass(frozen=True, slots=True)
class KernelGate:
    """What the gate says about one kernel."""

    operator: str | None
    group: str
    status: Status
    failed: bool
    reason: str
    """One sentence, with the figures in it."""
    base_us: float | None
    candidate_us: float | None
    base_launches: int
    candidate_launches: int
    change_us: float | None
    change_share: float | None
    """(candidate - base) / base of the medians."""
    threshold_share: float
    noise_us: float | None
    """What chance may make of the difference (timer and spread), us; ``None``: not estimated."""
    noise_timer_us: float
    forced: bool
    """Shown although the comparison was refused."""
    refused: tuple[str, ...]
    warnings: tuple[str, ...]
    base_kernel_ids: tuple[int, ...]
    candidate_kernel_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LimitGate:
    """What the gate says about one absolute limit and one kernel of the candidate."""

    operator: str | None
    group: str
    limit: str
    status: Literal["pass", "exceeded", "inconclusive", "does not apply"]
    failed: bool
    value: float | None
    unit: str | None
    reason: str
    kernel_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict and all it rests on."""

    base: str
    candidate: str
    passed: bool
    forced: bool
    """Whether refused comparisons were judged all the same."""
    summary: str
    kernels: tuple[KernelGate, ...]
    """Failed ones first, then by change, the largest first."""
    limits: tuple[LimitGate, ...]
    new: tuple[Alone, ...]
    vanished: tuple[Alone, ...]
    vanished_fail: bool
    warnings: tuple[str, ...]
    rules: Rules
    counts: Mapping[str, int] = field(default_factory=dict)
    """Kernels by status."""


def judge(
    connection: sqlite3.Connection,
    pairs: Sequence[GatePair],
    rules: Rules,
    *,
    base: str,
    candidate: str,
    new: Sequence[Alone] = (),
    vanished: Sequence[Alone] = (),
    force: bool = False,
    work: Mapping[str, Work] | Work | None = None,
    warnings: Sequence[str] = (),
) -> Gate:
    """Judge pairs of kernels. ``work``: stated work by operator (or of all), for limits on what was achieved.

    Raises:
        UsageError: a limit names a metric that does not exist.
    """
    kernels = tuple(sorted((_kernel(pair, rules, force=force) for pair in pairs), key=_worst_first))
    sides = [(pair.operator, pair.group, pair.candidate.kernel_ids) for pair in pairs]
    sides += [(one.operator, one.group, one.kernel_ids) for one in new]
    limits = tuple(sorted(_limits(connection, sides, rules, work), key=lambda one: not one.failed))
    named = [pair.operator or "" for pair in pairs] + [alone.operator or "" for alone in (*new, *vanished)]
    told = [*warnings]
    told += [f"no kernel is called {pattern!r}: its rules hold for nothing" for pattern in rules.unused(named)]
    if not pairs:
        told.append("base and candidate have no kernel in common: nothing was compared")
    vanished_fail = rules.vanished == "fail" and bool(vanished)
    failed = [one for one in kernels if one.failed]
    exceeded = [one for one in limits if one.failed]
    passed = not (failed or exceeded or vanished_fail or not pairs)
    counts: dict[str, int] = {}
    for one in kernels:
        counts[one.status] = counts.get(one.status, 0) + 1
    forced = any(one.forced for one in kernels)
    return Gate(
        base,
        candidate,
        passed,
        forced,
        _summary(kernels, exceeded, vanished if vanished_fail else (), passed=passed, forced=forced),
        kernels,
        limits,
        tuple(new),
        tuple(vanished),
        vanished_fail,
        tuple(told),
        rules,
        counts,
    )


def _kernel(pair: GatePair, rules: Rules, *, force: bool) -> KernelGate:
    own = rules.of(pair.operator)
    base, candidate = pair.base.median_us, pair.candidate.median_us
    held = noise(pair.base.durations_us, pair.candidate.durations_us, pair.chip_family)
    change = candidate - base if base is not None and candidate is not None else None
    same = bool(pair.base.kernel_ids) and set(pair.base.kernel_ids) == set(pair.candidate.kernel_ids)
    status, reason, more = _decide(pair, own, rules, held, same=same, force=force)
    return KernelGate(
        pair.operator,
        pair.group,
        status,
        status in ("regression", "refused") or (status == "inconclusive" and rules.inconclusive == "fail"),
        reason,
        base,
        candidate,
        len(pair.base.durations_us),
        len(pair.candidate.durations_us),
        change,
        change / base if change is not None and base else None,
        own.max_regression if own.max_regression is not None else rules.max_regression,
        None if held.spread_us is None else held.total_us,
        held.timer_us,
        force and bool(pair.refused) and status not in ("ignored", "refused"),
        pair.refused,
        (*pair.warnings, *more),
        pair.base.kernel_ids,
        pair.candidate.kernel_ids,
    )


def _decide(
    pair: GatePair, own: KernelRules, rules: Rules, held: Noise, *, same: bool, force: bool
) -> tuple[Status, str, tuple[str, ...]]:
    """(status, reason, warnings)."""
    if own.ignore:
        return "ignored", f"the rules for {own.pattern!r} say so", ()
    if pair.refused and not force:
        return "refused", f"must not be compared: {'; '.join(pair.refused)}", ()
    base, candidate = pair.base.median_us, pair.candidate.median_us
    if base is None or candidate is None:
        side = "base" if base is None else "candidate"
        return "inconclusive", f"the {side} records no task duration", ()
    if same:
        return "pass", "the very same launches", ()
    assert own.max_regression is not None and own.min_effect_us is not None and own.noise_floor is not None
    change = candidate - base
    share = change / base if base else 0.0
    says = f"{base:.6g} to {candidate:.6g} us, {share:+.2%}"
    limit = f"{own.max_regression:.4g}" if own.max_regression >= 1 else f"{100 * own.max_regression:.4g} %"
    single = len(pair.base.durations_us) == 1 and len(pair.candidate.durations_us) == 1
    if single and rules.inconclusive != "compare":
        return "inconclusive", f"{says}; one launch against one: no noise estimate", ()
    blunt: tuple[str, ...] = ()
    if held.total_us > own.max_regression * base:
        blunt = (f"noise of {held.total_us:.3g} us is more than the threshold ({limit}): collect more launches",)
    tolerance = _ROUNDING * max(base, candidate)
    if change <= own.max_regression * base + tolerance:
        return "pass", f"{says}; up to {limit} is allowed", blunt
    smallest = max(own.min_effect_us, own.noise_floor * base)
    if change <= smallest + tolerance:
        return "pass", f"{says}; changes up to {smallest:.3g} us count as none", blunt
    if change <= held.total_us and rules.inconclusive != "compare":
        what = (
            "the timer's steps" if held.spread_us is None or held.timer_us >= held.spread_us else "the launches' spread"
        )
        return "inconclusive", f"{says}, more than {limit}, but within {held.total_us:.3g} us of {what}", blunt
    return "regression", f"{says}: slower by more than {limit}", blunt


def _limits(
    connection: sqlite3.Connection,
    sides: Sequence[tuple[str | None, str, tuple[int, ...]]],
    rules: Rules,
    work: Mapping[str, Work] | Work | None,
) -> list[LimitGate]:
    made = []
    for operator, group, kernel_ids in sides:
        own = rules.of(operator)
        if own.ignore:
            continue
        stated = work if isinstance(work, Work) else (work or {}).get(operator or "")
        for limit in own.limits:
            checked = check(connection, limit, kernel_ids, stated)
            made.append(_limit(operator, group, checked, kernel_ids, rules))
    return made


def _limit(operator: str | None, group: str, checked: Checked, kernel_ids: tuple[int, ...], rules: Rules) -> LimitGate:
    unit = f" {checked.unit}" if checked.unit and checked.unit != "ratio" else ""
    value = f"{checked.metric} is {checked.value:.6g}{unit}" if checked.value is not None else checked.reason or ""
    status: Any = {"kept": "pass", "not collected": "inconclusive"}.get(checked.state, checked.state)
    reason = f"{value}, limit {checked.limit.text}" if checked.value is not None else f"{checked.metric}: {value}"
    # There is nothing to compare in a figure that is missing: only `pass` lets it through.
    failed = status == "exceeded" or (status == "inconclusive" and rules.inconclusive != "pass")
    return LimitGate(
        operator, group, checked.limit.text, status, failed, checked.value, checked.unit, reason, kernel_ids
    )


def _worst_first(one: KernelGate) -> tuple[bool, float, str, str, tuple[int, ...]]:
    share = one.change_share
    return (
        not one.failed,
        -share if share is not None else 0.0,
        one.operator or "",
        one.group,
        one.candidate_kernel_ids,
    )


def _summary(
    kernels: Sequence[KernelGate],
    exceeded: Sequence[LimitGate],
    vanished: Sequence[Alone],
    *,
    passed: bool,
    forced: bool,
) -> str:
    failed = [one for one in kernels if one.failed]
    parts = []
    for status, word in (("regression", "slower"), ("inconclusive", "inconclusive"), ("refused", "refused")):
        number = sum(one.status == status for one in failed)
        if number:
            parts.append(f"{number} {word}")
    if exceeded:
        parts.append(f"{len(exceeded)} limit{'s' * (len(exceeded) > 1)} not kept")
    if vanished:
        parts.append(f"{len(vanished)} vanished")
    compared = f"{len(kernels)} kernel{'s' * (len(kernels) != 1)} compared"
    text = "nothing to compare" if not kernels else f"{compared}: {', '.join(parts) or 'none slower than allowed'}"
    return f"{'passed' if passed else 'FAILED'}{' (forced)' if forced else ''}: {text}"
