"""Writes device runs the way msopprof does.

Formats follow msopprof metric_csv_header.h (headers, NA), its CSV writer (every line ends in a
comma, ``%f`` floats, plain integers) and pmu_calculator.cpp (which figure is divided by what); the
numbers come from a small model of the kernel, so that volume, bandwidth and time agree.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path

from opprof_db.catalog import BASIC_INFO, load

GIB_PER_KIB_US = 1024e6 / 2**30
"""KiB per us to GiB/s."""

BANDWIDTH_OF = {
    "main_mem_read": ("read_main_memory", 1.0),
    "main_mem_write": ("write_main_memory", 1.0),
    "ub_read_bw_vector": ("gm_to_ub", 1.0),
    "ub_write_bw_vector": ("ub_to_gm", 1.0),
    "ub_read_bw_gm": ("ub_to_gm", 1.0),
    "ub_write_bw_gm": ("gm_to_ub", 1.0),
    "l1_write": ("gm_to_l1", 1.0),
    "l1_read": ("gm_to_l1", 2.0),
    "l0a_write": ("gm_to_l1", 1.0),
    "l0a_read": ("gm_to_l1", 2.0),
    "l0b_write": ("gm_to_l1", 1.0),
    "l0b_read": ("gm_to_l1", 2.0),
    "l0c_write_bw_cube": ("l0c_to_gm", 16.0),
    "l0c_read_bw_cube": ("l0c_to_gm", 15.0),
}
"""Bandwidth of a memory -> (path that fills or empties it, how often the model passes the data over it)."""
L2_FIELDS = ("write_cache", "r0_read_cache", "r1_read_cache")


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
    l2: dict[str, tuple[int, int]] = field(default_factory=dict)
    """write_cache, r0_read_cache, r1_read_cache -> (hits, misses with allocation)."""
    conflicts: dict[str, float] = field(default_factory=dict)
    """Kind of vector conflict -> share."""
    fops: int = 0

    @property
    def kind(self) -> str:
        """Column prefix of this core's figures."""
        return "aiv" if self.sub_block.startswith("vector") else "aic"


@dataclass
class Launch:
    """One launch of a kernel, ready to be written."""

    name: str
    op_type: str
    duration_us: float | None
    blocks: list[list[CoreLoad]]
    """Per block: its cube core and vector cores, in the order of the rows."""
    chip: str = "910B"
    soc: str | None = "Ascend910B4"
    block_dim: int | None = None
    mix_block_dim: int | None = None
    device_id: int = 0
    pid: int = 4711
    current_freq: str | None = None
    """As printed: a number, ``N/A`` or ``-1``; ``None``: the rated frequency."""
    rated_freq: int = 1650
    not_applicable: str = "NA"
    families: tuple[str, ...] = ()
    """Families written; empty: all seven."""
    without: str | None = None
    """Regular expression: columns left out, for older builds."""
    overrides: dict[tuple[str, str, int], str] = field(default_factory=dict)
    """(family, header, row from 0) -> text printed instead."""

    @property
    def mix(self) -> bool:
        """Whether both kinds of core work."""
        return self.op_type == "mix"

    def basic_info(self) -> str:
        """OpBasicInfo.csv (source: msopprof metric_csv_header.h)."""
        header = load().header(BASIC_INFO, self.chip)
        cells = {
            "Op Name": self.name,
            "Op Type": self.op_type,
            "Task Duration(us)": "NA" if self.duration_us is None else f"{self.duration_us:f}",
            "Block Dim": str(self.block_dim or len(self.blocks)),
            "Mix Block Dim": str(self.mix_block_dim) if self.mix_block_dim else "NA",
            "Device Id": str(self.device_id),
            "Pid": str(self.pid),
            "Current Freq": self.current_freq or str(self.rated_freq),
            "Rated Freq": str(self.rated_freq),
        }
        return _lines(header, [[cells[name] for name in header]])

    def family(self, family: str) -> str:
        """One family CSV."""
        header = [
            name for name in load().header(family, self.chip) if not (self.without and re.search(self.without, name))
        ]
        rows = []
        for number, (block, core) in enumerate(
            (block, core) for block, cores in enumerate(self.blocks) for core in cores
        ):
            rows.append(
                [
                    self.overrides.get((family, name, number)) or Figures(self, core, block, family).text(name)
                    for name in header
                ]
            )
        return _lines(header, rows)

    def write(self, folder: Path, stamp: str | None = None) -> Path:
        """Write the launch's folder; ``stamp`` is the 17 digits of runs with several kernels."""
        folder.mkdir(parents=True, exist_ok=True)
        suffix = f"_{stamp}" if stamp else ""
        for family in self.families or load().families:
            (folder / f"{family}{suffix}.csv").write_text(self.family(family), encoding="utf-8")
        (folder / f"{BASIC_INFO}{suffix}.csv").write_text(self.basic_info(), encoding="utf-8")
        if self.soc:
            (folder / "dump").mkdir(exist_ok=True)
            (folder / "dump" / "op_basic_info.txt").write_text(self.dump_info(), encoding="utf-8")
        return folder

    def dump_info(self) -> str:
        """dump/op_basic_info.txt (source: a real capture of CANN 8.5)."""
        pairs = {
            "Op Name": self.name,
            "Block Dim": self.block_dim or len(self.blocks),
            "Run Soc Version": self.soc,
            "Device Id": self.device_id,
            "Pid": self.pid,
            "Current Freq": self.current_freq or self.rated_freq,
            "Rated Freq": self.rated_freq,
            "Is MC2": 0,
            "Is Lccl": 0,
        }
        return "\n".join(f"{key}={value}" for key, value in pairs.items())


def _lines(header: list[str] | tuple[str, ...], rows: list[list[str]]) -> str:
    return "".join(",".join(cells) + ",\n" for cells in (header, *rows))


@dataclass(frozen=True)
class Figures:
    """The cells of one core's row in one family."""

    launch: Launch
    core: CoreLoad
    block: int
    family: str

    @property
    def freq(self) -> float:
        """MHz the cycles were counted at."""
        current = self.launch.current_freq
        return float(current) if current and current.isdigit() else float(self.launch.rated_freq)

    @property
    def bandwidth_time(self) -> float:
        """us that a bandwidth is over: the task's in a mix kernel, else the core's own."""
        if self.launch.mix and self.launch.duration_us:
            return self.launch.duration_us
        return self.core.time_us

    def text(self, name: str) -> str:
        """The cell under a header, as printed."""
        if name == "block_id":
            return str(self.block)
        if name == "sub_block_id":
            return self.core.sub_block
        prefix, _, rest = name.partition("_")
        if prefix not in ("aic", "aiv"):
            return self._shared(name)
        if prefix != self.core.kind and self.core.sub_block != "all":
            return self.launch.not_applicable
        value = self._own(rest)
        return str(value) if isinstance(value, int) else f"{value:f}"

    def _shared(self, name: str) -> str:
        """Columns without a prefix: volumes and usage per path."""
        path = name.partition("_datas")[0].partition("_bw_usage")[0].lower()
        volume = self._volume(path)
        if volume is None:
            return self.launch.not_applicable
        if "(KB)" in name:
            return f"{volume:f}"
        return f"{self._usage(path, volume):f}"

    def _volume(self, path: str) -> float | None:
        """KiB on a path; ``None`` where this kind of core has none."""
        volumes = self.core.volumes_kib
        if path in ("read_main_memory", "write_main_memory"):
            source = "gm_to_" if path.startswith("read") else "_to_gm"
            return sum(volume for name, volume in volumes.items() if source in name)
        on_vector = "ub" in path.split("_to_")
        if on_vector != (self.core.kind == "aiv"):
            return None
        return volumes.get(path, 0.0)

    def _usage(self, path: str, volume: float) -> float:
        """Share of one core's peak, clamped at 100 (source: msopprof device_defs.h, through the catalogue)."""
        chip = load().chip(self.launch.soc) or load().chip("Ascend910B4")
        peak = getattr(chip, f"{path}_core_peak_gib_s")
        return min(100.0, 100 * volume / self.bandwidth_time * GIB_PER_KIB_US / peak)

    def _own(self, rest: str) -> int | float:
        """Columns of this core's kind, without the prefix."""
        core = self.core
        if rest == "time(us)":
            return core.time_us
        if rest == "total_cycles":
            return round(core.time_us * self.freq)
        for ending, figure in (
            ("_wait_ratio", lambda pipe: core.waits.get(pipe, 0.0)),
            ("_cflt_ratio", lambda kind: core.conflicts.get(kind.removeprefix("vec_"), 0.0)),
            ("_active_bw(GB/s)", self._active_bandwidth),
            ("_bw(GB/s)", self._bandwidth),
            ("_ratio", self._ratio),
            ("_time(us)", self._busy),
            ("_instructions", lambda pipe: core.instructions.get(pipe, 0)),
            ("_hit", lambda path: core.l2.get(path, (0, 0))[0]),
            ("_miss_allocate", lambda path: core.l2.get(path, (0, 0))[1]),
            ("_hit_rate(%)", self._hit_rate),
        ):
            if rest.endswith(ending):
                return figure(rest.removesuffix(ending))
        if rest == "icache_miss_rate":
            return 0.015
        if rest.endswith("_fops"):
            return core.fops if rest == ("vec_fops" if core.kind == "aiv" else "cube_fops") else 0
        if rest.endswith("_instr_number"):
            return core.instructions.get("cube", 0) if "int_" not in rest else 0
        if rest.endswith("(GB/s)"):
            return self._bandwidth(rest.removesuffix("(GB/s)"))
        return 0

    def _busy(self, pipe: str) -> float:
        """Busy us of a pipe; the scalar unit's are divided among its states."""
        if pipe.startswith("scalar_"):
            part = {"scalar_single": 0.5, "scalar_dual": 0.1, "scalar_wait": 0.2}.get(pipe, 0.02)
            return self._busy("scalar") * part
        return self.core.time_us * self.core.shares.get(pipe, 0.0)

    def _ratio(self, pipe: str) -> float:
        """Busy share: of the whole microseconds of the task in a 910B mix kernel, else of the core's own time."""
        if pipe not in self.core.shares and self.family == "ArithmeticUtilization":
            lead, _, kind = pipe.partition("_")
            return self._ratio(lead) if kind in ("fp32", "fp16", "fp", "vf") else 0.0
        if self.launch.mix and self.launch.chip == "910B" and self.launch.duration_us:
            whole = math.floor(self.launch.duration_us)
            return self._busy(pipe) / whole if whole else 0.0
        return self.core.shares.get(pipe, 0.0)

    def _active_bandwidth(self, pipe: str) -> float:
        busy = self._busy(pipe)
        path = {"mte2": "read_main_memory", "mte3": "write_main_memory"}.get(pipe, "l0c_to_gm")
        return (self._volume(path) or 0.0) / busy * GIB_PER_KIB_US if busy else 0.0

    def _bandwidth(self, path: str) -> float:
        named, times = BANDWIDTH_OF.get(path, (path, 1.0))
        return times * (self._volume(named) or 0.0) / self.bandwidth_time * GIB_PER_KIB_US

    def _hit_rate(self, kind: str) -> float:
        """Hits over hits and misses; 910B prints 0 for 0/0."""
        wanted = {"write": ("write_cache",), "read": ("r0_read_cache", "r1_read_cache")}.get(kind, L2_FIELDS)
        hits = sum(self.core.l2.get(name, (0, 0))[0] for name in wanted)
        misses = sum(self.core.l2.get(name, (0, 0))[1] for name in wanted)
        return 100 * hits / (hits + misses) if hits + misses else 0.0
