"""Where the simulator's flags explain what a pipe of the device waited for."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from opprof_db.analysis.findings import Evidence
from opprof_db.analysis.simulated import Simulated, Sync

PIPE_NAMES = {
    "VECTOR": "vec", "VEC": "vec", "V": "vec", "CUBE": "cube", "M": "cube", "SCALAR": "scalar", "S": "scalar",
    "FIXP": "fixpipe", "FIX": "fixpipe", "MTE1": "mte1", "MTE2": "mte2", "MTE3": "mte3",
}  # fmt: skip
"""How traces, statistics and flags spell a pipe -> how the device CSVs do."""
NOTICEABLE_WAIT = 0.1
"""Waits of the device below this share of a core's cycles need no explanation."""
ENOUGH = 0.5
"""The simulator explains a wait when its own is at least this share of the least one on the device …"""
PARTLY = 0.2
"""… and partly from this share on."""

Outcome = Literal["explained", "partly", "own queue", "not seen", "small", "could not look"]


@dataclass(frozen=True, slots=True)
class Source:
    """Whom a pipe of the simulator waited for."""

    producer: str
    cycles: int
    calls: int


@dataclass(frozen=True, slots=True)
class Wait:
    """One pipe's wait on the device, and what the simulator has to say about it."""

    core_kind: str
    pipe: str
    min_ratio: float
    """Least share of a working core's cycles in which the pipe's next instruction was held back, on the device."""
    max_ratio: float
    simulator_share: float | None
    """Cycles of its WAIT_FLAGs / cycles of the busiest pipe, over the simulated cores that worked."""
    queue_share: float | None
    """Cycles of its SET_FLAGs, which stand behind the pipe's own work, over the same."""
    sources: tuple[Source, ...]
    """Whom it waited for in the simulator, the costliest first."""
    outcome: Outcome
    sentence: str
    evidence: tuple[Evidence, ...]


def device_pipe(name: str) -> str:
    """A pipe as the device CSVs name it; pipes that only the simulator has in lower case."""
    return PIPE_NAMES.get(name, name.lower())


def waits(
    connection: sqlite3.Connection, device_id: int, simulated: Simulated, worked: Mapping[str, tuple[str, ...]]
) -> tuple[Wait, ...]:
    """Every wait that the device recorded, the largest first; empty where ResourceConflictRatio was not collected."""
    rows = connection.execute(
        "SELECT core_kind, pipe, min_ratio, max_ratio, max_block_id, max_sub_block_id FROM resource_conflicts"
        " WHERE kernel_id = ? AND conflict = 'wait' AND max_ratio > 0 ORDER BY max_ratio DESC, core_kind, pipe",
        (device_id,),
    ).fetchall()
    made = []
    for kind, pipe, least, most, block, sub in rows:
        row: dict[str, int | str | None] = {
            "kernel_id": device_id,
            "core_kind": kind,
            "pipe": pipe,
            "conflict": "wait",
        }
        note = f"largest, block {block} {sub}; the least is {least:g}"
        cited = Evidence("resource_conflicts", "max_ratio", row, most, "ratio", note)
        made.append(_explained(kind, pipe, least, most, cited, simulated, worked.get(kind, ())))
    return tuple(made)


def _explained(
    kind: str,
    pipe: str,
    least: float,
    most: float,
    cited: Evidence,
    simulated: Simulated,
    cores: tuple[str, ...],
) -> Wait:
    spread = f"{least:.2f}..{most:.2f}" if f"{least:.2f}" != f"{most:.2f}" else f"{most:.2f}"
    on_device = f"{kind.upper()} {pipe}: held back for {spread} of the cycles on the device"
    base = float(sum(max(simulated.cycles.get(core, {}).values(), default=0) for core in cores))
    if most < NOTICEABLE_WAIT:
        return Wait(kind, pipe, least, most, None, None, (), "small", f"{on_device}: little.", (cited,))
    if not base:
        text = f"{on_device}; no simulated core of this kind that worked has statistics."
        return Wait(kind, pipe, least, most, None, None, (), "could not look", text, (cited,))
    own = [sync for sync in simulated.syncs if sync.core in cores]
    if not own:
        text = f"{on_device}; the simulator's statistics hold no flags (collected with ResourceConflictRatio only)."
        return Wait(kind, pipe, least, most, None, None, (), "could not look", text, (cited,))
    held = [sync for sync in own if sync.instruction.upper().startswith("WAIT") and _holds_up(sync, pipe)]
    queued = sum(sync.cycles for sync in own if sync.instruction.startswith("SET") and device_pipe(sync.pipe) == pipe)
    by_producer: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for sync in held:
        counts = by_producer[device_pipe(sync.producer or "another pipe")]
        counts[0] += sync.cycles
        counts[1] += sync.calls
    sources = tuple(
        sorted(
            (Source(name, cycles, calls) for name, (cycles, calls) in by_producer.items() if cycles),
            key=lambda one: -one.cycles,
        )
    )
    share, queue = sum(sync.cycles for sync in held) / base, queued / base
    costliest = sorted(held, key=lambda one: -one.cycles)[:2]
    evidence = (cited, *(simulated.cite_sync(sync) for sync in costliest if sync.cycles))
    whom = " and ".join(f"{one.producer} ({one.cycles} cycles in {one.calls} waits)" for one in sources[:2])
    if sources and share >= ENOUGH * least:
        outcome: Outcome = "explained"
        says = f"the simulator shows as much ({share:.2f}): it waits for {whom}"
    elif sources and share >= PARTLY * least:
        outcome = "partly"
        says = f"the simulator shows a part of it ({share:.2f}): it waits for {whom}; the rest it does not show"
    elif queue >= ENOUGH * least:
        outcome = "own queue"
        says = (
            f"in the simulator its flags wait {share:.2f}, but {queue:.2f} is spent behind the pipe's own work"
            f" (SET_FLAG, {queued} cycles): the unit is full, not held up by another"
        )
    else:
        outcome = "not seen"
        seen = f"only {share:.2f}, for {whom}" if sources else "no such wait"
        says = f"the simulator shows {seen}: what holds it up on the device is outside of the simulator's picture"
        if sources and sources[0].producer.startswith("mte"):
            says += f", most likely transfers of {sources[0].producer} that L2 or DDR slow down"
    return Wait(kind, pipe, least, most, share, queue, sources, outcome, f"{on_device}; {says}.", evidence)


def _holds_up(sync: Sync, pipe: str) -> bool:
    """Whether a WAIT_FLAG holds up a pipe: the one its detail names, else the one it was counted on."""
    return device_pipe(sync.consumer or sync.pipe) == pipe
