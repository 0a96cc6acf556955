"""The commands as a user runs them: output, exit codes, messages that say what to do."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import sqlite3
import struct
import subprocess
import sys
import termios
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db import __version__
from tests import small
from tests.conftest import Cli

COMMANDS = [
    "ingest",
    "runs",
    "kernels",
    "show",
    "issues",
    "metrics",
    "query",
    "queries",
    "hotspots",
    "pipeline",
    "label",
    "restore",
    "forget",
]
DB_COMMANDS = ["info", "check", "upgrade", "backup", "compact"]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A tree with a two-launch run and a run with a bad cell."""
    root = tmp_path / "out"
    small.stamped(root / "OPPROF_20240603022812_ABCDEFGHIJKLMNOP" / "Add" / "0", "20240603022810284", "5.0", name="Add")
    small.stamped(root / "OPPROF_20240603022812_ABCDEFGHIJKLMNOP" / "Add" / "1", "20240603022811284", "6.0", name="Add")
    small.run(root / "OPPROF_bad", "fast", name="Mul", pid=2)
    return root


def fails(done, code: int, *words: str) -> None:  # type: ignore[no-untyped-def]
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        *([name] for name in COMMANDS),
        *(["db", name] for name in DB_COMMANDS),
        ["trace", "export"],
        ["export", "msprof-db"],
        ["export"],
        ["skill", "install"],
        ["skill"],
        ["trace"],
        ["db"],
        [],
    ],
)
def test_every_command_has_help_with_an_example(cli: Cli, command: list[str]) -> None:
    done = cli(*command, "--help")
    assert done.returncode == 0
    assert "Usage: " in done.stdout
    if command not in (["db"], ["trace"], ["skill"], ["export"], []):
        assert "Example" in done.stdout


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version").stdout == f"opprof-db {__version__}\n"


def test_ingest_lists_every_run_and_closes_the_accounting(cli: Cli, out: Path) -> None:
    done = cli("ingest", out)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["new", "new"]
    assert "runs:    2 new, 0 known, 0 replaced, 0 failed" in lines
    assert "kernels: 3" in lines
    assert "cells:   51 read = 47 values + 3 NULL + 1 lost to issues" in lines
    again = cli("ingest", out)
    assert "runs:    0 new, 2 known, 0 replaced, 0 failed" in again.stdout


def test_ingest_prints_objects_for_programs(cli: Cli, out: Path) -> None:
    done = cli("ingest", out, "--format", "json")
    rows = json.loads(done.stdout)
    assert [(row["outcome"], row["launches"]) for row in rows] == [("new", 2), ("new", 1)]
    assert "runs:" in done.stderr


def test_strict_ends_with_3_on_any_issue_and_still_stores(cli: Cli, out: Path) -> None:
    assert cli("ingest", out / "OPPROF_20240603022812_ABCDEFGHIJKLMNOP", "--strict").returncode == 0
    assert cli("ingest", out, "--strict").returncode == 3
    assert len(json.loads(cli("runs", "-f", "json").stdout)) == 2


def test_a_dry_run_creates_nothing(cli: Cli, out: Path, tmp_path: Path) -> None:
    done = cli("ingest", out, "--dry-run")
    assert done.returncode == 0
    assert "dry run" in done.stdout
    assert list((tmp_path / "cli").iterdir()) == []


def test_wrong_paths_are_named_and_good_ones_taken(cli: Cli, out: Path) -> None:
    done = cli("ingest", "nowhere", out)
    assert done.returncode == 3
    assert "nowhere: no such file or folder" in done.stdout
    assert "2 new" in done.stdout


def test_nothing_to_take_ends_with_3_and_makes_no_database(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    done = cli("ingest", tmp_path / "nothing")
    assert done.returncode == 3
    assert "nothing here that msopprof wrote" in done.stdout
    assert not (tmp_path / "cli" / "opprof.db").exists()


@pytest.mark.parametrize("style", ["table", "json", "csv", "markdown"])
def test_rows_are_printed_in_every_format(cli: Cli, out: Path, style: str) -> None:
    cli("ingest", out)
    text = cli("kernels", "--format", style).stdout
    if style == "json":
        assert [row["duration_us"] for row in json.loads(text)] == [6.0, 5.0, None]
    elif style == "csv":
        assert [row["duration_us"] for row in csv.DictReader(io.StringIO(text))] == ["6.0", "5.0", ""]
    elif style == "markdown":
        header, rule, *rows = text.splitlines()
        assert header.startswith("| kernel_id |")
        assert set(rule) <= set("|-")
        assert len(rows) == 3
    else:
        header, *rows = text.splitlines()
        assert header.split()[0] == "kernel_id"
        assert len(rows) == 3
        assert "\x1b" not in text
        assert "│" not in text


def test_show_a_run_and_a_launch(cli: Cli, out: Path) -> None:
    cli("ingest", out, "--label", "branch=main")
    run = cli("show", "OPPROF_2024").stdout
    for word in ("fingerprint", "branch", "Add/1/PipeUtilization_20240603022811284.csv", "duration_us"):
        assert word in run
    launch = cli("show", "OPPROF_2024/Add/1").stdout
    assert "aiv_vec_time_us" in launch
    (whole,) = json.loads(cli("show", "kernel:1", "--format", "json").stdout)
    assert whole["duration_us"] == 5.0
    assert {"family": "PipeUtilization", "metric": "aiv_time_us"}.items() <= whole["metrics"][0].items()


def test_issues_name_file_line_column_and_text(cli: Cli, out: Path) -> None:
    cli("ingest", out)
    rows = json.loads(cli("issues", "OPPROF_bad", "-f", "json").stdout)
    assert {(r["code"], r["path"], r["line"], r["column_name"], r["raw_text"]) for r in rows} == {
        ("not_a_number", "OpBasicInfo.csv", 2, "Task Duration(us)", "fast"),
        ("duration_unknown", None, None, None, None),
    }


def test_metrics_are_found_by_part_and_pattern(cli: Cli) -> None:
    rows = json.loads(cli("metrics", "PipeUtilization/aiv_mte2*", "-f", "json").stdout)
    assert {row["column_name"] for row in rows} >= {"aiv_mte2_time_us", "aiv_mte2_ratio"}
    assert all(row["meaning"] for row in rows)
    fails(cli("metrics", "aiv_mte2_tiem"), 2, "did you mean")


def test_query_answers_and_says_when_it_cuts(cli: Cli, out: Path) -> None:
    cli("ingest", out)
    done = cli("query", "SELECT operator, duration_us FROM top_kernels", "--limit", 1)
    assert done.stdout.split() == ["operator", "duration_us", "Add", "6.0"]
    assert "only the first 1 rows" in done.stderr
    fails(cli("query", "DELETE FROM runs"), 2, "only reading is allowed")
    fails(cli("query", "SELECT * FROM kernel"), 2, "did you mean kernels")
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
    fails(cli("query", endless, "--timeout", 0.2), 4, "was stopped after")


def test_labels_sit_on_launches_and_runs(cli: Cli, out: Path) -> None:
    cli("ingest", out)
    assert cli("label", "kernel:1", "tile=4096", "layout=nz").stdout == "kernel:1: layout=nz tile=4096\n"
    assert cli("label", "OPPROF_bad", "branch=main").stdout == "run 2: branch=main\n"
    assert json.loads(cli("runs", "--label", "branch=main", "-f", "json").stdout)[0]["run_id"] == 2
    assert cli("label", "kernel:1", "--remove", "tile").stdout == "kernel:1: layout=nz\n"
    fails(cli("label", "kernel:1", "--remove", "tile"), 2, "had no label tile")
    fails(cli("label", "kernel:1"), 2, "no label is given")
    fails(cli("label", "kernel:9", "a=b"), 2, "there is no kernel:9")


def test_restore_writes_the_files_back_and_never_overwrites(cli: Cli, out: Path, tmp_path: Path) -> None:
    cli("ingest", out)
    target = tmp_path / "again"
    assert cli("restore", "OPPROF_bad", target).returncode == 0
    for path in (out / "OPPROF_bad").iterdir():
        assert (target / path.name).read_bytes() == path.read_bytes()
    (target / "PipeUtilization.csv").write_text("mine")
    fails(cli("restore", "OPPROF_bad", target), 2, "exists already")
    assert (target / "PipeUtilization.csv").read_text() == "mine"


def test_restore_does_not_write_through_links(cli: Cli, out: Path, tmp_path: Path) -> None:
    cli("ingest", out)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "Add").symlink_to(tmp_path / "elsewhere")
    fails(cli("restore", "OPPROF_2024", tmp_path / "target"), 2, "leads out of")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_forget_asks_and_takes_everything_of_the_run(cli: Cli, out: Path) -> None:
    cli("ingest", out)
    fails(cli("forget", "OPPROF_bad"), 2, "--yes")
    assert cli("forget", "OPPROF_bad", "--yes").returncode == 0
    info = {row["fact"]: row["value"] for row in json.loads(cli("db", "info", "-f", "json").stdout)}
    counts = {name: info[f"rows in {name}"] for name in ("runs", "kernels", "operators", "contents")}
    assert counts == {"runs": 1, "kernels": 2, "operators": 1, "contents": 3}
    assert (out / "OPPROF_bad" / "OpBasicInfo.csv").exists()


def test_db_commands_look_after_the_file(cli: Cli, out: Path, tmp_path: Path) -> None:
    cli("ingest", out)
    info = {row["fact"]: row["value"] for row in json.loads(cli("db", "info", "-f", "json").stdout)}
    assert info["rows in kernels"] == 3
    assert cli("db", "check").stdout.strip() == "opprof.db: sound"
    assert cli("db", "upgrade").returncode == 0
    copy = tmp_path / "copy.db"
    assert cli("db", "backup", copy).returncode == 0
    assert len(json.loads(cli("runs", "--db", copy, "-f", "json").stdout)) == 2
    fails(cli("db", "backup", copy), 4, "exists already")
    cli("forget", "OPPROF_bad", "--yes")
    assert cli("db", "compact").returncode == 0
    assert cli("db", "check").returncode == 0


def test_db_check_finds_a_damaged_archive(cli: Cli, out: Path, tmp_path: Path) -> None:
    cli("ingest", out)
    with closing(sqlite3.connect(tmp_path / "cli" / "opprof.db", isolation_level=None)) as connection:
        connection.execute("UPDATE content_chunks SET data = x'00' WHERE content_id = 1")
    done = cli("db", "check")
    assert done.returncode == 4
    assert "content 1 cannot be unpacked" in done.stdout


@pytest.mark.parametrize(
    "command",
    [
        ["runs"],
        ["kernels"],
        ["show", "1"],
        ["query", "SELECT 1"],
        ["db", "info"],
        ["forget", "1", "--yes"],
        ["db", "upgrade"],
    ],
)
def test_a_missing_database_is_a_database_problem(cli: Cli, command: list[str], tmp_path: Path) -> None:
    fails(cli(*command), 4, "no such database", "ingest PATH")
    assert list((tmp_path / "cli").iterdir()) == []


def test_a_file_that_is_no_database_is_refused(cli: Cli, out: Path, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("these are my notes\n" * 100)
    for command in (["runs"], ["ingest", out], ["query", "SELECT 1"]):
        fails(cli(*command, "--db", other), 4, "is not a SQLite database")
    assert other.read_text().startswith("these are my notes")


def test_wrong_usage_ends_with_2(cli: Cli, out: Path) -> None:
    cli("ingest", out)
    fails(cli("ingets"), 2)
    fails(cli("runs", "--format", "yaml"), 2)
    fails(cli("ingest", out, "--label", "x"), 2, "key=value")
    fails(cli("ingest", out, "--label-from-path", "("), 2, "no regular expression")
    fails(cli("ingest", out, "--archive-max", "much"), 2, "is no size")
    fails(cli("issues", "--severity", "bad"), 2, "error, warning or info")
    fails(cli("show", "OPPROF_bda"), 2, "did you mean OPPROF_bad?")


def test_the_environment_names_the_database(cli: Cli, out: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "OPPROF_DB": str(tmp_path / "named.db")}
    assert cli("ingest", out, env=environment).returncode == 0
    assert (tmp_path / "named.db").exists()


def test_a_reader_that_stops_early_causes_no_complaint(cli: Cli, out: Path, tmp_path: Path) -> None:
    cli("ingest", out)
    done = subprocess.run(
        f"{sys.executable} -m opprof_db metrics -f csv | head -1",
        shell=True,
        cwd=tmp_path / "cli",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("family,")
    assert done.stderr == ""


def test_hostile_kernel_names_do_not_reach_the_terminal_raw(cli: Cli, tmp_path: Path) -> None:
    small.run(tmp_path / "OPPROF_A", name="k\x1b[31m|x\u202e")
    cli("ingest", tmp_path / "OPPROF_A")
    for style in ("table", "markdown"):
        text = cli("kernels", "--format", style).stdout
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert json.loads(cli("kernels", "-f", "json").stdout)[0]["name"] == "k\x1b[31m|x\u202e"


def on_terminal(folder: Path, command: list[str], columns: int) -> str:
    """What a person sees: the command on a pseudo terminal of that width, colours taken off."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES", "NO_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "opprof_db", *command],
        cwd=folder,
        env={**environment, "TERM": "xterm"},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # Linux: the last one on the other side has gone
            break
        if not part:
            break
        seen += part
    os.close(master)
    assert process.wait(timeout=60) == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", seen.decode())


def test_on_a_terminal_names_give_way_but_numbers_are_never_cut(cli: Cli, out: Path, tmp_path: Path) -> None:
    cli("ingest", out)
    wide = on_terminal(tmp_path / "cli", ["runs"], 200)
    assert "OPPROF_20240603022812_ABCDEFGHIJKLMNOP" in wide
    narrow = on_terminal(tmp_path / "cli", ["kernels"], 60)
    assert "…" in narrow
    for number in ("6.0", "5.0", "1800"):
        assert number in narrow
    help_text = on_terminal(tmp_path / "cli", ["ingest", "--help"], 100)
    assert "╭─ Options" in help_text
