"""Achieved against possible: what a launch reached of the chip's peaks, from the work that somebody stated.

Rates are decimal (10^12 operations, 10^9 bytes per second); the peaks of memory are too (chips.toml), so that shares
need no conversion. A peak is a range where the chip, or the board's HBM vendor, is not recorded.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from opprof_db.analysis.measures import Measures
from opprof_db.analysis.work import Work, stored

_CUBE_OPS = {"float16": 8192, "bfloat16": 8192, "int8": 16384, "uint8": 16384}
_VECTOR_OPS = {"float32": 64, "float16": 128, "int32": 64, "int16": 128}
"""Operations a cycle of one core; other types have no published figure (source: formats section 6)."""


@dataclass(frozen=True, slots=True)
class Achieved:
    """What one launch reached; ``None``: cannot be told, ``missing`` says why."""

    kernel_id: int
    operator: str | None
    duration_us: float
    work: Work
    tflops: float | None
    """10^12 operations per second."""
    peak_tflops: float | None
    peak_tflops_of: str | None
    flops_share: float | None
    """tflops / peak (0..1)."""
    gb_s: float | None
    """10^9 bytes per second of the bytes needed, over the task duration."""
    peak_gb_s: float | None
    """Peak of global memory."""
    peak_gb_s_other: float | None
    """The same with the other HBM vendor."""
    bytes_share: float | None
    moved_bytes: float | None
    """Volume counted between all cores and L2."""
    excess: float | None
    """moved / needed; 1.0 is ideal, whole requests make it a little more."""
    missing: tuple[str, ...]


def achieved(connection: sqlite3.Connection, kernel_id: int, work: Work | None = None) -> Achieved | None:
    """Achieved of a launch; ``work`` wins over what is stored for its operator. ``None`` when neither states any."""
    measures = Measures(connection, kernel_id)
    return of_measures(measures, work or stored(connection, measures.kernel["operator"]))


def of_measures(m: Measures, work: Work | None) -> Achieved | None:
    """The same, from figures that were read already."""
    if work is None or (work.flops is None and work.bytes is None) or m.duration_us is None:
        return None
    seconds = m.duration_us * 1e-6
    missing = []
    tflops = work.flops / seconds / 1e12 if work.flops is not None else None
    peak, of = _compute_peak(m, work)
    if tflops is not None and peak is None:
        missing.append(of or "the chip's compute peak")
    rate = work.bytes / seconds / 1e9 if work.bytes is not None else None
    memory = m.chip.most("gm_peak_tb_s")
    other = m.chip.most("gm_peak_other_hbm_tb_s")
    if rate is not None and memory is None:
        missing.append("the chip's memory peak: ingest with --soc")
    moved = m.traffic_bytes()
    if work.bytes is not None and moved is None:
        missing.append("the volume moved: collect --aic-metrics=Memory")
    return Achieved(
        m.kernel_id,
        m.kernel["operator"],
        m.duration_us,
        work,
        tflops,
        peak,
        of if peak is not None else None,
        tflops / peak if tflops is not None and peak else None,
        rate,
        memory * 1e3 if memory else None,
        other * 1e3 if other else None,
        rate / (memory * 1e3) if rate is not None and memory else None,
        moved,
        moved / work.bytes if moved is not None and work.bytes else None,
        tuple(missing),
    )


def _compute_peak(m: Measures, work: Work) -> tuple[float | None, str | None]:
    """Peak of the unit that computes, 10^12 operations per second, and its name; or ``None`` and what is missing."""
    mhz = m.kernel["current_freq_mhz"] or m.kernel["rated_freq_mhz"]
    if not mhz:
        return None, "the frequency"
    cube = m.total("pipe_utilization", "aic_cube_time_us", "aic") or m.total(
        "pipe_utilization", "aic_cube_time_us", "aicore"
    )
    dtype = work.dtype or ("float16" if cube else "float32")
    table, column, unit = (_CUBE_OPS, "aic_cores", "cube") if cube else (_VECTOR_OPS, "aiv_cores", "vector")
    cores, each = m.chip.most(column), table.get(dtype)
    if cores is None:
        return None, "the chip's cores: ingest with --soc"
    if each is None:
        return None, f"the {unit} peak for {dtype}"
    return each * mhz * 1e6 * cores / 1e12, f"{unit} {dtype}, {cores:g} cores at {mhz:g} MHz"
