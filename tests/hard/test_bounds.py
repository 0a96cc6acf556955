"""Endless and swollen inputs: memory stays below a bound, time grows with the size."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from opprof_db.msopprof.bin_blocks import HEADER, UNVERSIONED
from tests import small
from tests.shared import ROOT

MEMORY_BYTES = 1 << 30
"""Address space of a command that reads hostile input, the interpreter and its libraries included."""
_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
sys.argv = ["opprof-db", *sys.argv[2:]]
from opprof_db.cli.app import main
main()
"""


def ingest(tree: Path, database: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _LIMITED, str(MEMORY_BYTES), "ingest", str(tree), "--db", str(database), "--jobs", "0"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def sparse(path: Path, size: int, begin: bytes = b"") -> None:
    with path.open("wb") as stream:
        stream.write(begin)
        stream.truncate(size)


def _one_line_of_a_gigabyte(run: Path) -> None:
    sparse(run / "Memory.csv", 1 << 30, b"block_id,")


def _a_million_columns(run: Path) -> None:
    header = "block_id,sub_block_id," + ",".join(f"x{number}" for number in range(1_000_000))
    (run / "Memory.csv").write_text(header + "\n0,vector0," + "1," * 1_000_000 + "\n")


def _head(size: int) -> bytes:
    """Head of a block of JSON in a bin."""
    return HEADER.pack(size, 9, 0, UNVERSIONED, UNVERSIONED)


def _a_bin_of_huge_declared_sizes(run: Path) -> None:
    block = _head(1 << 62) + b"{}"
    (run / "visualize_data.bin").write_bytes(block * 50)


def _deep_json(run: Path) -> None:
    (run / "simulator").mkdir()
    (run / "simulator" / "trace.json").write_bytes(b'{"traceEvents":[' + b"[" * 1_000_000)
    deep = b"[" * 1_000_000
    (run / "visualize_data.bin").write_bytes(_head(len(deep)) + deep)


@pytest.mark.parametrize(
    "spoil", [_one_line_of_a_gigabyte, _a_million_columns, _a_bin_of_huge_declared_sizes, _deep_json]
)
def test_a_hostile_file_costs_neither_memory_nor_the_rest_of_the_run(spoil: object, tmp_path: Path) -> None:
    run = small.run(tmp_path / "tree" / "OPPROF_hostile", "5.5")
    spoil(run)  # type: ignore[operator]
    done = ingest(tmp_path / "tree", tmp_path / "opprof.db")
    assert done.returncode == 0, (done.stdout[-500:], done.stderr[-500:])
    assert "1 new" in done.stdout
    assert "internal error" not in done.stdout + done.stderr
