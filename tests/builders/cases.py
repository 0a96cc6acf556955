"""The labelled cases of the published measurements, as folders: before and after each fix, 910B4, device mode.

Figures are per core, evenly spread over the range that was measured; what was not published (scalar shares, waits of
the other pipes, L2 hits) is drawn from what similar captures show, and can be changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.builders.device import CoreLoad, Launch
from tests.builders.kernels import spread

Range = tuple[float, float]


@dataclass(frozen=True)
class Case:
    """One measured launch of a vector kernel: times in us, shares of the core's time, volumes per core."""

    duration: float
    cores: int
    time: Range
    shares: dict[str, Range]
    volumes_kib: dict[str, float]
    instructions: dict[str, int]
    waits: dict[str, float]
    name: str = "add_custom"
    more: dict[str, Any] = field(default_factory=dict)

    def launch(self, **changes: Any) -> Launch:
        """The folder's content; ``changes`` go to ``Launch``."""
        l2_hits = changes.pop("l2_hits", 0.1)
        scalar = changes.pop("scalar", 0.12)
        blocks = [
            [
                CoreLoad(
                    "vector0",
                    spread(*self.time, at, self.cores),
                    {"scalar": scalar, **{pipe: spread(*pair, at, self.cores) for pipe, pair in self.shares.items()}},
                    self.volumes_kib,
                    self.instructions,
                    self.waits,
                    l2_hits=l2_hits,
                )
            ]
            for at in range(self.cores)
        ]
        options = {"soc": "Ascend910B4", "rated_freq": 1650, "peaks_of": "Ascend910B1", **self.more, **changes}
        return Launch(self.name, "vector", self.duration, blocks, **options)


ONE_CORE = Case(
    14975.22,
    1,
    (14974.34, 14974.34),
    {"vec": (0.1111, 0.1111), "mte2": (0.8504, 0.8504), "mte3": (0.3956, 0.3956)},
    {"gm_to_ub": 8 * 40960.0, "ub_to_gm": 8 * 20480.0},
    {"mte2": 8 * 10241, "mte3": 8 * 5121},
    {"vec": 0.62, "mte2": 0.05, "mte3": 0.44},
)
EIGHT_CORES = Case(
    2041.40,
    8,
    (2004.97, 2040.78),
    {"vec": (0.1019, 0.1037), "mte2": (0.8603, 0.8627), "mte3": (0.3674, 0.3905)},
    {"gm_to_ub": 40960.0, "ub_to_gm": 20480.0},
    {"mte2": 10241, "mte3": 5121},
    {"vec": 0.62, "mte2": 0.05, "mte3": 0.44},
)
SMALL_TRANSFERS = Case(
    2049.78,
    8,
    (2006.67, 2049.09),
    {"vec": (0.1015, 0.1036), "mte2": (0.8604, 0.8633), "mte3": (0.3887, 0.4075)},
    {"gm_to_ub": 40960.0, "ub_to_gm": 20480.0},
    {"mte2": 10241, "mte3": 5121},
    {"vec": 0.62, "mte2": 0.05, "mte3": 0.44},
)
LARGE_TRANSFERS = Case(
    892.02,
    8,
    (770.9, 891.1),
    {"vec": (0.22, 0.25), "mte2": (0.88, 0.93), "mte3": (0.29, 0.31)},
    {"gm_to_ub": 40960.0, "ub_to_gm": 20480.0},
    {"mte2": 1025, "mte3": 513},
    {"vec": 0.6, "mte2": 0.05, "mte3": 0.5},
)
ONE_BUFFER = Case(
    1378.09,
    8,
    (1363.14, 1377.46),
    {"vec": (0.6128, 0.6192), "mte2": (0.3685, 0.3749), "mte3": (0.1455, 0.1530)},
    {"gm_to_ub": 40960.0, "ub_to_gm": 20480.0},
    {"mte2": 1025, "mte3": 513},
    {"vec": 0.452, "mte2": 0.998, "mte3": 1.0},
)
TWO_BUFFERS = Case(
    959.62,
    8,
    (940.0, 958.9),
    {"vec": (0.9265, 0.9521), "mte2": (0.8260, 0.8520), "mte3": (0.21, 0.23)},
    {"gm_to_ub": 40960.0, "ub_to_gm": 20480.0},
    {"mte2": 2049, "mte3": 1025},
    {"vec": 0.08, "mte2": 0.9, "mte3": 0.95},
)
