"""From the command to the warehouse, with a double of msopprof's command line (tests/collect/standin.py)."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from opprof_db.collect import running
from opprof_db.collect.advise import advise
from opprof_db.collect.command import Command
from tests.collect.standin import write_standin
from tests.conftest import Cli
from tests.shared import ROOT


def collect_words(tmp_path: Path, behaviour: str, *more: str) -> list[str]:
    tool = write_standin(tmp_path / "tool" / "msopprof", behaviour)
    op = tmp_path / "cli" / "op"
    op.write_text("#!/bin/sh\n")
    op.chmod(0o755)
    return ["collect", "--mode", "device", "--output", "out", "--tool", str(tool), *more, "--", "./op", "7"]


def conditions(tmp_path: Path) -> dict[str, str]:
    connection = sqlite3.connect(tmp_path / "cli" / "opprof.db")
    try:
        return dict(connection.execute("SELECT key, value FROM run_conditions WHERE run_id = 1").fetchall())
    finally:
        connection.close()


def test_a_run_is_taken_in_with_its_conditions(cli: Cli, tmp_path: Path) -> None:
    done = cli(*collect_words(tmp_path, "good", "--warm-up", "7", "--label", "branch=x", "--chip", "Ascend910B3"))
    assert done.returncode == 0, done.stderr
    assert "new       run 1" in done.stdout
    assert "kernel:1" in done.stdout
    assert "profiling 1%" in done.stderr
    held = conditions(tmp_path)
    assert held["warm_up"] == "7"
    assert held["aic_metrics"] == "Default"
    assert held["replay_mode"] == "kernel"
    assert held["mode"] == "device"
    assert held["branch"] == "x"
    assert held["ended"] == "finished"
    assert held["flags"] == '{"warm-up": "7"}'
    assert held["command"].endswith(f"--output={tmp_path}/cli/out --warm-up=7 ./op 7")
    (log,) = (tmp_path / "cli" / "out").glob("collect_*.log")
    assert "profiling 1%" in log.read_text()


@pytest.mark.parametrize(
    ("behaviour", "code", "words"),
    [
        ("nothing", 3, "left no folder in"),
        ("gbk", 3, "\u89e3\u6790\u5931\u8d25"),
        ("failed parsing", 3, "nothing to take in"),
        ("crash", 0, "exit code -6: not believed"),
    ],
)
def test_the_folder_decides_not_the_exit_code(cli: Cli, tmp_path: Path, behaviour: str, code: int, words: str) -> None:
    done = cli(*collect_words(tmp_path, behaviour), errors="replace", encoding="utf-8")
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "cli" / "opprof.db").exists() is (code == 0)


def test_a_run_over_its_time_is_stopped_and_not_taken_in(cli: Cli, tmp_path: Path) -> None:
    done = cli(*collect_words(tmp_path, "ignores", "--time-limit", "0.5s"))
    assert done.returncode == 3
    assert "did not end within the time limit" in done.stderr
    assert not (tmp_path / "cli" / "opprof.db").exists()


@pytest.mark.parametrize(("behaviour", "times", "code"), [("long", 1, 0), ("ignores", 2, 130)])
def test_ctrl_c_once_lets_it_finish_twice_stops_it(
    cli: Cli, tmp_path: Path, behaviour: str, times: int, code: int
) -> None:
    words = collect_words(tmp_path, behaviour)
    process = subprocess.Popen(
        [sys.executable, "-m", "opprof_db", *words],
        cwd=tmp_path / "cli",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "profiling" not in process.stderr.readline():
        assert process.poll() is None
    for _ in range(times):
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert (tmp_path / "cli" / "opprof.db").exists() is (code == 0)


def test_repeats_end_with_statistics(cli: Cli, tmp_path: Path) -> None:
    done = cli(*collect_words(tmp_path, "good", "--repeat", "2"))
    assert done.returncode == 0, done.stderr
    assert "median_us" in done.stdout


def test_without_ingest_only_the_folder_is_named(cli: Cli, tmp_path: Path) -> None:
    done = cli(*collect_words(tmp_path, "good", "--no-ingest"))
    assert Path(done.stdout.strip()).is_dir()
    assert not (tmp_path / "cli" / "opprof.db").exists()


def test_a_full_disk_costs_the_log_not_the_run(tmp_path: Path) -> None:
    said: list[str] = []
    words = ("sh", "-c", "echo hello; mkdir OPPROF_new")
    (tmp_path / "OPPROF_old").mkdir()
    ran = running.run(Command(words, None), tmp_path, tmp_path, log=Path("/dev/full"), limit_s=None, say=said.append)
    assert [folder.name for folder in ran.folders] == ["OPPROF_new"]
    assert ran.log is None
    assert "no longer kept" in said[0]


def test_watch_takes_in_what_is_there(cli: Cli, tmp_path: Path) -> None:
    cli(*collect_words(tmp_path, "good", "--no-ingest"))
    assert "new       run 1" in cli("watch", "out", "--once").stdout
    assert "known     run 1" in cli("watch", "out", "--once").stdout


def test_doctor_says_what_to_mend(cli: Cli) -> None:
    done = cli("doctor", "--tool", "/none/msopprof")
    assert done.returncode == 1
    assert "--tool /none/msopprof does not exist" in done.stdout


def test_the_advisor_names_a_mode_and_what_the_other_gives() -> None:
    assert advise(True, ["time"]).mode == "device"
    assert advise(True, ["source"]).mode == "simulator"
    assert advise(True, ["l2", "bubbles"]).mode == "both"
    assert advise(False, ["time"]).mode == "simulator"
    assert "L2" in advise(False, []).other
