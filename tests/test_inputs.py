"""The small inputs that broke other people's tools: each behaves as its text says."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from opprof_db.msopprof.device_csv import read_family
from opprof_db.warehouse import readonly
from tests.conftest import Cli, Warehouse
from tests.shared import INPUTS, needs_shared

pytestmark = needs_shared


def one(warehouse: Warehouse, sql: str) -> tuple:
    (row,) = warehouse.rows(sql)
    return row


def test_01_the_empty_last_cell_vanishes_and_na_is_null(warehouse: Warehouse) -> None:
    (outcome,) = warehouse.ingest(INPUTS / "01-trailing-comma-na-mix")
    assert outcome.kind == "new"
    assert one(
        warehouse,
        "SELECT aiv_time_us, gm_to_ub_datas_kb, gm_to_ub_bw_usage_rate_pct, aic_time_us,"
        " l1_to_gm_datas_kb_estimate FROM memory WHERE block_id = 1",
    ) == (8.438889, 8.125, 0.417365, None, None)
    assert one(
        warehouse,
        "SELECT aic_write_cache_hit, aic_read_hit_rate_pct, aiv_time_us FROM l2_cache WHERE sub_block_id = 'cube0'",
    ) == (2, 69.565216, None)
    assert one(warehouse, "SELECT name, duration_us, pid, op_type FROM kernels") == (
        "main_kernel_mix_aic",
        9.22,
        None,
        "mix",
    )
    assert one(warehouse, "SELECT name FROM operators") == ("main_kernel",)


@pytest.mark.parametrize("name", ["trailing_first_row_only", "trailing_in_data_only", "trailing_in_header_only"])
def test_02_values_stay_under_their_headers_whichever_lines_end_in_a_comma(name: str) -> None:
    """The shapes of the files under a device CSV's header."""
    lines = (INPUTS / "02-pandas-and-dictreader-traps" / f"{name}.csv").read_text().splitlines()
    columns = ["block_id", "sub_block_id", "aiv_time(us)", "aiv_total_cycles"]
    width = max(len(line.rstrip(",").split(",")) for line in lines)
    header = ",".join(columns[:width]) + ("," if lines[0].endswith(",") else "")
    rows = [
        f"{number},vector0," + ",".join(line.rstrip(",").split(",")[2:]) + ("," if line.endswith(",") else "")
        for number, line in enumerate(lines[1:])
    ]
    data = read_family("PipeUtilization", "\n".join([header, *rows, ""]).encode())
    expected = [float(line.rstrip(",").split(",")[2]) for line in lines[1:]]
    assert [value for _, _, value in data.cells("aiv_time_us")] == expected
    assert [issue.code for issue in data.issues] == ["mixed_line_ends"]


def test_07_launches_by_folder_and_a_launch_without_results_is_incomplete(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "07-multi-launch-multi-device-timestamps")
    assert warehouse.rows(
        "SELECT device_id, launch_index, duration_us, status, captured_at FROM kernels ORDER BY device_id, launch_index"
    ) == [
        (0, 0, 5.12, "partial", "2024-06-03T02:28:10.284"),
        (0, 1, 4.98, "partial", "2024-06-03T02:28:11.284"),
        (0, 2, None, "incomplete", None),
        (1, 0, 5.44, "partial", "2024-06-03T02:28:10.284"),
    ]
    assert one(warehouse, "SELECT count(*), min(status) FROM runs") == (1, "partial")


def test_08_a_kernel_without_duration_is_there_and_left_out_of_durations(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "08-duration-missing")
    assert one(warehouse, "SELECT duration_us, block_dim FROM kernels") == (None, 8)
    assert one(warehouse, "SELECT aiv_vec_time_us FROM pipe_utilization") == (2.5,)
    assert warehouse.rows("SELECT * FROM top_kernels") == []
    assert one(warehouse, "SELECT code FROM ingest_issues WHERE severity = 'warning'") == ("duration_unknown",)


def test_10_a_310p_run_is_one_row_and_its_family_is_inferred(warehouse: Warehouse) -> None:
    (outcome,) = warehouse.ingest(INPUTS / "10-310P-no-block-columns")
    assert outcome.kind == "new"
    assert outcome.counts.lost == 0
    assert one(warehouse, "SELECT soc, chip_family, chip_family_source FROM runs") == (None, "310P", "inferred")
    assert one(warehouse, "SELECT block_id, sub_block_id, aic_vec_ratio FROM pipe_utilization") == (-1, "all", 0.111)
    assert one(warehouse, "SELECT aic_l2_cache_hit_rate_pct FROM l2_cache") == (87.5,)
    assert one(warehouse, "SELECT core_kind FROM kernel_cores") == ("aicore",)


def test_11_old_and_new_l2_columns_of_the_950_stand_under_their_own_names(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "11-950-l2cache-columns-before-after")
    rows = {
        name: rest
        for name, *rest in warehouse.rows(
            "SELECT r.name, aic_r0_read_cache_hit, aic_total_hit_rate_pct, aic_read_close_hit, aic_read_far_miss"
            " FROM l2_cache JOIN kernels k ON k.id = kernel_id JOIN runs r ON r.id = k.run_id"
        )
    }
    assert rows == {"after_79ae61a": [None, None, 5, 2], "before_79ae61a": [7, 69.230769, None, None]}
    assert warehouse.rows("SELECT name, chip_family FROM runs WHERE chip_family = '950'") == [("after_79ae61a", "950")]


def test_17_units_come_from_the_header_never_from_the_magnitude(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "17-unit-guessing")
    assert one(warehouse, "SELECT aic_l1_read_bw_gb_s, gm_to_l1_bw_usage_rate_pct FROM memory") == (1200.5, 0.8)
    assert warehouse.rows("SELECT aic_total_hit_rate_pct FROM l2_cache ORDER BY block_id") == [(0.8,), (80.0,)]


@pytest.mark.parametrize(("folder", "encoding"), [("bom_crlf", "utf-8 (BOM)"), ("cr_only", "utf-8")])
def test_18_boms_and_line_ends_are_read_right(warehouse: Warehouse, folder: str, encoding: str) -> None:
    warehouse.ingest(INPUTS / "18-encoding-bom-gbk-crlf" / folder)
    assert one(warehouse, "SELECT name, duration_us, block_dim, current_freq_mhz FROM kernels") == ("k", 5.0, 8, 1800)
    assert one(warehouse, "SELECT encoding FROM artifacts") == (encoding,)


def test_20_a_left_over_tmp_dump_is_no_device(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "20-debug-run-leaves-tmp_dump")
    assert warehouse.rows("SELECT name, device_id, duration_us FROM kernels") == [("k", 0, 5.0)]
    assert warehouse.rows("SELECT path FROM artifacts WHERE path LIKE '%tmp_dump%'") == []


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("OPPROF_20260615_empty", "no results"),
        ("OPPROF_header_only", "header only"),
        ("OPPROF_zero_byte", "empty"),
    ],
)
def test_21_folders_without_values_make_no_run_and_say_what_is_missing(cli: Cli, folder: str, words: str) -> None:
    done = cli("ingest", INPUTS / "21-empty-output-folders" / folder)
    assert done.returncode == 3
    assert words in done.stdout
    assert "1 empty" in done.stdout
    if folder != "OPPROF_20260615_empty":
        assert cli("query", "SELECT count(*) FROM runs", "-f", "csv").stdout.split() == ["count(*)", "0"]


def test_23_a_simulator_run_has_no_duration_rather_than_zero(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "23-simulator-run-has-no-OpBasicInfo")
    assert one(warehouse, "SELECT mode, duration_us FROM kernels") == ("simulator", None)
    assert one(warehouse, "SELECT mode FROM runs") == ("simulator",)


def test_24_frequencies_are_kept_and_an_unreadable_one_is_unknown(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "24-freq-drop")
    assert warehouse.rows(
        "SELECT r.name, current_freq_mhz, rated_freq_mhz, m.max FROM kernels k JOIN runs r ON r.id = k.run_id"
        " LEFT JOIN kernel_metric_values m ON m.kernel_id = k.id AND m.metric = 'aiv_total_cycles' ORDER BY r.name"
    ) == [
        ("OPPROF_full", 1800, 1800, 34200.0),
        ("OPPROF_low", 1000, 1800, 34200.0),
        ("OPPROF_unknown", None, 1800, None),
    ]
    assert warehouse.rows("SELECT code, raw_text, column_name FROM ingest_issues WHERE cells > 0") == [
        ("frequency_unknown", "-1", "Current Freq")
    ]


def test_26_no_statement_changes_anything(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(INPUTS / "01-trailing-comma-na-mix")
    text = (INPUTS / "26-readonly-sql-bypass" / "queries.sql").read_text()
    statements = [line for line in text.splitlines() if line.strip()] + [text]
    before = hashlib.sha256(warehouse.path.read_bytes()).hexdigest()
    files = set(tmp_path.rglob("*"))
    for statement in statements:
        with pytest.raises((readonly.UsageError, readonly.DatabaseError)):
            readonly.run(warehouse.path, statement, limits=readonly.Limits(seconds=1))
    assert hashlib.sha256(warehouse.path.read_bytes()).hexdigest() == before
    assert {path for path in tmp_path.rglob("*") if not path.name.endswith(("-shm", "-wal"))} <= files
    assert not Path("/tmp/evil.db").exists()
    assert not Path("/tmp/copy.db").exists()


def test_27_quotes_and_comment_marks_in_a_header_are_data(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "27-quote-in-command-and-header")
    assert warehouse.rows(
        "SELECT m.vendor_name, m.known, x.value FROM extra_metric_values x"
        " JOIN metrics m ON m.id = x.metric_id ORDER BY 1"
    ) == [("a'b;DROP TABLE runs", 0, 3.0), ('aiv"x) --', 0, 2.0)]
    assert one(warehouse, "SELECT count(*) FROM runs") == (1,)


def test_29_a_column_of_na_only_is_not_collected_and_no_error(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "29-all-na-column")
    assert warehouse.rows("SELECT l1_to_gm_datas_kb_estimate, aic_time_us FROM memory") == [(None, 2.0), (None, 2.0)]
    assert warehouse.rows("SELECT 1 FROM kernel_metric_values WHERE metric = 'l1_to_gm_datas_kb_estimate'") == []
    assert warehouse.rows("SELECT code FROM ingest_issues WHERE path = 'Memory.csv'") == []


def test_31_copies_are_one_run_and_the_same_name_with_other_content_is_another(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "31-dedupe-key-traps")
    assert warehouse.rows(
        "SELECT k.duration_us, count(*) FROM kernels k JOIN run_locations l USING (run_id) GROUP BY k.id ORDER BY 1"
    ) == [(5.0, 2), (9.0, 1)]


def test_34_six_launches_keep_their_durations_and_frequencies(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "34-launch0-cold")
    assert warehouse.rows("SELECT launch_index, duration_us, current_freq_mhz FROM kernels ORDER BY launch_index") == [
        (0, 41.2, 1000),
        (1, 20.1, 1800),
        (2, 20.05, 1800),
        (3, 20.12, 1800),
        (4, 20.09, 1800),
        (5, 20.08, 1800),
    ]


def test_all_inputs_together_go_in_without_a_traceback(cli: Cli, tmp_path: Path) -> None:
    copy = tmp_path / "inputs"
    shutil.copytree(INPUTS, copy)
    done = cli("ingest", copy)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "0 failed" in done.stdout
    assert cli("db", "check").returncode == 0
