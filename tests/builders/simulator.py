"""Writes simulator runs the way msopprof does.

Statistics follow msopprof sim_pc_to_code.cpp and sim_code_to_pc.cpp (rows by cycles descending, no trailing
comma, detail in quotes), times data_visualizer/utility.cpp (union of the calls' intervals over a fixed
clock, rounded to 0.01 us, a C float printed by ``%f``), folders the layouts of the documentation.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.builders.bin import Bin

SATURATED = 2**31 - 1
Interval = tuple[int, int]
"""First cycle and the cycle after the last."""


@dataclass(frozen=True)
class Instruction:
    """One program counter of a core, with its calls."""

    name: str
    address: int
    pipe: str
    calls: Sequence[Interval]
    detail: str = ""
    code: str | None = None
    """``path:line``, when compiled with -g."""

    @property
    def cycles(self) -> int:
        """As the tool counts: saturating."""
        return min(sum(end - start for start, end in self.calls), SATURATED)


@dataclass
class SimulatedCore:
    """One core of a run."""

    name: str
    instructions: list[Instruction]
    trace: str | None = None

    def instr_csv(self, clock: float, *, hexadecimal: bool = False, drop_last_call: bool = False) -> str:
        """``*_instr_exe.csv``; CANN 8.0 prints hexadecimal addresses and leaves the last call untimed."""
        lines = ["instr,addr,pipe,call_count,cycles,running_time(us),detail"]
        for one in sorted(self.instructions, key=lambda held: -held.cycles):
            calls = sorted(one.calls)[:-1] if drop_last_call else one.calls
            address = f"0x{one.address:x}" if hexadecimal else str(one.address)
            cells = (one.name, address, one.pipe, len(one.calls), one.cycles, running_time(calls, clock))
            lines.append(",".join(map(str, cells)) + f',"{one.detail}"')
        return "".join(line + "\n" for line in lines)

    def code_csv(self, clock: float) -> str:
        """``*_code_exe.csv``: header only when nothing was compiled with -g."""
        calls: dict[str, list[Interval]] = {}
        for one in self.instructions:
            if one.code:
                calls.setdefault(one.code, []).extend(one.calls)
        rows = [(code, len(own), sum(end - start for start, end in own), own) for code, own in calls.items()]
        lines = ["code,call_count,cycles,running_time(us)"]
        for code, count, cycles, own in sorted(rows, key=lambda row: -row[2]):
            lines.append(f"{code},{count},{min(cycles, SATURATED)},{running_time(own, clock)}")
        return "".join(line + "\n" for line in lines)


def running_time(calls: Sequence[Interval], clock: float) -> str:
    """The union of the calls in us, rounded to 0.01 and printed as the tool does."""
    total, reached = 0, 0
    for start, end in sorted(calls):
        start = max(start, reached)
        total += max(end - start, 0)
        reached = max(reached, end)
    rounded = math.floor(total / clock * 100 + 0.5) / 100
    return f"{struct.unpack('<f', struct.pack('<f', rounded))[0]:f}"


@dataclass
class SimulatorKernel:
    """One kernel of a simulator run."""

    cores: list[SimulatedCore]
    clock: float = 1850.0
    trace: str | None = None
    bin: Bin | None = None
    options: Mapping[str, bool] = field(default_factory=dict)
    """``hexadecimal`` and ``drop_last_call`` of older builds."""

    def write(self, folder: Path, stamp: str | None = None) -> Path:
        """Write ``simulator/`` into a folder; ``stamp``: the 17 digits of runs with several kernels."""
        suffix = f"_{stamp}" if stamp else ""
        simulator = folder / "simulator"
        simulator.mkdir(parents=True, exist_ok=True)
        for core in self.cores:
            own = simulator / core.name
            own.mkdir(exist_ok=True)
            instr = core.instr_csv(self.clock, **self.options)
            (own / f"{core.name}_instr_exe{suffix}.csv").write_text(instr, encoding="utf-8", newline="")
            code = core.code_csv(self.clock)
            (own / f"{core.name}_code_exe{suffix}.csv").write_text(code, encoding="utf-8", newline="")
            if core.trace is not None:
                (own / "trace.json").write_text(core.trace, encoding="utf-8")
        if self.trace is not None:
            (simulator / "trace.json").write_text(self.trace, encoding="utf-8")
        if self.bin is not None:
            self.bin.write(simulator)
        return simulator


@dataclass
class SimulatorRun:
    """A run folder: one kernel collapses into it, several have folders of their own."""

    kernels: Mapping[tuple[str, int], SimulatorKernel]
    """(folder name, launch) -> kernel."""
    device_id: int | None = None

    def write(self, run: Path, *, stamped: bool | None = None) -> list[Path]:
        """Write the run; ``stamped``: 17 digits in the names, by default only where there are several kernels."""
        several = len(self.kernels) > 1
        stamped = several if stamped is None else stamped
        base = run if self.device_id is None else run / f"device{self.device_id}"
        written = []
        for order, ((name, launch), kernel) in enumerate(self.kernels.items()):
            folder = base / name / str(launch) if several or self.device_id is not None else run
            written.append(kernel.write(folder, f"20240603022810{order:03d}" if stamped else None))
        return written


def example_kernel(clock: float = 1850.0, **options: bool) -> SimulatorKernel:
    """Two working cores: copies, waits, a vector loop whose calls overlap, a sum too short to be timed."""
    source = "/home/dev/算子, v2/add:custom.cpp"
    vector = [
        Instruction(
            "MOV_OUT_TO_UB", 0x1168DE04, "MTE2", [(100, 1601), (1500, 3001)], "Src:OUT,Dst:UB,id:10", f"{source}:41"
        ),
        Instruction("WAIT_FLAG", 0x1168DE08, "FLOWCTRL", [(90, 3001)], "PIPE:MTE2,TRIGGERPIPE:V,FLAGID:0,"),
        Instruction(
            "VADD",
            0x1168DE0C,
            "VECTOR",
            [(3001 + 50 * call, 3041 + 50 * call) for call in range(16)],
            "XD:X16=0x400,Dtype:F16",
            f"{source}:42",
        ),
        Instruction("ADD_IMM", 0x1168DE10, "SCALAR", [(3, 8)], "XD:X1=0x1", f"{source}:43"),
    ]
    cube = [Instruction("MMAD", 0x1168E000, "CUBE", [(0, 4000)], "Dtype:F16")]
    cores = [SimulatedCore("core0.veccore0", vector), SimulatedCore("core0.cubecore0", cube)]
    return SimulatorKernel(cores, clock, options=options)
