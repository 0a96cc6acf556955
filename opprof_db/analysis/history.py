"""A kernel over the runs: one point a run, in time, for trends and for reports.

Launches of one run count as one point when device, full name and block dim are equal (view ``launch_statistics``).
Launches without a recorded duration (simulators, cut collections) make no point; they are counted, not lost.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_POINTS = (
    "SELECT run_id, run, started_at, op_type, tiling_key, name, chip, device_id, block_dim, current_freq_mhz,"
    " launches, min_us, median_us, max_us, first_kernel_id, cold_first"
    " FROM launch_statistics WHERE operator = ?"
)
_LAUNCHES = (
    "SELECT kernel_id, run_id, device_id, name, block_dim, mix_block_dim, mode, duration_us"
    " FROM kernel_overview WHERE operator = ? ORDER BY launch_index, kernel_id"
)
_RUN_CONDITIONS = (
    "SELECT c.run_id, c.kind, c.key, c.value FROM run_conditions AS c"
    " WHERE c.run_id IN (SELECT run_id FROM kernel_overview WHERE operator = ?)"
)
_KERNEL_LABELS = (
    "SELECT k.kernel_id, l.key, l.value FROM kernel_overview AS k"
    " CROSS JOIN kernel_labels AS l WHERE l.kernel_id = k.kernel_id AND k.operator = ?"
)
_FREQUENCY = "SELECT kernel_id, estimated_freq_mhz, reduced FROM frequency WHERE operator = ?"


@dataclass(frozen=True, slots=True)
class Shape:
    """What must be equal for launches to be the same work: what is recorded of it. Input shapes are not."""

    op_type: str | None
    tiling_key: str | None
    block_dim: int | None
    mix_block_dim: int | None
    chip: str | None
    mode: str


@dataclass(frozen=True, slots=True)
class Point:
    """The launches of one kernel in one run, on one device."""

    run_id: int
    run: str
    started_at: str | None
    """Local time of the machine that ran it (ISO 8601); ``None`` when the data does not say."""
    device_id: int | None
    name: str | None
    shape: Shape
    kernel_ids: tuple[int, ...]
    """Launches with a duration, in order of launch."""
    durations_us: tuple[float, ...]
    """Their task durations, us, in the same order."""
    median_us: float
    min_us: float
    max_us: float
    cold_first: int | None
    """1: the first launch is slower than all later ones and by 10 % than their median; ``None`` below three."""
    current_freq_mhz: int | None
    """As read during collection; ``None``: unknown, or not the same for all launches."""
    estimated_freq_mhz: float | None
    """Of the first launch, from its cycles and duration; too low by what the head of the task takes."""
    reduced: int | None
    """1: ran below the rated frequency; 0: did not; ``None``: cannot be told (view ``frequency``, first launch)."""
    conditions: Mapping[str, str]
    """git_commit, tool_version, replay_mode …, as given at ingest or found."""
    labels: Mapping[str, str]
    """Labels of the run, and of its launches where all of them have the same value; a launch's own count first."""


@dataclass(frozen=True, slots=True)
class History:
    """Everything the warehouse holds of one operator's durations."""

    operator: str
    points: tuple[Point, ...]
    """By start, then run; those whose start is unknown last."""
    without_duration: int
    """Launches of the operator that record none."""


def history(connection: sqlite3.Connection, operator: str) -> History:
    """Read the points of an operator, named exactly as ``kernel_overview`` does."""
    launches: dict[tuple[Any, ...], list[sqlite3.Row | tuple[Any, ...]]] = defaultdict(list)
    without_duration = 0
    for row in connection.execute(_LAUNCHES, (operator,)):
        if row[7] is None:
            without_duration += 1
        else:
            launches[tuple(row[1:5])].append(row)
    facts = facts_by_kernel(connection, operator)
    frequency = {row[0]: row[1:] for row in connection.execute(_FREQUENCY, (operator,))}
    points = []
    for row in connection.execute(_POINTS, (operator,)):
        run_id, run, started_at, op_type, tiling_key, name, chip, device_id, block_dim, current, *figures = row
        _, min_us, median_us, max_us, first, cold_first = figures
        held = launches[run_id, device_id, name, block_dim]
        estimated, reduced = frequency.get(first, (None, None))
        points.append(
            Point(
                run_id,
                run,
                started_at,
                device_id,
                name,
                Shape(op_type, tiling_key, block_dim, held[0][5], chip, held[0][6]),
                tuple(launch[0] for launch in held),
                tuple(launch[7] for launch in held),
                median_us,
                min_us,
                max_us,
                cold_first,
                current,
                estimated,
                reduced,
                facts[first].conditions,
                _common([facts[launch[0]].labels for launch in held]),
            )
        )
    points.sort(key=lambda p: (p.started_at is None, p.started_at or "", p.run_id, p.kernel_ids))
    return History(operator, tuple(points), without_duration)


@dataclass(frozen=True, slots=True)
class Facts:
    """What people said about a launch."""

    labels: Mapping[str, str]
    """Its own labels, and those of its run under other keys."""
    conditions: Mapping[str, str]
    """git_commit, tool_version, … of its run."""


def facts_by_kernel(connection: sqlite3.Connection, operator: str) -> dict[int, Facts]:
    """Labels and conditions of every launch of an operator."""
    said: dict[str, dict[int, dict[str, str]]] = {"label": defaultdict(dict), "condition": defaultdict(dict)}
    for run_id, kind, key, value in connection.execute(_RUN_CONDITIONS, (operator,)):
        said[kind][run_id][key] = value
    own: dict[int, dict[str, str]] = defaultdict(dict)
    for kernel_id, key, value in connection.execute(_KERNEL_LABELS, (operator,)):
        own[kernel_id][key] = value
    return {
        row[0]: Facts(said["label"][row[1]] | own[row[0]], said["condition"][row[1]])
        for row in connection.execute(_LAUNCHES, (operator,))
    }


def _common(labels: list[Mapping[str, str]]) -> dict[str, str]:
    """What all of them say."""
    return {key: value for key, value in labels[0].items() if all(each.get(key) == value for each in labels)}
