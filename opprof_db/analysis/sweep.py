"""The variants of one operator side by side: what a parameter sweep, told apart by labels, found.

A variant is a combination of label values (or of facts such as block_dim). Its duration is the median over all its
launches; the other figures are those of the launch whose duration is that median (the lower of two), and never
averaged over launches. Variants that were collected on another chip, in another mode or at another frequency stand
in groups of their own: the best is the best of its group.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median, median_low
from typing import Any

from opprof_db.analysis.choice import Choice, chosen, front, values
from opprof_db.analysis.history import Facts, facts_by_kernel
from opprof_db.analysis.trend import natural
from opprof_db.errors import UsageError

FACTS = ("block_dim", "mix_block_dim", "tiling_key", "op_type", "chip", "device_id", "run", "git_commit")
"""What may stand in for a label: recorded of every launch (git_commit: as given at ingest)."""
_LAUNCHES = (
    "SELECT k.kernel_id, k.run_id, k.run, k.op_type, k.mode, k.chip, k.device_id, k.duration_us, k.block_dim,"
    " k.mix_block_dim, k.tiling_key, f.current_freq_mhz, f.rated_freq_mhz, f.reduced"
    " FROM kernel_overview AS k INNER JOIN frequency AS f ON f.kernel_id = k.kernel_id"
    " WHERE k.operator = ? AND k.duration_us IS NOT NULL ORDER BY k.kernel_id"
)


@dataclass(frozen=True, slots=True)
class Pipe:
    """A pipe of one kind of core, with its share (0..1)."""

    core_kind: str
    pipe: str
    share: float


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of a bound is used: a range where the output does not say which memory the board has."""

    name: str
    """global memory, L2, or the roof as msopprof names it."""
    low_share: float
    high_share: float


@dataclass(frozen=True, slots=True)
class Variant:
    """All launches with the same values."""

    key: tuple[str | None, ...]
    """Value of each label, in the order of ``Sweep.by``; ``None``: has no such label."""
    kernel_id: int
    """The launch with the median duration, of which the figures below are."""
    kernel_ids: tuple[int, ...]
    runs: int
    median_us: float
    min_us: float
    max_us: float
    dominant: tuple[Pipe, ...]
    """Busiest pipe of each kind of core: total busy time / total core time. Empty: PipeUtilization not collected."""
    waits: tuple[Pipe, ...]
    """Largest wait of each kind of core, on its worst core. Empty: ResourceConflictRatio not collected."""
    limit: Limit | None
    """The bound that is used most; ``None``: chip or traffic unknown."""
    chosen: tuple[float | None, ...]
    """Values of the two metrics of the Pareto comparison."""
    behind_share: float | None
    """median / median of the best - 1; ``None`` where the best takes no time."""
    best: bool
    overlaps_best: bool | None
    """Whether the slowest launch of the best is slower than the fastest of this one: the order may be noise.
    ``None``: one launch, no noise estimate."""
    on_front: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Variants that may be compared."""

    conditions: Mapping[str, str | None]
    """op_type, chip, mode and frequency they share; a frequency of ``None`` is unknown."""
    variants: tuple[Variant, ...]
    cautions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """What ``sweep`` found."""

    operator: str
    by: tuple[str, ...]
    groups: tuple[Group, ...]
    """The one with most variants first."""
    pareto: tuple[Choice, ...]
    """The two metrics, or empty."""
    unlabelled: int
    """Launches with none of the labels; they are in no variant."""
    added: tuple[str, ...]
    """Facts in ``by`` that were not asked for, but differ within a label's value: other work, never one median."""


def sweep(
    connection: sqlite3.Connection,
    operator: str,
    *,
    by: Sequence[str] = (),
    where: Mapping[str, str] | None = None,
    pareto: tuple[str, str] | None = None,
) -> Sweep:
    """The variants of an operator.

    ``by`` names labels (or ``FACTS``); without it, all labels of which there are several values, else block dim and
    tiling key where these vary. ``where`` keeps launches with these labels or facts. ``pareto`` names two metrics
    (``choice.chosen``).

    Raises:
        UsageError: no launch with a duration, an unknown label, or nothing that varies.
    """
    facts = facts_by_kernel(connection, operator)
    cursor = connection.execute(_LAUNCHES, (operator,))
    names = [column[0] for column in cursor.description]
    launches = [dict(zip(names, row, strict=True)) for row in cursor]
    for launch in launches:
        launch["values"] = _values(launch, facts[launch["kernel_id"]])
    launches = [
        launch for launch in launches if all(launch["values"].get(key) == value for key, value in (where or {}).items())
    ]
    if not launches:
        raise UsageError(f"{operator}: no such launch with a duration", "`opprof-db kernels --op TEXT` lists them")
    keys = tuple(by) or _varying(launches, facts)
    known = {key for launch in launches for key in launch["values"]}
    for key in keys:
        if key not in known:
            raise UsageError(f"no launch of {operator} has the label {key!r}", f"there are: {', '.join(sorted(known))}")
    labelled = [launch for launch in launches if any(launch["values"].get(key) is not None for key in keys)]
    choices = tuple(chosen(connection, text) for text in pareto) if pareto else ()
    added = _differing(labelled, keys)
    groups, choices = _groups(connection, labelled, keys + added, choices)
    return Sweep(operator, keys + added, groups, choices, len(launches) - len(labelled), added)


def _differing(launches: Sequence[dict[str, Any]], keys: tuple[str, ...]) -> tuple[str, ...]:
    """Facts that say the launches of one variant are not the same work."""
    held: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for launch in launches:
        key = tuple(launch["values"].get(key) for key in keys)
        held[launch["op_type"], launch["chip"], launch["mode"], key].append(launch)
    return tuple(
        fact
        for fact in ("block_dim", "mix_block_dim", "tiling_key")
        if fact not in keys and any(len({launch[fact] for launch in own}) > 1 for own in held.values())
    )


def _values(launch: dict[str, Any], facts: Facts) -> dict[str, str]:
    """Labels, and facts under keys that no label has."""
    # A label that is called as a fact hides it.
    recorded = {key: launch.get(key) for key in FACTS} | {"git_commit": facts.conditions.get("git_commit")}
    return {key: str(value) for key, value in recorded.items() if value is not None} | dict(facts.labels)


def _varying(launches: Sequence[dict[str, Any]], facts: Mapping[int, Facts]) -> tuple[str, ...]:
    labels = sorted({key for launch in launches for key in facts[launch["kernel_id"]].labels})
    for candidates in (labels, ["block_dim", "tiling_key"]):
        found = tuple(key for key in candidates if len({launch["values"].get(key) for launch in launches}) > 1)
        if found:
            return found
    raise UsageError(
        "nothing tells variants apart: no label, block dim or tiling key differs between the launches",
        "label them (`opprof-db label KERNEL tile=64`, or at ingest --label-from-path), or name a fact with --by: "
        + ", ".join(FACTS),
    )


def _frequency(launch: dict[str, Any]) -> str | None:
    """The frequency as far as it is known: read, or estimated from the counters."""
    if launch["current_freq_mhz"] is not None:
        return f"{launch['current_freq_mhz']} MHz"
    if launch["reduced"] == 0 and launch["rated_freq_mhz"] is not None:
        return f"{launch['rated_freq_mhz']} MHz"
    return "below the rated one" if launch["reduced"] else None


def _groups(
    connection: sqlite3.Connection,
    launches: Sequence[dict[str, Any]],
    keys: tuple[str, ...],
    choices: tuple[Choice, ...],
) -> tuple[tuple[Group, ...], tuple[Choice, ...]]:
    held: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for launch in launches:
        held[launch["op_type"], launch["chip"], launch["mode"]].append(launch)
    apart: list[tuple[dict[str, str | None], list[dict[str, Any]], tuple[str, ...]]] = []
    for (op_type, chip, mode), together in held.items():
        frequencies = {_frequency(launch) for launch in together}
        known = frequencies - {None}
        base = {"op_type": op_type, "chip": chip, "mode": mode}
        if len(known) > 1:
            for frequency in sorted(frequencies, key=str):
                own = [launch for launch in together if _frequency(launch) == frequency]
                apart.append((base | {"frequency": frequency}, own, ()))
        else:
            unknown = sum(_frequency(launch) is None for launch in together)
            caution = (f"frequency unknown in {unknown} of {len(together)} launches",) if unknown else ()
            apart.append((base | {"frequency": next(iter(known), None)}, together, caution))
    per_variant = []
    for conditions, own, cautions in apart:
        variants: dict[tuple[str | None, ...], list[dict[str, Any]]] = defaultdict(list)
        for launch in own:
            variants[tuple(launch["values"].get(key) for key in keys)].append(launch)
        per_variant.append((conditions, variants, cautions))
    middle = [_middle(own)["kernel_id"] for _, variants, _ in per_variant for own in variants.values()]
    figures = []
    settled = []
    for choice in choices:
        with_core, found = values(connection, choice, middle)
        settled.append(with_core)
        figures.append(found)
    counters = _counters(connection, middle)
    groups = [
        Group(conditions, _variants(variants, counters, tuple(settled), figures), cautions)
        for conditions, variants, cautions in per_variant
    ]
    groups.sort(key=lambda group: -len(group.variants))
    return tuple(groups), tuple(settled)


def _middle(launches: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The launch with the median duration, of two the faster, of equals the first."""
    wanted = median_low(launch["duration_us"] for launch in launches)
    return next(launch for launch in launches if launch["duration_us"] == wanted)


def _variants(
    launches: Mapping[tuple[str | None, ...], Sequence[dict[str, Any]]],
    counters: Mapping[int, tuple[tuple[Pipe, ...], tuple[Pipe, ...], Limit | None]],
    choices: tuple[Choice, ...],
    figures: Sequence[Mapping[int, float | None]],
) -> tuple[Variant, ...]:
    medians = {key: median(launch["duration_us"] for launch in own) for key, own in launches.items()}
    best_key = min(medians, key=lambda key: medians[key])
    best = [launch["duration_us"] for launch in launches[best_key]]
    order = sorted(launches, key=lambda key: [(value is None, natural(value or "")) for value in key])
    middles = {key: _middle(launches[key])["kernel_id"] for key in order}
    chosen_values = {key: tuple(found[middles[key]] for found in figures) for key in order}
    on_front = (
        dict(zip(order, front([(v[0], v[1]) for v in (chosen_values[key] for key in order)], *choices), strict=True))
        if choices
        else {}
    )
    made = []
    for key in order:
        durations = [launch["duration_us"] for launch in launches[key]]
        dominant, waits, limit = counters[middles[key]]
        made.append(
            Variant(
                key,
                middles[key],
                tuple(launch["kernel_id"] for launch in launches[key]),
                len({launch["run_id"] for launch in launches[key]}),
                medians[key],
                min(durations),
                max(durations),
                dominant,
                waits,
                limit,
                chosen_values[key],
                medians[key] / medians[best_key] - 1 if medians[best_key] > 0 else None,
                medians[key] == medians[best_key],
                None if min(len(durations), len(best)) < 2 else min(durations) <= max(best),
                on_front.get(key, False),
            )
        )
    return tuple(made)


def _counters(
    connection: sqlite3.Connection, kernel_ids: Sequence[int]
) -> dict[int, tuple[tuple[Pipe, ...], tuple[Pipe, ...], Limit | None]]:
    found = {}
    for kernel in kernel_ids:
        dominant = tuple(
            Pipe(*row)
            for row in connection.execute(
                "SELECT core_kind, pipe, ratio FROM dominant_pipe WHERE kernel_id = ? ORDER BY core_kind", (kernel,)
            )
        )
        waits: dict[str, Pipe] = {}
        for core_kind, pipe, share in connection.execute(
            "SELECT core_kind, pipe, max_ratio FROM resource_conflicts WHERE kernel_id = ? AND conflict = 'wait'"
            " AND max_ratio IS NOT NULL ORDER BY core_kind, max_ratio DESC, pipe",
            (kernel,),
        ):
            waits.setdefault(core_kind, Pipe(core_kind, pipe, share))
        found[kernel] = (dominant, tuple(waits.values()), _limit(connection, kernel))
    return found


def _limit(connection: sqlite3.Connection, kernel: int) -> Limit | None:
    limits = [
        Limit(f"roof {title}: {name}", share, share)
        for title, name, share in connection.execute(
            "SELECT title, bandwidth_name, roof_share FROM roofline WHERE kernel_id = ? AND roof_share IS NOT NULL",
            (kernel,),
        )
    ]
    for l2, l2_other, gm, gm_other in connection.execute(
        "SELECT l2_limit_share, l2_limit_share_other, gm_limit_share, gm_limit_share_other FROM memory_limits"
        " WHERE kernel_id = ?",
        (kernel,),
    ):
        for name, shares in (("L2", (l2, l2_other)), ("global memory", (gm, gm_other))):
            known = [share for share in shares if share is not None]
            if known:
                limits.append(Limit(name, min(known), max(known)))
    return max(limits, key=lambda limit: limit.high_share, default=None)
