"""Comparisons as plain values and rows: what JSON, CSV and agents get."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from opprof_db.analysis.compare import Comparison, KernelPair
from opprof_db.analysis.sides import Group

COLUMNS = (
    "kernel", "before_kernel_id", "after_kernel_id", "verdict", "forced", "before_launches", "after_launches",
    "before_us", "after_us", "change_share", "low_share", "high_share", "p_value", "direction", "shown", "sentence",
)  # fmt: skip


def comparison_object(found: Comparison) -> dict[str, Any]:
    """The whole comparison; ``forced`` marks figures that must not be compared."""
    return {
        "before": asdict(found.before),
        "after": asdict(found.after),
        "verdict": found.verdict,
        "forced": found.forced,
        "reasons": [asdict(reason) for reason in found.reasons],
        "pairs": [pair_object(pair) for pair in found.pairs],
        "only_before": [group_object(group) for group in found.only_before],
        "only_after": [group_object(group) for group in found.only_after],
    }


def pair_object(pair: KernelPair) -> dict[str, Any]:
    """One kernel on both sides."""
    return {
        "name": pair.name,
        "verdict": pair.verdict,
        "forced": pair.forced,
        "reasons": [asdict(reason) for reason in pair.judgement.reasons],
        "withheld": dict(pair.judgement.withheld),
        "sentence": pair.sentence,
        "duration": asdict(pair.change) if pair.change else None,
        "cycles": [{**asdict(one), "change_share": one.change_share} for one in pair.cycles],
        "before": group_object(pair.before),
        "after": group_object(pair.after),
        "metrics": [asdict(move) for move in pair.metrics],
        "achieved_before": asdict(pair.achieved_before) if pair.achieved_before else None,
        "achieved_after": asdict(pair.achieved_after) if pair.achieved_after else None,
    }


def group_object(group: Group) -> dict[str, Any]:
    """The launches of one kernel on one side."""
    return {
        "operator": group.operator,
        "kernel_ids": list(group.kernel_ids),
        "durations_us": list(group.durations_us),
        "median_us": group.median_us,
        "cold_kernel_ids": [launch.kernel_id for launch in group.cold],
        "block_dim": group.launches[0].block_dim,
        "tiling_key": group.launches[0].tiling_key,
        "device_id": group.launches[0].device_id,
    }


def comparison_table(found: Comparison) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """A row a kernel; new and vanished ones have one side."""
    rows = [_row(pair) for pair in found.pairs]
    for group, verdict in [(one, "vanished") for one in found.only_before] + [(one, "new") for one in found.only_after]:
        old = verdict == "vanished"
        ids = (group.typical, None) if old else (None, group.typical)
        counts = (len(group.launches), 0) if old else (0, len(group.launches))
        times = (group.median_us, None) if old else (None, group.median_us)
        rows.append((group.operator, *ids, verdict, 0, *counts, *times, *(None,) * 7))
    return COLUMNS, rows


def _row(pair: KernelPair) -> tuple[Any, ...]:
    change = pair.change
    figures: tuple[Any, ...] = (None,) * 8
    if change is not None:
        shown = None if change.shown is None else int(change.shown)
        figures = (change.before_us, change.after_us, change.change_share, change.low_share, change.high_share,
                   change.p_value, change.direction, shown)  # fmt: skip
    sides = pair.before, pair.after
    return (
        pair.name,
        *(side.typical for side in sides),
        pair.verdict,
        int(pair.forced),
        *(len(side.launches) for side in sides),
        *figures,
        pair.sentence,
    )
