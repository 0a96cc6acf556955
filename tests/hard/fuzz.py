"""Feeds damaged files to every reader: whatever comes in, a reader returns records and issues, or its own error.

    python -m tests.hard.fuzz --executions 1000000             all targets in turn, seeded by builders and captures
    python -m tests.hard.fuzz --target bin --executions 5000 --seed 7

Inputs are made from whole files by cutting, doubling, swapping, flipping and inserting pieces that parsers trip over.
An execution that raises anything else than the reader's documented error is printed with its input and ends the run
with exit code 1; one that takes longer than ``SLOW_S`` does too.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from opprof_db.errors import OpprofError
from opprof_db.knowledge.reading import UnreadableError, read_entry, read_sources
from opprof_db.msopprof.basic_info import read_basic_info, read_op_basic_info_text
from opprof_db.msopprof.device_csv import read_family
from opprof_db.msopprof.simulator_csv import read_instructions, read_source_lines
from opprof_db.msopprof.trace_reader import TraceReader
from opprof_db.msopprof.visualize_bin import read_bin
from tests.shared import CORPUS, ROOT

SLOW_S = 5.0
MAX_INPUT_BYTES = 6_000
"""Longer seeds are cut to a window: small inputs are executed more often and say the same."""
EXAMPLES = ROOT / "examples" / "out"
ENTRIES = ROOT / "opprof_db" / "knowledge" / "entries"
_PIECES = (
    b"", b"\0", b",", b",,,,", b'"', b"'", b"\r", b"\r\n", b"\n\n", b"NA", b"N/A", b"nan", b"inf", b"-1", b"1e309",
    b"9" * 400, b"9223372036854775808", b"2147483647", b"-0", b"0x", b"\xff\xfe", b"\xef\xbb\xbf", b"\x81\x30\x81\x30",
    b"\xed\xa0\x80", b"{", b"}", b"[", b"]", b"[" * 300, b":", b"null", b"true", b'{"a":', b"\\u0000", b"\\ud800",
    b"---\n", b"&a *a", b"!!python/object", b"block_id", b"vector0", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A reader, the errors it documents, and whole files to begin with."""

    read: Callable[[bytes, Path], object]
    errors: tuple[type[Exception], ...]
    seeds: list[bytes]


def _trace(data: bytes, file: Path) -> object:
    reader = TraceReader([data[: len(data) // 2], data[len(data) // 2 :]], "trace.json")
    return list(reader), reader.summary


def _bin(data: bytes, file: Path) -> object:
    file.write_bytes(data)
    return read_bin(file, cache_lines=True)


def _entry(data: bytes, file: Path) -> object:
    return read_entry(data, file.name, "built-in", {})


def _family(data: bytes, file: Path) -> object:
    return [read_family(name, data) for name in ("PipeUtilization", "Memory", "L2Cache")]


def _simulator(data: bytes, file: Path) -> object:
    return read_instructions(data, None), read_source_lines(data, None)


def _seeds(*patterns: str, keep: int = 12) -> list[bytes]:
    found = [path for root in (EXAMPLES, CORPUS) if root.is_dir() for p in patterns for path in sorted(root.rglob(p))]
    step = max(len(found) // keep, 1)
    return [data for path in found[::step][:keep] if (data := path.read_bytes())]


def targets() -> dict[str, Target]:
    """Name -> what is fuzzed."""
    return {
        "device_csv": Target(_family, (), _seeds("PipeUtilization*.csv", "Memory*.csv", "L2Cache*.csv")),
        "simulator_csv": Target(_simulator, (), _seeds("*_instr_exe*.csv", "*_code_exe*.csv")),
        "basic_info": Target(lambda data, _: read_basic_info(data), (), _seeds("OpBasicInfo*.csv")),
        "op_basic_info": Target(lambda data, _: read_op_basic_info_text(data), (), _seeds("op_basic_info.txt")),
        "trace": Target(_trace, (), _seeds("trace.json", keep=4)),
        "bin": Target(_bin, (), _seeds("visualize_data.bin", keep=8)),
        "front_matter": Target(
            _entry, (UnreadableError, OpprofError), [path.read_bytes() for path in sorted(ENTRIES.glob("*.md"))[::6]]
        ),
        "sources": Target(
            lambda data, file: read_sources(data, file.name),
            (UnreadableError, OpprofError),
            [(ENTRIES / "sources.yaml").read_bytes()],
        ),
    }


def mutated(seed: bytes, draw: random.Random) -> bytes:
    """A damaged window of a whole file."""
    begin = draw.randrange(len(seed)) if len(seed) > MAX_INPUT_BYTES and draw.random() < 0.5 else 0
    data = bytearray(seed[begin : begin + draw.randint(1, MAX_INPUT_BYTES)])
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(data) + 1)
        end = min(len(data), at + draw.choice((1, 1, 2, 4, 8, 30, 200)))
        kind = draw.randrange(6)
        if kind == 0:
            del data[at:end]
        elif kind == 1:
            data[at:at] = data[at:end]
        elif kind == 2:
            data[at:at] = draw.choice(_PIECES)
        elif kind == 3:
            data[at:end] = draw.choice(_PIECES)
        elif kind == 4 and at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        else:
            other = draw.randrange(len(data) + 1)
            data[at:end] = data[other : other + end - at]
    return bytes(data)


def fuzz(name: str, target: Target, executions: int, seed: int, folder: Path) -> list[str]:
    """Run a target; returns what went wrong, each with how to see it again."""
    draw = random.Random(f"{name} {seed}")
    file = folder / f"{name}.input"
    wrong: dict[str, str] = {}
    for number in range(executions):
        data = mutated(draw.choice(target.seeds), draw)
        begun = time.monotonic()
        try:
            target.read(data, file)
        except target.errors:
            pass
        except Exception as error:
            frames = error.__traceback__
            while frames is not None and frames.tb_next is not None:
                frames = frames.tb_next
            where = f"{frames.tb_frame.f_code.co_filename}:{frames.tb_lineno}" if frames else "?"
            wrong.setdefault(where, f"{name} {number}: {type(error).__name__}: {error!s:.200} at {where}: {data!r}")
        if time.monotonic() - begun > SLOW_S:
            wrong.setdefault("slow", f"{name} {number}: took {time.monotonic() - begun:.1f} s: {data!r}")
    return list(wrong.values())


def main() -> None:
    """Parse the command line and fuzz."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--executions", type=int, default=1_000_000, help="in total, spread over the targets")
    parser.add_argument("--target", action="append", help="only this one; repeatable")
    parser.add_argument("--seed", type=int, default=20260601)
    given = parser.parse_args()
    chosen = {name: held for name, held in targets().items() if not given.target or name in given.target}
    begun = time.monotonic()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="opprof-fuzz-") as folder:
        for name, target in chosen.items():
            found = fuzz(name, target, given.executions // len(chosen), given.seed, Path(folder))
            print(f"{name}: {given.executions // len(chosen):,} executions, {len(found)} wrong", file=sys.stderr)
            wrong += found
    print("\n".join(wrong))
    print(json.dumps({"executions": given.executions, "wrong": len(wrong), "s": round(time.monotonic() - begun)}))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
