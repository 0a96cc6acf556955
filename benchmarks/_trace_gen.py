"""Writes all-core simulator traces of any size, the way msopprof prints them.

Follows msopprof core_timeline_visualizer.cpp: compact JSON with sorted keys, cores one after another, the events
of a core by their end, pipes mixed; behind them its flags as B-E pairs, each matched pair followed by its flow.
Times are float32. One event takes about 260 bytes.

    python benchmarks/_trace_gen.py FILE [--events 1000000] [--cores 24] [--distinct]
"""

from __future__ import annotations

import argparse
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

CLOCK_MHZ = 1850.0
DISTINCT_DETAILS = 3_000
PIPES = (
    # pipe, colour, instruction, cycles, cycles to the next one, share of the events in percent, bytes moved
    ("SCALAR", "startup", "MOV_XD_IMM", 2, 3, 40, 0),
    ("SCALARLDST", "startup", "LD_XD_XN_IMM", 30, 12, 15, 0),
    ("MTE2", "thread_state_iowait", "MOV_OUT_TO_UB", 300, 150, 10, 4096),
    ("VECTOR", "cq_build_failed", "VADD", 14, 20, 25, 0),
    ("MTE3", "rail_response", "MOV_UB_TO_OUT", 200, 180, 10, 2048),
)
FLAG_EVERY = 50
"""Work events per SET/WAIT pair."""


def float32(value: float) -> float:
    """As a C float that nlohmann JSON prints."""
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


def microseconds(cycles: int) -> float:
    """Cycles as printed."""
    return float32(cycles / CLOCK_MHZ)


def write_trace(out: TextIO, events: int, cores: int = 24, *, distinct: bool = False) -> int:
    """Write about ``events`` events over ``cores`` cores; how many it became exactly.

    ``distinct`` gives each work event a detail of its own; else there are about 3,000 of them.
    """
    out.write('{"displayTimeUnit":"ns","profilingType":"op","schemaVersion":2,"traceEvents":[')
    written = 0
    for core in range(cores):
        name = f"core{core // 2}.veccore{core % 2}"
        wanted = (events * (core + 1)) // cores - written
        for at, text in enumerate(core_events(name, wanted, core, distinct=distinct)):
            out.write(text if core == at == 0 else "," + text)
            written += 1
    out.write("]}")
    return written


def core_events(core: str, events: int, seed: int, *, distinct: bool) -> Iterator[str]:
    """The events of one core as JSON texts: work by its end, then the flags."""
    schedule = [pipe for pipe in range(len(PIPES)) for _ in range(PIPES[pipe][5])]
    clock = [100 + 40 * at for at in range(len(PIPES))]
    flags = events // (FLAG_EVERY + 6)
    work = max(events - 6 * flags, 0)
    for at in range(work):
        pipe = schedule[(at * 37 + seed) % len(schedule)]
        yield _work_event(core, pipe, clock[pipe], at, seed, distinct=distinct)
        clock[pipe] += PIPES[pipe][4] + (at * 7919) % 11
    for at in range(flags):
        yield from _flag_events(core, at, 120 + at * 400)


def _work_event(core: str, pipe: int, start: int, at: int, seed: int, *, distinct: bool) -> str:
    name, colour, instruction, cycles, _, _, moved = PIPES[pipe]
    variant = at + seed * 10_000_000 if distinct else (at * 31) % DISTINCT_DETAILS
    detail = f"dtype:B64,XD:X{variant % 31}={variant:#x},XN:X30={variant * 64:#x},IMM:{variant % 4096:#x},#POST:0,"
    line = 100 + variant % 90
    code = (
        f"/home/user/kernels/op_kernel/add_custom.cpp:{line}\\n/usr/local/Ascend/include/kernel_operator.h:{line * 3}"
    )
    extra = f',"process_bytes":"{moved}"' if moved else ""
    shown, address = code if variant % 3 == 0 else "", 0x10D0D000 + variant % 9000 * 4
    return (
        f'{{"args":{{"code":"{shown}","detail":"{detail}","pc_addr":"{address:#x}"{extra}}},'
        f'"cname":"{colour}","dur":{microseconds(cycles + variant % 5)!r},"name":"{instruction}","ph":"X",'
        f'"pid":"{core}","tid":"{name}","ts":{microseconds(start)!r}}}'
    )


def _flag_events(core: str, at: int, start: int) -> Iterator[str]:
    flag = f"{core}_{at}"
    args = {"code": "", "detail": f"PIPE:MTE2,TRIGGERPIPE:VECTOR,FLAGID:{at % 8},", "pc_addr": "0x10d0f000"}
    for name, colour, pipe, first, last in (
        ("SET_FLAG", "black", "MTE2", start, start + 1),
        ("WAIT_FLAG", "yellow", "VECTOR", start - 20, start + 10),
    ):
        for phase, held, cycle in (("B", args, first), ("E", {}, last)):
            event = {"args": held, "cname": colour, "id": flag, "name": name, "ph": phase}
            yield _dumps({**event, "pid": core, "tid": pipe, "ts": microseconds(cycle)})
    for phase, pipe, cycle in (("s", "MTE2", start + 1), ("t", "VECTOR", start + 10)):
        event = {"cat": "MTE2ToVECTOR", "id": flag, "name": "flow", "ph": phase}
        yield _dumps({**event, "pid": core, "tid": pipe, "ts": microseconds(cycle)})


def _dumps(event: dict[str, object]) -> str:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--cores", type=int, default=24)
    parser.add_argument("--distinct", action="store_true")
    args = parser.parse_args()
    with args.file.open("w", encoding="utf-8") as out:
        print(write_trace(out, args.events, args.cores, distinct=args.distinct), "events")


if __name__ == "__main__":
    main()
