"""Rules about pipes of device runs: who dominates, and whether the others run beside it or in turn."""

from __future__ import annotations

from opprof_db.analysis.findings import Evidence
from opprof_db.analysis.measures import COMPUTE, Core, Measures, prefix
from opprof_db.analysis.memory_roof import memory_roof
from opprof_db.analysis.predicates.base import CouldNotLookError, Limits, Verdict, device, duration, fine, predicate
from opprof_db.analysis.predicates.cores import KIND_NAMES

PIPE_NAMES = {
    "cube": "cube",
    "vec": "vector",
    "scalar": "scalar",
    "mte1": "MTE1",
    "mte2": "MTE2",
    "mte3": "MTE3",
    "fixpipe": "FIXPIPE",
}


def need_pipes(m: Measures, kind: str) -> dict[str, float]:
    """Shares of the pipes of a kind."""
    shares = m.shares(kind)
    if not shares:
        raise CouldNotLookError(
            "which pipes worked was not recorded", f"pipe_utilization.{prefix(kind)}_scalar_time_us"
        )
    return shares


def cite_busy(m: Measures, core: Core, *pipes: str) -> tuple[Evidence, ...]:
    """Busy times of pipes of a core, beside its own time."""
    cells = [m.cite("pipe_utilization", f"{prefix(core.kind)}_{pipe}_time_us", core) for pipe in pipes]
    return (m.cite_time(core), *(cell for cell in cells if cell.value is not None))


def relevant(m: Measures) -> tuple[str, ...]:
    """Kinds that decide the duration; raises where there are none."""
    device(m)
    return m.relevant()


def floor_us(m: Measures) -> float:
    """The memory roof, below which no pipeline tuning gets."""
    roof = memory_roof(m)
    return roof.least_us() if roof else 0.0


def saved(m: Measures, core: Core, least: float) -> tuple[float, str]:
    """Time of a core beyond ``least``, the memory roof respected."""
    floor = floor_us(m)
    if floor > least:
        return max(0.0, core.time_us - floor), f"{core.time_us:.1f} us - {floor:.1f} us at the memory roof"
    return max(0.0, core.time_us - least), f"{core.time_us:.1f} us - {least:.1f} us of the busiest other pipe"


@predicate
def dominant_pipe(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """A compute unit that is busy nearly all the time: the pipeline is fine, the work itself is what is left."""
    verdicts = []
    for kind in relevant(m):
        shares = need_pipes(m, kind)
        ranked = sorted(shares, key=lambda pipe: -shares[pipe])
        first, second = ranked[0], ranked[1]
        says = (
            f"{KIND_NAMES[kind]}: {PIPE_NAMES[first]} is busiest with {shares[first]:.2f}, "
            f"then {PIPE_NAMES[second]} with {shares[second]:.2f}"
        )
        core = m.slowest(kind)
        if first not in ("vec", "cube") or shares[first] < limits["share"]:
            verdicts.append(fine(says, *cite_busy(m, core, first, second), kind=kind))
            continue
        verdicts.append(
            Verdict(
                True,
                {
                    "kind": KIND_NAMES[kind],
                    "pipe": PIPE_NAMES[first],
                    "share": shares[first],
                    "second": PIPE_NAMES[second],
                    "second_share": shares[second],
                },
                cite_busy(m, core, first, second),
                confidence="high",
                severity="info",
                kind=kind,
            )
        )
    return tuple(verdicts)


@predicate
def transfer_compute_in_turn(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """Copying and computing take turns: the shares add up to about one, and the compute unit waits."""
    verdicts = []
    for kind in relevant(m):
        shares = need_pipes(m, kind)
        unit = COMPUTE[kind] if shares.get("cube", 0.0) <= shares.get("vec", 0.0) or kind == "aic" else "cube"
        transfers = {pipe: shares.get(pipe, 0.0) for pipe in ("mte2", "mte3", "fixpipe")}
        total = shares[unit] + sum(transfers.values())
        pipe = max(("mte2", "mte3"), key=lambda one: transfers[one])
        other, compute, busiest = transfers[pipe], shares[unit], max(shares.values())
        core = m.slowest(kind)
        cited = cite_busy(m, core, unit, "mte2", "mte3")
        alike = other > 0 and compute > 0 and 1 / limits["same_order"] <= compute / other <= limits["same_order"]
        if busiest > limits["busiest"] or not alike or not limits["sum_low"] <= total <= limits["sum_high"]:
            note = (
                f"{KIND_NAMES[kind]}: {PIPE_NAMES[unit]} {compute:.2f}, MTE2 {transfers['mte2']:.2f}, "
                f"MTE3 {transfers['mte3']:.2f} are not the picture of turns"
            )
            verdicts.append(fine(note, *cited, kind=kind))
            continue
        column = f"{prefix(kind)}_{unit}_wait_ratio"
        waits = m.values("resource_conflict_ratio", column, kind)
        if not waits:
            raise CouldNotLookError(
                f"the shares look like turns (they add up to {total:.2f}), but waits were not recorded",
                f"resource_conflict_ratio.{column}",
            )
        wait = max(waits.values())
        cited += (m.cite_extreme("resource_conflict_ratio", column, kind),)
        if wait < limits["wait"]:
            note = f"{KIND_NAMES[kind]}: the {PIPE_NAMES[unit]} unit waits for {wait:.2f} of the time only"
            verdicts.append(fine(note, *cited, kind=kind))
            continue
        least = max(m.busy(core, one) or 0.0 for one in (unit, "mte2", "mte3", "scalar"))
        gain, why = saved(m, core, least)
        verdicts.append(
            Verdict(
                True,
                {
                    "kind": KIND_NAMES[kind],
                    "unit": PIPE_NAMES[unit],
                    "unit_column": unit,
                    "compute": compute,
                    "mte2": transfers["mte2"],
                    "mte3": transfers["mte3"],
                    "total": total,
                    "wait": wait,
                },
                cited,
                gain,
                why.replace("busiest other pipe", "busiest pipe, were the rest hidden behind it"),
                "high" if limits["sure_sum_low"] <= total <= limits["sum_high"] else "medium",
                kind=kind,
            )
        )
    return tuple(verdicts)


_STALLS = ("mte1_stall", "mte2_stall", "mte3_stall", "cube_stall", "vector_stall", "stall_by_ub", "wait_ib", "wait")


@predicate
def scalar_overhead(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """The scalar unit is busy for much of the time of the working cores."""
    verdicts = []
    for kind in relevant(m):
        shares = need_pipes(m, kind)
        scalar, vector = shares.get("scalar"), shares.get(COMPUTE[kind], 0.0)
        if scalar is None:
            raise CouldNotLookError(
                "the scalar time was not recorded", f"pipe_utilization.{prefix(kind)}_scalar_time_us"
            )
        core = m.slowest(kind)
        cited = cite_busy(m, core, "scalar", COMPUTE[kind])
        says = f"{KIND_NAMES[kind]}: the scalar unit is busy for {scalar:.2f} of the time"
        high = scalar > limits["share"] or (scalar > limits["share_low"] and vector < limits["compute_low"])
        if not high:
            verdicts.append(fine(says, *cited, kind=kind))
            continue
        spent = m.busy(core, "scalar") or 0.0
        beyond, why = saved(m, core, m.others_busy(core, "scalar"))
        gain = min(beyond, spent)
        if gain == spent:
            why = f"the scalar unit's own {spent:.1f} us, were all of it gone"
        if gain < max(limits["min_us"], limits["min_share"] * core.time_us):
            verdicts.append(fine(f"{says}, but beside a pipe that is busier still", *cited, kind=kind))
            continue
        stall, stalled = _stalls(m, core)
        others = max((share for pipe, share in shares.items() if pipe != "scalar"), default=0.0)
        verdicts.append(
            Verdict(
                True,
                {
                    "kind": KIND_NAMES[kind],
                    "scalar": scalar,
                    "unit": PIPE_NAMES[COMPUTE[kind]],
                    "compute": vector,
                    "stall": stall,
                },
                (*cited, *stalled),
                gain,
                why,
                "high" if scalar >= others else "medium",
                kind=kind,
            )
        )
    return tuple(verdicts)


def _stalls(m: Measures, core: Core) -> tuple[str, tuple[Evidence, ...]]:
    """Where the scalar unit stood still, in builds that say so."""
    columns = {name: f"{prefix(core.kind)}_scalar_{name}_time_us" for name in _STALLS}
    held = {name: m.value("pipe_utilization", column, core) for name, column in columns.items()}
    times = {name: float(value) for name, value in held.items() if value}
    if not times:
        return "", ()
    worst = max(times, key=lambda name: times[name])
    text = {
        "wait_ib": "waiting for instructions",
        "wait": "waiting for flags",
        "stall_by_ub": "stalled by the unified buffer",
    }.get(worst, f"stalled by a full {worst.removesuffix('_stall')} queue")
    share = times[worst] / core.time_us
    return f"; it spends {share:.2f} of the time {text}", (m.cite("pipe_utilization", columns[worst], core),)


@predicate
def bank_conflicts(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """Conflicts in the unified buffer, as far as the vector unit is what the others wait for."""
    verdicts = []
    for kind in relevant(m):
        if kind == "aic":
            continue
        shares = need_pipes(m, kind)
        column = f"{prefix(kind)}_vec_total_cflt_ratio"
        held = m.values("resource_conflict_ratio", column, kind)
        if not held:
            raise CouldNotLookError("conflicts were not recorded", f"resource_conflict_ratio.{column}")
        core = max(held, key=lambda one: held[one])
        ratio = held[core]
        # In mix kernels of the 910B the printed ratio is over the task duration (source: formats section 2).
        base = core.time_us if not m.mix or m.header_family == "950" else (m.duration_us or core.time_us)
        spent = ratio * base
        exposed = max(0.0, (m.busy(core, "vec") or 0.0) - m.others_busy(core, "vec"))
        gain = min(spent, exposed)
        parts = {name: m.value("resource_conflict_ratio", f"{prefix(kind)}_vec_{name}_cflt_ratio", core)
                 for name in ("bankgroup", "bank", "resc", "mte")}  # fmt: skip
        worst = max(parts, key=lambda name: parts[name] or 0.0)
        cited = (m.cite_extreme("resource_conflict_ratio", column, kind), *cite_busy(m, core, "vec", "mte2", "scalar"))
        note = f"{KIND_NAMES[kind]}: conflicts take {ratio:.3f} of the time"
        if gain < limits["min_share"] * core.time_us or gain < limits["min_us"]:
            hidden = ", hidden behind a busier pipe" if gain < spent else ""
            verdicts.append(fine(note + hidden, *cited, kind=kind))
            continue
        verdicts.append(
            Verdict(
                True,
                {
                    "kind": KIND_NAMES[kind],
                    "ratio": ratio,
                    "worst": {"bankgroup": "bank group", "bank": "bank", "resc": "resource", "mte": "transfer"}[worst],
                    "worst_ratio": parts[worst] or 0.0,
                    "vec": shares.get("vec", 0.0),
                },
                (*cited, m.cite("resource_conflict_ratio", f"{prefix(kind)}_vec_{worst}_cflt_ratio", core)),
                gain,
                f"{spent:.1f} us of conflicts, of which {gain:.1f} us are not hidden behind another pipe",
                "medium",
                kind=kind,
                core=core.name,
            )
        )
    return tuple(verdicts) or (fine("no vector unit took part"),)


@predicate
def instruction_cache(m: Measures, limits: Limits) -> tuple[Verdict, ...]:
    """Missing instructions that cost time; the cold misses of short kernels do not."""
    verdicts = []
    for kind in relevant(m):
        column = f"{prefix(kind)}_icache_miss_rate"
        held = m.values("pipe_utilization", column, kind)
        if not held:
            raise CouldNotLookError("instruction cache misses were not recorded", f"pipe_utilization.{column}")
        core = max(held, key=lambda one: held[one])
        rate, took = held[core], m.duration_us or core.time_us
        cited: tuple[Evidence, ...] = (m.cite("pipe_utilization", column, core, f"largest of {len(held)} cores"),)
        says = f"{KIND_NAMES[kind]}: {100 * rate:.1f} % of the instruction fetches miss"
        if rate <= limits["miss_rate"]:
            verdicts.append(fine(says, *cited, kind=kind))
            continue
        wait_column = f"{prefix(kind)}_scalar_wait_ib_time_us"
        waited = m.value("pipe_utilization", wait_column, core)
        if waited is not None:
            cited += (m.cite("pipe_utilization", wait_column, core),)
            gain: float | None = float(waited) - limits["cold_us"]
            costly = (gain or 0.0) >= limits["wait_share"] * core.time_us
            why = f"{waited:.1f} us waiting for instructions - {limits['cold_us']:g} us that a cold start costs anyway"
        else:
            gain, why = None, "no column of this build says how long it waited"
            costly = took > limits["min_duration_us"]
        if not costly:
            note = f"{says}, but a kernel of {took:.1f} us starts cold and they cost nothing that can be shown"
            verdicts.append(fine(note, *cited, kind=kind))
            continue
        verdicts.append(
            Verdict(
                True,
                {"kind": KIND_NAMES[kind], "rate": rate, "duration_us": took},
                cited,
                gain,
                why,
                "medium" if gain else "low",
                severity=None if gain else "low",
                kind=kind,
            )
        )
    return tuple(verdicts)


@predicate
def mte1_bound(m: Measures, limits: Limits) -> Verdict:
    """MTE1, which feeds the cube's buffers, is the busiest pipe."""
    device(m)
    if "aic" not in m.relevant():
        return fine("no cube core decides the duration")
    shares = need_pipes(m, "aic")
    mte1, cube = shares.get("mte1", 0.0), shares.get("cube", 0.0)
    core = m.slowest("aic")
    cited = cite_busy(m, core, "mte1", "cube", "mte2")
    if mte1 < limits["share"] or mte1 < max(shares.values()) or mte1 - cube < limits["margin"]:
        return fine(f"MTE1 is busy for {mte1:.2f}, the cube for {cube:.2f}", *cited, kind="aic")
    gain, why = saved(m, core, m.others_busy(core, "mte1"))
    return Verdict(True, {"mte1": mte1, "cube": cube}, cited, gain, why, "medium", kind="aic")


@predicate
def fixpipe_heavy(m: Measures, limits: Limits) -> Verdict:
    """Writing results out of L0C takes much of the time."""
    device(m)
    if "aic" not in m.relevant():
        return fine("no cube core decides the duration")
    shares = need_pipes(m, "aic")
    share = shares.get("fixpipe")
    if share is None:
        raise CouldNotLookError("FIXPIPE was not recorded", "pipe_utilization.aic_fixpipe_time_us")
    core = m.slowest("aic")
    cited = cite_busy(m, core, "fixpipe", "cube", "mte2")
    if share <= limits["share"]:
        return fine(f"FIXPIPE is busy for {share:.2f}", *cited, kind="aic")
    heavy = share > limits["heavy_share"]
    aligned = m.work.aligned() if m.work is not None else None
    if not heavy:
        if aligned is None:
            raise CouldNotLookError(
                f"FIXPIPE is busy for {share:.2f}, a problem where the sizes are not aligned: they are not known",
                how="opprof-db work set OPERATOR --shape …",
            )
        if aligned:
            return fine(f"FIXPIPE is busy for {share:.2f}, with aligned sizes", *cited, kind="aic")
    gain, why = saved(m, core, m.others_busy(core, "fixpipe"))
    how = "although the sizes are aligned" if aligned else "with sizes that are not aligned" if aligned is False else ""
    return Verdict(True, {"share": share, "how": f" {how}" if how else ""}, cited, gain, why, "medium", kind="aic")


@predicate
def cube_data_type(m: Measures, limits: Limits) -> Verdict:
    """The cube is what the kernel waits for, and computes in a type that is not its fastest."""
    device(m)
    if "aic" not in m.relevant():
        return fine("no cube core decides the duration")
    cube = need_pipes(m, "aic").get("cube", 0.0)
    core = m.slowest("aic")
    cited = cite_busy(m, core, "cube")
    if cube < limits["share"]:
        return fine(f"the cube is busy for {cube:.2f} only", *cited, kind="aic")
    columns = (
        "aic_cube_fp16_ratio",
        "aic_cube_int8_ratio",
        "aic_cube_fp_ratio",
        "aic_cube_int_ratio",
        "aic_cube_ratio",
    )
    held = {column: m.value("arithmetic_utilization", column, core) for column in columns}
    whole = held["aic_cube_ratio"]
    if not whole:
        raise CouldNotLookError("the data types were not recorded", "arithmetic_utilization.aic_cube_fp16_ratio")
    fast = sum(held[column] or 0.0 for column in columns[:4])
    cited += tuple(m.cite("arithmetic_utilization", column, core) for column in columns if held[column] is not None)
    if fast >= limits["fast_share"] * whole:
        return fine(f"{100 * fast / whole:.0f} % of the cube's time is 16-bit floats or int8", *cited, kind="aic")
    return Verdict(
        True,
        {"cube": cube, "slow_share": 1 - fast / whole},
        cited,
        confidence="low",
        severity="medium",
        kind="aic",
    )


def _busiest(m: Measures, kind: str) -> tuple[str, float]:
    """Busiest pipe of a kind, the scalar unit apart (it is busy while it waits), with its time on the slowest core."""
    core = m.slowest(kind)
    held = {pipe: m.busy(core, pipe) or 0.0 for pipe in m.shares(kind) if pipe != "scalar"}
    pipe = max(held, key=lambda one: held[one])
    return pipe, held[pipe]


def _waiting(m: Measures, waiter: str, worker: str, limits: Limits) -> Verdict:
    device(m)
    if not m.mix:
        return fine("it is no mix kernel")
    if m.unused:
        return fine(f"{KIND_NAMES[next(iter(m.unused))]} is not used at all")
    took = duration(m)
    need_pipes(m, waiter)
    need_pipes(m, worker)
    slow, work = m.slowest(waiter), m.slowest(worker)
    pipe, busy = _busiest(m, waiter)
    work_pipe, work_busy = _busiest(m, worker)
    cited = (
        m.cite_kernel("duration_us"),
        *cite_busy(m, slow, pipe, "scalar"),
        *cite_busy(m, work, work_pipe),
    )
    says = (
        f"the {KIND_NAMES[waiter]} cores take {slow.time_us:.1f} of {took:.1f} us, "
        f"their busiest pipe {PIPE_NAMES[pipe]} {busy:.1f} us"
    )
    if (
        slow.time_us < limits["near"] * took
        or busy >= limits["busy_share"] * slow.time_us
        or work_busy < limits["factor"] * busy
        or work_busy < limits["work_share"] * took
    ):
        return fine(says, *cited, kind=waiter)
    vectors = len(m.cores("aiv")) / max(1, len(m.cores("aic")))
    halved = worker == "aiv" and vectors <= 1
    least = max(busy, work_busy / 2 if halved else work_busy)
    gain = max(0.0, took - max(least, floor_us(m)))
    column = f"{worker}_{COMPUTE[worker]}_wait_ratio"
    waits = m.values("resource_conflict_ratio", column, worker)
    wait = max(waits.values()) if waits else None
    if wait is not None:
        cited += (m.cite_extreme("resource_conflict_ratio", column, worker),)
    return Verdict(
        True,
        {
            "waiter": KIND_NAMES[waiter],
            "worker": KIND_NAMES[worker],
            "time_us": slow.time_us,
            "duration_us": took,
            "pipe": PIPE_NAMES[pipe],
            "busy": busy / slow.time_us,
            "work_pipe": PIPE_NAMES[work_pipe],
            "work_us": work_busy,
            "work_share": work_busy / took,
            "ratio": f"1:{vectors:.0f}" if vectors >= 1 else f"{1 / vectors:.0f}:1",
        },
        cited,
        gain,
        f"{took:.1f} us - {max(least, floor_us(m)):.1f} us of the busiest pipe"
        + (", the work spread over two vector cores for each cube core" if halved else ""),
        "high" if wait is not None and wait > limits["wait"] else "medium",
        kind=waiter,
    )


@predicate
def aic_waits_for_aiv(m: Measures, limits: Limits) -> Verdict:
    """Cube cores of a mix kernel that take as long as the task and compute little."""
    return _waiting(m, "aic", "aiv", limits)


@predicate
def aiv_waits_for_aic(m: Measures, limits: Limits) -> Verdict:
    """Vector cores of a mix kernel that take as long as the task and do little, beside a busier cube core."""
    return _waiting(m, "aiv", "aic", limits)
