"""Rules about simulated kernels: overlap, buffers, waits, barriers, holes and the critical path."""

from __future__ import annotations

from opprof_db.analysis.critical_chain import Chain, critical_chain
from opprof_db.analysis.measures import Measures
from opprof_db.analysis.predicates.base import CouldNotLookError, Limits, Verdict, fine, plural, predicate
from opprof_db.analysis.simulated import COMPUTE_PIPES, Overlap, Simulated, Sync

_SIMULATE = "collect with `msprof op simulator`"
_PIPE_OF = {"V": "VECTOR", "VEC": "VECTOR", "M": "CUBE", "S": "SCALAR", "FIX": "FIXP"}


def simulated(m: Measures) -> Simulated:
    """The simulator's figures; raises where there are none."""
    if m.kernel["mode"] not in ("simulator", "mixed"):
        raise CouldNotLookError("it was not simulated", how=_SIMULATE)
    return Simulated(m)


def traced(m: Measures) -> Simulated:
    """The same with a whole trace of at least one core that worked."""
    found = simulated(m)
    if not found.pipes:
        raise CouldNotLookError("there is no trace", how="ingest simulator/trace.json, or let the simulation finish")
    if found.truncated:
        raise CouldNotLookError(
            "the trace is cut off: its spans and shares mean nothing", how="let the simulation finish"
        )
    if not found.worked:
        raise CouldNotLookError(
            "no traced core did noticeable work: the traces are of idle cores",
            how="ingest simulator/trace.json, or simulate with --core-id of a core that works",
        )
    return found


def statistics(m: Measures) -> Simulated:
    """The same with instruction statistics."""
    found = simulated(m)
    if not found.cycles:
        raise CouldNotLookError("there are no instruction statistics", how="ingest the core folders' *_instr_exe.csv")
    return found


def _pairs(found: Simulated, core: str, limits: Limits) -> list[tuple[Overlap, float, float]]:
    """(pair, hidden share, shorter busy time) of the compute unit with each transfer pipe, both busy enough."""
    pipes, span = found.of_core(core), found.span_us(core)
    if not span:
        return []
    made = []
    for unit in COMPUTE_PIPES:
        for other in ("MTE2", "MTE3", "MTE1", "FIXP"):
            if unit not in pipes or other not in pipes:
                continue
            pair = found.overlap(core, unit, other)
            shorter = min(pipes[unit].busy_us, pipes[other].busy_us)
            if pair is None or shorter < limits["busy_share"] * span or pair.share is None:
                continue
            made.append((pair, pair.both_us / shorter if shorter else 0.0, shorter))
    return made


@predicate
def sim_overlap(m: Measures, limits: Limits) -> Verdict:
    """Compute and transfer pipes of a core that hardly work at the same time."""
    found = traced(m)
    looked: list[tuple[float, Overlap, float, float]] = []
    for core in found.worked:
        for pair, hidden, shorter in _pairs(found, core, limits):
            looked.append((shorter * (1 - hidden), pair, hidden, shorter))
    if not looked:
        return fine("no compute and transfer pipe of a core were both busy for long")
    exposed, pair, hidden, shorter = max(looked, key=lambda one: one[0])
    share = pair.share or 0.0
    pipes = found.of_core(pair.core)
    cited = (found.cite_overlap(pair), found.cite_pipe(pipes[pair.a]), found.cite_pipe(pipes[pair.b]))
    says = f"{pair.core}: {pair.a} and {pair.b} overlap for {share:.2f} of the time either works"
    if share >= limits["partial"] or hidden >= limits["hidden"]:
        return fine(says, *cited)
    word = "hardly" if share < limits["none"] else "partly"
    return Verdict(
        True,
        {"core": pair.core, "a": pair.a, "b": pair.b, "share": share, "word": word, "hidden": hidden},
        cited,
        exposed,
        f"{shorter:.2f} us of the shorter one, {pair.both_us:.2f} us of it hidden (simulated time)",
        "high" if share < limits["none"] else "medium",
        core=pair.core,
    )


@predicate
def sim_double_buffering(m: Measures, limits: Limits) -> Verdict:
    """Whether copying in goes on while the compute unit works: buffers that swap, by overlap and by flags."""
    found = traced(m)
    for core in found.worked:
        for pair, hidden, shorter in _pairs(found, core, limits):
            if "MTE2" not in (pair.a, pair.b):
                continue
            unit = pair.b if pair.a == "MTE2" else pair.a
            flags = {
                flag
                for sync in found.syncs
                if sync.core == core
                and sync.instruction.startswith("WAIT")
                and _PIPE_OF.get(sync.producer or "", sync.producer) == unit
                and sync.consumer == "MTE2"
                for flag in sync.flags
            }
            pipes = found.of_core(core)
            cited = (found.cite_overlap(pair), found.cite_pipe(pipes["MTE2"]), found.cite_pipe(pipes[unit]))
            enough = pipes["MTE2"].work_events >= limits["rounds"]
            says = f"{core}: {100 * hidden:.0f} % of the shorter of MTE2 and {unit} is hidden behind the other"
            if hidden >= limits["hidden"] or not enough:
                return fine(says if enough else f"{core}: too few copies to tell", *cited)
            text = f"; {plural(len(flags), 'flag')} from {unit} back to MTE2" if flags else ""
            return Verdict(
                True,
                {"core": core, "unit": unit, "hidden": hidden, "flags": text, "copies": pipes["MTE2"].work_events},
                cited,
                shorter * (1 - hidden),
                f"{shorter:.2f} us of the shorter one, {100 * hidden:.0f} % hidden (simulated time)",
                "high" if len(flags) == 1 or hidden < limits["none"] else "medium",
                core=core,
            )
    return fine("no core both copies in and computes for long")


def _costly(found: Simulated, syncs: list[Sync], core: str) -> tuple[int, int, Sync]:
    """(cycles together, work cycles of the core's busiest pipe, costliest group)."""
    own = [sync for sync in syncs if sync.core == core]
    return sum(sync.cycles for sync in own), found.work_cycles.get(core, 0), own[0]


def _cycles_us(found: Simulated, cycles: float) -> tuple[float | None, str]:
    if not found.clock_mhz:
        return None, f"{cycles:.0f} cycles; the simulator's clock is not known"
    us = cycles / found.clock_mhz
    return us, f"{cycles:.0f} cycles at {found.clock_mhz:g} MHz (simulated time)"


def _synchronisation(m: Measures, limits: Limits, prefixes: tuple[str, ...]) -> Verdict:
    found = statistics(m)
    syncs = [sync for sync in found.syncs if sync.instruction.startswith(prefixes)]
    cores = [core for core in found.busiest_by_cycles if any(sync.core == core for sync in syncs)]
    if not cores:
        return fine("the statistics hold none")
    core = max(cores, key=lambda one: _costly(found, syncs, one)[0])
    cycles, busiest, worst = _costly(found, syncs, core)
    share = cycles / busiest if busiest else 0.0
    own = [sync for sync in syncs if sync.core == core][:4]
    cited = tuple(found.cite_sync(sync) for sync in own)
    says = f"{core}: {cycles} cycles, {100 * share:.0f} % of those of its busiest pipe"
    if share < limits["share"] or cycles < limits["min_cycles"]:
        return fine(says, *cited)
    gain, why = _cycles_us(found, cycles)
    line = found.source_line(core, worst)
    producer = worst.producer or worst.pipe
    return Verdict(
        True,
        {
            "core": core,
            "cycles": cycles,
            "share": share,
            "worst": worst.cycles,
            "producer": producer,
            "consumer": worst.consumer or "the other pipes",
            "calls": worst.calls,
            "line": f" at {line}" if line else "",
            "all_cycles": sum(sync.cycles for sync in syncs),
            "cores": len({sync.core for sync in syncs if sync.cycles}),
            "saturated": f"; {plural(sum(s.saturated for s in syncs), 'counter')} at its end left out"
            if any(sync.saturated for sync in syncs)
            else "",
        },
        cited,
        gain,
        f"{why}, were none of it hidden",
        "medium",
        core=core,
    )


@predicate
def sim_waits(m: Measures, limits: Limits) -> Verdict:
    """Cycles of WAIT_FLAG, by who is waited for."""
    return _synchronisation(m, limits, ("WAIT_", "wait_event"))


@predicate
def sim_barriers(m: Measures, limits: Limits) -> Verdict:
    """Cycles of barriers."""
    return _synchronisation(m, limits, ("BAR",))


@predicate
def sim_holes(m: Measures, limits: Limits) -> Verdict:
    """Gaps between neighbours of the busiest pipe of a core."""
    found = traced(m)
    looked = []
    for core in found.worked:
        pipes = [pipe for pipe in found.of_core(core).values() if pipe.pipe != "SCALAR" and pipe.span_us]
        if not pipes:
            continue
        pipe = max(pipes, key=lambda one: one.busy_us)
        looked.append((pipe, (pipe.span_us or 0.0) - pipe.busy_us))
    if not looked:
        return fine("no pipe of a core worked for long")
    pipe, idle = max(looked, key=lambda one: one[1])
    typical = pipe.busy_us / max(1, pipe.work_events)
    gap = pipe.gap_p90_us or 0.0
    share = idle / (pipe.span_us or 1.0)
    cited = (found.cite_pipe(pipe, "gap_p90_us"), found.cite_pipe(pipe), found.cite_pipe(pipe, "span_us"))
    says = f"{pipe.core} {pipe.pipe}: 90 % of its gaps are below {gap:.3f} us, {100 * share:.0f} % of its span"
    if share < limits["idle_share"] or gap < limits["factor"] * typical or pipe.gaps < limits["gaps"]:
        return fine(says, *cited)
    return Verdict(
        True,
        {"core": pipe.core, "pipe": pipe.pipe, "gap": gap, "typical": typical, "share": share, "gaps": pipe.gaps},
        cited,
        idle,
        f"{pipe.span_us:.2f} us of span - {pipe.busy_us:.2f} us busy (simulated time)",
        "low",
        core=pipe.core,
    )


def _described(chain: Chain) -> str:
    parts = sorted(chain.on_pipe_us.items(), key=lambda item: -item[1])
    return ", ".join(f"{pipe} {100 * us / chain.total_us:.0f} %" for pipe, us in parts[:4] if us)


@predicate
def sim_critical_chain(m: Measures, limits: Limits) -> Verdict:
    """The chain of work and hand-overs from the first to the last work of the longest core."""
    found = traced(m)
    core = found.worked[0]
    events = found.events(core)
    if events is None:
        raise CouldNotLookError(
            f"the events of {core} were not kept, or are too many", how="ingest again with --trace full"
        )
    flows = found.flows(core)
    chain = critical_chain(events, flows)
    if chain is None or chain.total_us <= 0:
        return fine(f"{core} has no work to chain")
    top = max(chain.on_pipe_us, key=lambda pipe: chain.on_pipe_us[pipe])
    share = chain.on_pipe_us[top] / chain.total_us
    pipes = found.of_core(core)
    cited = tuple(found.cite_pipe(pipes[pipe]) for pipe in chain.on_pipe_us if pipe in pipes)
    hand = sum(chain.hand_overs.values())
    way = max(chain.hand_overs, key=lambda pair: chain.hand_overs[pair], default=None)
    if not flows:
        raise CouldNotLookError(
            f"{core}: flags were not collected, so who waited for whom is not known",
            how="collect with --aic-metrics=PipeUtilization,ResourceConflictRatio",
        )
    says = f"{core}: {_described(chain)}; {plural(hand, 'hand-over')}"
    if hand < limits["hand_overs"] and share >= limits["one_pipe"]:
        return fine(f"the path is {top} nearly alone: {says}", *cited)
    others = chain.total_us - chain.on_pipe_us[top]
    return Verdict(
        True,
        {
            "core": core,
            "parts": _described(chain),
            "holes": chain.holes_us / chain.total_us,
            "hands": hand,
            "way": f", most often {way[0]} to {way[1]}" if way else "",
            "total": chain.total_us,
            "top": top,
        },
        cited,
        others,
        f"{chain.total_us:.2f} us of path - {chain.on_pipe_us[top]:.2f} us of {top} on it (simulated time)",
        "low",
        severity="info",
        core=core,
    )
