"""Under which circumstances launches were collected, as far as the warehouse knows; read for many at once."""

from __future__ import annotations

import sqlite3
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any

STATED = (
    "timer", "tool_version", "cann_version", "aic_metrics", "warm_up", "replay_mode", "l2_state", "kernel_scale",
)  # fmt: skip
"""Conditions of a run, or labels of these names, that must be equal where both sides state them."""
HEAD_US = 2.0
"""The task duration holds a head of at most about this beside the slowest core, us."""
_LAUNCHES = """
SELECT k.id, k.run_id, r.name, k.mode, r.soc, r.chip_family, k.op_type, k.block_dim, k.mix_block_dim, k.duration_us,
    k.current_freq_mhz, k.rated_freq_mhz, k.clock_mhz, k.clock_source, r.started_at
FROM kernels AS k INNER JOIN runs AS r ON r.id = k.run_id WHERE k.id IN ({marks})"""
_ESTIMATES = """
SELECT v.kernel_id, max(v.max) FROM kernel_metrics AS v INNER JOIN metrics AS m ON m.id = v.metric_id
WHERE m.family = 'PipeUtilization' AND m.vendor_name IN ('derived:aic_real_freq_mhz', 'derived:aiv_real_freq_mhz')
    AND v.kernel_id IN ({marks}) GROUP BY v.kernel_id"""
_COLUMNS = """
SELECT DISTINCT m.family, m.column_name FROM kernel_metrics AS v INNER JOIN metrics AS m ON m.id = v.metric_id
WHERE v.kernel_id = ? AND m.formula IS NULL AND m.column_name IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What is known of how one launch was collected; ``None``: not recorded."""

    kernel_id: int
    run_id: int
    run: str
    mode: str
    soc: str | None
    chip_family: str | None
    op_type: str | None
    block_dim: int | None
    mix_block_dim: int | None
    duration_us: float | None
    current_freq_mhz: int | None
    rated_freq_mhz: int | None
    clock_mhz: float | None
    """Clock of a simulator run."""
    clock_source: str | None
    started_at: str | None
    estimated_mhz: tuple[float, float] | None
    """Cycles of the slowest core over the task duration, and over the duration without its head: the real frequency
    lies between. Not for mix kernels."""
    stated: Mapping[str, str]
    families: frozenset[str]
    """CSV families with values, of the first launch looked at in its run."""
    built_since: str | None
    """The columns prove a build of this date or later."""
    built_before: str | None
    """The columns prove an older build."""

    @property
    def mix(self) -> bool | None:
        """Whether both kinds of core took part; ``None`` when the type is not recorded."""
        return None if self.op_type is None else self.op_type == "mix"

    @property
    def timer(self) -> str:
        """Which clock durations are by."""
        return self.stated.get("timer") or ("simulated clock" if self.mode == "simulator" else "task duration")


def circumstances(connection: sqlite3.Connection, kernel_ids: Sequence[int]) -> dict[int, Circumstances]:
    """Circumstances of launches by their id."""
    rows = list(_in_parts(connection, _LAUNCHES, kernel_ids))
    estimates = dict(_in_parts(connection, _ESTIMATES, kernel_ids))
    stated = _stated(connection, {row[0]: row[1] for row in rows})
    of_run: dict[int, tuple[frozenset[str], str | None, str | None]] = {}
    found = {}
    for row in rows:
        kernel, run, family, op_type, duration = row[0], row[1], row[5], row[6], row[9]
        if run not in of_run:
            held = connection.execute(_COLUMNS, (kernel,)).fetchall()
            of_run[run] = (frozenset(one for one, _ in held), *build_window(family, [name for _, name in held]))
        low = estimates.get(kernel)
        between = None
        if low and op_type != "mix" and duration and duration > 2 * HEAD_US:
            between = (low, low * duration / (duration - HEAD_US))
        families, since, before = of_run[run]
        facts: tuple[Any, ...] = (*row, between, stated.get(kernel, {}), families, since, before)
        found[kernel] = Circumstances(*facts)
    return found


def build_window(chip_family: str | None, columns: Sequence[str]) -> tuple[str | None, str | None]:
    """(since, before): the dates between which the build lies, as far as its columns prove it."""
    since: str | None = None
    before: str | None = None
    for marker in _markers():
        if chip_family is not None and chip_family not in marker["chips"]:
            continue
        if not any(fnmatchcase(column, pattern) for column in columns for pattern in marker["columns"]):
            continue
        if "since" in marker:
            since = max(since or "", marker["since"])
        if "before" in marker and chip_family is not None:
            before = min(before or "9999", marker["before"])
        elif "before" in marker and marker["chips"] == ["950"] and not any("r1_read" in column for column in columns):
            before = min(before or "9999", marker["before"])  # only the 950 had no r1 columns beside r0
    return since, before


def stated_sets(text: str) -> str:
    """Metric sets in one spelling, so that order and case do not count."""
    return ",".join(sorted({part.strip().lower() for part in text.replace("|", ",").split(",") if part.strip()}))


@cache
def _markers() -> list[dict[str, Any]]:
    text = files("opprof_db.analysis").joinpath("builds.toml").read_text(encoding="utf-8")
    markers: list[dict[str, Any]] = tomllib.loads(text)["marker"]
    return markers


def _stated(connection: sqlite3.Connection, run_of: Mapping[int, int]) -> dict[int, dict[str, str]]:
    of_run: dict[int, dict[str, str]] = defaultdict(dict)
    sql = "SELECT run_id, key, value FROM run_conditions WHERE run_id IN ({marks}) ORDER BY kind DESC"
    for run, key, value in _in_parts(connection, sql, sorted(set(run_of.values()))):
        if key in STATED:
            of_run[run][key] = value
    found = {kernel: dict(of_run.get(run, {})) for kernel, run in run_of.items()}
    sql = "SELECT kernel_id, key, value FROM kernel_labels WHERE kernel_id IN ({marks})"
    for kernel, key, value in _in_parts(connection, sql, list(run_of)):
        if key in STATED:
            found[kernel][key] = value
    for told in found.values():
        if "aic_metrics" in told:
            told["aic_metrics"] = stated_sets(told["aic_metrics"])
    return found


def _in_parts(connection: sqlite3.Connection, sql: str, values: Sequence[int], size: int = 500) -> Iterator[Any]:
    for start in range(0, len(values), size):
        part = list(values[start : start + size])
        yield from connection.execute(sql.format(marks=",".join("?" * len(part))), part)
