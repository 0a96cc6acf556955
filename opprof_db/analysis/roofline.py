"""Where a kernel stands under its roofs: msopprof's own points where it made them, else derived from the CSVs.

Derived points use what the CSVs count (operations, volumes, L2 misses) and the chip facts, and say so. Which HBM
vendor a board has is not recorded: points on global memory and L2 carry the other vendor's peak too, so the roof is a
range (source: formats section 6, msopprof roofline.cpp).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from opprof_db.analysis.measures import GIB_PER_S, KIB, Measures
from opprof_db.analysis.memory_roof import memory_roof

BOUND_SHARE = 0.8
"""Above this share of its roof a kernel is bound by it (source: msopprof roofline.cpp)."""
_TERA = 1e12
REQUEST_BYTES = 128


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel under one roof."""

    title: str
    name: str
    """Memory path of the roof."""
    intensity: float
    """Operations per byte."""
    achieved: float
    """10^12 operations per second."""
    roof: float
    """Height of the roof at that intensity, 10^12 operations per second."""
    ridge: float
    """Intensity at which the slope meets the flat part, operations per byte."""
    share: float | None
    """achieved / roof; ``None`` where the point lies above the roof, so one of the figures is off."""
    side: str
    """memory: under the slope; compute: under the flat part."""
    compute_name: str
    compute_tops: float
    bandwidth_tb_s: float
    bandwidth_other_tb_s: float | None
    """Peak with the other HBM vendor; ``None`` where that makes no difference."""
    derived: bool


@dataclass(frozen=True, slots=True)
class Roofline:
    """All points of a kernel."""

    kernel_id: int
    points: tuple[Point, ...]
    bound: str
    """memory bound, compute bound, latency bound: pipeline|memory|compute, or unknown."""
    derived: bool
    missing: tuple[str, ...]
    """What kept points from being derived."""
    busiest_pipe: str | None
    """Pipe with the largest share, which tells the kinds of latency bound apart."""
    busiest_share: float | None

    @property
    def best(self) -> Point | None:
        """The point nearest to its roof."""
        held = [point for point in self.points if point.share is not None]
        return max(held, key=lambda point: point.share or 0.0, default=None)


def roofline(connection: sqlite3.Connection, kernel_id: int) -> Roofline:
    """The roofline of a kernel; ``points`` is empty where neither the vendor's nor derived ones can be had."""
    return of_measures(Measures(connection, kernel_id))


def of_measures(m: Measures) -> Roofline:
    """The same, from figures that were read already."""
    points, missing = _vendor(m), tuple[str, ...]()
    derived = not points
    if derived:
        points, missing = _derived(m)
    pipe, share = _busiest(m)
    return Roofline(m.kernel_id, points, _bound(points, pipe, share), derived, missing, pipe, share)


def _vendor(m: Measures) -> tuple[Point, ...]:
    rows = m.connection.execute(
        "SELECT title, bandwidth_name, bandwidth_tb_s, compute_name, compute_tflops, ops_per_byte, tops"
        " FROM roofline_points WHERE kernel_id = ? ORDER BY position",
        (m.kernel_id,),
    ).fetchall()
    return tuple(
        _point(title or "", name or "", ops, tops, peak, None, compute or "", flat, derived=False)
        for title, name, peak, compute, flat, ops, tops in rows
        if None not in (peak, flat, ops, tops) and peak > 0 and flat > 0
    )


def _point(
    title: str,
    name: str,
    intensity: float,
    achieved: float,
    peak: float,
    other: float | None,
    compute: str,
    flat: float,
    *,
    derived: bool,
) -> Point:
    slope = intensity * peak
    roof, side = (slope, "memory") if slope < flat else (flat, "compute")
    share = achieved / roof if roof and achieved <= roof else None
    return Point(title, name, intensity, achieved, roof, flat / peak, share, side, compute, flat, peak, other, derived)


def _bound(points: tuple[Point, ...], pipe: str | None, share: float | None) -> str:
    """As msopprof words it: bound by the nearest roof above 80 %, else latency bound by what its pipes show."""
    held = [point for point in points if point.share is not None]
    if not held:
        return "unknown"
    best = max(held, key=lambda point: point.share or 0.0)
    if (best.share or 0.0) > BOUND_SHARE:
        return f"{best.side} bound"
    if share is None:
        return "latency bound"
    if share < BOUND_SHARE:
        return "latency bound: pipeline"
    return "latency bound: memory" if (pipe or "").startswith("mte") else "latency bound: compute"


def _busiest(m: Measures) -> tuple[str | None, float | None]:
    held = {(kind, pipe): share for kind in m.relevant() for pipe, share in m.shares(kind).items()}
    if not held:
        return None, None
    kind, pipe = max(held, key=lambda key: held[key])
    return pipe, held[kind, pipe]


@dataclass(frozen=True, slots=True)
class _Unit:
    """What a kind of compute unit did and could do."""

    kind: str
    name: str
    operations: float
    peak: float
    """Operations per second of all cores of the chip, for the mix of types that ran."""


_VECTOR_TYPES = ("fp32", "fp16", "int32", "int16", "misc")


def _units(m: Measures) -> list[_Unit]:
    """Operations are the vendor's own counts; the peak weighs them as they ran (source: msopprof roofline.cpp)."""
    mhz = m.kernel["current_freq_mhz"] or m.kernel["rated_freq_mhz"]
    found = []
    for kind in m.kinds:
        unit, prefix = ("vec", "aiv") if kind == "aiv" else ("cube", "aic")
        if kind == "aicore" or not mhz:
            continue
        cores = m.chip.most("aiv_cores" if kind == "aiv" else "aic_cores")
        operations = m.total("arithmetic_utilization", f"{prefix}_{unit}_fops", kind)
        if not operations or not cores:
            continue
        if unit == "cube":
            integers = m.total("arithmetic_utilization", "aic_cube_int_instr_number", kind) or 0.0
            each, name = (16384.0, "cube int8") if integers else (8192.0, "cube fp16")
        else:
            events = _events(m, kind)
            if not events:
                continue
            each, name = operations / events, "vector"
        found.append(_Unit(kind, name, operations, each * mhz * 1e6 * cores))
    return found


def _events(m: Measures, kind: str) -> float:
    """Vector events: busy cycles by type (ratios are over the core's cycles, in mix kernels over the task's)."""
    total = 0.0
    mhz = m.kernel["current_freq_mhz"] or m.kernel["rated_freq_mhz"] or 0.0
    for core in m.working(kind):
        cycles = m.value("arithmetic_utilization", f"{kind}_total_cycles", core) or 0.0
        if m.mix and m.header_family == "910B" and m.duration_us:
            cycles = int(m.duration_us) * mhz
        for name in _VECTOR_TYPES:
            total += cycles * (m.value("arithmetic_utilization", f"{kind}_vec_{name}_ratio", core) or 0.0)
    return total


_PATHS = (
    ("aiv", "gm_to_ub_datas_kb", "GM_TO_UB", "gm_to_ub_core_peak_gib_s", "aiv_cores"),
    ("aiv", "ub_to_gm_datas_kb", "UB_TO_GM", "ub_to_gm_core_peak_gib_s", "aiv_cores"),
    ("aic", "gm_to_l1_datas_kb", "GM_TO_L1", "gm_to_l1_core_peak_gib_s", "aic_cores"),
    ("aic", "l0c_to_gm_datas_kb", "L0C_TO_GM", "l0c_to_gm_core_peak_gib_s", "aic_cores"),
)


def _derived(m: Measures) -> tuple[tuple[Point, ...], tuple[str, ...]]:
    missing = []
    if m.duration_us is None:
        missing.append("the task duration")
    if not m.rows("arithmetic_utilization"):
        missing.append("ArithmeticUtilization (operations)")
    if not m.rows("memory"):
        missing.append("Memory (volumes)")
    if m.chip.most("gm_peak_tb_s") is None:
        missing.append("the chip's peaks (ingest with --soc)")
    if "aicore" in m.kinds:
        missing.append("per-core figures (310P prints one row)")
    units = [] if missing else _units(m)
    if not missing and not units:
        missing.append("operations: the compute units counted none")
    if missing or m.duration_us is None:
        return (), tuple(missing)
    seconds = m.duration_us * 1e-6
    operations, flat = sum(unit.operations for unit in units), sum(unit.peak for unit in units)
    name = " + ".join(unit.name for unit in units)
    points = []
    roof = memory_roof(m)
    gm_bytes_s = m.single("SELECT gm_bw_gib_s FROM memory_limits WHERE kernel_id = ?")
    shared = (
        ("GM", (gm_bytes_s or 0.0) * GIB_PER_S * seconds, "gm_peak_tb_s", "gm_peak_other_hbm_tb_s"),
        ("L2_CACHE", roof.volume_bytes if roof else 0.0, "l2_peak_tb_s", "l2_peak_other_hbm_tb_s"),
    )
    for path, volume, column, other in shared:
        peak = m.chip.most(column)
        if volume and peak:
            points.append(
                _point(
                    "GM/L2",
                    path,
                    operations / volume,
                    operations / seconds / _TERA,
                    peak,
                    m.chip.most(other),
                    name,
                    flat / _TERA,
                    derived=True,
                )
            )
    for kind, column, path, one_core, cores in _PATHS:
        unit = next((unit for unit in units if unit.kind == kind), None)
        moved, each, count = m.total("memory", column, kind), m.chip.most(one_core), m.chip.most(cores)
        if unit is None or not moved or not each or not count:
            continue
        title = "Memory Transfer(Vector)" if kind == "aiv" else "Memory Transfer(Cube)"
        points.append(
            _point(
                title,
                path,
                unit.operations / (KIB * moved),
                unit.operations / seconds / _TERA,
                each * GIB_PER_S * count / _TERA,
                None,
                unit.name,
                unit.peak / _TERA,
                derived=True,
            )
        )
    return tuple(points), ()
