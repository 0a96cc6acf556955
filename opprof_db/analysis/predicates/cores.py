"""Rules about cores: how many work, and how evenly."""

from __future__ import annotations

import math
from dataclasses import replace

from opprof_db.analysis.measures import COMPUTE, KIB, Core, Measures, names
from opprof_db.analysis.memory_roof import memory_roof
from opprof_db.analysis.predicates.base import (
    CouldNotLookError,
    Limits,
    Verdict,
    device,
    duration,
    fine,
    plural,
    predicate,
)

KIND_NAMES = {"aic": "AIC", "aiv": "AIV", "aicore": "AI Core"}


def spread_over(m: Measures, now_us: float, cores_now: float, cores_then: float) -> tuple[float, str]:
    """Time saved when ``now_us`` of work on ``cores_now`` is spread evenly over more cores, down to the memory roof."""
    ideal = now_us * cores_now / cores_then
    roof = memory_roof(m)
    floor = roof.least_us() if roof else 0.0
    # More cores have more ports: only what all share bounds them.
    shared = floor if not roof or not roof.mixed_peak else roof.volume_bytes / roof.mixed_peak * 1e6
    least = max(ideal, shared if roof and roof.mixed_peak else 0.0)
    why = f"{now_us:.1f} us on {cores_now:g} cores are {ideal:.1f} us on {cores_then:g}"
    if least > ideal:
        why += f", but the memory roof allows no less than {least:.1f} us"
    return max(0.0, now_us - least), why


@predicate
def idle_cores(m: Measures, _: Limits) -> tuple[Verdict, ...]:
    """Launched cores that did nothing."""
    device(m)
    verdicts = []
    for kind in m.kinds:
        if kind == "aicore" or kind in m.unused:
            continue
        idle, working = m.idle(kind), m.working(kind)
        if not idle:
            verdicts.append(fine(f"all {len(working)} {KIND_NAMES[kind]} rows worked", kind=kind))
            continue
        slowest = m.slowest(kind)
        matters = kind in m.relevant()
        gain, why = spread_over(m, m.mean_us(kind), len(working), len(working) + len(idle))
        verdicts.append(
            Verdict(
                True,
                {
                    "kind": KIND_NAMES[kind],
                    "idle": len(idle),
                    "launched": len(idle) + len(working),
                    "working": len(working),
                    "idle_us": max(core.time_us for core in idle),
                    "slowest_us": slowest.time_us,
                    "which": names(idle),
                    "also": "",
                },
                (
                    *(m.cite_time(core, "idle core") for core in idle[:4]),
                    m.cite_time(slowest, f"slowest of {len(working)} working cores"),
                ),
                gain if matters else None,
                why if matters else None,
                "high",
                kind=kind,
            )
        )
    found = [verdict for verdict in verdicts if verdict.found]
    if len(found) > 1:  # the blocks of a mix kernel are idle on both kinds: said once
        first = max(found, key=lambda one: one.recoverable_us or 0.0)
        second = next(one for one in found if one is not first)
        also = f", and {second.values['idle']} of {second.values['launched']} {second.values['kind']} cores"
        return (replace(first, values={**first.values, "also": also}, evidence=(*first.evidence, *second.evidence)),)
    return tuple(verdicts) or (fine("one row stands for all cores (310P)"),)


def _launched(m: Measures, kind: str) -> int:
    if kind == "aicore":
        return int(m.kernel["block_dim"] or 1)
    return len(m.cores(kind))


def _available(m: Measures, kind: str) -> tuple[int, int]:
    cores = m.chip.cores(kind)
    if cores is None:
        raise CouldNotLookError(
            "how many cores the chip has is not known", how="ingest again with --soc, such as Ascend910B4"
        )
    return cores


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _deciding_kind(m: Measures) -> str:
    kinds = [kind for kind in m.kinds if kind not in m.unused] or list(m.kinds)
    return max(kinds, key=lambda kind: m.slowest(kind).time_us)


@predicate
def one_core_only(m: Measures, limits: Limits) -> Verdict:
    """One core does all the work although there is much of it."""
    device(m)
    took = duration(m)
    kind = _deciding_kind(m)
    low, high = _available(m, kind)
    launched = _launched(m, kind)
    working = launched if kind == "aicore" else len(m.working(kind))
    one = working == 1 or (m.mix and kind == "aiv" and len({core.block_id for core in m.working(kind)}) == 1)
    slowest = m.slowest(kind)
    if not one or low <= working:
        return fine(f"{working} {KIND_NAMES[kind]} cores work", kind=kind)
    volume = m.traffic_bytes()
    if took < limits["min_duration_us"]:
        return fine(f"one core works, which suits a kernel of {took:.1f} us", m.cite_kernel("duration_us"), kind=kind)
    if volume is not None and volume < limits["min_volume_kib"] * KIB and took < limits["long_us"]:
        return fine(f"one core works, but on {volume / KIB:.0f} KiB only", kind=kind)
    gain, why = spread_over(m, slowest.time_us, working, low)
    if gain < limits["min_share"] * took:
        return fine("one core works, and the memory roof is near", kind=kind)
    evidence = [m.cite_kernel("block_dim"), m.cite_kernel("duration_us"), m.cite_time(slowest)]
    evidence += m.cite_chip("aiv_cores" if kind == "aiv" else "aic_cores")
    if volume is not None:
        evidence += [m.cite_total("Memory", "read_main_memory_datas_kb", kind, "moved by this core")]
    return Verdict(
        True,
        {
            "kind": KIND_NAMES[kind],
            "available": _range(low, high),
            "duration_us": took,
            "moved": f" and {volume / KIB / KIB:.1f} MiB moved" if volume is not None else "",
            "core": slowest.name,
        },
        tuple(evidence),
        gain,
        why,
        "high" if volume is None or volume >= limits["sure_volume_kib"] * KIB else "medium",
        kind=kind,
        core=slowest.name,
    )


@predicate
def cores_not_launched(m: Measures, limits: Limits) -> Verdict:
    """Fewer blocks than cores in a kernel long enough to be split further."""
    device(m)
    took = duration(m)
    kind = _deciding_kind(m)
    low, high = _available(m, kind)
    launched = _launched(m, kind)
    if launched >= low:
        return fine(f"{launched} of {_range(low, high)} {KIND_NAMES[kind]} cores are launched", kind=kind)
    if took < limits["min_duration_us"]:
        note = f"{launched} of {_range(low, high)} {KIND_NAMES[kind]} cores suit a kernel of {took:.1f} us"
        return fine(note, m.cite_kernel("duration_us"), kind=kind)
    slowest = m.slowest(kind)
    gain, why = spread_over(m, slowest.time_us, launched, low)
    if gain < limits["min_share"] * took:
        return fine(f"{launched} of {_range(low, high)} cores, but the memory roof is near", kind=kind)
    volume = m.traffic_bytes()
    few = launched <= limits["few_share"] * low
    much = volume is None or volume >= limits["sure_volume_kib"] * KIB * launched
    return Verdict(
        True,
        {
            "kind": KIND_NAMES[kind],
            "launched": launched,
            "available": _range(low, high),
            "missing": low - launched,
            "duration_us": took,
            "block_dim": m.kernel["block_dim"],
        },
        (
            m.cite_kernel("block_dim"),
            m.cite_time(slowest, f"slowest of {len(m.working(kind))} working cores"),
            *m.cite_chip("aiv_cores" if kind == "aiv" else "aic_cores"),
        ),
        gain,
        why + "; whether the work can be split so far, no counter says",
        ("high" if much else "medium") if few else "low",
        kind=kind,
    )


@predicate
def unused_half(m: Measures, _: Limits) -> Verdict:
    """A mix kernel that uses one kind of core only."""
    device(m)
    if not m.mix:
        return fine("it is no mix kernel")
    if not m.rows("pipe_utilization"):
        raise CouldNotLookError("which pipes worked was not recorded", "pipe_utilization.aic_cube_time_us")
    if not m.unused or len(m.unused) == 2:
        return fine("both kinds of core work" if not m.unused else "neither kind of core does anything measurable")
    (kind,) = m.unused
    other = "aiv" if kind == "aic" else "aic"

    column = f"{kind}_{COMPUTE[kind]}_time_us"
    slow, used = m.slowest(kind), m.slowest(other)
    return Verdict(
        True,
        {
            "kind": KIND_NAMES[kind],
            "other": KIND_NAMES[other],
            "unit": "cube" if kind == "aic" else "vector",
            "time_us": slow.time_us,
            "other_us": used.time_us,
            "cores": plural(len(m.cores(kind)), f"{KIND_NAMES[kind]} core"),
        },
        (
            m.cite_extreme("pipe_utilization", column, kind),
            m.cite_time(slow, f"longest of {len(m.cores(kind))} {KIND_NAMES[kind]} cores"),
            m.cite_time(used, f"slowest {KIND_NAMES[other]} core"),
        ),
        confidence="high",
        severity="low",
        kind=kind,
    )


def _cause(m: Measures, kind: str, slowest: Core) -> tuple[str, tuple[object, ...]]:
    """Whether the slowest core simply moves more data than the others."""
    held = m.values("memory", "read_main_memory_datas_kb", kind)
    if len(held) < 2 or not sum(held.values()) or slowest not in held:
        return "whether it got more data was not recorded (Memory)", ()
    mean = sum(held.values()) / len(held)
    times = slowest.time_us / m.mean_us(kind)
    factor = held[slowest] / mean
    evidence = (m.cite("memory", "read_main_memory_datas_kb", slowest, f"mean of the cores {mean:.1f}"),)
    if factor - 1 > 0.5 * (times - 1):
        return f"it reads {factor:.2f} times the mean: the split is uneven", evidence
    return f"it reads {factor:.2f} times the mean, so data does not explain it", evidence


@predicate
def imbalance(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """The slowest core against the mean of the working cores, per kind."""
    device(m)
    verdicts = []
    for kind in m.kinds:
        working = m.working(kind)
        if kind == "aicore" or len(working) < 2:
            continue
        slowest, mean = m.slowest(kind), m.mean_us(kind)
        others = [m.slowest(each).time_us for each in m.kinds if each != kind]
        # The kernel ends with its slowest core of either kind: the other kind bounds what evening out brings.
        gain = slowest.time_us - max([mean, *others])
        share = (slowest.time_us - mean) / slowest.time_us
        spread = f"the slowest {KIND_NAMES[kind]} core is {100 * share:.1f} % above what an even spread would take"
        if share <= limits["recoverable_share"] or gain < max(
            limits["min_us"], limits["recoverable_share"] * slowest.time_us
        ):
            verdicts.append(fine(spread, kind=kind))
            continue
        cause, cited = _cause(m, kind, slowest)
        fastest = min(working, key=lambda core: core.time_us)
        verdicts.append(
            Verdict(
                True,
                {
                    "kind": KIND_NAMES[kind],
                    "slowest_us": slowest.time_us,
                    "mean_us": mean,
                    "fastest_us": fastest.time_us,
                    "cores": len(working),
                    "share": share,
                    "core": slowest.name,
                    "cause": cause,
                },
                (
                    m.cite_time(slowest, f"slowest of {len(working)} working cores, mean {mean:.2f}"),
                    m.cite_time(fastest, "fastest"),
                    *cited,  # type: ignore[arg-type]
                ),
                gain,
                f"slowest {slowest.time_us:.1f} us - {'mean' if not others or mean >= max(others) else 'other kind'} "
                f"{slowest.time_us - gain:.1f} us",
                "high",
                kind=kind,
                core=slowest.name,
            )
        )
    return tuple(verdicts) or (fine("there is one core only"),)


def sigmoid(z: float) -> float:
    """1 / (1 + e^-z)."""
    return 1.0 / (1.0 + math.exp(-z))


@predicate
def slow_core(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """Cores whose time is far above the mean in standard deviations (source: msopprof occupancy.cpp)."""
    device(m)
    verdicts = []
    for kind in m.kinds:
        working = m.working(kind)
        if kind == "aicore" or len(working) < 2 or kind not in m.relevant():
            continue
        mean, slowest = m.mean_us(kind), m.slowest(kind)
        deviation = math.sqrt(sum((core.time_us - mean) ** 2 for core in working) / len(working))
        share = (slowest.time_us - mean) / slowest.time_us
        slow = [core for core in working if deviation and sigmoid((core.time_us - mean) / deviation) >= limits["score"]]
        if not slow or share <= limits["recoverable_share"]:
            verdicts.append(fine(f"evening out {KIND_NAMES[kind]} would save {100 * share:.1f} %", kind=kind))
            continue
        verdicts.append(
            Verdict(
                True,
                {
                    "kind": KIND_NAMES[kind],
                    "which": names(sorted(slow, key=lambda core: -core.time_us)),
                    "cores": len(working),
                    "slow": len(slow),
                    "share": share,
                },
                tuple(m.cite_time(core) for core in sorted(slow, key=lambda core: -core.time_us)[:4]),
                slowest.time_us - mean,
                f"slowest {slowest.time_us:.1f} us - mean {mean:.1f} us",
                "low",
                kind=kind,
                core=slowest.name,
            )
        )
    return tuple(verdicts) or (fine("there is one core only"),)


@predicate
def tail_wave(m: Measures, limits: Limits) -> Verdict:
    """More blocks than cores, and the last round fills few of them."""
    device(m)
    took = duration(m)
    kind = "aicore" if "aicore" in m.kinds else "aic" if m.mix else _deciding_kind(m)
    low, high = _available(m, kind)
    blocks = int(m.kernel["block_dim"] or 0)
    if not blocks:
        raise CouldNotLookError("the block dim was not recorded", how="collect again: OpBasicInfo.csv has none")
    if blocks <= low:
        return fine(f"{blocks} blocks fit the {_range(low, high)} cores at once", m.cite_kernel("block_dim"))
    losses = {}
    for cores in {low, high}:
        rounds = math.ceil(blocks / cores)
        losses[cores] = 1.0 - blocks / (rounds * cores)
    cores = min(losses, key=lambda each: losses[each])
    lost, rounds = losses[cores], math.ceil(blocks / cores)
    if lost < limits["lost_share"] or took < limits["min_duration_us"]:
        note = f"{blocks} blocks on {_range(low, high)} cores leave {100 * lost:.0f} % of the last rounds empty"
        return fine(note, m.cite_kernel("block_dim"))
    last = blocks - (rounds - 1) * cores
    return Verdict(
        True,
        {"blocks": blocks, "cores": cores, "rounds": rounds, "last": last, "lost": lost, "kind": KIND_NAMES[kind]},
        (m.cite_kernel("block_dim"), *m.cite_chip("aiv_cores" if kind == "aiv" else "aic_cores")),
        took * lost,
        f"{took:.1f} us x {100 * lost:.0f} % of the core time that the last round leaves empty, blocks being alike",
        "medium",
        kind=kind,
    )


@predicate
def reduced_frequency(m: Measures, limits: Limits) -> Verdict:
    """The cores ran below the rated frequency: read during collection, else estimated from the counters."""
    if not m.on_device:
        raise CouldNotLookError("there is no device run of it", how="collect with `msprof op` on a device")
    current, rated = m.kernel["current_freq_mhz"], m.kernel["rated_freq_mhz"]
    if current and rated:
        cited = (m.cite_kernel("current_freq_mhz"), m.cite_kernel("rated_freq_mhz"))
        if current > limits["share"] * rated:
            return fine(f"{current} of {rated} MHz", *cited)
        values = {"freq": float(current), "rated": float(rated), "how": "read during collection"}
        found, confidence = float(current), "high"
    else:
        row = m.connection.execute(
            "SELECT reduced, estimated_freq_mhz FROM frequency WHERE kernel_id = ?", (m.kernel_id,)
        ).fetchone()
        if row is None or row[0] is None or not rated:
            if not m.rows("pipe_utilization"):
                raise CouldNotLookError("the frequency was not recorded", "pipe_utilization.aiv_total_cycles")
            raise CouldNotLookError(
                "the frequency was not recorded, and in a mix or short kernel the counters do not tell it",
                how="collect on a driver that reports the current frequency",
            )
        from opprof_db.analysis.findings import Evidence

        cited = (
            Evidence("frequency", "estimated_freq_mhz", {"kernel_id": m.kernel_id}, row[1], "MHz", "from the counters"),
            m.cite_kernel("rated_freq_mhz"),
        )
        if not row[0] or row[1] > limits["share"] * rated:
            return fine(f"about {row[1]:.0f} of {rated} MHz by the counters", *cited)
        values = {"freq": row[1], "rated": float(rated), "how": "cycles of the slowest core / task duration"}
        found, confidence = row[1], "medium"
    gain = None if m.duration_us is None else m.duration_us * (1 - found / rated)
    return Verdict(
        True,
        values | {"share": found / rated},
        cited,
        gain,
        None if gain is None else f"{m.duration_us:.1f} us x (1 - {found:.0f} / {rated:.0f})",
        "high" if confidence == "high" else "medium",
    )


def _rounds(m: Measures, kind: str) -> int:
    """Rounds that the blocks need on the fewest cores the chip may have; 1 where that is not known."""
    known, blocks = m.chip.cores("aic" if m.mix else kind), m.kernel["block_dim"]
    return math.ceil(blocks / known[0]) if known and blocks else 1


@predicate
def head_cost(m: Measures, limits: Limits) -> Verdict:
    """What the task took beyond its slowest core."""
    device(m)
    took = duration(m)
    kind = m.longest_kind()
    assert kind is not None
    slowest = m.slowest(kind)
    cited = (m.cite_kernel("duration_us"), m.cite_time(slowest, "slowest core of either kind"))
    rounds = _rounds(m, kind)
    if rounds > 1:
        # A row is a block: cores that run several of them work longer than the slowest row.
        note = f"blocks run in {rounds} rounds, so the head cannot be told from the rows"
        if took - rounds * m.mean_us(kind) <= limits["share"] * took:
            return fine(note, *cited)
    longest = max(slowest.time_us, rounds * m.mean_us(kind) if rounds > 1 else 0.0)
    head = took - longest - limits["uncertainty_us"]
    if head <= limits["share"] * took:
        return fine(f"the task ends {took - slowest.time_us:.2f} us after what its slowest core took", *cited)
    return Verdict(
        True,
        {"head_us": took - slowest.time_us, "duration_us": took, "slowest_us": slowest.time_us, "share": head / took},
        cited,
        head,
        f"{took:.2f} us - {longest:.2f} us - {limits['uncertainty_us']:g} us between the two measurements",
        "medium",
    )
