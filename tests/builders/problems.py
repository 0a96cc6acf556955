"""For every device rule: folders in which it has to come first, and near misses in which it has to be silent.

Each is a kernel that is well built but for one thing (910B4: 20 cube and 40 vector cores, 0.8 TB/s), so that what the
diagnosis says can only be about that thing. The measured cases are in ``cases``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from opprof_db.analysis.work import Work
from tests.builders.device import CoreLoad, Launch
from tests.builders.kernels import spread

MIB = 1024.0
WELL = {"vec": 0.72, "mte2": 0.74, "mte3": 0.4, "scalar": 0.15}
"""Shares of a vector core whose pipes overlap."""
WELL_CUBE = {"cube": 0.78, "mte1": 0.55, "mte2": 0.7, "fixpipe": 0.1, "scalar": 0.15}
WAITS = {"vec": 0.25, "mte2": 0.2, "mte3": 0.55, "cube": 0.2, "mte1": 0.4}
Times = tuple[float, float] | list[float]


def core(sub_block: str, time: float, **more: Any) -> CoreLoad:
    """A core that is well built but for what is said."""
    vector = sub_block.startswith("vector")
    # Enough data for its time, yet far from the memory roof; 64 KiB with each instruction.
    moved = 4.0 * time if vector else 12.0 * time
    held: dict[str, Any] = {
        "shares": WELL if vector else WELL_CUBE,
        "volumes_kib": {"gm_to_ub": moved, "ub_to_gm": moved / 2} if vector else {"gm_to_l1": moved, "l0c_to_gm": 64.0},
        "waits": WAITS,
        "l2_hits": 0.6,
    }
    held |= {key: value for key, value in more.items() if key != "instructions"}
    volumes = held["volumes_kib"]
    counts = {
        "mte2": max(1, round((volumes.get("gm_to_ub", 0.0) + volumes.get("gm_to_l1", 0.0)) / 64)),
        "mte3": max(1, round(volumes.get("ub_to_gm", 0.0) / 64)),
        "cube": round(40 * time),
    }
    return CoreLoad(sub_block, time, instructions=counts | more.get("instructions", {}), **held)


def _times(times: Times, cores: int) -> list[float]:
    return times if isinstance(times, list) else [spread(*times, at, cores) for at in range(cores)]


def vector(
    duration: float = 400.0,
    cores: int = 40,
    times: Times | None = None,
    launch: dict[str, Any] | None = None,
    **more: Any,
) -> Launch:
    """A vector kernel."""
    held = _times(times or (0.98 * (duration - 0.9), duration - 0.9), cores)
    blocks = [[core("vector0", time, **more)] for time in held]
    return Launch("add_custom", "vector", duration, blocks, **(launch or {}))


def cube(duration: float = 400.0, cores: int = 20, times: Times | None = None, **more: Any) -> Launch:
    """A cube kernel."""
    held = _times(times or (0.98 * (duration - 0.9), duration - 0.9), cores)
    return Launch("matmul_custom", "cube", duration, [[core("cube0", time, **more)] for time in held])


def mix(
    cubes: dict[str, Any], vectors: dict[str, Any], duration: float = 400.0, blocks: int = 20, per_block: int = 2
) -> Launch:
    """A mix kernel; ``time`` in the two says how long a kind of core takes."""
    rows = []
    for at in range(blocks):
        cube_time = cubes.get("time", duration - 1.3) * spread(0.98, 1.0, at, blocks)
        vector_time = vectors.get("time", duration - 1.3) * spread(0.98, 1.0, at, blocks)
        more = {key: value for key, value in cubes.items() if key != "time"}
        other = {key: value for key, value in vectors.items() if key != "time"}
        row = [core("cube0", cube_time, **more)]
        rows.append(row + [core(f"vector{number}", vector_time, **other) for number in range(per_block)])
    return Launch("matmul_bias", "mix", duration, rows)


def _idle(launch: Launch, idle: int, time: float = 1.0) -> Launch:
    """The last blocks get no work."""
    kept = launch.blocks[: len(launch.blocks) - idle]
    nothing = [
        [CoreLoad(one.sub_block, time, {"scalar": 0.97}) for one in block] for block in launch.blocks[len(kept) :]
    ]
    return replace(launch, blocks=kept + nothing)


def _cycles(launch: Launch, frequency: float) -> Launch:
    """The cores ran at a frequency that nothing records: cycles at it, times as if at the rated one."""
    for number, (one,) in enumerate(launch.blocks):
        for family in ("PipeUtilization",):
            launch.overrides[family, "aiv_total_cycles", number] = str(round(one.time_us * frequency))
    return launch


@dataclass(frozen=True)
class Problem:
    """One folder, and the rule it is about."""

    rule: str
    case: str
    make: Callable[[], Launch]
    fires: bool
    """Comes first; otherwise it must be silent."""
    work: Work | None = None
    gain_us: tuple[float, float] | None = None
    """Bounds of the recoverable time, us, half and twice what the model of the folder says."""


def _first(
    rule: str, case: str, make: Callable[[], Launch], gain: float | None = None, work: Work | None = None
) -> Problem:
    return Problem(rule, case, make, True, work, None if gain is None else (gain / 2, gain * 2))


def _silent(rule: str, case: str, make: Callable[[], Launch], work: Work | None = None) -> Problem:
    return Problem(rule, case, make, False, work)


ROOF = {"gm_to_ub": 5.2 * MIB, "ub_to_gm": 2.2 * MIB}
"""Of each of 40 cores in 400 us: 0.78 TB/s of 0.8 when nothing hits."""
_SLOWER = [400.0 * (0.3 + 0.7 * (at + 1) / 40) for at in range(40)]
_MOVES = {"gm_to_ub": 1600.0, "ub_to_gm": 800.0}
_ALL_READ = {"gm_to_ub": 2048.0, "ub_to_gm": 256.0}

PROBLEMS: tuple[Problem, ...] = (
    # ------------------------------------------------------------ cores
    _first("one_core_only", "vector, one block", lambda: vector(800.0, 1), 780.0),
    _first("one_core_only", "all work on the first of 40 blocks", lambda: _idle(vector(800.0, 40), 39), 780.0),
    _first("one_core_only", "cube, one block", lambda: cube(900.0, 1), 855.0),
    _first("one_core_only", "mix, one block", lambda: mix({}, {}, 900.0, 1), 855.0),
    _silent("one_core_only", "a short kernel", lambda: vector(5.1, 1)),
    _silent("one_core_only", "few data for 60 us", lambda: vector(60.0, 1, volumes_kib={"gm_to_ub": 20.0})),
    _silent("one_core_only", "two cores", lambda: vector(800.0, 2)),
    _first("cores_not_launched", "4 of 40", lambda: vector(800.0, 4), 720.0),
    _first("cores_not_launched", "16 of 40", lambda: vector(800.0, 16), 480.0),
    _first("cores_not_launched", "cube, 2 of 20", lambda: cube(800.0, 2), 720.0),
    _silent("cores_not_launched", "a short kernel", lambda: vector(6.0, 8)),
    _silent("cores_not_launched", "all of them", lambda: vector(800.0, 40)),
    _silent(
        "cores_not_launched",
        "24 of 40 at the memory roof",
        lambda: vector(
            400.0,
            24,
            volumes_kib={"gm_to_ub": 8.8 * MIB, "ub_to_gm": 3.8 * MIB},
            l2_hits=0.0,
            shares=WELL | {"mte2": 0.95},
        ),
    ),
    _first("idle_cores", "16 of 40", lambda: _idle(vector(), 16), 160.0),
    _first("idle_cores", "8 of 20 cube cores", lambda: _idle(cube(), 8), 160.0),
    _first("idle_cores", "8 of 20 blocks of a mix kernel", lambda: _idle(mix({}, {}), 8), 160.0),
    _silent("idle_cores", "one core with a thirtieth of the work", lambda: vector(times=[399.0] * 39 + [13.0])),
    _silent("idle_cores", "none", vector),
    _first("unused_half", "cube cores", lambda: mix({"time": 3.0, "shares": {"scalar": 0.98}, "volumes_kib": {}}, {})),
    _first(
        "unused_half",
        "vector cores",
        lambda: mix({}, {"time": 3.0, "shares": {"scalar": 0.98}, "volumes_kib": {}}),
    ),
    _silent("unused_half", "cube cores with little work", lambda: mix({"time": 100.0}, {})),
    _silent("unused_half", "a vector kernel", vector),
    _first("tail_wave", "44 blocks on 40 cores", lambda: vector(800.0, 44, [399.0] * 44), 360.0),
    _silent("tail_wave", "80 blocks on 40 cores", lambda: vector(800.0, 80, [399.0] * 80)),
    _silent("tail_wave", "a short kernel", lambda: vector(8.0, 44, [3.5] * 44)),
    # ------------------------------------------------------------ balance and frequency
    _first("imbalance", "time grows with the block", lambda: vector(400.9, times=_SLOWER), 136.0),
    _first("imbalance", "two slow cores", lambda: vector(400.9, times=[200.0] * 38 + [400.0] * 2), 190.0),
    _first("imbalance", "cube", lambda: cube(400.9, times=[400.0] * 4 + [240.0] * 16), 128.0),
    _silent("imbalance", "one fast core", lambda: vector(400.9, times=[400.0] * 39 + [250.0])),
    _silent("imbalance", "vector cores that end early", lambda: mix({}, {"time": 150.0})),
    _silent("imbalance", "2 %", vector),
    _first("slow_core_upstream", "8 % recoverable", lambda: vector(400.9, times=[366.0] * 39 + [400.0]), 33.0),
    _silent("slow_core_upstream", "1.8 % of spread", lambda: vector(400.9, times=(392.8, 400.0))),
    _silent("slow_core_upstream", "where imbalance says it", lambda: vector(400.9, times=_SLOWER)),
    _first("reduced_frequency", "read: 1200 of 1650 MHz", lambda: vector(launch={"current_freq": "1200"}), 109.0),
    _first(
        "reduced_frequency",
        "not read, by the cycles 1320 of 1650 MHz",
        lambda: _cycles(vector(launch={"current_freq": "N/A"}), 1320.0),
        80.0,
    ),
    _silent("reduced_frequency", "1600 of 1650 MHz", lambda: vector(launch={"current_freq": "1600"})),
    _silent(
        "reduced_frequency", "not read, by the cycles the rated one", lambda: vector(launch={"current_freq": "N/A"})
    ),
    # ------------------------------------------------------------ who dominates, at its roof or not
    _first("dominant_pipe", "vector", lambda: vector(shares=WELL | {"vec": 0.96, "mte2": 0.6})),
    _first("dominant_pipe", "cube", lambda: cube(shares=WELL_CUBE | {"cube": 0.97})),
    _silent("dominant_pipe", "none above 0.8", vector),
    _first(
        "at_memory_roof",
        "nothing hits",
        lambda: vector(shares=WELL | {"mte2": 0.95}, volumes_kib=ROOF, l2_hits=0.0),
    ),
    _first(
        "at_memory_roof",
        "small transfers at the roof",
        lambda: vector(shares=WELL | {"mte2": 0.95}, volumes_kib=ROOF, l2_hits=0.0, instructions={"mte2": 1331}),
    ),
    _silent("at_memory_roof", "half of it", lambda: vector(volumes_kib={"gm_to_ub": 2.8 * MIB, "ub_to_gm": MIB})),
    _silent("at_memory_roof", "all of it hits in L2, with pauses", lambda: vector(volumes_kib=ROOF, l2_hits=1.0)),
    _first("transfer_bound", "MTE2 0.93", lambda: vector(shares=WELL | {"vec": 0.3, "mte2": 0.93}), 240.0),
    _first("transfer_bound", "MTE2 0.85", lambda: vector(shares=WELL | {"vec": 0.2, "mte2": 0.85}), 240.0),
    _first("transfer_bound", "MTE3 0.9", lambda: vector(shares=WELL | {"vec": 0.3, "mte2": 0.4, "mte3": 0.9}), 240.0),
    _first("transfer_bound", "cube, MTE2 0.95", lambda: cube(shares=WELL_CUBE | {"cube": 0.4, "mte2": 0.95}), 180.0),
    _silent("transfer_bound", "MTE2 0.74", vector),
    _silent(
        "transfer_bound",
        "at the memory roof",
        lambda: vector(shares=WELL | {"vec": 0.3, "mte2": 0.95}, volumes_kib=ROOF, l2_hits=0.0),
    ),
    _first(
        "small_transfers",
        "GM to UB, 2 KiB",
        lambda: vector(shares=WELL | {"vec": 0.2, "mte2": 0.9, "mte3": 0.1}, instructions={"mte2": 800}),
        250.0,
    ),
    _first(
        "small_transfers",
        "UB to GM, 256 bytes",
        lambda: vector(shares=WELL | {"vec": 0.2, "mte2": 0.1, "mte3": 0.85}, instructions={"mte3": 3200}),
        280.0,
    ),
    _first(
        "small_transfers",
        "GM to L1, 4 KiB",
        lambda: cube(shares=WELL_CUBE | {"cube": 0.3, "mte1": 0.2, "mte2": 0.92}, instructions={"mte2": 1200}),
        220.0,
    ),
    _silent("small_transfers", "64 KiB", lambda: vector(shares=WELL | {"vec": 0.2, "mte2": 0.9})),
    _silent(
        "small_transfers",
        "small ones on an idle pipe",
        lambda: vector(shares=WELL | {"mte3": 0.05}, instructions={"mte3": 3200}),
    ),
    _silent(
        "small_transfers",
        "at the memory roof",
        lambda: vector(shares=WELL | {"mte2": 0.95}, volumes_kib=ROOF, l2_hits=0.0, instructions={"mte2": 1331}),
    ),
    # ------------------------------------------------------------ do the pipes overlap
    _first(
        "transfer_compute_in_turn",
        "half and half",
        lambda: vector(
            shares={"vec": 0.5, "mte2": 0.4, "mte3": 0.12, "scalar": 0.1}, waits={"vec": 0.52, "mte2": 0.9, "mte3": 0.9}
        ),
        200.0,
    ),
    _first(
        "transfer_compute_in_turn",
        "copies dominate",
        lambda: vector(
            shares={"vec": 0.25, "mte2": 0.55, "mte3": 0.2, "scalar": 0.1},
            waits={"vec": 0.75, "mte2": 0.9, "mte3": 0.9},
        ),
        180.0,
    ),
    _first(
        "transfer_compute_in_turn",
        "cube",
        lambda: cube(
            shares={"cube": 0.5, "mte1": 0.3, "mte2": 0.45, "fixpipe": 0.05, "scalar": 0.1}, waits={"cube": 0.55}
        ),
        200.0,
    ),
    _silent("transfer_compute_in_turn", "overlap", vector),
    _silent(
        "transfer_compute_in_turn",
        "the vector unit does not wait",
        lambda: vector(shares={"vec": 0.6, "mte2": 0.3, "mte3": 0.1, "scalar": 0.2}, waits={"vec": 0.1}),
    ),
    _first(
        "aic_waits_for_aiv",
        "1:1 mix",
        lambda: mix(
            {"shares": {"cube": 0.2, "mte1": 0.1, "mte2": 0.15, "scalar": 0.97, "fixpipe": 0.05}},
            {"shares": WELL | {"vec": 0.75, "mte2": 0.3}, "waits": {"vec": 0.8}},
            per_block=1,
        ),
    ),
    _silent("aic_waits_for_aiv", "a busy cube", lambda: mix({}, {})),
    _silent("aic_waits_for_aiv", "a cube kernel", cube),
    _first(
        "aiv_waits_for_aic",
        "vector cores wait",
        lambda: mix({}, {"shares": {"vec": 0.1, "mte2": 0.1, "mte3": 0.05, "scalar": 0.9}, "waits": {"vec": 0.9}}),
    ),
    _silent("aiv_waits_for_aic", "both busy", lambda: mix({}, {})),
    _silent("aiv_waits_for_aic", "vector cores end early", lambda: mix({}, {"time": 60.0})),
    # ------------------------------------------------------------ what then
    _first(
        "scalar_overhead",
        "0.62",
        lambda: vector(shares={"vec": 0.2, "mte2": 0.15, "mte3": 0.1, "scalar": 0.62}),
        248.0,
    ),
    _first(
        "scalar_overhead",
        "0.97 and nothing else",
        lambda: vector(shares={"vec": 0.01, "mte2": 0.02, "mte3": 0.01, "scalar": 0.97}),
        380.0,
    ),
    _first(
        "scalar_overhead",
        "cube, 0.55",
        lambda: cube(shares={"cube": 0.2, "mte1": 0.1, "mte2": 0.2, "fixpipe": 0.05, "scalar": 0.55}),
        220.0,
    ),
    _silent("scalar_overhead", "0.25", lambda: vector(shares=WELL | {"scalar": 0.25})),
    _silent(
        "scalar_overhead", "0.45 beside a full vector unit", lambda: vector(shares=WELL | {"vec": 0.97, "scalar": 0.45})
    ),
    _silent(
        "scalar_overhead",
        "a cube core that waits",
        lambda: mix(
            {"shares": {"cube": 0.1, "mte1": 0.1, "mte2": 0.1, "scalar": 0.98}},
            {"shares": WELL | {"vec": 0.78}, "waits": {"vec": 0.75}},
            per_block=1,
        ),
    ),
    _first(
        "mte1_bound",
        "0.9 beside a cube at 0.4",
        lambda: cube(shares=WELL_CUBE | {"cube": 0.4, "mte1": 0.9, "mte2": 0.5}),
        200.0,
    ),
    _silent("mte1_bound", "below the cube", cube),
    _first(
        "fixpipe_heavy", "0.85", lambda: cube(shares=WELL_CUBE | {"cube": 0.4, "mte2": 0.5, "fixpipe": 0.85}), 180.0
    ),
    _first(
        "fixpipe_heavy",
        "0.5 with sizes that are not aligned",
        lambda: cube(shares=WELL_CUBE | {"cube": 0.4, "mte1": 0.4, "mte2": 0.4, "fixpipe": 0.6}),
        work=Work(shape="1000x1001x1003", dtype="float16"),
    ),
    _silent("fixpipe_heavy", "0.1", cube),
    _silent(
        "fixpipe_heavy",
        "0.3 with aligned sizes",
        lambda: cube(shares=WELL_CUBE | {"fixpipe": 0.3}),
        work=Work(shape="1024x1024x1024", dtype="float16"),
    ),
    _first("cube_data_type", "float32", lambda: cube(shares=WELL_CUBE | {"cube": 0.95}, types={"fp32": 1.0})),
    _silent("cube_data_type", "float16", lambda: cube(shares=WELL_CUBE | {"cube": 0.95})),
    _silent(
        "cube_data_type",
        "float32 beside a slower MTE2",
        lambda: cube(shares=WELL_CUBE | {"cube": 0.3, "mte2": 0.95}, types={"fp32": 1.0}),
    ),
    _first(
        "bank_conflicts",
        "a third of the time",
        lambda: vector(shares=WELL | {"vec": 0.95, "mte2": 0.4}, conflicts={"bankgroup": 0.25, "bank": 0.08}),
        130.0,
    ),
    _silent(
        "bank_conflicts",
        "hidden behind MTE2",
        lambda: vector(shares=WELL | {"vec": 0.5, "mte2": 0.94}, conflicts={"bankgroup": 0.25}),
    ),
    _silent("bank_conflicts", "1.8 %", lambda: vector(shares=WELL | {"vec": 0.95}, conflicts={"bank": 0.018})),
    _first(
        "instruction_cache",
        "a fifth of the fetches, with stalls",
        lambda: vector(shares=WELL | {"scalar_wait_ib": 0.3, "scalar": 0.35}, icache_misses=0.2),
        120.0,
    ),
    _silent("instruction_cache", "a cold start of 3 us", lambda: vector(3.1, 2, icache_misses=0.31)),
    _silent("instruction_cache", "3 %", lambda: vector(icache_misses=0.03)),
    _first("head_cost", "6 of 10 us", lambda: vector(10.0, times=(3.8, 4.0)), 5.0),
    _silent("head_cost", "1.3 of 270 us", lambda: vector(270.0, times=(260.0, 268.7))),
    _silent("head_cost", "1.1 of 3 us", lambda: vector(3.0, times=(1.8, 1.9))),
    _first(
        "l2_reuse",
        "a quarter is read again, seldom from L2",
        lambda: vector(volumes_kib={"gm_to_ub": 2048.0, "ub_to_gm": 2048.0}, l2_hits=0.1),
        work=Work(bytes_read=40 * 1500.0 * 1024, bytes_written=40 * 2048.0 * 1024),
    ),
    _silent(
        "l2_reuse",
        "read once",
        lambda: vector(volumes_kib=_ALL_READ, l2_hits=0.0),
        work=Work(bytes_read=40 * 2048.0 * 1024),
    ),
    _silent("l2_reuse", "nobody says what is needed", lambda: vector(volumes_kib=_ALL_READ, l2_hits=0.0)),
    _first(
        "excess_traffic",
        "three times what is needed",
        lambda: vector(volumes_kib=_MOVES, l2_hits=0.9),
        work=Work(bytes_total=40 * 800.0 * 1024),
    ),
    _silent(
        "excess_traffic",
        "what is needed",
        lambda: vector(volumes_kib=_MOVES, l2_hits=0.9),
        work=Work(bytes_total=40 * 2400.0 * 1024),
    ),
    _first(
        "roofline_bound",
        "no pipe is busy",
        lambda: vector(shares={"vec": 0.2, "mte2": 0.25, "mte3": 0.1, "scalar": 0.15}),
        300.0,
    ),
    _silent(
        "roofline_bound",
        "where scalar work says it",
        lambda: vector(shares={"vec": 0.2, "mte2": 0.15, "mte3": 0.1, "scalar": 0.62}),
    ),
)
