"""Many processes on one warehouse: nobody sees a lock, nothing is lost, doubled or seen by halves."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

from tests import small
from tests.hard import commands
from tests.hard.content import connect, unsound
from tests.hard.kill import EXAMPLES, FIXTURES

WRITERS = 8
READERS = 4
OWN_RUNS = 3


def test_eight_ingest_four_query_one_diagnoses(tmp_path: Path) -> None:
    database = tmp_path / "crowd.db"
    commands.run(tmp_path / "said", "ingest", EXAMPLES / "before", "--db", database)
    trees = []
    for number in range(WRITERS):
        tree = tmp_path / f"tree{number}"
        shutil.copytree(EXAMPLES / "after", tree / "shared")
        for own in range(OWN_RUNS):
            small.run(tree / f"own{own}", f"{number + 1}.{own + 1}", pid=100 * number + own)
        trees.append(tree)
    writers = [
        commands.start(tmp_path / f"writer{number}", "ingest", tree, "--db", database)
        for number, tree in enumerate(trees)
    ]
    # A run that is seen by halves has a kernel without its cores.
    halves = (
        "SELECT count(*) AS n FROM kernels k WHERE NOT EXISTS (SELECT 1 FROM kernel_cores c WHERE c.kernel_id = k.id)"
    )
    asked = 0
    others = []
    while any(writer.process.is_alive() for writer in writers) or asked < READERS:
        readers = [
            commands.start(tmp_path / f"reader{number}", "query", halves, "--db", database, "-f", "json")
            for number in range(READERS)
        ]
        others.append(commands.start(tmp_path / f"diagnose{asked}", "diagnose", "1", "--db", database))
        for number, reader in enumerate(readers):
            assert reader.wait() == 0, reader.text()
            assert json.loads((tmp_path / f"reader{number}").read_text()) == [{"n": 0}]
            asked += 1
        time.sleep(0.01)
    for command in (*writers, *others):
        code = command.wait()
        assert code in ((0,) if command in writers else (0, 1)), command.text()
        assert "locked" not in command.text()
        assert "Traceback" not in command.text()
    connection = connect(database)
    assert connection.execute("SELECT count(*) FROM runs").fetchone() == (2 + WRITERS * OWN_RUNS,)
    assert connection.execute("SELECT count(DISTINCT fingerprint) FROM runs").fetchone() == (2 + WRITERS * OWN_RUNS,)
    assert connection.execute("SELECT count(*) FROM run_locations").fetchone() == (1 + WRITERS * (OWN_RUNS + 1),)
    connection.close()
    assert unsound(database) == []


def test_several_processes_upgrade_one_old_file(tmp_path: Path) -> None:
    database = tmp_path / "old.db"
    shutil.copy(sorted(FIXTURES.glob("*.db"))[0], database)
    crowd = [commands.start(tmp_path / f"said{number}", "runs", "--db", database) for number in range(6)]
    for command in crowd:
        assert command.wait() == 0, command.text()
    assert unsound(database) == []


def test_several_processes_make_one_new_file(tmp_path: Path) -> None:
    database = tmp_path / "new.db"
    runs = [small.run(tmp_path / f"OPPROF_{number}", f"{number + 1}.5", pid=number) for number in range(6)]
    crowd = [
        commands.start(tmp_path / f"said{number}", "ingest", run, "--db", database) for number, run in enumerate(runs)
    ]
    for command in crowd:
        assert command.wait() == 0, command.text()
    connection = connect(database)
    assert connection.execute("SELECT count(*) FROM runs").fetchone() == (6,)
    connection.close()
    assert unsound(database) == []
