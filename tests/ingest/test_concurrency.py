"""Several processes at once, and processes that die: runs are whole or absent, never doubled."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests import small
from tests.conftest import Warehouse
from tests.shared import ROOT

EXAMPLES = ROOT / "examples" / "out"


def start(path: Path, database: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "opprof_db", "ingest", str(path), "--db", str(database)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def content(warehouse: Warehouse) -> dict[str, list[tuple]]:
    """What was measured, without ids, places and times."""
    return {
        "runs": warehouse.rows("SELECT fingerprint, cells_read, cells_stored FROM runs ORDER BY 1"),
        "kernels": warehouse.rows(
            "SELECT r.fingerprint, k.source_path, k.duration_us, (SELECT count(*) FROM pipe_utilization p"
            " WHERE p.kernel_id = k.id), (SELECT total(m.max) FROM kernel_metrics m WHERE m.kernel_id = k.id)"
            " FROM kernels k JOIN runs r ON r.id = k.run_id ORDER BY 1, 2"
        ),
        "contents": warehouse.rows("SELECT sha256, size_bytes, stored_bytes FROM contents ORDER BY 1"),
    }


def test_processes_that_bring_the_same_and_other_runs_lose_and_double_nothing(tmp_path: Path) -> None:
    trees = []
    for number in range(4):
        tree = tmp_path / f"tree{number}"
        shutil.copytree(EXAMPLES / "before", tree / "shared")
        small.run(tree / "own", f"{number + 1}.5", pid=number)
        trees.append(tree)
    database = tmp_path / "many.db"
    workers = [start(tree, database) for tree in trees]
    for worker in workers:
        printed, errors = worker.communicate(timeout=120)
        assert worker.returncode == 0, errors
        assert "locked" not in printed + errors
    many = Warehouse(database)
    assert many.value("SELECT count(*) FROM runs") == 5
    assert many.value("SELECT count(*) FROM run_locations") == 8
    assert many.rows("PRAGMA integrity_check") == [("ok",)]
    assert many.rows("PRAGMA foreign_key_check") == []


def test_a_killed_ingest_leaves_whole_runs_only_and_can_be_repeated(tmp_path: Path) -> None:
    undisturbed = tmp_path / "undisturbed.db"
    begun = time.monotonic()
    start(EXAMPLES, undisturbed).communicate(timeout=120)
    usual = time.monotonic() - begun
    expected = content(Warehouse(undisturbed))
    draw = random.Random(5)
    killed = 0
    for attempt in range(8):
        database = tmp_path / f"killed{attempt}.db"
        worker = start(EXAMPLES, database)
        time.sleep(draw.uniform(0.2, 0.9) * usual)
        worker.send_signal(signal.SIGKILL)
        worker.communicate()
        killed += worker.returncode == -signal.SIGKILL
        if database.exists() and database.stat().st_size:
            found = Warehouse(database)
            assert found.rows("PRAGMA integrity_check") == [("ok",)]
            if found.value("SELECT count(*) FROM sqlite_master WHERE name = 'runs'"):
                partial = content(found)
                assert set(partial["runs"]) <= set(expected["runs"])
                assert set(partial["kernels"]) <= set(expected["kernels"])
        again = start(EXAMPLES, database)
        again.communicate(timeout=120)
        assert again.returncode == 0
        assert content(Warehouse(database)) == expected
    assert killed >= 1
