"""What msopprof would print for a core, computed from what the core did.

Work is kept as the hardware counts it (whole cycles, 128-byte requests), so that times, ratios,
volumes, bandwidths and hit rates of a row agree with each other to the last printed digit. Sources:
msopprof pmu_formulator.h (which counters a column is made of), pmu_calculate.cpp (910B and 310P),
equation_utils.cpp (950), device_defs.h (peaks, here through the catalogue).
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from opprof_db.catalog import load

if TYPE_CHECKING:
    from tests.builders.device import Launch

GIB_PER_KIB_US = 1024e6 / 2**30
"""KiB per us to GiB/s."""
REQUEST_KIB = 0.125
SCALAR_READS_KIB, SCALAR_WRITES_KIB = 0.75, 0.25
"""What the scalar unit of every core moves beside the data (seen on real captures)."""
WRITES_PER_ALLOCATION = 4
"""Write counters of the L2 cache count lines of 512 bytes (seen on real captures)."""

FILLED_BY: dict[str, tuple[str, float]] = {
    "main_mem_read": ("read_main_memory", 1.0),
    "main_mem_write": ("write_main_memory", 1.0),
    "ub_read_vector": ("gm_to_ub", 1.5),
    "ub_write_vector": ("gm_to_ub", 1.0),
    "ub_read_gm": ("ub_to_gm", 1.0),
    "ub_write_gm": ("gm_to_ub", 1.0),
    "l1_write": ("gm_to_l1", 1.0),
    "l1_read": ("gm_to_l1", 2.0),
    "l0a_write": ("gm_to_l1", 1.0),
    "l0a_read": ("gm_to_l1", 2.0),
    "l0b_write": ("gm_to_l1", 1.0),
    "l0b_read": ("gm_to_l1", 4.0),
    "l0c_write_cube": ("l0c_to_gm", 16.0),
    "l0c_read_cube": ("l0c_to_gm", 15.0),
    "l0c_read": ("l0c_to_gm", 1.0),
    "l0c_write": ("l0c_to_gm", 1.0),
}
"""Memory and direction -> (path that fills or empties it, how often the model passes the data over it)."""

MOVED_BY = {
    ("aiv", "mte2"): ("gm_to_ub",),
    ("aiv", "mte3"): ("ub_to_gm",),
    ("aic", "mte1"): ("gm_to_l1", "gm_to_l1"),
    ("aic", "mte2"): ("gm_to_l1",),
    ("aic", "mte3"): ("l1_to_gm",),
    ("aic", "fixpipe"): ("l0c_to_gm", "l0c_to_l1"),
}
"""(kind of core, pipe) -> paths whose data the pipe moves; MTE1 fills L0A and L0B."""

SCALAR_PARTS = {"scalar_single": 0.45, "scalar_dual": 0.1, "scalar_wait": 0.2, "scalar_wait_ib": 0.15}
"""Share of the scalar unit's busy cycles; its other states: 0.02."""
VECTOR_LANES = {"fp32": 64, "fp16": 128, "int32": 64, "int16": 128, "misc": 32}
CUBE_OPERATIONS = {"fp": 8192, "int": 16384}


@dataclass(frozen=True)
class CoreLoad:
    """What one core did."""

    sub_block: str
    """cube0, vector0 or vector1; ``all`` for the one row of a 310P kernel."""
    time_us: float
    shares: dict[str, float] = field(default_factory=dict)
    """Pipe -> busy share of the core's own time."""
    volumes_kib: dict[str, float] = field(default_factory=dict)
    """Path such as ``gm_to_ub`` -> KiB moved."""
    instructions: dict[str, int] = field(default_factory=dict)
    """Pipe -> instructions."""
    waits: dict[str, float] = field(default_factory=dict)
    """Pipe -> share of the time spent waiting."""
    conflicts: dict[str, float] = field(default_factory=dict)
    """bankgroup, bank, resc, mte (950: stu, ldu, sfu) -> share of the time; the total is their sum."""
    l2_hits: float = 1.0
    """Share of the requests to the L2 cache that hit."""
    types: dict[str, float] = field(default_factory=dict)
    """Data type -> share of the compute pipe's busy time; empty: all fp32 (vector) or fp16 (cube)."""
    icache_misses: float = 0.015

    @property
    def kind(self) -> str:
        """Column prefix of this core's figures."""
        return "aiv" if self.sub_block.startswith("vector") else "aic"

    def volume(self, path: str) -> float | None:
        """KiB on a path in whole requests; ``None`` where this kind of core has no such path."""
        if path == "read_main_memory":
            return SCALAR_READS_KIB + sum(self.volume(name) or 0 for name in self.volumes_kib if "gm_to_" in name)
        if path == "write_main_memory":
            return SCALAR_WRITES_KIB + sum(self.volume(name) or 0 for name in self.volumes_kib if "_to_gm" in name)
        on_vector = "ub" in path.split("_to_")
        if self.sub_block != "all" and on_vector != (self.kind == "aiv"):
            return None
        return round(self.volumes_kib.get(path, 0.0) / REQUEST_KIB) * REQUEST_KIB


def printed(value: int | float | None, not_applicable: str) -> str:
    """A cell: counters plain, everything else a C float printed with ``%f`` (source: msopprof pmu_calculate.cpp)."""
    if value is None:
        return not_applicable
    if isinstance(value, int):
        return str(value)
    return f"{struct.unpack('f', struct.pack('f', value))[0]:f}"


@dataclass(frozen=True)
class Figures:
    """The figures of one core's row."""

    launch: Launch
    core: CoreLoad

    def value(self, name: str) -> int | float | None:
        """The figure under a header; ``None``: not applicable to this core."""
        prefix, _, rest = name.partition("_")
        if prefix not in ("aic", "aiv"):
            prefix, rest = self.core.kind, name
        if prefix != self.core.kind:
            return None
        if self.launch.needs_memory_detail(name):
            return None
        figure, arguments = _figure(rest)
        return figure(self, *arguments)

    @property
    def cycles(self) -> int:
        """Cycles of this core; on 310P the sum over the blocks."""
        return round(self.core.time_us * self.launch.frequency / self.launch.time_factor)

    @property
    def time_us(self) -> float:
        """Time of this core."""
        return self.microseconds(self.cycles)

    @property
    def bandwidth_time(self) -> float:
        """us that a bandwidth is over: the task's in a mix kernel, else the core's own."""
        return self.launch.duration_us if self.launch.mix and self.launch.duration_us else self.time_us

    def microseconds(self, cycles: int) -> float:
        """Cycles as time; 310P scales by rounds per block (source: msopprof metric_data_handler.cpp)."""
        return cycles / self.launch.frequency * self.launch.time_factor

    def busy(self, pipe: str) -> int:
        """Busy cycles of a pipe; the scalar unit's are divided among its states."""
        if pipe.startswith("scalar_") and pipe not in self.core.shares:
            return round(self.busy("scalar") * SCALAR_PARTS.get(pipe, 0.02))
        return round(self.cycles * self.core.shares.get(pipe, 0.0))

    def ratio(self, cycles: int) -> float | None:
        """Share of the whole us of the task in a 910B mix kernel (nothing below 1 us), else of the own cycles."""
        whole = self.cycles
        if self.launch.chip == "910B" and self.launch.mix and self.launch.duration_us:
            whole = math.floor(self.launch.duration_us) * math.floor(self.launch.frequency)
        return self.quotient(cycles, whole)

    def quotient(self, above: float, below: float) -> float | None:
        """0/0 is 0 on 910B and 310P, and not applicable on 950."""
        if below:
            return above / below
        return None if self.launch.chip == "950" else 0.0

    def busy_time(self, pipe: str) -> float:
        return self.microseconds(self.busy(pipe))

    def busy_ratio(self, pipe: str) -> float | None:
        return self.ratio(self.busy(pipe))

    def wait_ratio(self, pipe: str) -> float | None:
        return self.ratio(round(self.cycles * self.core.waits.get(pipe, 0.0)))

    def conflict_ratio(self, kind: str) -> float | None:
        cycles = {name: round(self.cycles * share) for name, share in self.core.conflicts.items()}
        return self.ratio(sum(cycles.values()) if kind == "total" else cycles.get(kind, 0))

    def type_share(self, unit: str, kind: str) -> float:
        """Share of the unit's busy time spent on a data type."""
        types = self.core.types or {"vec": {"fp32": 1.0}, "cube": {"fp16": 1.0}}[unit]
        if kind in ("fp", "vf"):
            return sum(share for name, share in types.items() if name.startswith("fp"))
        if kind == "int":
            return sum(share for name, share in types.items() if name.startswith("int"))
        return types.get(kind, 0.0)

    def type_ratio(self, unit: str, kind: str) -> float | None:
        return self.ratio(round(self.busy(unit) * self.type_share(unit, kind)))

    def instructions(self, pipe: str) -> int:
        return self.core.instructions.get(pipe, 0)

    def cube_instructions(self, kind: str) -> int:
        integers = round(self.instructions("cube") * self.type_share("cube", "int"))
        return {"total": self.instructions("cube"), "int": integers}.get(kind, self.instructions("cube") - integers)

    def operations(self, unit: str) -> int:
        """Operations by events and lanes (source: msopprof pmu_calculate.cpp)."""
        if unit == "cube":
            return sum(self.cube_instructions(kind) * each for kind, each in CUBE_OPERATIONS.items())
        return sum(round(self.busy("vec") * self.type_share("vec", t)) * each for t, each in VECTOR_LANES.items())

    def active_bandwidth(self, pipe: str) -> float | None:
        """Over the pipe's own busy time."""
        kind = "aiv" if self.core.sub_block == "all" else self.core.kind
        moved = sum(self.core.volume(path) or 0.0 for path in MOVED_BY[kind, pipe])
        return self.quotient(moved * GIB_PER_KIB_US, self.busy_time(pipe))

    def bandwidth(self, memory: str, user: str | None) -> float | None:
        path, times = FILLED_BY.get(memory + (user or ""), (memory, 1.0))
        return self.quotient(times * (self.core.volume(path) or 0.0) * GIB_PER_KIB_US, self.bandwidth_time)

    def volume(self, path: str) -> float | None:
        return self.core.volume(path.lower())

    def usage(self, path: str) -> float | None:
        """Percent of ONE core's peak, clamped at 100."""
        chip = load().chip(self.launch.peaks_of or self.launch.soc) or load().chip("Ascend910B1")
        volume = self.core.volume(path.lower())
        if volume is None or not self.bandwidth_time:
            return None
        peak = float(getattr(chip, f"{path.lower()}_core_peak_gib_s"))
        return min(100.0, 100 * volume / self.bandwidth_time * GIB_PER_KIB_US / peak)

    def requests(self) -> dict[str, int]:
        """Requests to the L2 cache per counter; the halves of 910B and near and far of 950."""
        reads = round((self.core.volume("read_main_memory") or 0) / REQUEST_KIB)
        writes = math.ceil((self.core.volume("write_main_memory") or 0) / REQUEST_KIB / WRITES_PER_ALLOCATION)
        if self.launch.chip == "950":
            near = {"read_close": reads * 3 // 4, "write_close": writes * 3 // 4}
            return near | {"read_far": reads - near["read_close"], "write_far": writes - near["write_close"]}
        return {"write_cache": writes, "r0_read_cache": reads - reads // 2, "r1_read_cache": reads // 2}

    def cache(self, counter: str, what: str) -> int:
        """Hits, or misses with allocation (950: of the misses a third evict a line)."""
        asked = self.requests()[counter]
        hits = round(asked * self.core.l2_hits)
        victims = (asked - hits) // 3 if self.launch.chip == "950" else 0
        return {"hit": hits, "victim": victims}.get(what, asked - hits - victims)

    def hit_rate(self, kind: str) -> float:
        asked = {name: n for name, n in self.requests().items() if kind not in ("read", "write") or kind in name}
        hits = sum(self.cache(name, "hit") for name in asked)
        return 100 * hits / sum(asked.values()) if sum(asked.values()) else 0.0


FIGURES: tuple[tuple[str, Callable[..., int | float | None]], ...] = (
    (r"time\(us\)", lambda figures: figures.time_us),
    (r"total_cycles", lambda figures: figures.cycles),
    (r"icache_miss_rate", lambda figures: figures.core.icache_misses),
    (r"(?:cube)_(total|fp|int)_instr_number", Figures.cube_instructions),
    (r"(vec|cube)_fops", Figures.operations),
    (r"(\w+)_wait_ratio", Figures.wait_ratio),
    (r"vec_(\w+)_cflt_ratio", Figures.conflict_ratio),
    (r"(vec|cube)_(fp32|fp16|fp|int8|int16|int32|int|misc|vf|sfu|simt_vf)_ratio", Figures.type_ratio),
    (r"(\w+)_ratio", Figures.busy_ratio),
    (r"(\w+)_active_bw\(GB/s\)", Figures.active_bandwidth),
    (r"(\w+)_time\(us\)", Figures.busy_time),
    (r"(\w+)_instructions", Figures.instructions),
    (r"(\w+)_hit_rate\(%\)", Figures.hit_rate),
    (r"(\w+)_(hit|miss_allocate|miss|victim)", Figures.cache),
    (r"(\w+)_datas\(KB\)(?:\(estimate\))?", Figures.volume),
    (r"(\w+)_bw_usage_rate\(%\)(?:\(estimate\))?", Figures.usage),
    (r"(\w+)_bw(_cube|_vector|_scalar|_gm)?\(GB/s\)", Figures.bandwidth),
)
"""Forms of headers (without aic_ or aiv_) and the figure below them; the first that fits holds."""


@cache
def _figure(rest: str) -> tuple[Callable[..., int | float | None], tuple[str | None, ...]]:
    for form, figure in FIGURES:
        if match := re.fullmatch(form, rest):
            return figure, match.groups()
    raise KeyError(f"the model has no figure for a column *{rest}")
