"""Two selections of launches set side by side: what may be compared, what changed, and what happened."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from opprof_db.analysis.achieved import Achieved, achieved
from opprof_db.analysis.circumstances import Circumstances, circumstances
from opprof_db.analysis.comparability import Judgement, Reason, Verdict, judge
from opprof_db.analysis.durations import DurationChange, duration_change
from opprof_db.analysis.figures import Move, moves, slowest_cycles
from opprof_db.analysis.selection import Selection
from opprof_db.analysis.sentences import Seen, sentence
from opprof_db.analysis.sides import Group, groups, pairs
from opprof_db.analysis.work import Work
from opprof_db.errors import UsageError

EXPLAINED = 100
"""Pairs with the largest change whose metrics are read, where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class CycleChange:
    """Cycles of the slowest core of a kind: the duration without the frequency."""

    core_kind: str
    before: float
    after: float

    @property
    def change_share(self) -> float:
        """(after - before) / before."""
        return self.after / self.before - 1


@dataclass(frozen=True, slots=True)
class KernelPair:
    """One kernel on both sides."""

    name: str
    before: Group
    after: Group
    judgement: Judgement
    change: DurationChange | None
    """``None``: refused, or a side records no duration."""
    cycles: tuple[CycleChange, ...]
    """Of the typical launches (nearest the median); shown too where only the frequency refuses."""
    metrics: tuple[Move, ...]
    """Of the typical launches, the most important first; empty where refused or not asked for."""
    sentence: str
    forced: bool = False
    """Refused, and shown all the same."""
    achieved_before: Achieved | None = None
    achieved_after: Achieved | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the two may be compared."""
        return self.judgement.verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """What ``compare`` found."""

    before: Selection
    after: Selection
    verdict: Verdict
    """The worst of the pairs'."""
    reasons: tuple[Reason, ...]
    """Those of all pairs, each once, refusals first."""
    pairs: tuple[KernelPair, ...]
    """The largest change of time first."""
    only_before: tuple[Group, ...]
    """Kernels that vanished."""
    only_after: tuple[Group, ...]
    """New kernels."""
    forced: bool
    """Something was refused and is shown all the same: every output must say so."""

    @property
    def refused(self) -> bool:
        """Whether anything must not be compared."""
        return self.verdict == "not_comparable"


def compare(
    connection: sqlite3.Connection,
    before: Selection,
    after: Selection,
    *,
    force: bool = False,
    work: Work | Mapping[str, Work] | None = None,
    explained: int | None = EXPLAINED,
) -> Comparison:
    """Compare two selections; ``force`` shows refused figures, marked.

    ``work`` is what one operator has to do, or by operator's name; ``explained`` bounds the pairs whose metrics are
    read (``None``: all).

    Raises:
        UsageError: a side is empty.
    """
    for side in (before, after):
        if not side.kernel_ids:
            raise UsageError(f"{side.text!r} holds no launch")
    known = circumstances(connection, sorted({*before.kernel_ids, *after.kernel_ids}))
    together, only_before, only_after = _paired(connection, before, after)
    made = [_pair(one, other, known, force) for one, other in together]
    made.sort(key=lambda pair: (-abs(pair.change.change_us) if pair.change else 0.0, pair.name, pair.before.kernel_ids))
    made = [
        _explained(connection, pair, work) if explained is None or place < explained else pair
        for place, pair in enumerate(made)
    ]
    reasons = _reasons(made) if made else judge(_of(known, before.kernel_ids), _of(known, after.kernel_ids)).reasons
    if not made:
        reasons = tuple(reason for reason in reasons if reason.refuses)
    worst = Judgement(reasons).verdict
    return Comparison(
        before,
        after,
        worst,
        reasons,
        tuple(made),
        tuple(only_before),
        tuple(only_after),
        force and worst == "not_comparable",
    )


def _paired(
    connection: sqlite3.Connection, before: Selection, after: Selection
) -> tuple[list[tuple[Group, Group]], list[Group], list[Group]]:
    old, new = groups(connection, before.kernel_ids), groups(connection, after.kernel_ids)
    if before.kind == after.kind == "kernel" and len(old) == len(new) == 1:
        return [(old[0], new[0])], [], []  # both named: whatever they are called
    return pairs(old, new)


def _of(known: Mapping[int, Circumstances], ids: Sequence[int]) -> list[Circumstances]:
    return [known[one] for one in ids]


def _pair(before: Group, after: Group, known: Mapping[int, Circumstances], force: bool) -> KernelPair:
    judgement = judge(_of(known, before.kernel_ids), _of(known, after.kernel_ids))
    extra = []
    if before.operator != after.operator:
        names = before.operator or "unnamed", after.operator or "unnamed"
        extra.append(Reason("operator", False, f"kernel: {names[0]} before, {names[1]} after", *names))
    if bool(before.cold) != bool(after.cold) and 1 in (len(before.launches), len(after.launches)):
        extra.append(
            Reason(
                "cold",
                False,
                "a cold first launch was set aside on one side, the other has one launch, which may be cold",
            )
        )
    judgement = Judgement((*judgement.reasons, *extra), judgement.withheld)
    name = after.operator or before.operator or "(unnamed)"
    change = None
    old, new = ([value for value in side.durations_us if value > 0] for side in (before, after))
    if (judgement.comparable or force) and old and new:
        change = duration_change(old, new, known[before.typical].chip_family or known[after.typical].chip_family)
    refusal = "; ".join(reason.sentence for reason in judgement.reasons if reason.refuses)
    text = f"{name}: not comparable: {refusal}" if refusal and not force else sentence(name, change, (), {})
    return KernelPair(name, before, after, judgement, change, (), (), text, bool(refusal) and force)


def _explained(connection: sqlite3.Connection, pair: KernelPair, work: Work | Mapping[str, Work] | None) -> KernelPair:
    refusals = {reason.kind for reason in pair.judgement.reasons if reason.refuses}
    old, new = pair.before.typical, pair.after.typical
    cycles: tuple[CycleChange, ...] = ()
    if not refusals - {"frequency", "rated_frequency"} or pair.forced:
        mine, theirs = slowest_cycles(connection, old), slowest_cycles(connection, new)
        cycles = tuple(CycleChange(kind, mine[kind], theirs[kind]) for kind in sorted(mine) if kind in theirs)
    if refusals and not pair.forced:
        said = ", ".join(f"{one.core_kind} {one.before:g} before, {one.after:g} after" for one in cycles)
        return replace(
            pair, cycles=cycles, sentence=pair.sentence + (f"; cycles of the slowest core: {said}" if said else "")
        )
    found = moves(connection, old, new, pair.judgement.withheld)
    facts = {}
    blocks = pair.before.launches[0].block_dim, pair.after.launches[0].block_dim
    if blocks[0] and blocks[1]:
        facts["block_dim"] = Seen(*map(float, blocks))  # type: ignore[arg-type]
    if cycles:
        longest = max(cycles, key=lambda one: one.before)
        facts["cycles"] = Seen(longest.before, longest.after)
    text = sentence(pair.name, pair.change, found, facts)
    stated = work.get(pair.name) if isinstance(work, Mapping) else work
    return replace(
        pair,
        cycles=cycles,
        metrics=tuple(found),
        sentence=text,
        achieved_before=achieved(connection, old, stated),
        achieved_after=achieved(connection, new, stated),
    )


def _reasons(made: Sequence[KernelPair]) -> tuple[Reason, ...]:
    found = list(dict.fromkeys(reason for pair in made for reason in pair.judgement.reasons))
    return tuple(sorted(found, key=lambda reason: not reason.refuses))
