"""Agents reach the files that a person allowed, and no others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opprof_db.agents.files import AllowedFiles, new_file
from opprof_db.errors import InputError, UsageError


@pytest.fixture
def allowed(tmp_path: Path) -> AllowedFiles:
    for name in ("data/sub", "csv/sub", "outside"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("one.db", "data/two.db", "outside/three.db"):
        (tmp_path / name).touch()
    return AllowedFiles.of([tmp_path / "one.db"], [tmp_path / "data"], tmp_path / "csv")


def test_the_first_database_is_meant_when_none_is_named(allowed: AllowedFiles, tmp_path: Path) -> None:
    assert allowed.database(None) == allowed.database("") == tmp_path / "one.db"


def test_databases_given_and_files_below_a_folder_are_allowed(allowed: AllowedFiles, tmp_path: Path) -> None:
    assert allowed.database(f"{tmp_path}/data/sub/../../one.db") == tmp_path / "one.db"
    assert allowed.database(f"{tmp_path}/data/two.db") == tmp_path / "data" / "two.db"


@pytest.mark.parametrize(
    "named",
    ["/etc/passwd", "outside/three.db", "data/../outside/three.db", "data", "data/none.db", "~/one.db", "~nobody/x",
     "file:one.db?mode=rw", "one.db\0", "x" * 5_000, "\ud800", "/", "..", "one.db-wal", "/proc/self/mem"],
)  # fmt: skip
def test_no_other_file_is_allowed(
    allowed: AllowedFiles, tmp_path: Path, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "outside"))
    with pytest.raises(UsageError) as error:
        allowed.database(named)
    assert str(tmp_path / "one.db") in str(error.value.hint)


def test_links_are_judged_by_where_they_lead(allowed: AllowedFiles, tmp_path: Path) -> None:
    (tmp_path / "data/out.db").symlink_to(tmp_path / "outside/three.db")
    (tmp_path / "data/folder").symlink_to(tmp_path / "outside")
    (tmp_path / "data/in.db").symlink_to(tmp_path / "data/two.db")
    (tmp_path / "data/loop.db").symlink_to(tmp_path / "data/loop.db")
    for named in ("out.db", "folder/three.db", "loop.db"):
        with pytest.raises(UsageError):
            allowed.database(str(tmp_path / "data" / named))
    assert allowed.database(str(tmp_path / "data/in.db")) == tmp_path / "data" / "two.db"


def test_pipes_and_devices_are_no_databases(allowed: AllowedFiles, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "data/pipe.db")
    with pytest.raises(UsageError):
        allowed.database(str(tmp_path / "data/pipe.db"))


def test_a_csv_file_goes_below_the_output_folder(allowed: AllowedFiles, tmp_path: Path) -> None:
    assert allowed.csv_target("a.csv") == tmp_path / "csv/a.csv"
    assert allowed.csv_target("new/a.CSV") == tmp_path / "csv/new/a.CSV"
    assert allowed.csv_target(f"{tmp_path}/csv/sub/a.csv") == tmp_path / "csv/sub/a.csv"


@pytest.mark.parametrize(
    "named",
    ["../a.csv", "sub/../../a.csv", "/tmp/a.csv", "a.txt", "a", "", ".", "..", ".csv", ".hidden.csv", "a.csv\0",
     "x" * 5_000 + ".csv", "link/a.csv", "taken.csv", "dangling.csv", "\ud800.csv", "../csv-neighbour/a.csv"],
)  # fmt: skip
def test_no_other_place_is_written(allowed: AllowedFiles, tmp_path: Path, named: str) -> None:
    (tmp_path / "csv/link").symlink_to(tmp_path / "outside")
    (tmp_path / "csv/taken.csv").write_text("mine")
    (tmp_path / "csv/dangling.csv").symlink_to(tmp_path / "outside/new.csv")
    (tmp_path / "csv-neighbour").mkdir()
    with pytest.raises(UsageError) as error:
        allowed.csv_target(named)
    assert str(tmp_path / "csv") in str(error.value.hint)


def test_without_an_output_folder_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        AllowedFiles.of([tmp_path / "one.db"], [], None).csv_target("a.csv")
    assert "--output-dir" in str(error.value.hint)


def test_folders_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        AllowedFiles.of([], [tmp_path / "none"], None)
    with pytest.raises(UsageError, match="no such folder"):
        AllowedFiles.of([], [], tmp_path / "none")


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with new_file(tmp_path / "sub/a.csv") as file:
        file.write("x\n")
        assert not (tmp_path / "sub/a.csv").exists()
    assert (tmp_path / "sub/a.csv").read_text() == "x\n"
    with pytest.raises(RuntimeError), new_file(tmp_path / "sub/b.csv") as file:
        file.write("half")
        raise RuntimeError
    assert [path.name for path in (tmp_path / "sub").iterdir()] == ["a.csv"]


@pytest.mark.parametrize("hard_links", [True, False])
def test_a_file_made_meanwhile_is_not_replaced(
    tmp_path: Path, hard_links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not hard_links:

        def refuse(*_: object) -> None:
            raise PermissionError(1, "no hard links here")

        monkeypatch.setattr(os, "link", refuse)
    with new_file(tmp_path / "free.csv") as file:
        file.write("x")
    assert (tmp_path / "free.csv").read_text() == "x"
    with pytest.raises(UsageError, match="exists already"), new_file(tmp_path / "a.csv"):
        (tmp_path / "a.csv").write_text("theirs")
    assert (tmp_path / "a.csv").read_text() == "theirs"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "free.csv"]


def test_a_place_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises((InputError, UsageError)), new_file(tmp_path / "file/a.csv") as file:
        file.write("x")
