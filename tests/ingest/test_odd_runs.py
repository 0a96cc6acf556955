"""Runs that are cut, oddly named, or brought again with other wishes: nothing is lost or said wrongly."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from opprof_db.cli.output import _middle_cut
from tests import small
from tests.builders import bin as make
from tests.builders import kernels
from tests.builders.device import DeviceRun
from tests.conftest import Cli, Warehouse
from tests.ingest.test_traces import ALL_CORES, simulated, trace
from tests.shared import ROOT


@pytest.mark.parametrize("name", [b"\xd3\xc3\xbb\xa7", b"new\nline", b"esc\x1b[31m", b"a'b,c\"d", "核".encode()])
def test_a_folder_may_have_any_name(warehouse: Warehouse, tmp_path: Path, name: bytes) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    small.run(folder / "OPPROF_A")
    small.run(folder, name="direct")
    for given in (tmp_path, folder):
        outcomes = warehouse.ingest(given)
        assert {outcome.kind for outcome in outcomes} <= {"new", "known"}
    assert warehouse.value("SELECT count(*) FROM runs") == 2
    assert warehouse.value("SELECT count(*) FROM run_locations") == 2
    for (path,) in warehouse.rows("SELECT path FROM run_locations"):
        path.encode()


def test_one_damaged_bin_costs_no_other_run(warehouse: Warehouse, tmp_path: Path) -> None:
    small.run(tmp_path / "a", pid=1)
    small.run(tmp_path / "c", pid=3)
    (tmp_path / "b").mkdir()
    good = make.block(5, make.dump(make.basics([[1.0]])))
    (tmp_path / "b" / "visualize_data.bin").write_bytes(good + struct.pack("<QBBBB", 2**64 - 1, 99, 0, 0x5A, 0x5A))
    assert [outcome.kind for outcome in warehouse.ingest(tmp_path)] == ["new", "new", "new"]
    assert warehouse.value("SELECT max(size_bytes) FROM bin_blocks") == 2**63 - 1
    assert warehouse.value("SELECT status FROM runs WHERE name = 'b'") == "partial"


def test_random_bytes_are_no_crash(warehouse: Warehouse, tmp_path: Path) -> None:
    for at in range(12):
        folder = tmp_path / f"r{at}"
        folder.mkdir()
        (folder / "visualize_data.bin").write_bytes(os.urandom(3000))
    assert {outcome.kind for outcome in warehouse.ingest(tmp_path)} <= {"new", "empty"}


def test_a_file_that_lacks_cores_gives_no_sum_over_the_kernel(warehouse: Warehouse, tmp_path: Path) -> None:
    DeviceRun([kernels.vector(blocks=8)], name="OPPROF_A").write(tmp_path)
    path = next((tmp_path / "OPPROF_A").rglob("Memory.csv"))
    whole = path.read_text().splitlines(keepends=True)
    path.write_text("".join(whole[:4]))
    warehouse.ingest(tmp_path)
    status, missing = warehouse.rows("SELECT status, missing FROM kernels")[0]
    assert status == "partial"
    assert "Memory (3 of 8 cores)" in missing
    assert warehouse.value("SELECT count(*) FROM ingest_issues WHERE code = 'cores_missing'") == 1
    assert warehouse.value("SELECT count(*) FROM memory") == 3
    of_memory = "SELECT count(*) FROM kernel_metric_values WHERE family = 'Memory' AND "
    assert warehouse.value(of_memory + "(derived = 1 OR sum IS NOT NULL)") == 0
    assert warehouse.value(of_memory + "max IS NOT NULL") > 0  # type: ignore[operator]
    assert warehouse.value("SELECT count(*) FROM kernel_metric_values WHERE family <> 'Memory' AND derived = 1") > 0  # type: ignore[operator]


def test_a_cut_trace_makes_the_run_partial(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(simulated(tmp_path / "OPPROF_A", trace(ALL_CORES)[:-40]))
    assert warehouse.rows("SELECT status, missing FROM kernels") == [("partial", "simulator/trace.json (cut off)")]
    assert warehouse.value("SELECT status FROM run_overview") == "partial"


def test_a_trace_that_was_not_kept_is_read_when_it_is_asked_for(warehouse: Warehouse, tmp_path: Path) -> None:
    run = simulated(tmp_path / "OPPROF_A", trace(ALL_CORES))
    assert [outcome.kind for outcome in warehouse.ingest(run, trace="none")] == ["new"]
    assert [outcome.kind for outcome in warehouse.ingest(run, trace="none")] == ["known"]
    (again,) = warehouse.ingest(run, trace="summary")
    assert again.kind == "replaced"
    assert warehouse.value("SELECT count(*) FROM pipe_activity") > 0  # type: ignore[operator]
    assert [outcome.kind for outcome in warehouse.ingest(run)] == ["known"]
    (full,) = warehouse.ingest(run, trace="full")
    assert full.kind == "replaced"
    assert warehouse.value("SELECT count(*) FROM trace_events") > 0  # type: ignore[operator]
    assert [outcome.kind for outcome in warehouse.ingest(run, trace="full")] == ["known"]
    assert warehouse.value("SELECT count(*) FROM runs") == 1


def test_metric_sets_named_later_are_applied(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_A")
    warehouse.ingest(run)
    (again,) = warehouse.ingest(run, conditions={"aic_metrics": "PipeUtilization"})
    assert again.kind == "replaced"
    (same,) = warehouse.ingest(run, conditions={"aic_metrics": "PipeUtilization"})
    assert same.kind == "known"


def test_a_run_completed_in_place_names_its_earlier_self(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_A")
    whole = (run / "PipeUtilization.csv").read_bytes()
    (run / "PipeUtilization.csv").write_bytes(whole[:-12])
    warehouse.ingest(run)
    (run / "PipeUtilization.csv").write_bytes(whole)
    (later,) = warehouse.ingest(run)
    assert later.kind == "new"
    assert "run 1 came from here with other content" in later.message
    assert "opprof-db forget 1" in later.message


def test_when_a_run_was_made_is_unknown_where_nothing_says_it(warehouse: Warehouse, tmp_path: Path) -> None:
    small.run(tmp_path / "copy_of_a_run")
    warehouse.ingest(tmp_path)
    assert warehouse.rows("SELECT started_at, started_at_source FROM runs") == [(None, None)]


def test_a_reader_that_goes_away_does_not_stop_the_storing(cli: Cli, tmp_path: Path) -> None:
    for at in range(6):
        small.run(tmp_path / "out" / f"r{at}", pid=at + 1)
    command = f'"{sys.executable}" -m opprof_db ingest out --db w.db | head -1'
    subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert Warehouse(tmp_path / "w.db").value("SELECT count(*) FROM runs") == 6


def test_output_that_cannot_be_written_is_no_internal_error(cli: Cli, tmp_path: Path) -> None:
    cli("ingest", small.run(tmp_path / "OPPROF_A"))
    for redirect, code in ((">/dev/full", 3), (">&-", 0)):
        command = f'"{sys.executable}" -m opprof_db runs {redirect}'
        done = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path / "cli", check=False, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr
        assert done.returncode == code, done.stderr


def test_an_event_beyond_the_run_is_flagged_and_in_no_total(cli: Cli, warehouse: Warehouse, tmp_path: Path) -> None:
    one = {"name": "VADD", "ph": "X", "pid": "core0.veccore0", "tid": "VECTOR", "dur": 0.5}
    events = [{**one, "ts": ts} for ts in (*range(20), 1e15)]
    text = json.dumps({"schemaVersion": 2, "profilingType": "op", "traceEvents": events})
    warehouse.ingest(simulated(tmp_path / "OPPROF_A", text))
    assert warehouse.rows("SELECT ordinal, flags FROM trace_events WHERE flags <> 0") == [(20, 16)]
    assert warehouse.rows("SELECT busy_us, last_us, impossible_events FROM pipe_activity") == [(10.0, 19.5, 1)]
    assert warehouse.value("SELECT count FROM ingest_issues WHERE code = 'beyond_run'") == 1
    picture = cli("pipeline", "last", "--db", warehouse.path).stdout
    assert picture.count("█") + picture.count("▓") + picture.count("▒") >= 10


def test_a_run_without_a_usable_row_says_which_line_was_lost(warehouse: Warehouse, tmp_path: Path) -> None:
    small.write(tmp_path / "OPPROF_A", OpBasicInfo="Op Name,Op Type,Task Duration(us),\nk,vector\n")
    (outcome,) = warehouse.ingest(tmp_path)
    assert outcome.kind == "empty"
    assert "OpBasicInfo.csv, line 2" in outcome.message


def test_statistics_of_the_simulator_are_archived_whatever_their_size(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "OPPROF_A" / "simulator" / "core0.veccore0"
    folder.mkdir(parents=True)
    text = 'instr,addr,pipe,call_count,cycles,running_time(us),detail\nMOV,0x10,SCALAR,1,2,0.01,"a"\n'
    (folder / "core0.veccore0_instr_exe.csv").write_text(text)
    warehouse.ingest(tmp_path, archive_max=0)
    assert warehouse.rows("SELECT kind, content_id IS NOT NULL FROM artifacts") == [("instr_csv", 1)]


def test_a_family_that_is_none_gets_a_suggestion(cli: Cli, tmp_path: Path) -> None:
    cli("ingest", small.run(tmp_path / "OPPROF_A"))
    done = cli("show", "kernel:1", "--family", "PipeUtilisation")
    assert done.returncode == 2
    assert "did you mean PipeUtilization" in done.stderr


def test_names_too_long_for_a_terminal_keep_both_ends() -> None:
    assert _middle_cut("OPPROF_20260512093015_KQWJXZPLMVNRTYBD", 20) == "OPPROF_20…PLMVNRTYBD"
    assert _middle_cut("short", 20) == "short"
