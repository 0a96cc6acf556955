"""Identity is content: copies, moves and renames are the same run, grown folders replace their former selves."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from tests import small
from tests.conftest import Warehouse


def kinds(warehouse: Warehouse, *paths: Path, **options: object) -> list[str]:
    return [outcome.kind for outcome in warehouse.ingest(*paths, **options)]


def test_the_same_folder_again_is_known(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_A")
    assert kinds(warehouse, run) == ["new"]
    assert kinds(warehouse, run) == ["known"]
    assert warehouse.value("SELECT count(*) FROM runs") == 1
    assert warehouse.value("SELECT count(*) FROM run_locations") == 1


def test_a_moved_and_renamed_folder_is_known_at_a_new_place(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_A")
    warehouse.ingest(run)
    run.rename(tmp_path / "my best run")
    (outcome,) = warehouse.ingest(tmp_path / "my best run")
    assert (outcome.kind, outcome.run_id) == ("known", 1)
    assert "new location" in outcome.message
    assert [name for (name,) in warehouse.rows("SELECT name FROM runs")] == ["OPPROF_A"]
    assert warehouse.value("SELECT count(*) FROM run_locations") == 2


def test_the_same_name_with_other_content_is_another_run(warehouse: Warehouse, tmp_path: Path) -> None:
    small.run(tmp_path / "a" / "OPPROF_X", "5.0")
    small.run(tmp_path / "b" / "OPPROF_X", "9.0")
    assert kinds(warehouse, tmp_path) == ["new", "new"]
    assert warehouse.rows("SELECT duration_us FROM kernels ORDER BY 1") == [(5.0,), (9.0,)]


def test_changed_content_in_place_is_another_run_and_the_old_one_stays(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_X", "5.0")
    warehouse.ingest(run)
    small.run(run, "9.0")
    assert kinds(warehouse, run) == ["new"]
    assert warehouse.rows("SELECT duration_us FROM kernels ORDER BY 1") == [(5.0,), (9.0,)]


def test_a_grown_folder_replaces_its_former_self_and_keeps_ids_and_labels(warehouse: Warehouse, tmp_path: Path) -> None:
    root = tmp_path / "OPPROF_X"
    small.stamped(root / "Add" / "0", "20240603022810284", "5.0")
    warehouse.ingest(root, labels={"branch": "main"})
    assert warehouse.rows("SELECT id, source_path FROM kernels") == [(1, "Add/0")]
    with closing(sqlite3.connect(warehouse.path, isolation_level=None)) as connection:
        connection.execute("INSERT INTO kernel_labels VALUES (1, 'tile', '4096', 'user')")
    small.stamped(root / "Add" / "1", "20240603022811284", "6.0")
    assert kinds(warehouse, root) == ["replaced"]
    assert warehouse.rows("SELECT id, run_id, source_path, duration_us FROM kernels ORDER BY id") == [
        (1, 1, "Add/0", 5.0),
        (2, 1, "Add/1", 6.0),
    ]
    assert warehouse.rows("SELECT key, value FROM kernel_labels") == [("tile", "4096")]
    assert warehouse.rows("SELECT key, value FROM run_conditions") == [("branch", "main")]
    assert warehouse.value("SELECT count(*) FROM contents") == 3
    assert warehouse.value("SELECT count(*) FROM runs") == 1


def test_a_partial_copy_is_a_part_of_the_stored_run_whichever_comes_first(warehouse: Warehouse, tmp_path: Path) -> None:
    whole = small.run(tmp_path / "whole" / "OPPROF_X")
    part = tmp_path / "part"
    part.mkdir()
    shutil.copy(whole / "OpBasicInfo.csv", part)
    assert kinds(warehouse, whole) == ["new"]
    assert kinds(warehouse, part) == ["known"]
    assert warehouse.rows("SELECT content FROM run_locations ORDER BY path DESC") == [("whole",), ("part",)]
    other = Warehouse(tmp_path / "other.db")
    assert kinds(other, part) == ["new"]
    assert kinds(other, whole) == ["replaced"]
    assert other.rows("SELECT content FROM run_locations ORDER BY path DESC") == [("whole",), ("part",)]
    assert other.value("SELECT count(*) FROM pipe_utilization") == 2


def test_a_shared_csv_alone_does_not_make_two_runs_one(warehouse: Warehouse, tmp_path: Path) -> None:
    """Two runs may hold the same one-line CSV by chance; only telling files count."""
    small.write(tmp_path / "a", PipeUtilization=small.pipe(4.0))
    small.write(tmp_path / "b", PipeUtilization=small.pipe(4.0), OpBasicInfo=small.basic_info(pid=2))
    assert kinds(warehouse, tmp_path) == ["new", "new"]


def test_names_of_files_and_dump_folders_do_not_count(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_X")
    warehouse.ingest(run)
    (run / "notes.txt").write_text("mine")
    (run / "dump").mkdir()
    (run / "dump" / "op_basic_info.txt").write_text("Op Name=k\n")
    assert kinds(warehouse, run) == ["known"]


def test_a_run_met_twice_below_several_paths_counts_once(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_X")
    assert kinds(warehouse, tmp_path, run, run / "OpBasicInfo.csv") == ["new"]


def test_bytes_are_archived_once_per_content(warehouse: Warehouse, tmp_path: Path) -> None:
    small.run(tmp_path / "a", "5.0", 4.0)
    small.run(tmp_path / "b", "6.0", 4.0)
    warehouse.ingest(tmp_path)
    assert warehouse.value("SELECT count(*) FROM artifacts") == 4
    assert warehouse.value("SELECT count(*) FROM contents") == 3
