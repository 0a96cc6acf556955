"""Discovery: which folders are a run, whatever people called them, and which kernel each file belongs to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opprof_db.errors import InputError
from opprof_db.msopprof.layout import Discovery, discover
from tests import small

STAMP = "20240603022810284"
REAL_NAME = "OPPROF_20240603022812_ABCDEFGHIJKLMNOP"


def runs(found: Discovery) -> dict[str, list[tuple[int | None, str | None, int | None]]]:
    return {
        run.root.relative_to(found.root).as_posix(): [(k.device_id, k.folder_name, k.launch_index) for k in run.kernels]
        for run in found.runs
    }


def test_a_plain_folder_of_csvs_is_a_run(tmp_path: Path) -> None:
    small.run(tmp_path / "whatever")
    assert runs(discover(tmp_path)) == {"whatever": [(None, None, None)]}


@pytest.mark.parametrize("name", [REAL_NAME, "OPPROF_A", "renamed"])
@pytest.mark.parametrize(
    ("folder", "placed"),
    [
        ("device1/Add/0", (1, "Add", 0)),
        ("device0/Add/12", (0, "Add", 12)),
        ("Add/3", (None, "Add", 3)),
    ],
)
def test_the_layouts_are_found_under_any_name(
    tmp_path: Path, name: str, folder: str, placed: tuple[int, str, int]
) -> None:
    small.stamped(tmp_path / name / folder, STAMP)
    assert runs(discover(tmp_path)) == {name: [placed]}


def test_devices_named_by_number_alone_are_found_below_an_opprof_folder(tmp_path: Path) -> None:
    small.stamped(tmp_path / "OPPROF_x" / "1" / "Add" / "0", STAMP)
    assert runs(discover(tmp_path)) == {"OPPROF_x": [(1, "Add", 0)]}


def test_several_runs_below_one_path_are_all_listed(tmp_path: Path) -> None:
    small.run(tmp_path / "a" / "OPPROF_1", pid=1)
    small.run(tmp_path / "b" / "OPPROF_2", pid=2)
    small.stamped(tmp_path / REAL_NAME / "Add" / "0", STAMP)
    assert sorted(runs(discover(tmp_path))) == [REAL_NAME, "a/OPPROF_1", "b/OPPROF_2"]


def test_folders_of_a_sweep_are_runs_of_their_own(tmp_path: Path) -> None:
    """Plain CSV names in numbered folders are people's sweeps, not msopprof's launches."""
    for tile in (128, 256):
        small.run(tmp_path / "sweep" / "tile" / str(tile), pid=tile)
        small.run(tmp_path / "OPPROF_sweep" / f"tile{tile}", pid=tile)
    assert sorted(runs(discover(tmp_path))) == [
        "OPPROF_sweep/tile128",
        "OPPROF_sweep/tile256",
        "sweep/tile/128",
        "sweep/tile/256",
    ]


def test_a_launch_folder_without_results_is_incomplete_not_absent(tmp_path: Path) -> None:
    small.stamped(tmp_path / REAL_NAME / "device0" / "Add" / "0", STAMP)
    (tmp_path / REAL_NAME / "device0" / "Add" / "1" / "dump").mkdir(parents=True)
    (run,) = discover(tmp_path).runs
    assert [(k.launch_index, len(k.files)) for k in run.kernels] == [(0, 2), (1, 0)]


def test_raw_data_folders_are_not_walked_but_for_the_basic_info_text(tmp_path: Path) -> None:
    small.run(tmp_path / "OPPROF_A")
    small.run(tmp_path / "OPPROF_A" / "dump" / "x")
    small.run(tmp_path / "OPPROF_A" / "tmp_dump" / "device0" / "k" / "0")
    (tmp_path / "OPPROF_A" / "dump" / "op_basic_info.txt").write_text("Op Name=k\n")
    (run,) = discover(tmp_path).runs
    assert len(run.kernels) == 1
    assert sorted(found.rel for found in run.files) == [
        "OpBasicInfo.csv",
        "PipeUtilization.csv",
        "dump/op_basic_info.txt",
    ]


@pytest.mark.parametrize(
    "part", ["device0/Add/0", "device0/Add", "device0", "", "device0/Add/0/PipeUtilization_" + STAMP + ".csv"]
)
def test_a_part_of_a_run_leads_to_the_whole_run(tmp_path: Path, part: str) -> None:
    small.stamped(tmp_path / REAL_NAME / "device0" / "Add" / "0", STAMP)
    small.stamped(tmp_path / REAL_NAME / "device1" / "Add" / "0", STAMP, device=1)
    small.run(tmp_path / "other")
    found = discover(tmp_path / REAL_NAME / part)
    assert [run.root for run in found.runs] == [tmp_path / REAL_NAME]
    assert len(found.runs[0].kernels) == 2


def test_a_single_csv_leads_to_its_run(tmp_path: Path) -> None:
    small.run(tmp_path / "here")
    (run,) = discover(tmp_path / "here" / "OpBasicInfo.csv").runs
    assert len(run.files) == 2


@pytest.mark.parametrize("name", ["notes.txt", "MyMetrics.csv", "code_exe_prof.csv"])
def test_a_file_msopprof_did_not_write_is_refused_in_words(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(InputError, match="not a file that msopprof writes"):
        discover(tmp_path / name)


def test_a_path_that_does_not_exist_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        discover(tmp_path / "nowhere")


def test_launches_thrown_into_one_folder_are_told_apart_by_their_stamps(tmp_path: Path) -> None:
    small.stamped(tmp_path / "flat", "20240603022810284", "5.0")
    small.stamped(tmp_path / "flat", "20240603022811284", "6.0")
    (run,) = discover(tmp_path).runs
    assert [(k.launch_index, len(k.files)) for k in run.kernels] == [(0, 2), (1, 2)]


def test_links_are_not_followed_out_of_the_given_folder(tmp_path: Path) -> None:
    small.run(tmp_path / "outside" / "OPPROF_B")
    small.run(tmp_path / "given" / "OPPROF_A")
    (tmp_path / "given" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "given" / "OPPROF_A" / "Memory.csv").symlink_to(tmp_path / "outside" / "OPPROF_B" / "OpBasicInfo.csv")
    (tmp_path / "given" / "loop").symlink_to(tmp_path / "given")
    found = discover(tmp_path / "given")
    (run,) = found.runs
    assert len(run.files) == 2
    assert [problem.code for problem in found.problems] == ["link_outside"]
    assert [problem.code for problem in run.problems] == ["link_outside"]


def test_a_given_link_itself_is_followed(tmp_path: Path) -> None:
    small.run(tmp_path / "real" / "OPPROF_A")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert [run.name for run in discover(tmp_path / "link").runs] == ["OPPROF_A"]


def test_pipes_are_named_and_skipped(tmp_path: Path) -> None:
    small.run(tmp_path / "OPPROF_A")
    os.mkfifo(tmp_path / "OPPROF_A" / "Memory.csv")
    (run,) = discover(tmp_path).runs
    assert sorted(problem.code for problem in run.problems) == ["not_a_file"]


def test_unreadable_folders_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small.run(tmp_path / "OPPROF_A")
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def refusing(path: Path) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = discover(tmp_path)
    assert [(problem.code, problem.path) for problem in found.problems] == [("unreadable_folder", "closed")]
    assert len(found.runs) == 1


def test_empty_runs_and_older_tools_are_told_apart_from_nothing(tmp_path: Path) -> None:
    (tmp_path / "OPPROF_20250908111203_UMEQKMRRBEFRNUIB" / "dump").mkdir(parents=True)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "code_exe_prof.csv").write_text("line,call count,cycles\n")
    found = discover(tmp_path)
    assert [path.name for path in found.empty] == ["OPPROF_20250908111203_UMEQKMRRBEFRNUIB"]
    assert found.legacy == ["old/code_exe_prof.csv"]
    assert found.runs == []


def test_simulator_folders_belong_to_the_kernel_above_them(tmp_path: Path) -> None:
    core = tmp_path / "OPPROF_S" / "simulator" / "core0.veccore1"
    core.mkdir(parents=True)
    (core / "core0.veccore1_instr_exe.csv").write_text("instr,addr\n")
    (core / "trace.json").write_text("{}")
    (tmp_path / "OPPROF_S" / "simulator" / "trace.json").write_text("{}")
    assert runs(discover(tmp_path)) == {"OPPROF_S": [(None, None, None)]}
    assert runs(discover(core)) == {".": [(None, None, None)]}


def test_renamed_csvs_are_pointed_out(tmp_path: Path) -> None:
    small.run(tmp_path / "OPPROF_A")
    (tmp_path / "OPPROF_A" / "Memory (1).csv").write_text("x")
    (run,) = discover(tmp_path).runs
    assert [(problem.code, problem.path) for problem in run.problems] == [("renamed_csv", "OPPROF_A/Memory (1).csv")]
