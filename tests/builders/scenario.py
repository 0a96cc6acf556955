"""A warehouse whose figures can be worked out by hand: whole cycles, round shares, few cores.

Ids are those of ``RUNS`` and ``KERNELS``: runs are taken in one by one, in this order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from opprof_db.analysis.diagnose import diagnose, store
from opprof_db.warehouse import opening
from opprof_db.warehouse.connection import transaction
from tests import small
from tests.builders import bin as bins
from tests.builders.device import CoreLoad, DeviceRun, Launch
from tests.builders.examples import simulated_trace
from tests.builders.simulator import SimulatorRun, example_kernel
from tests.conftest import Warehouse

ADD_1, ADD_2, ADD_3, SEVERAL, MIX, ON_310P, SIMULATED, DAMAGED = range(1, 9)
"""Runs."""
K_ADD_1, K_ADD_2, K_ADD_3, K_GELU_0, K_REDUCE, K_MIX, K_310P, K_SIMULATED, K_DAMAGED = 1, 2, 3, 4, 9, 10, 11, 12, 13
"""Launches; 4 to 8 are the launches of gelu."""
GELU_US = (130.0, 100.0, 104.0, 96.0, 102.0)


def add_custom(duration: float, **more: Any) -> Launch:
    """Three working cores of 80, 60 and 40 us and an idle one; 1650 MHz on 910B4 unless said otherwise."""
    loads = [
        (80.0, {"mte2": 0.5, "vec": 0.25, "mte3": 0.1, "scalar": 0.1}, 0.02),
        (60.0, {"mte2": 0.25, "vec": 0.5, "mte3": 0.1, "scalar": 0.1}, 0.05),
        (40.0, {"mte2": 0.75, "vec": 0.25, "mte3": 0.1, "scalar": 0.1}, 0.01),
    ]
    cores = [
        CoreLoad(
            "vector0",
            time,
            shares,
            volumes_kib={"gm_to_ub": 1024.0, "ub_to_gm": 512.0},
            instructions={"mte2": 64, "mte3": 16},
            waits={"vec": 0.4, "mte2": 0.1},
            conflicts={"bank": bank},
            l2_hits=0.5,
        )
        for time, shares, bank in loads
    ]
    return Launch("add_custom", "vector", duration, [[core] for core in (*cores, CoreLoad("vector0", 0.4))], **more)


def matmul() -> Launch:
    """Two blocks of a cube and a vector core each, with occupancy and a roofline in the bin."""

    def cube(time: float, cube: float, mte2: float) -> CoreLoad:
        return CoreLoad(
            "cube0",
            time,
            {"cube": cube, "mte2": mte2},
            volumes_kib={"gm_to_l1": 256.0, "l0c_to_gm": 64.0},
            instructions={"mte2": 8, "cube": 1000},
            l2_hits=1.0,
        )

    blocks = [
        [cube(100.0, 0.6, 0.3), CoreLoad("vector0", 20.0, {"vec": 0.5, "mte2": 0.2})],
        [cube(50.0, 0.4, 0.8), CoreLoad("vector0", 40.0, {"vec": 0.1, "mte2": 0.6})],
    ]
    cores = {
        0: [bins.subcore("cube", 0, 165000, 262144, 100.0), bins.subcore("vector", 0, 33000, 0, 0.0)],
        1: [bins.subcore("cube", 0, 82500, 262144, 100.0), bins.subcore("vector", 0, 66000, 0, 0.0)],
    }
    data = bins.Bin().add(12, bins.occupancy(cores)).add(13, bins.roofline()).data
    return Launch("matmul_mix_aic", "mix", 120.0, blocks, files={"visualize_data.bin": data})


def on_310p() -> Launch:
    """One row for eight blocks."""
    core = CoreLoad("all", 8.0, {"vec": 0.5, "mte2": 0.25}, volumes_kib={"gm_to_ub": 512.0}, l2_hits=0.75)
    return Launch("relu_custom", "AiCore", 10.0, [[core]], chip="310P", soc="Ascend310P3", block_dim=8, rated_freq=1000)


def several() -> DeviceRun:
    """Five launches of one operator, the first one cold, and one of another that asks nothing of the L2 cache."""
    core = CoreLoad("vector0", 50.0, {"vec": 0.5})
    launches = [Launch("gelu_custom", "vector", duration, [[core]]) for duration in GELU_US]
    reduce_sum = Launch("reduce_sum", "vector", 68.0, [[core]])
    for counter in ("write_cache", "r0_read_cache", "r1_read_cache"):
        for what in ("hit", "miss_allocate"):
            reduce_sum.overrides["L2Cache", f"aiv_{counter}_{what}", None] = "0"
    return DeviceRun([*launches, reduce_sum], "OPPROF_20260504100000_DDDDDDDDDDDDDDDD")


def fill(warehouse: Warehouse, folder: Path) -> Warehouse:
    """Take in every run."""

    def path(day: int) -> Path:
        return folder / f"OPPROF_202605{day:02d}100000_{'XABCDEFGH'[day] * 16}"

    warehouse.ingest(add_custom(100.0).write(path(1)), labels={"tile": "32"})
    warehouse.ingest(add_custom(90.0, current_freq="1320").write(path(2)), labels={"tile": "64"})
    warehouse.ingest(add_custom(99.0, current_freq="N/A").write(path(3)))
    warehouse.ingest(several().write(folder))
    warehouse.ingest(matmul().write(path(5)))
    warehouse.ingest(on_310p().write(path(6)))
    kernel = example_kernel()
    kernel.trace = simulated_trace(1850.0).text().decode()
    SimulatorRun({("add_custom", 0): kernel}).write(path(7))
    warehouse.ingest(path(7), conditions={"kernel": "add_custom"})
    damaged = small.pipe(4.0, 4.5).replace("0.500000", "broken", 1)
    warehouse.ingest(small.write(path(8), OpBasicInfo=small.basic_info("damaged"), PipeUtilization=damaged))
    with opening.writing(warehouse.path) as connection, transaction(connection, warehouse.path):
        store(connection, diagnose(connection, K_ADD_1))
    return warehouse
