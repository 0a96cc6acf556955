"""Writes visualize_data.bin the way msopprof does, every block type.

Framing follows msopprof common/visualize.cpp (payloads padded to 4 bytes, filler 0x5A, version 0 for type 4),
JSON its nlohmann dump (keys sorted, no blanks, float32 values), payloads the writers named at each function.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FILLER = 0x5A
STALL_REASONS = (
    "IBuf_Empty",
    "Nop_Cycles",
    "Scoreboard_Not_Ready",
    "Register_bank_conflict",
    "Resource_conflict",
    "Warp_Level_Sync",
    "Divergence_Stack_Spill",
    "Others",
    "Active",
)
Json = Mapping[str, object]


def f32(value: float) -> float:
    """The double that a C float holds."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def printed(value: float) -> str:
    """``std::to_string`` of a C float."""
    return f"{f32(value):f}"


def dump(value: Json) -> bytes:
    """JSON as nlohmann dumps it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def block(kind: int, payload: bytes, *, version: int = FILLER, path: str | None = None) -> bytes:
    """One block; ``path`` for type 1 only."""
    pad = -len(payload) % 4
    header = struct.pack("<QBBBB", len(payload) + pad, kind, pad, version, FILLER)
    if path is not None:
        header += path.encode().ljust(4096, b"\x00")
    return header + payload + b"\x00" * pad


@dataclass
class Bin:
    """A file in the making."""

    parts: list[bytes] = field(default_factory=list)

    def add(self, kind: int, value: Json) -> Bin:
        """Append a JSON block."""
        self.parts.append(block(kind, dump(value), version=0 if kind == 4 else FILLER))
        return self

    def source(self, path: str, text: str | bytes) -> Bin:
        """Append a source file (type 1)."""
        data = text if isinstance(text, bytes) else text.encode()
        self.parts.append(block(1, data, path=path))
        return self

    def trace(self, text: str) -> Bin:
        """Append a trace (type 2)."""
        self.parts.append(block(2, text.encode()))
        return self

    @property
    def data(self) -> bytes:
        """The whole file."""
        return b"".join(self.parts)

    def write(self, folder: Path) -> Path:
        """Write ``visualize_data.bin`` into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "visualize_data.bin"
        path.write_bytes(self.data)
        return path


def basics(
    durations_us: Sequence[Sequence[float]],
    *,
    name: str = "add_custom",
    op_type: str = "vector",
    soc: str = "Ascend910B2",
    duration_us: float = 20.0,
    device_id: int = 0,
    pid: int = 4711,
    cur_freq: str = "1800",
    rated_freq: str = "1800",
    advice: Sequence[str] = (),
) -> Json:
    """Block 5 (source: basic_op_and_pmu.cpp); ``durations_us`` holds one row per block."""
    mix = op_type == "mix"
    on_310p = op_type == "AiCore"
    head = ["Cube0 Duration (μs)", "Vector0 Duration (μs)", "Vector1 Duration (μs)"] if mix else []
    head = head or ["Core Type", "Duration (μs)"]
    head = head if on_310p else ["Block ID", *head]
    rows = []
    for number, row in enumerate(durations_us):
        cells = [] if on_310p else [str(number)]
        cells += [] if mix else [op_type]
        rows.append({"value": cells + [printed(value) for value in row]})
    return {
        "name": name,
        "op_type": op_type,
        "soc": soc,
        "duration": f32(duration_us),
        "block_dim": str(len(rows)),
        "mix_block_dim": str(2 * len(rows)) if mix else "",
        "device_id": str(device_id),
        "pid": str(pid),
        "cur_freq": cur_freq,
        "rated_freq": rated_freq,
        "mix_block_detail" if mix else "block_detail": {
            "head_name": head,
            "row": rows,
            "size": [len(rows) + 1, len(head)],
        },
        "advice": list(advice),
    }


def load(block_id: str, block_type: str, name: str, unit: int, value: float | str, origin: float | None = None) -> Json:
    """One figure of blocks 6 and 7 (source: compute_load_calculator.cpp)."""
    item: dict[str, object] = {"block_id": block_id, "block_type": block_type, "name": name, "unit": unit}
    item["value"] = value if isinstance(value, str) else f32(value)
    if origin is not None:
        item["origin_value"] = f32(origin)
    return item


def loads(items: Sequence[Json]) -> Json:
    """Block 6 or 7."""
    return {"subblock_detail": list(items), "advice": []}


def path(code: int, request: int | None, bandwidth: float, *, peak: str = "NA", chip: str = "910B") -> Json:
    """One path of block 8 (source: storage_access.cpp; 310P spells one key differently, 950 leaves two out)."""
    item: dict[str, object] = {
        "memory_path": code,
        "request": "NA" if request is None else str(request),
        "bandwidth": "NA" if request is None else printed(bandwidth),
        "peak_ratio": peak,
        "display": 1,
    }
    if chip == "910B":
        suffix = "(theoretical value)" if code == 1 else ""
        item |= {"bandwidth_suffix": suffix, "request_suffix": suffix}
    elif chip == "310P":
        item |= {"bandwidth_suffix": "", "requests_suffix": ""}
    return item


def memory_core(
    core_no: str,
    paths: Sequence[Json],
    units: Mapping[str, tuple[int, int]],
    *,
    op_type: str = "vector",
    chip: str = "910B",
    hit: int = 90,
    miss: int = 10,
) -> Json:
    """One core of block 8 (source: storage_access.cpp); ``units``: Cube, Vector, Vector1 -> (busy, total)."""
    core: dict[str, object] = {
        "core_no": core_no,
        "op_type": op_type,
        "soc": "910A5" if chip == "950" else chip,
        "memory_unit": list(paths),
        "L2cache": {
            "hit": str(hit),
            "miss": str(miss),
            "total_request": str(hit + miss),
            "hit_ratio": printed(100 * hit / (hit + miss)),
        },
        "advice": [],
    }
    if chip == "950":
        core["memory_detail"] = "0"
    for unit, (busy, total) in units.items():
        core[unit] = {"cycle": busy, "total_cycles": total, "ratio": f32(100 * busy / total)}
    return core


def memory_map(cores: Sequence[Json]) -> Json:
    """Block 8."""
    return {"core_memory_map": list(cores)}


def table(name: str, head: Sequence[str], rows: Mapping[str, Sequence[str]]) -> Json:
    """One table of block 9 (source: storage_access.cpp)."""
    return {
        "table_name": name,
        "header_name": ["", *head],
        "row": [{"name": row, "value": list(values)} for row, values in rows.items()],
        "size": [len(rows), len(head)],
    }


def pipe_table(name: str = "Pipe Vector Core0") -> Json:
    """A table of pipes as 910B builds since CANN 8.5 write it."""
    head = ["instructions", "cycle", "wait cycles", "active rate(%)", "active bw(GB/s)"]
    rows = {
        "MTE1": ["0", "0", "0", "0.000000", "NA"],
        "MTE2": ["166", "14750", "0", "6.710951", "12.500000"],
        "MTE3": ["206", "23267", "19450", "10.586014", "8.250000"],
    }
    return table(name, head, rows)


def memory_tables(blocks: Sequence[Sequence[Json]], *, op_type: str = "vector", advice: Sequence[str] = ()) -> Json:
    """Block 9: the tables of every block."""
    return {
        "table_per_block": [
            {
                "block_id": "NA" if op_type == "AiCore" else str(number),
                "table_op_type": op_type,
                "table_detail": list(tables),
                "advice": list(advice),
            }
            for number, tables in enumerate(blocks)
        ]
    }


def occupancy(cores: Mapping[int, Sequence[Json]], *, op_type: str = "mix", advice: str = "") -> Json:
    """Block 12 (source: occupancy.cpp)."""
    details = [{"core_id": core, "core_detail": list(items)} for core, items in cores.items()]
    return {"op_detail": details, "soc": "Ascend910B2", "op_type": op_type, "advice": advice}


def subcore(kind: str, number: int, cycles: int, throughput: int, rate: float, *, simt: int | None = None) -> Json:
    """One sub-core of block 12; ``simt``: executed SIMT instructions (950)."""
    item: dict[str, object] = {
        "subcore_type": kind,
        "subcore_id": str(number),
        "cycles": str(cycles),
        "throughput": str(throughput),
        "L2cache_hit_rate": printed(rate),
    }
    if simt is not None:
        item["simt_vf_instructions"] = {"instructions": simt, "instruction_per_cycle": simt / cycles}
    return item


def roofline(*, advice: str = "memory bound") -> Json:
    """Block 13 (source: roofline.cpp): one chart, one point under the roof and one above."""
    lines = [
        {
            "computility_name": "Float",
            "computility": f32(11.06),
            "bw_name": name,
            "bw": f32(bandwidth),
            "point": [f32(point), f32(0.5)],
            "ratio": ratio,
        }
        for name, bandwidth, point, ratio in (("GM to UB", 1.75, 0.125, "0.731429"), ("UB to GM", 1.5, 9.5, "NA"))
    ]
    return {"multiple_rooflines": [{"title": "Memory Pipe(Vector)", "rooflines": lines}], "advice": advice}


def hot_lines(cores: Sequence[str], file: str, lines: Sequence[Json]) -> Json:
    """Block 3 (source: api_data.cpp, hotspot_function_generator.cpp)."""
    types = {"Lines": {"Line": 1, "Cycles": 1}}
    return {"Cores": list(cores), "Files": [{"Source": file, "Lines": list(lines)}], "Files Dtype": types}


def simulator_line(line: int, cycles: Sequence[int], executed: Sequence[int]) -> Json:
    """A line of block 3 as the simulator writes it: lists by core, -1 = no value (source: api_data.cpp)."""
    return {
        "Line": line,
        "Cycles": list(cycles),
        "Instructions Executed": list(executed),
        "Address Range": [["0x10d0b000", "0x10d0b008"], ["0x10d0b020", "0x10d0b020"]],
        "GPR Count": [-1] * len(cycles),
        "Process Bytes": [-1, *[4096] * (len(cycles) - 1)],
    }


def device_line(line: int, executed: int, *, rate: float | str = -1, stalls: bool = False) -> Json:
    """A line of block 3 as device runs write it (source: hotspot_function_generator.cpp)."""
    item: dict[str, object] = {
        "Line": line,
        "Address Range": [["0x12c041000000", "0x12c041000004"]],
        "Instructions Executed": [executed],
        "GPR Count": 3,
        "Process Bytes": -1,
    }
    return item | (sampling() if stalls else {"L2Cache Hit Rate": rate})


def sampling() -> dict[str, object]:
    """Stall samples of a line or an instruction (950, PcSampling)."""
    counts = {reason: at for at, reason in enumerate(STALL_REASONS)}
    return {
        "Stall Sampling(All Samples)": {"Percent": f32(0.25), "Details": counts},
        "Stall Sampling(Not Issue)": {
            "Percent": f32(0.125),
            "Details": {reason: at for reason, at in counts.items() if reason != "Active"},
        },
    }


def hot_instructions(cores: Sequence[str], instructions: Sequence[Json]) -> Json:
    """Block 4 (source: api_data.cpp, hotspot_function_generator.cpp)."""
    types = {"Instructions": {"Address": 3, "Cycles": 1}}
    return {"Cores": list(cores), "Instructions": list(instructions), "Instructions Dtype": types}


def simulator_instruction(address: str, cycles: Sequence[int], *, scalar: bool = False) -> Json:
    """An instruction of block 4 as the simulator writes it (source: api_data.cpp)."""
    nothing = [-1] * len(cycles)
    item: dict[str, object] = {
        "Address": address,
        "AscendC Inner Code": "/src/核函数.cpp:41",
        "Source": "VADD XD:X16,XN:X13",
        "Pipe": "VECTOR",
        "Instructions Executed": [4] * len(cycles),
        "Cycles": list(cycles),
        "GPR Count": nothing,
        "Process Bytes": nothing,
        "Vector Utilization Percentage": [f32(87.5)] * len(cycles),
        "UB Read Conflict": [2] * len(cycles),
        "UB Write Conflict": nothing,
    }
    if scalar:
        item |= {"RealStallCycles": [7] * len(cycles)}
        item |= {key: [5] * len(cycles) for key in ("ICacheCycles", "CcuCycles", "ScalarCycles")}
    return item


def device_instruction(address: str, executed: int, *, rate: float | str = 50.0, stalls: bool = False) -> Json:
    """An instruction of block 4 as device runs write it (source: hotspot_function_generator.cpp)."""
    item: dict[str, object] = {
        "Address": address,
        "AscendC Inner Code": "/src/kernel.cpp:41",
        "Source": "LD.64 X1, [X2]",
        "Pipe": "SCALAR",
        "GPR Status": [{"regIndex": "R1", "regStatus": 2, "survivalTime": 9}] if stalls else [],
        "Instructions Executed": [executed],
        "GPR Count": 12,
        "Process Bytes": 64,
    }
    return item | (sampling() if stalls else {"L2Cache Hit Rate": rate})


def cache_lines(used: Mapping[int, tuple[int, int]], lines: int = 64) -> Json:
    """Block 14 (source: cacheline_heat_map.cpp; 16384 lines upstream); ``used``: line -> (hits, misses)."""
    records = []
    for number in range(lines):
        hits, misses = used.get(number, (0, 0))
        total = hits + misses or 1
        ranges = [["0x12c041000000", "0x12c041000010"]]
        records.append(
            {
                "Cacheline Id": number,
                "Hit": {"Value": [hits, f32(hits / total)], "Address Range": ranges if hits else []},
                "Miss": {"Value": [misses, f32(misses / total)], "Address Range": ranges if misses else []},
            }
        )
    return {"Cacheline Records": records}


def top_stalls(counts: Sequence[int] = (9, 8, 7, 6, 5, 4, 3, 2)) -> Json:
    """Block 15 (source: hotspot_function_generator.cpp)."""
    return {"top_stall_reason_table": dict(zip(STALL_REASONS, counts, strict=False))}


LOW_BANDWIDTH = "aivector MTE2 bandwidth utilization lower than 80% when active"


def mix_bin() -> Bin:
    """A device run of a mix kernel on two blocks, with every metric that writes a block (910B)."""
    figure = [
        load("0", "cube0", "Cube All Active", 3, 11.15, 46050.0),
        load("0", "vector0", "Vector All Active0", 3, 3.0, 6592.0),
    ]
    counts = [load("0", "cube0", "Cube FP", 1, "80"), load("0", "vector0", "Vector Wait", 0, "17")]
    units = {"Cube": (46050, 413123), "Vector": (6592, 219790), "Vector1": (6592, 408574)}
    paths = [path(0, 47847, 19.0), path(1, 41541, 16.5), path(12, 10243, 4.07, peak="3.448572"), path(13, None, 0)]
    cores = {0: [subcore("vector", 0, 219790, 2641408, 85.5), subcore("cube", 0, 413123, 6158848, 93.6)]}
    return (
        Bin()
        .add(5, basics([[250.4, 133.2, 247.6], [250.9, 133.3]], op_type="mix", name="matmul_mix_aic"))
        .add(6, loads(figure))
        .add(7, loads(counts))
        .add(8, memory_map([memory_core(str(at), paths, units, op_type="mix") for at in range(2)]))
        .add(9, memory_tables([[pipe_table()], [pipe_table()]], op_type="mix", advice=[LOW_BANDWIDTH]))
        .add(12, occupancy(cores, advice="\t1) vector1 of core[1] take more time than other vector cores.\n"))
        .add(13, roofline())
        .source("/src/kernel.cpp", "int main() {}\n")
        .add(3, hot_lines(["ALL"], "/src/kernel.cpp", [device_line(41, 120, rate=62.5)]))
        .add(4, hot_instructions(["ALL"], [device_instruction("0x12c041000000", 120)]))
        .add(14, cache_lines({3: (30, 10)}))
    )


def simulator_bin(cores: Sequence[str] = ("core0.cubecore0", "core0.veccore0")) -> Bin:
    """What a simulator run writes: sources, trace, lines, instructions."""
    count = len(cores)
    lines = [simulator_line(41, [120] * count, [4] * count), simulator_line(42, [-1] * count, [-1] * count)]
    instructions = [
        simulator_instruction("0x10d0b000", [-1, *[900] * (count - 1)], scalar=True),
        simulator_instruction("0x10d0b004", [17] * count),
    ]
    return (
        Bin()
        .source("/src/核函数.cpp", "__aicore__ void add() {}\n")
        .add(3, hot_lines(cores, "/src/核函数.cpp", lines))
        .add(4, hot_instructions(cores, instructions))
        .trace('{"schemaVersion":2,"displayTimeUnit":"ns","profilingType":"op","traceEvents":[]}')
    )
