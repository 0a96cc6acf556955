"""How fast the memory system would let a kernel's volume pass: global memory, L2 and the cores' own ports.

All peaks are bytes per second here. Where the chip is only known by its family, the highest peak counts, so that
"at the roof" is not said too early. Which HBM vendor a board has is not recorded (source: formats section 6): the
second vendor's peaks are given as ``other``.
"""

from __future__ import annotations

from dataclasses import dataclass

from opprof_db.analysis.measures import GIB_PER_S, Measures

_TB = 1e12


@dataclass(frozen=True)
class MemoryRoof:
    """Shares are what the kernel reached of each limit, 0..1; ``None``: the limit is not known."""

    volume_bytes: float
    demand_bytes_s: float
    """Volume / task duration."""
    gm_peak: float | None
    l2_peak: float | None
    gm_peak_other: float | None
    hit_share: float | None
    """Share of the L2 requests that hit; ``None`` when not counted."""
    ports_us: float | None
    """Time the volume would take at one-core peak on all working cores."""

    @property
    def gm_share(self) -> float | None:
        """Demand / peak of global memory, as if nothing hit in L2."""
        return self.demand_bytes_s / self.gm_peak if self.gm_peak else None

    @property
    def mixed_peak(self) -> float | None:
        """Peak for this mix of hits (at L2's peak) and misses (at global memory's)."""
        if not self.gm_peak or not self.l2_peak:
            return self.gm_peak
        hits = self.hit_share or 0.0
        return 1.0 / (hits / self.l2_peak + (1.0 - hits) / self.gm_peak)

    @property
    def mixed_share(self) -> float | None:
        """Demand / ``mixed_peak``."""
        peak = self.mixed_peak
        return self.demand_bytes_s / peak if peak else None

    def least_us(self, factor: float = 1.0) -> float:
        """No shorter can the kernel get while it moves this volume (``factor`` of it), us; 0 when nothing is known."""
        peak = self.mixed_peak
        shared = self.volume_bytes / peak * 1e6 if peak else 0.0
        return factor * max(shared, self.ports_us or 0.0)


def memory_roof(m: Measures) -> MemoryRoof | None:
    """The roof of a kernel; ``None`` without a duration or the Memory family."""
    volume = m.traffic_bytes()
    if volume is None or not m.duration_us:
        return None

    def peak(column: str) -> float | None:
        value = m.chip.most(column)
        return value * _TB if value else None

    hits = m.l2_hits
    return MemoryRoof(
        volume,
        volume / (m.duration_us * 1e-6),
        peak("gm_peak_tb_s"),
        peak("l2_peak_tb_s"),
        peak("gm_peak_other_hbm_tb_s"),
        hits[0] / hits[1] if hits else None,
        _ports_us(m),
    )


_PORTS = (
    ("aiv", "gm_to_ub_datas_kb", "gm_to_ub_core_peak_gib_s"),
    ("aiv", "ub_to_gm_datas_kb", "ub_to_gm_core_peak_gib_s"),
    ("aic", "gm_to_l1_datas_kb", "gm_to_l1_core_peak_gib_s"),
    ("aic", "l0c_to_gm_datas_kb", "l0c_to_gm_core_peak_gib_s"),
)


def _ports_us(m: Measures) -> float | None:
    """The paths work at the same time, so the longest decides."""
    times = []
    for kind, volume, peak in _PORTS:
        moved, highest = m.total("memory", volume, kind), m.chip.most(peak)
        if moved and highest:
            times.append(1024.0 * moved / (highest * GIB_PER_S * len(m.working(kind))) * 1e6)
    return max(times, default=None)
