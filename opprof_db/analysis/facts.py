"""The first lines of every diagnosis: what ran on what, and what limits whatever is said about it."""

from __future__ import annotations

import math

from opprof_db.analysis.achieved import of_measures as achieved_of
from opprof_db.analysis.findings import Evidence, Fact
from opprof_db.analysis.measures import PIPES, Measures, names
from opprof_db.analysis.predicates.cores import KIND_NAMES
from opprof_db.analysis.predicates.pipes import PIPE_NAMES
from opprof_db.catalog import load, table_name

_MIB = 1024.0**2


def facts_of(m: Measures) -> tuple[Fact, ...]:
    """All facts that the stored figures give."""
    if m.on_device:
        made = [_task(m), *_cores(m), *_tail(m), *_halves(m), *_frequency(m), *_pipes(m), *_achieved(m), _collected(m)]
    else:
        made = [*_simulated(m), _collected(m)]
    return (*made, *_vendor(m), _limits(m))


def _task(m: Measures) -> Fact:
    kernel = m.kernel
    kind = kernel["op_type"] or "kernel"
    if m.duration_us is None:
        return Fact("task", None, "us", f"A {kind} kernel whose task duration was not recorded.")
    blocks = f"block dim {kernel['block_dim']}" if kernel["block_dim"] else "block dim not recorded"
    article = "An" if kind[0] in "aeiouAEIOU" else "A"
    sentence = f"{article} {kind} kernel, {blocks}, task duration {m.duration_us:,.2f} us."
    return Fact("task", m.duration_us, "us", sentence, (m.cite_kernel("duration_us"),))


def _cores(m: Measures) -> list[Fact]:
    made = []
    for kind in m.kinds:
        known = m.chip.cores(kind)
        of = "of an unknown number" if known is None else f"of {known[0]}" if known[0] == known[1] else (
            f"of {known[0]} to {known[1]}"
        )  # fmt: skip
        name = KIND_NAMES[kind]
        if kind == "aicore":
            blocks = m.kernel["block_dim"]
            made.append(Fact("cores", blocks, None, f"{blocks} blocks on the AI Cores ({of[3:]} on the chip)."))
            continue
        working, idle = m.working(kind), m.idle(kind)
        launched = len(working) + len(idle)
        what = f"{name}: {len(working)} {of} cores work"
        if idle:
            what += f"; {len(idle)} of the {launched} launched are idle ({names(idle, 3)})"
        if working:
            times = sorted(core.time_us for core in working)
            mean = sum(times) / len(times)
            spread = f", {times[0]:,.2f} to {times[-1]:,.2f} us (mean {mean:,.2f})" if len(times) > 1 else (
                f" for {times[0]:,.2f} us"
            )  # fmt: skip
            what += spread
        cited = (m.cite_time(m.slowest(kind), "slowest"),) if working else ()
        column = "aiv_cores" if kind == "aiv" else "aic_cores"
        made.append(Fact(f"cores_{kind}", len(working), "cores", f"{what}.", (*cited, *m.cite_chip(column))))
        made.append(Fact(f"idle_cores_{kind}", len(idle), "cores", _idle_sentence(name, idle, launched),
                         tuple(m.cite_time(core, "idle") for core in idle[:4])))  # fmt: skip
    return made


def _idle_sentence(name: str, idle: tuple[object, ...], launched: int) -> str:
    if not idle:
        return f"{name}: none of the {launched} launched cores is idle."
    return f"{name}: {len(idle)} of {launched} launched cores are idle, and left out of every other figure."


def _tail(m: Measures) -> list[Fact]:
    blocks = m.kernel["block_dim"]
    kind = "aicore" if "aicore" in m.kinds else "aic" if "aic" in m.kinds else "aiv" if "aiv" in m.kinds else None
    known = m.chip.cores(kind) if kind else None
    if not blocks or known is None or kind is None:
        return []
    low, high = known
    cited = (m.cite_kernel("block_dim"), *m.cite_chip("aiv_cores" if kind == "aiv" else "aic_cores"))
    if blocks <= low:
        return [Fact("tail_wave", 1, "rounds", f"{blocks} blocks run in one round: no tail wave.", cited)]
    rounds = math.ceil(blocks / low)
    last = blocks - (rounds - 1) * low
    few = f"{low}" if low == high else f"{low} (perhaps {high})"
    sentence = f"{blocks} blocks on {few} {KIND_NAMES[kind]} cores take {rounds} rounds, the last with {last} blocks."
    return [Fact("tail_wave", rounds, "rounds", sentence, cited)]


def _halves(m: Measures) -> list[Fact]:
    if not m.mix:
        return []
    cubes, vectors = len(m.cores("aic")), len(m.cores("aiv"))
    ratio = f"1:{vectors / cubes:g}" if cubes and vectors % cubes == 0 else f"{cubes}:{vectors}"
    made = [Fact("mix_ratio", ratio, None, f"Mix kernel {ratio}: {cubes} cube and {vectors} vector rows.")]
    for kind in sorted(m.unused):
        sentence = f"{KIND_NAMES[kind]} takes part without doing anything: an unused half."
        made.append(Fact("unused_half", kind, None, sentence, (m.cite_time(m.slowest(kind), "longest"),)))
    return made


def _frequency(m: Measures) -> list[Fact]:
    row = m.connection.execute(
        "SELECT rated_freq_mhz, current_freq_mhz, estimated_freq_mhz, reduced FROM frequency WHERE kernel_id = ?",
        (m.kernel_id,),
    ).fetchone()
    if row is None or row[0] is None:
        return [Fact("frequency", None, "MHz", "Neither the rated nor the real frequency is recorded.")]
    rated, current, estimated, _ = row
    key: dict[str, int | str | None] = {"kernel_id": m.kernel_id}
    parts = [f"rated {rated:g} MHz"]
    parts.append(f"{current:g} MHz during collection" if current else "not recorded during collection")
    cited = [m.cite_kernel("rated_freq_mhz")]
    if current:
        cited.append(m.cite_kernel("current_freq_mhz"))
    if estimated:
        parts.append(f"about {estimated:.0f} MHz by cycles / task duration")
        cited.append(Evidence("frequency", "estimated_freq_mhz", key, estimated, "MHz", "its head makes it too low"))
    return [Fact("frequency", current or estimated or None, "MHz", f"Frequency: {', '.join(parts)}.", tuple(cited))]


def _pipes(m: Measures) -> list[Fact]:
    made = []
    for kind in m.kinds:
        if kind in m.unused or not m.working(kind):
            continue
        shares = m.shares(kind)
        if not shares:
            continue
        ranked = sorted(shares.items(), key=lambda item: -item[1])
        core = m.slowest(kind)
        listed = ", ".join(f"{PIPE_NAMES[pipe]} {share:.2f}" for pipe, share in ranked if share >= 0.005)
        kind_prefix = "aiv" if kind == "aiv" else "aic"
        cited = tuple(
            m.cite("pipe_utilization", f"{kind_prefix}_{pipe}_time_us", core, "of the slowest core")
            for pipe in PIPES[kind]
            if m.busy(core, pipe) is not None
        )
        margin = ranked[0][1] - ranked[1][1] if len(ranked) > 1 else ranked[0][1]
        sentence = (
            f"{KIND_NAMES[kind]} pipes, share of the working cores' time: {listed}; {PIPE_NAMES[ranked[0][0]]} "
            f"leads by {margin:.2f}."
        )
        made.append(Fact(f"dominant_pipe_{kind}", ranked[0][0], None, sentence, cited))
    return made


def _achieved(m: Measures) -> list[Fact]:
    found = achieved_of(m, m.work)
    if found is None:
        return []
    made = []
    if found.tflops is not None:
        share = (
            f", {found.flops_share:.1%} of {found.peak_tflops:.1f} ({found.peak_tflops_of})"
            if found.flops_share
            else ""
        )
        made.append(Fact("achieved_tflops", found.tflops, "TFLOPS", f"Achieved {found.tflops:.3f} TFLOPS{share}."))
    if found.gb_s is not None:
        peak = f", {found.bytes_share:.1%} of {found.peak_gb_s:,.0f}" if found.bytes_share else ""
        excess = f"; {found.excess:.2f} times the needed bytes were moved" if found.excess else ""
        sentence = f"Achieved {found.gb_s:,.1f} GB/s (10^9 bytes) of needed data{peak}{excess}."
        made.append(Fact("achieved_gb_s", found.gb_s, "10^9 B/s", sentence))
    return made


def _collected(m: Measures) -> Fact:
    families = load().families
    held = [family for family in families if m.on_device and m.rows(table_name(family))]
    extra = []
    for table, what in (
        ("roofline_points", "Roofline"),
        ("core_occupancy", "Occupancy"),
        ("instruction_stats", "instruction statistics"),
        ("pipe_activity", "trace"),
        ("hot_instructions", "Source"),
    ):
        if m.single(f"SELECT 1 FROM {table} WHERE kernel_id = ? LIMIT 1"):
            extra.append(what)
    missing = [family for family in families if m.on_device and family not in held]
    sentence = f"Collected: {', '.join([*held, *extra]) or 'nothing that a rule could read'}"
    if missing:
        sentence += f"; not collected: {', '.join(missing)}"
    return Fact("collected", ",".join([*held, *extra]), None, f"{sentence}.")


def _simulated(m: Measures) -> list[Fact]:
    from opprof_db.analysis.simulated import Simulated

    found = Simulated(m)
    cores = sorted(found.cycles)
    traced = {pipe.core for pipe in found.pipes}
    busy = found.busiest_by_cycles
    made = []
    if cores:
        share = sum(sum(found.cycles[core].values()) for core in busy) / max(
            1, sum(sum(pipes.values()) for pipes in found.cycles.values())
        )
        sentence = (
            f"{len(cores)} simulated cores have statistics; {len(busy)} of them hold {share:.0%} of the cycles "
            f"({', '.join(busy[:4])}{', …' if len(busy) > 4 else ''})."
        )
        made.append(Fact("simulated_cores", len(cores), "cores", sentence))
    if traced:
        lost = [core for core in busy if core not in traced]
        sentence = f"{len(traced)} cores have a trace"
        if lost:
            sentence += f", but not {', '.join(lost[:4])}{', …' if len(lost) > 4 else ''}, which did the work"
        if found.truncated:
            sentence += "; it is cut off"
        made.append(Fact("traced_cores", len(traced), "cores", f"{sentence}."))
    clock = m.kernel["clock_mhz"]
    if clock:
        sentence = f"Simulator clock {clock:g} MHz ({m.kernel['clock_source']}); simulated time is not device time."
        made.append(Fact("clock", clock, "MHz", sentence))
    else:
        made.append(Fact("clock", None, "MHz", "The simulator's clock is not known: cycles only."))
    return made


def _vendor(m: Measures) -> list[Fact]:
    """msopprof's own advice, beside the findings: never counted as agreement."""
    rows = m.connection.execute(
        "SELECT advice, reliability, count(*), min(block), min(ordinal) FROM vendor_advice WHERE kernel_id = ?"
        " GROUP BY advice, reliability ORDER BY reliability, advice",
        (m.kernel_id,),
    ).fetchall()
    made = []
    for advice, reliability, count, _, _ in rows:
        block, ordinal = m.connection.execute(
            "SELECT block, ordinal FROM vendor_advice WHERE kernel_id = ? AND advice = ?"
            " ORDER BY block, ordinal LIMIT 1",
            (m.kernel_id, advice),
        ).fetchone()
        how = {
            "as_printed": "as printed, not checked",
            "unreliable": "unreliable: a known mistake upstream",
            "maybe_other_kernel": "may belong to an earlier kernel",
        }.get(reliability, reliability)
        times = f" ({count} times)" if count > 1 else ""
        text = " ".join(str(advice).split())
        row: dict[str, int | str | None] = {"kernel_id": m.kernel_id, "block": block, "ordinal": ordinal}
        made.append(
            Fact(
                "vendor_advice",
                reliability,
                None,
                f"msopprof says{times}: {text} [{how}]",
                (Evidence("vendor_advice", "advice", row, advice, None, how),),
            )
        )
    return made


def _limits(m: Measures) -> Fact:
    """What limits every statement about this kernel."""
    limits = []
    kernel = m.kernel
    if not m.chip.exact:
        limits.append(m.chip.note)
    if m.on_device:
        if not kernel["current_freq_mhz"]:
            limits.append("the frequency during collection is not recorded")
        limits.append("which HBM vendor the board has is not recorded")
        if m.mix and m.header_family == "910B":
            limits.append("printed ratios of mix kernels are over the task duration; shares here are over core times")
        launches = m.connection.execute(
            "SELECT count(*) FROM kernels WHERE run_id = ? AND device_id IS ? AND name IS ? AND block_dim IS ?",
            (kernel["run_id"], kernel["device_id"], kernel["name"], kernel["block_dim"]),
        ).fetchone()[0]
        if launches == 1:
            limits.append("a single launch: no noise estimate")
        limits.append("counters come from several replays, the task duration from another execution (good to 1 us)")
    else:
        limits.append("the simulator sees no contention for L2 and memory")
    if kernel["missing"]:
        limits.append(f"missing: {kernel['missing']}")
    return Fact("limits", len(limits), None, f"What limits this: {'; '.join(limits)}.")
