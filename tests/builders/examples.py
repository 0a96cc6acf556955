"""The bundled examples: ``python -m tests.builders.examples examples/out`` writes them, the same bytes every time.

A vector kernel before and after its small transfers were fixed (times, shares, volumes and usage of a
published case on 910B4), a mix kernel with its bin, a run with two operators launched twice each, a 310P run,
and a simulator run of two cores with its bin.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.builders import bin as bins
from tests.builders.device import CoreLoad, DeviceRun, Launch, Layout
from tests.builders.kernels import spread
from tests.builders.simulator import SimulatorRun, example_kernel
from tests.builders.trace import AllCoresTrace, Instruction


def transfers(*, fixed: bool) -> Launch:
    """Eight vector cores moving 40 MiB in and 20 MiB out, by 4 KiB or by 40 KiB."""
    instructions = 1025 if fixed else 10241
    times, mte2, mte3, vec = (
        ((771.18, 891.38), (0.88, 0.93), (0.29, 0.31), (0.22, 0.25))
        if fixed
        else ((2006.67, 2049.09), (0.8604, 0.8633), (0.3887, 0.4075), (0.1015, 0.1036))
    )
    blocks = []
    for at in range(8):
        time = spread(*times, at, 8)
        blocks.append(
            [
                CoreLoad(
                    "vector0",
                    time,
                    shares={
                        "vec": spread(*vec, at, 8),
                        "scalar": 0.12 if fixed else 0.21,
                        "mte2": spread(*mte2, at, 8),
                        "mte3": spread(*mte3, at, 8),
                    },
                    volumes_kib={"gm_to_ub": 40960.0, "ub_to_gm": 20480.0},
                    instructions={"mte2": instructions, "mte3": (instructions + 1) // 2},
                    waits={"vec": 0.62, "mte2": 0.05, "mte3": 0.44},
                    l2_hits=0.1,
                )
            ]
        )
    # The published usage rates (8.66..8.85 and 19.91..23.02 %) are against the peaks of 910B1.
    return Launch(
        "add_custom",
        "vector",
        892.02 if fixed else 2049.78,
        blocks,
        pid=31002 if fixed else 30417,
        peaks_of="Ascend910B1",
    )


def matmul() -> Launch:
    """A mix kernel on 24 cube cores and 48 vector cores, its name as frameworks write it."""
    blocks = []
    for at in range(24):
        cube = CoreLoad(
            "cube0",
            spread(168.0, 176.5, at, 24),
            shares={"cube": 0.71, "scalar": 0.18, "mte1": 0.52, "mte2": 0.63, "mte3": 0.0, "fixpipe": 0.09},
            volumes_kib={"gm_to_l1": 12288.0, "l0c_to_gm": 512.0},
            instructions={"mte1": 6144, "mte2": 384, "cube": 12288},
            waits={"cube": 0.27, "mte1": 0.31, "mte2": 0.22},
            l2_hits=0.84,
        )
        vectors = [
            CoreLoad(
                f"vector{number}",
                spread(41.0, 46.0, at + 3 * number, 24),
                shares={"vec": 0.38, "scalar": 0.22, "mte2": 0.41, "mte3": 0.19},
                volumes_kib={"gm_to_ub": 256.0, "ub_to_gm": 256.0},
                instructions={"mte2": 16, "mte3": 16},
                waits={"vec": 0.48, "mte2": 0.55, "mte3": 0.71},
                l2_hits=0.985,
                conflicts={"bankgroup": 0.008, "bank": 0.003},
            )
            for number in (0, 1)
        ]
        blocks.append([cube, *vectors])
    return Launch(
        "MatMulBias_1e04ee05ab491cc5ae9c3d5c9ee8950b_10001_mix_aic",
        "mix",
        180.34,
        blocks,
        soc="Ascend910B1",
        pid=52210,
        rated_freq=1850,
    )


def small_vector(name: str, duration: float, launch: int, vec: float) -> Launch:
    """A short vector kernel; the first launch of each operator is a little slower."""
    cold = 1.18 if launch == 0 else 1.0
    blocks = [
        [
            CoreLoad(
                "vector0",
                (duration - 1.1) * cold * spread(0.93, 1.0, at, 20),
                shares={"vec": vec, "scalar": 0.35, "mte2": 0.44, "mte3": 0.26},
                volumes_kib={"gm_to_ub": 96.0, "ub_to_gm": 96.0},
                instructions={"mte2": 12, "mte3": 12},
                waits={"vec": 0.33, "mte2": 0.4, "mte3": 0.52},
                l2_hits=0.83,
            )
        ]
        for at in range(20)
    ]
    return Launch(name, "vector", duration * cold, blocks, soc="Ascend910B3", pid=60100, rated_freq=1800)


def matmul_bin(launch: Launch) -> bins.Bin:
    """The bin of the mix kernel: basics, core occupancy and a roofline that agree with its CSVs."""
    durations = [[core.time_us for core in block] for block in launch.blocks]
    cores = {
        at: [
            bins.subcore(
                "cube" if core.kind == "aic" else "vector",
                number,
                round(core.time_us * launch.rated_freq),
                round(1024 * sum(core.volumes_kib.values())),
                86.5,
            )
            for number, core in enumerate(block)
        ]
        for at, block in enumerate(launch.blocks)
    }
    frequency = str(launch.rated_freq)
    return (
        bins.Bin()
        .add(
            5,
            bins.basics(
                durations,
                name=launch.name,
                op_type="mix",
                soc="Ascend910B1",
                duration_us=launch.duration_us or 0.0,
                pid=launch.pid,
                cur_freq=frequency,
                rated_freq=frequency,
            ),
        )
        .add(12, bins.occupancy(cores))
        .add(13, bins.roofline())
    )


def infer_310p() -> Launch:
    """One row for the whole kernel, no block columns, only aic_* headers."""
    core = CoreLoad(
        "all",
        8.1,
        shares={"vec": 0.111, "scalar": 0.148, "mte2": 0.271, "mte3": 0.234},
        volumes_kib={"gm_to_ub": 512.0, "ub_to_gm": 256.0},
        instructions={"mte2": 64, "mte3": 32},
        waits={"vec": 0.2, "mte2": 0.1},
        l2_hits=0.875,
    )
    return Launch("add_custom", "AiCore", 9.8, [[core]], chip="310P", soc=None, block_dim=8, pid=7155, rated_freq=1080)


def simulated_trace(clock: float) -> AllCoresTrace:
    """An all-core trace of a copy, a vector loop that starts when the copy is there, and a copy back."""
    steps: list[Instruction] = []
    for at in range(4):
        begin, flag = 1000 * at, f"PIPE:MTE2,TRIGGERPIPE:V,FLAGID:{at}"
        steps += [
            Instruction("MTE2", "MOV_OUT_TO_UB", begin, begin + 700, f"Src:OUT,Dst:UB,id:{at}", 0x1168DE04),
            Instruction("MTE2", "SET_FLAG", begin + 700, begin + 701, flag, 0x1168DE08),
            Instruction("VECTOR", "WAIT_FLAG", begin + 300, begin + 702, flag, 0x1168DE0C),
            Instruction("VECTOR", "VADD", begin + 702, begin + 1100, "XD:X16=0x400,Dtype:F16", 0x1168DE10),
            Instruction("MTE3", "MOV_UB_TO_OUT", begin + 1100, begin + 1500, f"Src:UB,Dst:OUT,id:{at}", 0x1168DE14),
        ]
    return AllCoresTrace({"core0.veccore0": steps}, clock)


def write(target: Path) -> None:
    """Write the whole set below ``target``."""
    transfers(fixed=False).write(target / "before" / "OPPROF_20260512093015_KQWJXZPLMVNRTYBD")
    transfers(fixed=True).write(target / "after" / "OPPROF_20260512111842_GHTRWQPLKMXNVBZC")
    mix = matmul()
    matmul_bin(mix).write(mix.write(target / "OPPROF_20260513140207_MXUYTRPQWLKJHGFD"))
    several = [
        small_vector(name, duration, launch, vec)
        for name, duration, vec in (("gelu_custom", 14.62, 0.58), ("reduce_sum", 9.26, 0.22))
        for launch in (0, 1)
    ]
    DeviceRun(several, "OPPROF_20260514081533_VBNMKLPOIUYTREWQ", Layout.DEVICES).write(target)
    infer_310p().write(target / "OPPROF_20260515170921_ZXCVBNMASDFGHJKL")
    simulated = example_kernel(clock=1650.0)
    simulated.bin = bins.simulator_bin([core.name for core in simulated.cores])
    simulated.trace = simulated_trace(clock=1650.0).text().decode()
    SimulatorRun({("add_custom", 0): simulated}).write(target / "OPPROF_20260516102233_QPWOEIRUTYALSKDJ")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
