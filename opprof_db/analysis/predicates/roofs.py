"""The rule about the roofline: by which roof a kernel is bound, or that none is near."""

from __future__ import annotations

from opprof_db.analysis.findings import Evidence
from opprof_db.analysis.measures import Measures
from opprof_db.analysis.predicates.base import CouldNotLookError, Limits, Verdict, fine, predicate
from opprof_db.analysis.predicates.pipes import cite_busy, saved
from opprof_db.analysis.roofline import Roofline, of_measures


def _cited(m: Measures, found: Roofline) -> tuple[Evidence, ...]:
    if found.derived:
        totals = []
        for kind in m.kinds:
            column = "aiv_vec_fops" if kind == "aiv" else "aic_cube_fops"
            if m.total("arithmetic_utilization", column, kind):
                totals.append(m.cite_total("ArithmeticUtilization", column, kind))
        return (*totals, m.cite_kernel("duration_us"))
    rows = m.connection.execute(
        "SELECT position, roof_share FROM roofline_points WHERE kernel_id = ? AND roof_share IS NOT NULL"
        " ORDER BY roof_share DESC LIMIT 1",
        (m.kernel_id,),
    ).fetchall()
    return tuple(
        Evidence("roofline_points", "roof_share", {"kernel_id": m.kernel_id, "position": row[0]}, row[1], None)
        for row in rows
    )


@predicate
def roofline_bound(m: Measures, limits: Limits) -> Verdict:
    """Bound by memory or compute, or by latency: then by what its busiest pipe is (source: msopprof roofline.cpp)."""
    if not m.on_device:
        raise CouldNotLookError("there is no device run of it", how="collect with `msprof op` on a device")
    found = of_measures(m)
    if found.bound == "unknown":
        what = "; ".join(found.missing) or "a point below its roof"
        wants = [
            "arithmetic_utilization.aiv_vec_fops" if "Arithmetic" in each else "memory.read_main_memory_datas_kb"
            for each in found.missing
            if "Arithmetic" in each or "Memory" in each
        ]
        raise CouldNotLookError(f"no roofline: missing {what}", *wants, how=None if wants else "--aic-metrics=Roofline")
    best = found.best
    assert best is not None
    says = f"{found.bound}, {100 * (best.share or 0):.0f} % of the {best.name} roof"
    origin = "derived from the CSVs" if found.derived else "msopprof's own points"
    values = {
        "bound": found.bound,
        "share": best.share or 0.0,
        "roof": best.name,
        "origin": origin,
        "pipe": found.busiest_pipe or "-",
        "pipe_share": found.busiest_share or 0.0,
    }
    cited = _cited(m, found)
    if not found.bound.startswith("latency bound"):
        return Verdict(True, values, cited, confidence="medium", severity="info")
    # Pipes that overlap well stand below 80 % too: only where none works for long is there much to win.
    if found.bound != "latency bound: pipeline" or (found.busiest_share or 0.0) >= limits["hardly_busy"]:
        return Verdict(True, values, cited, confidence="low", severity="info")
    kind = max(m.relevant(), key=lambda each: m.slowest(each).time_us, default=None)
    if kind is None:
        return fine(says)
    core = m.slowest(kind)
    gain, why = saved(m, core, m.others_busy(core))
    return Verdict(
        True, values, (*cited, *cite_busy(m, core)), gain, why.replace("other pipe", "pipe"), "low", kind=kind
    )
