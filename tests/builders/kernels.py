"""Ready-made launches of every kind of kernel, their figures drawn evenly from plausible ranges, always the same.

The times leave room for the head of a task (source: real captures, 0.6 to 1.3 us), and cores differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.builders.device import CoreLoad, Launch

HEAD_US = 0.9


def spread(low: float, high: float, at: int, of: int) -> float:
    """Evenly spaced figures from low to high, mixed up so that neighbours differ."""
    return low + (high - low) * ((at * 5) % of) / max(1, of - 1)


@dataclass(frozen=True)
class Recipe:
    """What a kind of core does in a launch; pairs are the least and the most a core shows."""

    time: tuple[float, float]
    """Shares of the task duration without its head."""
    shares: dict[str, tuple[float, float]]
    volumes_kib: dict[str, float]
    instructions: dict[str, int]
    waits: dict[str, float]
    conflicts: dict[str, float]
    l2_hits: float

    def core(self, sub_block: str, duration: float, at: int, of: int) -> CoreLoad:
        """Core ``at`` of ``of``."""
        return CoreLoad(
            sub_block,
            max(duration - HEAD_US, duration / 2) * spread(*self.time, at, of),
            {pipe: spread(*pair, at, of) for pipe, pair in self.shares.items()},
            self.volumes_kib,
            self.instructions,
            self.waits,
            self.conflicts,
            self.l2_hits,
        )


VECTOR = Recipe(
    (0.96, 1.0),
    {"vec": (0.41, 0.44), "scalar": (0.21, 0.24), "mte2": (0.52, 0.57), "mte3": (0.28, 0.31)},
    {"gm_to_ub": 512.0, "ub_to_gm": 256.0},
    {"mte2": 32, "mte3": 16},
    {"vec": 0.36, "mte2": 0.21, "mte3": 0.48},
    {"bankgroup": 0.012, "bank": 0.004},
    0.62,
)
CUBE = Recipe(
    (0.97, 1.0),
    {"cube": (0.68, 0.72), "scalar": (0.15, 0.2), "mte1": (0.5, 0.53), "mte2": (0.61, 0.66), "fixpipe": (0.08, 0.1)},
    {"gm_to_l1": 2048.0, "l0c_to_gm": 256.0},
    {"mte1": 1024, "mte2": 64, "cube": 2048},
    {"cube": 0.25, "mte1": 0.31, "mte2": 0.22},
    {},
    0.86,
)
AICORE = Recipe(
    (1.0, 1.0),
    {"vec": (0.31, 0.31), "scalar": (0.15, 0.15), "mte2": (0.37, 0.37), "mte3": (0.23, 0.23)},
    {"gm_to_ub": 512.0, "ub_to_gm": 256.0},
    {"mte2": 64, "mte3": 32},
    {"vec": 0.2, "mte2": 0.1},
    {"bankgroup": 0.01},
    0.875,
)
IDLE_US, IDLE_SHARES = 1.05, {"scalar": 0.967, "vec": 0.01}
"""A core that had nothing to do (source: a real capture with 8 idle cores of 24)."""


def vector(
    name: str = "add_custom", duration: float = 60.0, blocks: int = 8, idle: tuple[int, ...] = (), **more: Any
) -> Launch:
    """One row per vector core; cores ``idle`` do nothing."""
    cores = [
        CoreLoad("vector0", IDLE_US, IDLE_SHARES) if at in idle else VECTOR.core("vector0", duration, at, blocks)
        for at in range(blocks)
    ]
    return Launch(name, "vector", duration, [[core] for core in cores], **more)


def cube(name: str = "matmul_custom", duration: float = 120.0, blocks: int = 20, **more: Any) -> Launch:
    """One row per cube core."""
    return Launch(name, "cube", duration, [[CUBE.core("cube0", duration, at, blocks)] for at in range(blocks)], **more)


def mix(
    name: str = "matmul_bias_mix_aic", duration: float = 120.5, blocks: int = 20, vectors: int = 2, **more: Any
) -> Launch:
    """Per block a cube core and one or two vector cores."""
    rows = [
        [CUBE.core("cube0", duration, at, blocks)]
        + [VECTOR.core(f"vector{n}", 0.8 * duration, at + 3 * n, blocks) for n in range(vectors)]
        for at in range(blocks)
    ]
    return Launch(name, "mix", duration, rows, **more)


def aicore(name: str = "add_custom", duration: float = 9.8, blocks: int = 8, **more: Any) -> Launch:
    """A kernel on 310P: one row for all blocks."""
    row = [AICORE.core("all", duration, 0, 1)]
    chip: dict[str, Any] = {"chip": "310P", "soc": "Ascend310P3", "rated_freq": 1080}
    return Launch(name, "AiCore", duration, [row], block_dim=blocks, **(chip | more))


def on_950(launch: Launch) -> Launch:
    """The same work on a 950."""
    launch.chip, launch.soc = "950", "Ascend950PR_9599"
    return launch
