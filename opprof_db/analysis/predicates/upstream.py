"""msopprof's own rules, literally (profile ``upstream``), with what is known to be wrong with them said aloud.

Source: msopprof occupancy.cpp, basic_op_and_pmu.cpp, storage_access.cpp. Facts only; the tool's words stand in
``vendor_advice`` where its bin was ingested.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from opprof_db.analysis.findings import Evidence
from opprof_db.analysis.measures import COMPUTE, KIB, Core, Measures, names, prefix
from opprof_db.analysis.predicates.base import CouldNotLookError, Limits, Verdict, device, fine, predicate
from opprof_db.analysis.predicates.cores import KIND_NAMES, sigmoid

Figure = Callable[[Core], float | None]


def _outliers(
    m: Measures, limits: Limits, figure: Figure, cite: Callable[[Core], Evidence], *, low: bool, wants: str
) -> tuple[Verdict, ...]:
    """Cores whose z-score, pressed into 0..1, reaches the score; all rows count, idle ones too."""
    device(m)
    verdicts = []
    for kind in m.kinds:
        held = {core: value for core in m.cores(kind) if (value := figure(core)) is not None}
        if not held:
            raise CouldNotLookError("the figure was not recorded", wants)
        mean = sum(held.values()) / len(held)
        deviation = math.sqrt(sum((value - mean) ** 2 for value in held.values()) / len(held))
        sign = -1.0 if low else 1.0
        marked = [
            core
            for core, value in held.items()
            if deviation > 0 and sigmoid(sign * (value - mean) / deviation) >= limits["score"]
        ]
        if not marked:
            verdicts.append(fine(f"{KIND_NAMES[kind]}: no core stands out", kind=kind))
            continue
        marked.sort(key=lambda core: sign * -held[core])
        verdicts.append(
            Verdict(
                True,
                {
                    "kind": KIND_NAMES[kind],
                    "which": names(marked),
                    "count": len(marked),
                    "cores": len(held),
                    "worst": held[marked[0]],
                    "mean": mean,
                },
                tuple(cite(core) for core in marked[:4]),
                confidence="low",
                severity="low",
                kind=kind,
            )
        )
    return tuple(verdicts)


@predicate
def upstream_slow_core(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """Cores that take more time than others."""
    return _outliers(m, limits, lambda core: core.time_us, m.cite_time, low=False, wants="pipe_utilization.aiv_time_us")


@predicate
def upstream_more_data(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """Cores that read and write more data than others."""

    def moved(core: Core) -> float | None:
        read = m.value("memory", "read_main_memory_datas_kb", core)
        written = m.value("memory", "write_main_memory_datas_kb", core)
        return None if read is None or written is None else KIB * (read + written)

    return _outliers(
        m,
        limits,
        moved,
        lambda core: m.cite("memory", "read_main_memory_datas_kb", core, "reads, of reads and writes"),
        low=False,
        wants="memory.read_main_memory_datas_kb",
    )


@predicate
def upstream_low_hit_rate(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """Cores whose L2 hit rate is lower than that of others."""

    def column(core: Core) -> str:
        return f"{prefix(core.kind)}_total_hit_rate_pct"

    return _outliers(
        m,
        limits,
        lambda core: m.value("l2_cache", column(core), core),
        lambda core: m.cite("l2_cache", column(core), core),
        low=True,
        wants="l2_cache.aiv_total_hit_rate_pct",
    )


@predicate
def upstream_low_compute(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """Cores whose compute unit is busy for less than a fifth of its time."""
    device(m)
    verdicts = []
    for kind in m.kinds:
        column = f"{prefix(kind)}_{COMPUTE[kind]}_time_us"
        held = {core: m.value("pipe_utilization", column, core) for core in m.cores(kind) if core.time_us}
        shares = {core: busy / core.time_us for core, busy in held.items() if busy is not None}
        if not shares:
            raise CouldNotLookError("busy times were not recorded", f"pipe_utilization.{column}")
        low = sorted((core for core in shares if shares[core] < limits["share"]), key=lambda core: shares[core])
        if not low:
            verdicts.append(fine(f"{KIND_NAMES[kind]}: the compute unit of every core is busy enough", kind=kind))
            continue
        verdicts.append(
            Verdict(
                True,
                {"kind": KIND_NAMES[kind], "count": len(low), "cores": len(shares), "worst": shares[low[0]]},
                tuple(m.cite("pipe_utilization", column, core) for core in low[:4]),
                confidence="low",
                severity="low",
                kind=kind,
            )
        )
    return tuple(verdicts)


_USAGE = {
    ("aiv", "mte2"): "gm_to_ub_bw_usage_rate_pct",
    ("aiv", "mte3"): "ub_to_gm_bw_usage_rate_pct",
    ("aic", "mte2"): "gm_to_l1_bw_usage_rate_pct",
}


@predicate
def upstream_low_active_bandwidth(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """Share of the peak / per cent of the time, below 0.8: a fraction over a percentage, so true of any active pipe."""
    device(m)
    verdicts = []
    for kind in m.kinds:
        for (each, pipe), usage_column in _USAGE.items():
            if each != kind:
                continue
            quotients = {}
            for core in m.cores(kind):
                usage, busy = m.value("memory", usage_column, core), m.busy(core, pipe)
                if usage is not None and busy:
                    quotients[core] = usage / 100 / (100 * busy / core.time_us)
            if not quotients:
                continue
            low = min(quotients, key=lambda core: quotients[core])
            if quotients[low] >= limits["quotient"]:
                verdicts.append(fine(f"{KIND_NAMES[kind]} {pipe}: {quotients[low]:.2f}", kind=kind))
                continue
            verdicts.append(
                Verdict(
                    True,
                    {
                        "kind": KIND_NAMES[kind],
                        "pipe": pipe.upper(),
                        "quotient": quotients[low],
                        "cores": len(quotients),
                    },
                    (m.cite("memory", usage_column, low),),
                    confidence="low",
                    severity="info",
                    kind=kind,
                )
            )
    if not verdicts:
        raise CouldNotLookError("usage or busy times were not recorded", "memory.gm_to_ub_bw_usage_rate_pct")
    return tuple(verdicts)


@predicate
def upstream_frequency(m: Measures, limits: Limits) -> Verdict:
    """Current frequency at or below 0.95 x rated; silent where the tool could not read it."""
    current, rated = m.kernel["current_freq_mhz"], m.kernel["rated_freq_mhz"]
    if not current or not rated:
        raise CouldNotLookError("the current frequency was not recorded", how="collect on a driver that reports it")
    cited = (m.cite_kernel("current_freq_mhz"), m.cite_kernel("rated_freq_mhz"))
    if current > limits["share"] * rated:
        return fine(f"{current} of {rated} MHz", *cited)
    return Verdict(True, {"freq": float(current), "rated": float(rated)}, cited, confidence="high", severity="medium")
