"""Rules about memory: the roof, the size of transfers, reuse."""

from __future__ import annotations

from opprof_db.analysis.findings import Evidence
from opprof_db.analysis.measures import GIB_PER_S, KIB, TRANSFER_PIPES, Core, Measures
from opprof_db.analysis.memory_roof import MemoryRoof, memory_roof
from opprof_db.analysis.predicates.base import CouldNotLookError, Limits, Verdict, device, duration, fine, predicate
from opprof_db.analysis.predicates.cores import KIND_NAMES
from opprof_db.analysis.predicates.pipes import PIPE_NAMES, cite_busy, floor_us, need_pipes, relevant, saved

_MIB = 1024.0 * KIB

PATHS = {
    ("aiv", "mte2"): ("GM to UB", "gm_to_ub_datas_kb", "aiv_mte2_instructions", "gm_to_ub_core_peak_gib_s"),
    ("aiv", "mte3"): ("UB to GM", "ub_to_gm_datas_kb", "aiv_mte3_instructions", "ub_to_gm_core_peak_gib_s"),
    ("aic", "mte2"): ("GM to L1", "gm_to_l1_datas_kb", "aic_mte2_instructions", "gm_to_l1_core_peak_gib_s"),
}
"""(kind, pipe) -> path, its volume, its instructions, its one-core peak. The 310P prints volumes of all blocks."""


def need_roof(m: Measures) -> MemoryRoof:
    """The roof; raises where volumes or peaks are missing."""
    roof = memory_roof(m)
    duration(m)
    if roof is None:
        raise CouldNotLookError("the volumes were not recorded", "memory.read_main_memory_datas_kb")
    if roof.gm_peak is None:
        raise CouldNotLookError(
            "the peak of this chip's memory is not known", how="ingest again with --soc, such as Ascend910B4"
        )
    return roof


def cite_traffic(m: Measures) -> tuple[Evidence, ...]:
    """Volumes, duration, peak."""
    columns = ("read_main_memory_datas_kb", "write_main_memory_datas_kb")
    totals = [
        m.cite_total("Memory", column, kind, f"all {KIND_NAMES[kind]} cores")
        for kind in m.kinds
        for column in columns
        if m.total("memory", column, kind) is not None
    ]
    return (*totals, m.cite_kernel("duration_us"), *m.cite_chip("gm_peak_tb_s"))


def at_roof(m: Measures, share: float, busy: float) -> tuple[bool, bool]:
    """(at the roof, certainly): the demand against the peaks.

    Hits may be left over from the warm-up and the replays (L2 is not flushed in application replay nor, before
    2026-01-22, on many machines), so a kernel whose transfers never pause and ask for the peak of global memory is at
    its limit whatever the hit counters say.
    """
    roof = memory_roof(m)
    if roof is None or roof.gm_share is None or roof.mixed_share is None:
        return False, False
    if roof.mixed_share >= share:
        return True, True
    transfers = [m.share(kind, pipe) or 0.0 for kind in m.relevant() for pipe in TRANSFER_PIPES]
    return roof.gm_share >= share and max(transfers, default=0.0) >= busy, False


@predicate
def at_memory_roof(m: Measures, limits: Limits) -> Verdict:
    """The volume passes about as fast as the memory system allows: move less, do not tune transfers."""
    device(m)
    roof = need_roof(m)
    at, certain = at_roof(m, limits["share"], limits["busy"])
    gm, mixed = roof.gm_share or 0.0, roof.mixed_share or 0.0
    cited = cite_traffic(m)
    demand = roof.demand_bytes_s / 1e12
    if not at:
        hit = "hits in L2 counted" if roof.hit_share is not None else "no hits counted"
        return fine(f"{demand:.2f} TB/s are {100 * mixed:.0f} % of what memory allows ({hit})", *cited)
    took = m.duration_us or 0.0
    reached = mixed if certain else gm
    return Verdict(
        True,
        {
            "demand": demand,
            "peak": (roof.mixed_peak if certain else roof.gm_peak or 0.0) / 1e12,  # type: ignore[operator]
            "share": reached,
            "volume": roof.volume_bytes / _MIB,
            "what": "global memory and L2 allow for its hits" if certain else "global memory allows",
            "doubt": ""
            if certain
            else "; L2 counted hits, but they may be left over from the warm-up"
            if (roof.hit_share or 0) > 0.2
            else "",
        },
        cited,
        max(0.0, took * (1 - min(1.0, reached))),
        f"{took:.1f} us x (1 - {reached:.2f}): what transfer tuning alone could still bring",
        "high" if certain else "medium",
        severity="medium",
    )


def _stated_bound(m: Measures, kind: str) -> tuple[str, float]:
    shares = need_pipes(m, kind)
    pipe = max((one for one in TRANSFER_PIPES if one in shares), key=lambda one: shares[one], default="mte2")
    return pipe, shares.get(pipe, 0.0)


@predicate
def transfer_bound(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """A transfer pipe is busy nearly all the time, and the memory roof is not reached."""
    verdicts = []
    for kind in relevant(m):
        pipe, share = _stated_bound(m, kind)
        core = m.slowest(kind)
        cited = cite_busy(m, core, pipe)
        says = f"{KIND_NAMES[kind]}: {PIPE_NAMES[pipe]} is busy for {share:.2f}"
        if share < limits["share"]:
            verdicts.append(fine(says, *cited, kind=kind))
            continue
        at, _ = at_roof(m, limits["roof_share"], limits["share"])
        if at:
            verdicts.append(fine(f"{says}, at the memory roof", *cited, kind=kind))
            continue
        roof = memory_roof(m)
        gain, why = saved(m, core, m.others_busy(core, pipe))
        below = f", with {100 * roof.mixed_share:.0f} % of what memory allows" if roof and roof.mixed_share else ""
        verdicts.append(
            Verdict(
                True,
                {
                    "kind": KIND_NAMES[kind],
                    "pipe": PIPE_NAMES[pipe],
                    "pipe_column": pipe,
                    "share": share,
                    "below": below,
                },
                (*cited, *(cite_traffic(m) if roof else ())),
                gain,
                why,
                "medium",
                kind=kind,
            )
        )
    return tuple(verdicts)


@predicate
def small_transfers(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """Few bytes per transfer instruction on the transfer pipe that matters, below the memory roof."""
    verdicts: list[Verdict] = []
    for kind in relevant(m):
        if kind == "aicore":
            continue
        need_pipes(m, kind)
        paths = [pipe for each, pipe in PATHS if each == kind]
        looked = [found for pipe in paths if (found := _one_path(m, kind, pipe, limits)) is not None]
        if not looked:
            _, volume, instructions, _ = PATHS[kind, "mte2"]
            raise CouldNotLookError(
                "volumes or instruction counts were not recorded", f"memory.{volume}", f"memory.{instructions}"
            )
        at, _ = at_roof(m, limits["roof_share"], limits["roof_busy"])
        if at:
            verdicts.append(fine("the kernel is at the memory roof: larger transfers would not help", kind=kind))
            continue
        worst = max(looked, key=lambda one: (one.found, one.recoverable_us or 0.0))
        if worst.found:
            also = [one for one in looked if one is not worst and one.found]
            text = "".join(f"; {one.values['path']} by {one.values['bytes']:.0f} bytes" for one in also)
            worst = Verdict(
                True,
                {**worst.values, "also": text},
                (*worst.evidence, *(item for one in also for item in one.evidence)),
                worst.recoverable_us,
                worst.why,
                worst.confidence,
                kind=kind,
            )
        verdicts.append(worst)
    return tuple(verdicts) or (fine("volumes of the 310P are not counted per instruction"),)


def _one_path(m: Measures, kind: str, pipe: str, limits: Limits) -> Verdict | None:
    """One direction; ``None`` where it was not recorded."""
    path, volume_column, count_column, peak_column = PATHS[kind, pipe]
    volume, count = m.total("memory", volume_column, kind), m.total("memory", count_column, kind)
    share = m.share(kind, pipe)
    if volume is None or count is None or share is None:
        return None
    if not count or not volume:
        return fine(f"nothing was moved from {path}", kind=kind)
    each = KIB * volume / count
    core = m.slowest(kind)
    cited = (
        m.cite_total("Memory", volume_column, kind, "all cores together"),
        m.cite_total("Memory", count_column, kind, f"so {each:.0f} bytes each"),
        *cite_busy(m, core, pipe),
    )
    says = f"{path}: {each:.0f} bytes an instruction, {PIPE_NAMES[pipe]} busy for {share:.2f}"
    if each >= limits["bytes"] or share < limits["pipe_share"]:
        return fine(says, *cited, kind=kind)
    gain, why = _saved_by_larger(m, core, pipe, volume_column, peak_column, each, limits)
    if gain < max(limits["min_us"], limits["min_share"] * core.time_us):
        return fine(f"{says}: larger ones would save {gain:.1f} us", *cited, kind=kind)
    busiest = share >= max(m.shares(kind).values()) and share >= limits["sure_share"]
    usage = m.values("memory", volume_column.replace("_datas_kb", "_bw_usage_rate_pct"), kind)
    if usage:
        cited += (m.cite_extreme("memory", volume_column.replace("_datas_kb", "_bw_usage_rate_pct"), kind),)
    return Verdict(
        True,
        {
            "kind": KIND_NAMES[kind],
            "path": path,
            "pipe": PIPE_NAMES[pipe],
            "bytes": each,
            "count": count,
            "share": share,
            "usage": f" at {max(usage.values()):.1f} % of one core's peak" if usage else "",
            "also": "",
            "wanted": limits["bytes"] / 1024,
            "volume_column": volume_column,
            "count_column": count_column,
            "usage_column": volume_column.replace("_datas_kb", "_bw_usage_rate_pct"),
        },
        cited,
        gain,
        why,
        "high" if busiest else "medium",
        kind=kind,
    )


def _saved_by_larger(
    m: Measures, core: Core, pipe: str, volume_column: str, peak_column: str, each: float, limits: Limits
) -> tuple[float, str]:
    """What the instructions cost beyond their bytes at one core's peak, less what fewer of them would still cost."""
    busy = m.busy(core, pipe) or 0.0
    moved = m.value("memory", volume_column, core) or 0.0
    peak = m.chip.most(peak_column)
    at_peak = KIB * moved / (peak * GIB_PER_S) * 1e6 if peak else 0.0
    overhead = max(0.0, busy - at_peak)
    by_size = overhead * (1 - each / limits["bytes"])
    # The kernel gets no shorter than its other pipes; the opposite transfer pipe would be cured alike.
    other_transfer = "mte3" if pipe == "mte2" else "mte2"
    least = max(m.others_busy(core, pipe, other_transfer), floor_us(m))
    gain = max(0.0, min(by_size, core.time_us - least))
    why = (
        f"{busy:.1f} us busy - {at_peak:.1f} us for its bytes at one core's peak = {overhead:.1f} us of cost per "
        f"instruction, times 1 - {each:.0f}/{limits['bytes']:.0f}"
    )
    if gain < by_size:
        why += f"; bounded by {least:.1f} us that the rest takes"
    return gain, why


@predicate
def l2_reuse(m: Measures, limits: Limits) -> Verdict:
    """Data that is read again, and misses L2 when it is."""
    device(m)
    if "aicore" in m.kinds:
        return fine("the 310P prints one rate for the kernel and no counts")
    hits = m.l2_hits
    if hits is None:
        raise CouldNotLookError("hits of the L2 cache were not recorded", "l2_cache.aiv_r0_read_cache_hit")
    rate = hits[0] / hits[1]
    says = f"{100 * rate:.1f} % of the L2 requests hit"
    if rate >= limits["hit_share"]:
        return fine(says)
    read = m.traffic_bytes(writes=False)
    needed = m.work.bytes_read if m.work is not None else None
    if read is None:
        raise CouldNotLookError("the volumes were not recorded", "memory.read_main_memory_datas_kb")
    if needed is None:
        raise CouldNotLookError(
            f"{says}, which is a problem only where data is read again; what the operator needs is not known",
            how="opprof-db work set OPERATOR --bytes … (or --shape …)",
        )
    again = read - needed
    if again <= limits["again_share"] * read:
        return fine(f"{says}, but everything is read once")
    roof = need_roof(m)
    peak, l2 = roof.gm_peak or 0.0, roof.l2_peak or 0.0
    gain = again * (1 / peak - 1 / l2) * 1e6 if peak and l2 else None
    if gain is not None:
        gain = min(gain, m.duration_us or gain)
    return Verdict(
        True,
        {"rate": rate, "again": again / _MIB, "read": read / _MIB},
        cite_traffic(m),
        gain,
        f"{again / _MIB:.1f} MiB read again, at L2's peak instead of global memory's",
        "medium",
    )


@predicate
def excess_traffic(m: Measures, limits: Limits) -> Verdict:
    """More volume than the operator needs."""
    device(m)
    moved = m.traffic_bytes()
    if moved is None:
        raise CouldNotLookError("the volumes were not recorded", "memory.read_main_memory_datas_kb")
    needed = m.work.bytes if m.work is not None else None
    if not needed:
        raise CouldNotLookError(
            f"{moved / _MIB:.1f} MiB were moved; what the operator needs is not known",
            how="opprof-db work set OPERATOR --bytes … (or --shape …)",
        )
    factor = moved / needed
    if factor < limits["factor"]:
        return fine(f"{moved / _MIB:.1f} MiB were moved, {factor:.2f} times what is needed", *cite_traffic(m))
    core = m.slowest(m.longest_kind() or m.kinds[0])
    transfers = max((m.busy(core, pipe) or 0.0) for pipe in TRANSFER_PIPES)
    gain = min(transfers * (1 - needed / moved), max(0.0, core.time_us - m.others_busy(core, *TRANSFER_PIPES)))
    return Verdict(
        True,
        {"moved": moved / _MIB, "needed": needed / _MIB, "factor": factor},
        cite_traffic(m),
        gain,
        f"{transfers:.1f} us of the busiest transfer pipe x {100 * (1 - needed / moved):.0f} % of the volume",
        "medium",
    )
