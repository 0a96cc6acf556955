"""Nothing is read or written outside of what was given, whatever names and links say."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from tests import small
from tests.conftest import Cli, Warehouse


def test_links_pipes_and_devices_are_passed_over_and_said(cli: Cli, tmp_path: Path) -> None:
    secret = tmp_path / "secret" / "PipeUtilization.csv"
    small.run(secret.parent, "9.9")
    run = small.run(tmp_path / "tree" / "OPPROF_links", "5.5")
    (run / "Memory.csv").symlink_to(secret)
    (run / "L2Cache.csv").symlink_to("/dev/zero")
    os.mkfifo(run / "MemoryUB.csv")
    (run / "loop").symlink_to(run)
    (run / "out").symlink_to(secret.parent)
    done = cli("ingest", tmp_path / "tree")
    assert done.returncode == 0, done.stderr
    assert "1 new" in done.stdout
    database = sqlite3.connect(tmp_path / "cli" / "opprof.db")
    codes = {row[0] for row in database.execute("SELECT code FROM ingest_issues")}
    assert {"link_outside", "not_a_file"} <= codes
    stored = {row[0] for row in database.execute("SELECT path FROM artifacts WHERE content_id IS NOT NULL")}
    database.close()
    assert stored == {"OpBasicInfo.csv", "PipeUtilization.csv"}


def test_names_with_line_ends_and_quotes_print_in_one_line_and_come_back(cli: Cli, tmp_path: Path) -> None:
    run = small.run(tmp_path / "tree" / "OPPROF_a\nb'c\x1b[31m;--", "5.5")
    done = cli("ingest", tmp_path / "tree")
    assert done.returncode == 0, done.stderr
    assert "\x1b[31m" not in done.stdout
    assert len([line for line in done.stdout.splitlines() if line.startswith("new ")]) == 1
    assert cli("restore", "1", tmp_path / "back").returncode == 0
    assert {path.name: path.read_bytes() for path in (tmp_path / "back").iterdir()} == {
        path.name: path.read_bytes() for path in run.iterdir()
    }


@pytest.mark.parametrize("path", ["../../escaped.csv", "/tmp/opprof-escaped.csv", "a/../../escaped.csv", ".."])
def test_stored_names_that_lead_out_are_not_restored(warehouse: Warehouse, cli: Cli, tmp_path: Path, path: str) -> None:
    warehouse.ingest(small.run(tmp_path / "OPPROF_x", "5.5"))
    connection = sqlite3.connect(warehouse.path, isolation_level=None)
    connection.execute("UPDATE artifacts SET path = ? WHERE path = 'OpBasicInfo.csv'", (path,))
    connection.close()
    before = set(tmp_path.rglob("*"))
    done = cli("restore", "1", tmp_path / "inner" / "back", "--db", warehouse.path)
    assert done.returncode == 4
    assert "leads out of the folder" in done.stderr
    assert {p for p in tmp_path.rglob("*") if not p.name.endswith(("-shm", "-wal"))} <= before
    assert not Path("/tmp/opprof-escaped.csv").exists()


def test_a_link_in_the_target_does_not_lead_the_restore_elsewhere(
    warehouse: Warehouse, cli: Cli, tmp_path: Path
) -> None:
    run = tmp_path / "OPPROF_y"
    small.stamped(run / "k" / "0", "20260601120000284")
    small.stamped(run / "k" / "1", "20260601120001284", "6.5")
    warehouse.ingest(run)
    back, elsewhere = tmp_path / "back", tmp_path / "elsewhere"
    back.mkdir()
    elsewhere.mkdir()
    (back / "k").symlink_to(elsewhere)
    done = cli("restore", "1", back, "--db", warehouse.path)
    assert done.returncode == 2, done.stderr
    assert list(elsewhere.iterdir()) == []
