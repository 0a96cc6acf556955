"""What ingest stores beside the plain values: chips, conditions, labels, archive, accounting, wholeness."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opprof_db.catalog import load
from opprof_db.errors import UsageError
from opprof_db.ingest import options as opts
from opprof_db.ingest import service, snapshot
from opprof_db.ingest.chip import infer_family
from opprof_db.ingest.finding import find
from tests import small
from tests.conftest import Warehouse


def test_the_dump_names_the_chip(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_A")
    (run / "dump").mkdir()
    (run / "dump" / "op_basic_info.txt").write_text("Run Soc Version=Ascend910B2\n")
    warehouse.ingest(run, conditions={"soc": "910b2"})
    assert warehouse.rows("SELECT soc, soc_source, chip_family, chip_family_source FROM runs") == [
        ("Ascend910B2", "dump", "910B", "soc")
    ]


def test_a_given_chip_that_the_data_contradicts_is_remarked_and_the_data_kept(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    run = small.run(tmp_path / "OPPROF_A")
    (run / "dump").mkdir()
    (run / "dump" / "op_basic_info.txt").write_text("Run Soc Version=Ascend910B2\n")
    (outcome,) = warehouse.ingest(run, conditions={"soc": "Ascend310P3"})
    assert "is not what the data says" in outcome.message
    assert warehouse.value("SELECT soc FROM runs") == "Ascend910B2"
    assert warehouse.value("SELECT count(*) FROM ingest_issues WHERE code = 'soc_differs'") == 1


def test_a_chip_given_later_completes_a_run_that_recorded_none(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_A")
    warehouse.ingest(run)
    assert warehouse.rows("SELECT soc, chip_family FROM runs") == [(None, None)]
    warehouse.ingest(run, conditions={"soc": "Ascend910B4"})
    assert warehouse.rows("SELECT soc, soc_source, chip_family FROM runs") == [("Ascend910B4", "user", "910B")]


@pytest.mark.parametrize("chip", ["910B", "310P", "950"])
def test_the_header_set_of_each_chip_family_is_told_apart(chip: str) -> None:
    headers = [(family, ",".join(load().header(family, chip))) for family in load().families]
    assert infer_family(headers) == chip


def test_headers_that_several_families_share_tell_nothing() -> None:
    assert infer_family([("MemoryL0", ",".join(load().header("MemoryL0", "910B")))]) is None
    assert infer_family([]) is None


def test_labels_and_conditions_are_kept_with_their_source(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "sweep" / "tile4096")
    warehouse.ingest(
        tmp_path / "sweep",
        labels={"branch": "main"},
        conditions={"cann_version": "8.5", "git_commit": "abc"},
        label_from_path=re.compile(r"tile(?P<tile>\d+)"),
    )
    assert set(warehouse.rows("SELECT kind, key, value, source FROM run_conditions")) == {
        ("label", "branch", "main", "user"),
        ("label", "tile", "4096", "path"),
        ("condition", "cann_version", "8.5", "user"),
        ("condition", "git_commit", "abc", "user"),
    }
    (outcome,) = warehouse.ingest(run, labels={"branch": "fix"})
    assert "branch: main -> fix" in outcome.message
    assert warehouse.value("SELECT value FROM run_conditions WHERE key = 'branch'") == "fix"


def test_labels_from_folders_below_the_run_sit_on_the_kernels(warehouse: Warehouse, tmp_path: Path) -> None:
    root = tmp_path / "OPPROF_20240603022812_ABCDEFGHIJKLMNOP"
    small.stamped(root / "Add_tile64" / "0", "20240603022810284")
    small.stamped(root / "Add_tile128" / "0", "20240603022811284", "6.0")
    warehouse.ingest(root, label_from_path=re.compile(r"tile(?P<tile>\d+)"))
    assert warehouse.rows(
        "SELECT k.folder_name, l.value, l.source FROM kernel_labels l JOIN kernels k ON k.id = l.kernel_id ORDER BY 1"
    ) == [("Add_tile128", "128", "path"), ("Add_tile64", "64", "path")]


def test_a_kernel_without_basic_info_is_taken_with_a_null_duration_and_says_so(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    small.write(tmp_path / "OPPROF_A", PipeUtilization=small.pipe(4.0))
    (outcome,) = warehouse.ingest(tmp_path)
    assert outcome.kind == "new"
    name, duration, missing = warehouse.rows("SELECT name, duration_us, missing FROM kernels")[0]
    assert (name, duration) == (None, None)
    assert "OpBasicInfo (not there)" in missing
    assert warehouse.rows("SELECT code FROM ingest_issues") == [("duration_unknown",)]


def test_the_dump_completes_a_kernel_without_basic_info(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.write(tmp_path / "OPPROF_A", PipeUtilization=small.pipe(4.0))
    (run / "dump").mkdir()
    (run / "dump" / "op_basic_info.txt").write_text("Op Name=Add\nBlock Dim=8\nDevice Id=3\nPid=77\nCurrent Freq=N/A\n")
    warehouse.ingest(run)
    assert warehouse.rows("SELECT name, block_dim, device_id, pid, current_freq_mhz FROM kernels") == [
        ("Add", 8, 3, 77, None)
    ]


def test_one_bad_file_costs_one_file(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_A")
    (run / "Memory.csv").write_bytes(b"\x00\x01\x02")
    warehouse.ingest(run)
    assert warehouse.value("SELECT count(*) FROM pipe_utilization") == 2
    assert warehouse.rows("SELECT path, code, severity FROM ingest_issues") == [
        ("Memory.csv", "unrecognised_header", "error")
    ]
    assert "Memory (unrecognised)" in str(warehouse.value("SELECT missing FROM kernels"))


def test_large_files_beyond_the_limit_are_listed_and_csvs_always_kept(warehouse: Warehouse, tmp_path: Path) -> None:
    run = small.run(tmp_path / "OPPROF_A")
    (run / "visualize_data.bin").write_bytes(b"x" * 3_000_000)
    warehouse.ingest(run, archive_max=1000)
    assert warehouse.rows("SELECT path, content_id IS NULL FROM artifacts WHERE kind = 'bin'") == [
        ("visualize_data.bin", 1)
    ]
    assert warehouse.value("SELECT count(*) FROM artifacts WHERE kind <> 'bin' AND content_id IS NULL") == 0
    other = Warehouse(tmp_path / "all.db")
    other.ingest(run)
    assert (
        other.value(
            "SELECT count(*) FROM content_chunks c JOIN contents b ON b.id = c.content_id WHERE size_bytes > 1e6"
        )
        == 3
    )


def test_a_large_run_is_streamed_with_the_same_result(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for launch in range(6):
        small.stamped(tmp_path / "OPPROF_A" / "Add" / str(launch), f"2024060302281{launch}284", f"{launch + 1}.0")
    held = Warehouse(tmp_path / "held.db")
    held.ingest(tmp_path / "OPPROF_A")
    monkeypatch.setattr(snapshot, "SMALL_RUN_BYTES", 0)
    monkeypatch.setattr(service, "BUFFERED_CELLS", 1)
    warehouse.ingest(tmp_path / "OPPROF_A")
    workers = Warehouse(tmp_path / "workers.db")
    workers.ingest(tmp_path / "OPPROF_A", jobs=2)
    for table in ("kernels", "pipe_utilization", "kernel_metrics", "artifacts", "contents"):
        expected = held.rows(f"SELECT * FROM {table}")
        assert expected
        assert warehouse.rows(f"SELECT * FROM {table}") == expected
        assert workers.rows(f"SELECT * FROM {table}") == expected


def test_a_file_that_changes_while_it_is_read_fails_the_run_and_leaves_nothing(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small.run(tmp_path / "OPPROF_A")
    monkeypatch.setattr(snapshot, "SMALL_RUN_BYTES", 0)
    take = snapshot.take

    def take_then_write(folder: object) -> object:
        taken = take(folder)  # type: ignore[arg-type]
        (run / "PipeUtilization.csv").write_text(small.pipe(1.0, 2.0, 3.0))
        return taken

    monkeypatch.setattr(snapshot, "take", take_then_write)
    (outcome,) = warehouse.ingest(run)
    assert outcome.kind == "failed"
    assert "still writing" in outcome.message
    assert warehouse.value("SELECT count(*) FROM runs") == 0
    assert warehouse.value("SELECT count(*) FROM kernels") == 0


def l2_950(**cells: str) -> str:
    """A 950 L2Cache.csv with one cube row; cells not given print 0."""
    header = load().header("L2Cache", "950")
    given = {"block_id": "0", "sub_block_id": "cube0", "aic_time(us)": "2.1", "aic_total_cycles": "3465"}
    row = [given.get(name) or cells.get(name) or ("NA" if name.startswith("aiv") else "0") for name in header]
    return ",".join(header) + ",\n" + ",".join(row) + ",\n"


def test_zeros_of_an_uncollected_set_on_the_950_are_unknown(warehouse: Warehouse, tmp_path: Path) -> None:
    small.write(tmp_path / "OPPROF_A", L2Cache=l2_950(), OpBasicInfo=small.basic_info())
    (outcome,) = warehouse.ingest(tmp_path)
    assert warehouse.rows(
        "SELECT aic_time_us, aic_total_cycles, aic_read_close_hit, aic_write_far_miss FROM l2_cache"
    ) == [(2.1, 3465, None, None)]
    lost = warehouse.value("SELECT sum(cells) FROM ingest_issues WHERE code = 'not_collected'")
    assert lost == outcome.counts.lost == 14


def test_zeros_beside_a_counted_value_on_the_950_stay_zeros(warehouse: Warehouse, tmp_path: Path) -> None:
    small.write(tmp_path / "OPPROF_A", L2Cache=l2_950(aic_read_close_hit="5"), OpBasicInfo=small.basic_info())
    warehouse.ingest(tmp_path)
    assert warehouse.rows("SELECT aic_read_close_hit, aic_write_far_miss FROM l2_cache") == [(5, 0)]


def test_zeros_of_a_set_the_user_says_was_collected_stay_zeros(warehouse: Warehouse, tmp_path: Path) -> None:
    small.write(tmp_path / "OPPROF_A", L2Cache=l2_950(), OpBasicInfo=small.basic_info())
    warehouse.ingest(tmp_path, conditions={"aic_metrics": "Default"})
    assert warehouse.rows("SELECT aic_read_close_hit, aic_write_far_miss FROM l2_cache") == [(0, 0)]


def test_a_dry_run_stores_nothing(tmp_path: Path) -> None:
    found = find([small.run(tmp_path / "OPPROF_A")])
    outcomes = list(service.ingest(None, tmp_path / "no.db", found, opts.IngestOptions(dry_run=True)))
    assert [(o.kind, o.counts.read) for o in outcomes] == [("new", 21)]
    assert not (tmp_path / "no.db").exists()


@pytest.mark.parametrize("text", ["nokey", "=x", "a b=c", "a="])
def test_labels_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no label"):
        opts.parse_labels([text])


@pytest.mark.parametrize(("text", "size"), [("0", 0), ("5", 5), ("1K", 1024), ("256MiB", 268435456), ("1 GB", 2**30)])
def test_sizes_are_read(text: str, size: int) -> None:
    assert opts.parse_size(text) == size


@pytest.mark.parametrize("pattern", ["(", "tile[0-9]+"])
def test_patterns_without_a_named_group_are_refused(pattern: str) -> None:
    with pytest.raises(UsageError):
        opts.parse_path_pattern(pattern)
