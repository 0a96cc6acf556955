"""Writes device runs the way msopprof does: folders, file names and every byte of the CSVs.

Columns come from the catalogue (``builds``: older builds), figures from a model of what the cores did
(``figures``); ``kernels`` has ready-made launches. Single cells can be overridden.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from opprof_db.catalog import BASIC_INFO, load
from tests.builders.builds import DBI_COLUMNS, TODAY, Build
from tests.builders.figures import GIB_PER_KIB_US, CoreLoad, Figures, printed

__all__ = ["GIB_PER_KIB_US", "CoreLoad", "DeviceRun", "Launch", "Layout", "folder_name"]


@dataclass
class Launch:
    """One launch of a kernel, ready to be written."""

    name: str
    op_type: str
    """vector, cube or mix; ``AiCore`` on 310P."""
    duration_us: float | None
    """``None``: printed as not applicable."""
    blocks: list[list[CoreLoad]]
    """Per block: its cube core and vector cores, in the order of the rows."""
    chip: str = "910B"
    """Chip family of the headers: 910B, 310P or 950."""
    soc: str | None = "Ascend910B4"
    """As dump/op_basic_info.txt names it; ``None``: no dump folder."""
    block_dim: int | None = None
    mix_block_dim: int | None = None
    """``None``: counted in a mix kernel, not applicable otherwise."""
    device_id: int = 0
    pid: int = 4711
    current_freq: str | None = None
    """As printed: a number, ``N/A`` or ``-1``; ``None``: the rated frequency."""
    rated_freq: int = 1650
    build: Build = TODAY
    peaks_of: str | None = None
    """Chip whose one-core peaks usage rates are against, where the build did not take the chip's own."""
    families: tuple[str, ...] = ()
    """Families written; empty: all seven."""
    basic_rows: int = 1
    """0: OpBasicInfo.csv is a header only."""
    overrides: dict[tuple[str, str, int | None], str] = field(default_factory=dict)
    """(family, header, row from 0; ``None``: all rows) -> text printed instead."""
    files: dict[str, bytes] = field(default_factory=dict)
    """More files of the launch's folder: visualize_data.bin, trace.json, dump/…"""

    @property
    def mix(self) -> bool:
        """Whether both kinds of core work."""
        return self.op_type == "mix"

    @property
    def frequency(self) -> float:
        """MHz that cycles are turned into time with: the current one, else the rated."""
        current = self.current_freq or ""
        return float(current) if current.isdigit() and int(current) else float(self.rated_freq)

    @property
    def blocks_launched(self) -> int:
        """Block Dim."""
        return self.block_dim or len(self.blocks)

    @property
    def time_factor(self) -> float:
        """On 310P, counters are sums over blocks and times are scaled back (source: metric_data_handler.cpp)."""
        if self.chip != "310P":
            return 1.0
        chip = load().chip(self.soc)
        cores = (chip and chip.aic_cores) or 8
        return math.ceil(self.blocks_launched / cores) / self.blocks_launched

    def needs_memory_detail(self, header: str) -> bool:
        """Whether the 950 leaves this column empty without MemoryDetail (source: pmu_formulator.h)."""
        if self.chip != "950" or self.build.memory_detail:
            return False
        return any(header.startswith(pattern.rstrip("*")) for pattern in DBI_COLUMNS)

    def basic_info(self) -> str:
        """OpBasicInfo.csv (source: msopprof metric_csv_header.h, metric_data_handler.cpp)."""
        header = load().header(BASIC_INFO, self.chip)
        missing = self.build.not_applicable
        vectors = sum(core.kind == "aiv" for cores in self.blocks for core in cores) if self.mix else None
        cells = {
            "Op Name": self.name,
            "Op Type": self.op_type,
            "Task Duration(us)": printed(self.duration_us, missing),
            "Block Dim": str(self.blocks_launched),
            "Mix Block Dim": str(self.mix_block_dim or vectors or missing),
            "Device Id": str(self.device_id),
            "Pid": str(self.pid),
            "Current Freq": self.current_freq or str(self.rated_freq),
            "Rated Freq": str(self.rated_freq),
        }
        rows = [[self._overridden(BASIC_INFO, name, 0, cells[name]) for name in header]]
        return _lines(header, rows[: self.basic_rows])

    def family(self, family: str) -> str:
        """One family CSV (source: msopprof metric_csv_header.h and its CSV writer: a comma behind every cell)."""
        header = self.build.header(family, self.chip)
        located = [(block, core) for block, cores in enumerate(self.blocks) for core in cores]
        rows = []
        for number, (block, core) in enumerate(located):
            figures = Figures(self, core)
            keys = {"block_id": str(block), "sub_block_id": core.sub_block}
            cells = [keys.get(name) or printed(figures.value(name), self.build.not_applicable) for name in header]
            rows.append(
                [self._overridden(family, name, number, cell) for name, cell in zip(header, cells, strict=True)]
            )
        return _lines(header, rows)

    def _overridden(self, family: str, header: str, row: int, text: str) -> str:
        return self.overrides.get((family, header, row), self.overrides.get((family, header, None), text))

    def write(self, folder: Path, stamp: str | None = None) -> Path:
        """Write the launch's folder; ``stamp`` is the 17 digits of runs with several kernels.

        All families of a launch share it: it is when the launch was parsed (source: device_data_parse.cpp).
        """
        suffix = f"_{stamp}" if stamp else ""
        texts = {f"{family}{suffix}.csv": self.family(family) for family in self.families or load().families}
        texts[f"{BASIC_INFO}{suffix}.csv"] = self.basic_info()
        if self.soc:
            texts["dump/op_basic_info.txt"] = self.dump_info()
        contents = {name: text.encode() for name, text in texts.items()}
        for name, content in (contents | self.files).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder

    def dump_info(self) -> str:
        """dump/op_basic_info.txt (source: msopprof device_data_parse.cpp, a real capture of CANN 8.5)."""
        pairs = {
            "Op Name": self.name,
            "Block Dim": self.blocks_launched,
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


class Layout(StrEnum):
    """Folders between the run and its launches; levels collapse when there is only one of them."""

    COLLAPSED = "collapsed"
    """The run's folder is the launch's."""
    OPERATORS = "operators"
    """<OpName>/<launch>"""
    DEVICES = "devices"
    """device<id>/<OpName>/<launch>"""
    DEVICE_NUMBERS = "device_numbers"
    """<id>/<OpName>/<launch>"""


def folder_name(kernel: str) -> str:
    """Folder of a kernel: its name, a long one cut with a hash behind it (source: formats section 1)."""
    if len(kernel) <= 100:
        return kernel
    return f"{kernel[:100]}_{hashlib.sha256(kernel.encode()).hexdigest()[:16]}"


@dataclass
class DeviceRun:
    """One OPPROF folder of a device run (source: msopprof op_device_prof.cpp)."""

    launches: list[Launch]
    name: str = "OPPROF_20260510120000_ABCDEFGHIJKLMNOP"
    layout: Layout | None = None
    """``None``: collapsed for one launch, devices for launches on several devices, else operators."""

    def write(self, parent: Path) -> Path:
        """Write the run below ``parent``; launches of one kernel on one device are counted from 0."""
        run = parent / self.name
        run.mkdir(parents=True, exist_ok=True)
        seen: Counter[tuple[int, str]] = Counter()
        for number, launch in enumerate(self.launches):
            key = launch.device_id, folder_name(launch.name)
            if self._layout() is Layout.COLLAPSED:
                launch.write(run)
            else:
                launch.write(run / self._device(launch) / key[1] / str(seen[key]), self.stamp(number))
            seen[key] += 1
        return run

    def _layout(self) -> Layout:
        if self.layout:
            return self.layout
        if len(self.launches) == 1:
            return Layout.COLLAPSED
        several = len({launch.device_id for launch in self.launches}) > 1
        return Layout.DEVICES if several else Layout.OPERATORS

    def _device(self, launch: Launch) -> str:
        prefixes = {Layout.DEVICES: f"device{launch.device_id}", Layout.DEVICE_NUMBERS: str(launch.device_id)}
        return prefixes.get(self._layout(), "")

    def stamp(self, number: int) -> str:
        """17 digits: when the tool, some seconds after its start, had parsed this launch."""
        started = re.search(r"\d{14}", self.name)
        begin = datetime.strptime(started.group() if started else "20260510120000", "%Y%m%d%H%M%S")
        return f"{begin + timedelta(seconds=7 + number):%Y%m%d%H%M%S}284"
