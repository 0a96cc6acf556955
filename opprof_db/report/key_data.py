"""The figures of a run that tell most: how long its kernels take, what they spend it on, what they move.

Read from the views, where they are named: AIC and AIV stay apart, no printed ratio is averaged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from opprof_db.analysis.predicates.cores import KIND_NAMES
from opprof_db.analysis.predicates.pipes import PIPE_NAMES
from opprof_db.report import numbers
from opprof_db.report.markdown_text import figure

_NOT_SIMULATED_PIPES = ("ALL", "FLOWCTRL")
"""Pseudo pipes of the simulator: barriers and branches, no unit that could be busy."""


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """One row of the key data."""

    kernel_id: int
    name: str | None
    """Operator."""
    metric: str
    """What it is, in words."""
    value: str
    """The figure with its unit, and what helps to read it."""
    column: str
    """Where it stands: ``view.column``."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch that stands for all of its kernel."""

    kernel_id: int
    name: str | None
    duration_us: float | None
    launches: int


def key_figures(connection: sqlite3.Connection, launches: Sequence[Launch], limit: int = 5) -> tuple[KeyFigure, ...]:
    """At most ``limit`` figures: durations of the longest kernels, then the longest one's pipes, cores and traffic."""
    longest = sorted(launches, key=lambda one: (-(one.duration_us or 0.0), one.kernel_id))
    found: list[KeyFigure] = []
    for rows in (_durations(longest), *(_of_kernel(connection, one) for one in longest)):
        for row in rows:
            if len(found) == limit:
                return tuple(found)
            found.append(row)
    return tuple(found)


def _durations(launches: Iterable[Launch]) -> Iterator[KeyFigure]:
    for one in launches:
        if one.duration_us is None:
            continue
        many = f" (median of {one.launches} launches)" if one.launches > 1 else ""
        # All digits: this is what people look up in OpBasicInfo.csv.
        value = f"{numbers.exact(one.duration_us)} us{many}"
        yield KeyFigure(one.kernel_id, one.name, "Task Duration", value, "kernels.duration_us")


def _of_kernel(connection: sqlite3.Connection, launch: Launch) -> Iterator[KeyFigure]:
    for part in (_pipes, _balance, _traffic, _cache, _simulated):
        for metric, value, column in part(connection, launch.kernel_id):
            yield KeyFigure(launch.kernel_id, launch.name, metric, value, column)


Rows = Iterator[tuple[str, str, str]]


def _pipes(connection: sqlite3.Connection, kernel_id: int) -> Rows:
    for kind, pipe, ratio, second, second_ratio in connection.execute(
        "SELECT core_kind, pipe, ratio, second_pipe, second_ratio FROM dominant_pipe WHERE kernel_id = ?"
        " AND ratio IS NOT NULL ORDER BY max_time_us DESC, core_kind",
        (kernel_id,),
    ):
        then = f", then {PIPE_NAMES.get(second, second)} {numbers.percent(second_ratio)}" if second else ""
        yield (
            f"Busiest {_kind(kind)} pipe, share of the working cores' time",
            f"{PIPE_NAMES.get(pipe, pipe)} {numbers.percent(ratio)}{then}",
            "dominant_pipe.ratio",
        )


def _balance(connection: sqlite3.Connection, kernel_id: int) -> Rows:
    for kind, cores, idle, chip, slowest, mean in connection.execute(
        "SELECT core_kind, cores, idle_cores, chip_cores, max_us, mean_us FROM core_balance WHERE kernel_id = ?"
        " AND max_us IS NOT NULL ORDER BY max_us DESC",
        (kernel_id,),
    ):
        of = f" of the chip's {chip}" if chip else ""
        idling = f", {idle} idle" if idle else ""
        yield (
            f"Slowest {_kind(kind)} core",
            f"{figure(slowest)} us (mean {figure(mean)} us; {cores} cores{of} launched{idling})",
            "core_balance.max_us",
        )


def _traffic(connection: sqlite3.Connection, kernel_id: int) -> Rows:
    for kind, path, volume, bandwidth, per_instruction in connection.execute(
        "SELECT core_kind, path, volume_kib, kernel_bw_gib_s, bytes_per_instruction FROM memory_traffic"
        " WHERE kernel_id = ? AND volume_kib > 0 AND path NOT IN ('read_main_memory', 'write_main_memory')"
        " ORDER BY volume_kib DESC, path LIMIT 2",
        (kernel_id,),
    ):
        rate = f" at {figure(bandwidth)} GiB/s" if bandwidth is not None else ""
        each = f", {figure(per_instruction)} bytes an instruction" if per_instruction is not None else ""
        yield (
            f"Traffic {_path(path)} ({_kind(kind)}), volume",
            f"{figure(volume)} KiB{rate}{each}",
            "memory_traffic.volume_kib",
        )


def _cache(connection: sqlite3.Connection, kernel_id: int) -> Rows:
    for kind, rate, requests in connection.execute(
        "SELECT core_kind, hit_rate_pct, requests FROM l2_hit_rates WHERE kernel_id = ? AND access = 'all'"
        " AND hit_rate_pct IS NOT NULL ORDER BY coalesce(requests, 0) DESC, core_kind LIMIT 1",
        (kernel_id,),
    ):
        of = f" of {requests:,.0f} requests" if requests is not None else " (as printed)"
        yield f"L2 hits ({_kind(kind)})", f"{figure(rate)} %{of}", "l2_hit_rates.hit_rate_pct"


def _simulated(connection: sqlite3.Connection, kernel_id: int) -> Rows:
    """The pipes with most cycles on one core; simulated cycles of a pipe overlap, so no share is made of them."""
    marks = ", ".join("?" for _ in _NOT_SIMULATED_PIPES)
    for core, kind, pipe, cycles, waits, barriers in connection.execute(
        "SELECT core, core_kind, pipe, max(cycles), wait_cycles, barrier_cycles FROM simulated_pipes"
        f" WHERE kernel_id = ? AND cycles > 0 AND pipe NOT IN ({marks}) GROUP BY core_kind, pipe"
        " ORDER BY max(cycles) DESC, core, pipe LIMIT 5",
        (kernel_id, *_NOT_SIMULATED_PIPES),
    ):
        lost = [f"{count:,} {what}" for count, what in ((waits, "waiting"), (barriers, "in barriers")) if count]
        of_these = f" ({', '.join(lost)})" if lost else ""
        yield (
            f"Simulated cycles of {pipe} ({_kind(kind)}), most on one core",
            f"{cycles:,} cycles on {core}{of_these}",
            "simulated_pipes.cycles",
        )


def _kind(kind: str) -> str:
    return KIND_NAMES.get(kind, kind)


def _path(path: str) -> str:
    """``gm_to_ub`` as ``GM to UB``."""
    return " ".join(part if part == "to" else part.upper() for part in path.split("_"))
