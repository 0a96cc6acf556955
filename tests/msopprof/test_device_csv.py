"""The device CSV reader keeps every value under its header, and explains every cell it cannot keep."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opprof_db.catalog import load
from opprof_db.msopprof import device_csv
from opprof_db.msopprof.device_csv import FamilyData, read_family
from opprof_db.msopprof.text import ends_open, split_lines


def read(text: str | bytes, family: str = "PipeUtilization") -> FamilyData:
    return read_family(family, text.encode() if isinstance(text, str) else text)


def values(data: FamilyData, column: str) -> dict[tuple[int, str], object]:
    return {(block, sub): value for block, sub, value in data.cells(column)}


def codes(data: FamilyData) -> list[str]:
    return [issue.code for issue in data.issues]


def assert_accounting(data: FamilyData) -> None:
    counts = data.counts
    assert counts.read == counts.stored + counts.nulls + counts.lost
    assert counts.lost == data.issues.cells
    assert min(counts.read, counts.stored, counts.nulls, counts.lost) >= 0


HEADER = "block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio"


def test_values_stand_under_their_headers() -> None:
    data = read(f"{HEADER},\n0,vector0,5.000000,9000,2.500000,0.500000,\n1,vector0,6.000000,10800,3.000000,0.500000,\n")
    assert data.status == "read"
    assert values(data, "aiv_time_us") == {(0, "vector0"): 5.0, (1, "vector0"): 6.0}
    assert values(data, "aiv_total_cycles") == {(0, "vector0"): 9000, (1, "vector0"): 10800}
    assert codes(data) == []
    assert (data.counts.read, data.counts.stored, data.counts.nulls, data.counts.lost) == (12, 12, 0, 0)


@pytest.mark.parametrize("missing", ["NA", "N/A", ""])
def test_not_applicable_is_null_and_never_zero(missing: str) -> None:
    data = read(f"{HEADER},\n0,vector0,5.000000,9000,{missing},0.000000,\n")
    assert values(data, "aiv_vec_time_us") == {(0, "vector0"): None}
    assert values(data, "aiv_vec_ratio") == {(0, "vector0"): 0.0}
    assert data.counts.nulls == 1
    assert_accounting(data)


@pytest.mark.parametrize(
    "text",
    [
        f"{HEADER},\n0,vector0,5.0,9000,2.5,0.5\n1,vector0,6.0,10800,3.0,0.5\n",
        f"{HEADER}\n0,vector0,5.0,9000,2.5,0.5,\n1,vector0,6.0,10800,3.0,0.5,\n",
        f"{HEADER}\n0,vector0,5.0,9000,2.5,0.5,\n1,vector0,6.0,10800,3.0,0.5\n",
        f"{HEADER},\n0,vector0,5.0,9000,2.5,0.5,\n1,vector0,6.0,10800,3.0,0.5\n",
    ],
)
def test_trailing_commas_on_some_lines_shift_nothing_and_are_remarked(text: str) -> None:
    data = read(text)
    assert values(data, "aiv_time_us") == {(0, "vector0"): 5.0, (1, "vector0"): 6.0}
    assert values(data, "aiv_vec_ratio") == {(0, "vector0"): 0.5, (1, "vector0"): 0.5}
    assert codes(data) == ["mixed_line_ends"]
    assert_accounting(data)


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
def test_every_line_end_is_read(ending: str) -> None:
    data = read(ending.join([f"{HEADER},", "0,vector0,5.0,9000,2.5,0.5,", ""]))
    assert values(data, "aiv_time_us") == {(0, "vector0"): 5.0}
    assert codes(data) == []


@pytest.mark.parametrize(
    ("prefix", "encoding", "name"),
    [(b"\xef\xbb\xbf", "utf-8", "utf-8 (BOM)"), (b"\xff\xfe", "utf-16-le", "utf-16-le (BOM)"), (b"", "utf-8", "utf-8")],
)
def test_encodings_are_recognised_and_recorded(prefix: bytes, encoding: str, name: str) -> None:
    data = read(prefix + f"{HEADER},\n0,vector0,5.0,9000,2.5,0.5,\n".encode(encoding))
    assert values(data, "aiv_time_us") == {(0, "vector0"): 5.0}
    assert data.encoding == name


def test_gb18030_is_read_where_utf_8_fails() -> None:
    data = read(f"{HEADER},核心,\n0,vector0,5.0,9000,2.5,0.5,7,\n".encode("gb18030"))
    assert data.encoding == "gb18030"
    assert [(extra.vendor, extra.value) for extra in data.extras] == [("核心", 7.0)]


def test_other_column_orders_are_followed() -> None:
    data = read("aiv_vec_ratio,sub_block_id,aiv_time(us),block_id,\n0.5,vector0,5.0,3,\n")
    assert values(data, "aiv_time_us") == {(3, "vector0"): 5.0}
    assert values(data, "aiv_vec_ratio") == {(3, "vector0"): 0.5}


def test_unknown_columns_are_kept_with_their_text() -> None:
    data = read("block_id,sub_block_id,aiv_time(us),aiv\"x) --,a'b;DROP TABLE runs,\n0,vector0,1.0,2.0,abc,\n")
    assert [(e.vendor, e.value, e.raw) for e in data.extras] == [
        ('aiv"x) --', 2.0, "2.0"),
        ("a'b;DROP TABLE runs", None, "abc"),
    ]
    assert codes(data) == ["unknown_column", "unknown_column", "extra_not_a_number"]
    assert_accounting(data)


def test_a_column_named_twice_keeps_both_values() -> None:
    data = read("block_id,sub_block_id,aiv_time(us),aiv_time(us),\n0,vector0,1.0,2.0,\n")
    assert values(data, "aiv_time_us") == {(0, "vector0"): 1.0}
    assert [(e.vendor, e.value) for e in data.extras] == [("aiv_time(us)#4", 2.0)]


@pytest.mark.parametrize(
    ("cell", "column", "code"),
    [
        ("abc", "aiv_vec_time(us)", "not_a_number"),
        ("nan", "aiv_vec_time(us)", "non_finite"),
        ("-inf", "aiv_vec_time(us)", "non_finite"),
        ("1e999", "aiv_vec_time(us)", "non_finite"),
        ("1_000", "aiv_vec_time(us)", "not_a_number"),
        ("0x10", "aiv_vec_time(us)", "not_a_number"),
        ("null", "aiv_vec_time(us)", "not_a_number"),
        ("true", "aiv_vec_time(us)", "not_a_number"),
        ("５", "aiv_vec_time(us)", "not_a_number"),
        ("9" * 5000, "aiv_vec_time(us)", "number_too_long"),
        ("18446744073709551615", "aiv_vec_time(us)", "integer_too_large"),
        ("9007199254740993", "aiv_vec_time(us)", "inexact_integer"),
        ("18446744073709551615", "aiv_total_cycles", "integer_too_large"),
        ("9223372036854775808", "aiv_total_cycles", "integer_too_large"),
        ("1.5", "aiv_total_cycles", "fraction_in_count"),
        ("12\x0034", "aiv_total_cycles", "not_a_number"),
    ],
)
def test_one_bad_cell_costs_one_cell_and_names_it(cell: str, column: str, code: str) -> None:
    row = {"aiv_time(us)": "5.0", "aiv_total_cycles": "9000", "aiv_vec_time(us)": "2.5", "aiv_vec_ratio": "0.5"}
    row[column] = cell
    data = read(f"{HEADER},\n0,vector0,{','.join(row.values())},\n1,vector0,6.0,1,3.0,0.5,\n")
    (issue,) = data.issues
    assert (issue.code, issue.line, issue.column, issue.cells) == (code, 2, column, 1)
    assert issue.raw is not None
    assert issue.raw[:10] == cell.replace("\x00", "\\x00")[:10]
    metric = load().find("PipeUtilization", column)
    assert metric is not None
    assert values(data, metric.column)[0, "vector0"] is None
    assert data.counts.lost == 1
    assert data.counts.stored == 11
    assert_accounting(data)


def test_largest_integer_is_kept_exactly() -> None:
    data = read(f"{HEADER},\n0,vector0,5.0,9223372036854775807,2.5,0.5,\n")
    assert values(data, "aiv_total_cycles") == {(0, "vector0"): 2**63 - 1}


@pytest.mark.parametrize(
    ("row", "code", "cells"),
    [
        ("1,vector0,5.0,9000,2.5,", "ragged_row", 5),
        ("1,vector0,5.0,9000,2.5,0.5,7,", "ragged_row", 7),
        ("x,vector0,5.0,9000,2.5,0.5,", "bad_block_id", 6),
        ("-1,vector0,5.0,9000,2.5,0.5,", "bad_block_id", 6),
        ("1,NA,5.0,9000,2.5,0.5,", "bad_sub_block_id", 6),
        ("0,vector0,5.0,9000,2.5,0.5,", "duplicate_row", 6),
    ],
)
def test_one_bad_row_costs_one_row(row: str, code: str, cells: int) -> None:
    data = read(f"{HEADER},\n0,vector0,1.0,2,3.0,0.4,\n{row}\n2,vector0,6.0,1,3.0,0.5,\n")
    (issue,) = data.issues
    assert (issue.code, issue.line, issue.cells) == (code, 3, cells)
    assert issue.raw is not None
    assert issue.raw.rstrip(",") == row.rstrip(",")
    assert values(data, "aiv_time_us") == {(0, "vector0"): 1.0, (2, "vector0"): 6.0}
    assert_accounting(data)


def test_a_310p_file_is_one_row_for_the_whole_kernel() -> None:
    data = read("aic_time(us),aic_total_cycles,aic_vec_time(us),aic_vec_ratio,\n8.1,8748,0.9,0.111,\n")
    (group,) = data.groups
    assert (group.kind, list(group.block_ids), list(group.sub_block_ids)) == ("aicore", [-1], ["all"])
    assert values(data, "aic_vec_ratio") == {(-1, "all"): 0.111}
    assert_accounting(data)


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", "empty", "empty_file"),
        (b"\n\n", "empty", "empty_file"),
        (f"{HEADER},\n".encode(), "header_only", "header_only"),
        (f"{HEADER},\n\n\n".encode(), "header_only", "header_only"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "unrecognised", "unrecognised_header"),
        (b"PK\x03\x04\xff\xfe", "unrecognised", "unrecognised_header"),
        (b"line,call count,cycles\n", "unrecognised", "unrecognised_header"),
    ],
)
def test_files_without_values_say_what_they_are(content: bytes, status: str, code: str) -> None:
    data = read(content)
    assert data.status == status
    assert code in codes(data)
    assert data.rows == 0
    assert_accounting(data)


def test_a_column_of_na_only_is_no_error() -> None:
    data = read(
        "block_id,sub_block_id,aic_time(us),L1_to_GM_datas(KB)(estimate),\n0,cube0,2.0,NA,\n1,cube0,2.0,NA,\n", "Memory"
    )
    assert codes(data) == []
    assert values(data, "l1_to_gm_datas_kb_estimate") == {(0, "cube0"): None, (1, "cube0"): None}


def test_blank_lines_between_rows_are_passed_over_and_line_numbers_stay_true() -> None:
    data = read(f"{HEADER},\n\n0,vector0,x,9000,2.5,0.5,\n")
    (issue,) = data.issues
    assert issue.line == 3


def test_many_bad_cells_are_counted_exactly_but_not_listed_without_end() -> None:
    rows = "".join(f"{block},vector0,x,1,1.0,0.5,\n" for block in range(1000))
    data = read(f"{HEADER},\n{rows}")
    assert data.counts.lost == 1000
    assert data.issues.cells == 1000
    assert len(list(data.issues)) < 200
    assert_accounting(data)


@given(st.binary(max_size=400))
def test_no_bytes_raise(content: bytes) -> None:
    assert_accounting(read(content))


CELL = st.one_of(
    st.sampled_from(
        ["NA", "N/A", "", "0", "0.000000", "1.5", "-3", "1e5", "9" * 25, "nan", "null", " 7 ", "x", '"', "]"]
    ),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda value: f"{value:f}"),
    st.integers(min_value=-(2**65), max_value=2**65).map(str),
    st.text(max_size=6),
)
SUB = st.sampled_from(["vector0", "cube0", "vector1", "NA", "all", "x"])
ROW = st.tuples(st.integers(-1, 5).map(str), SUB, CELL, CELL, CELL, CELL, st.sampled_from(["", ",", ",,"])).map(
    lambda row: ",".join(row[:6]) + row[6]
)


@given(
    st.sampled_from(load().families),
    st.lists(
        st.sampled_from(["block_id", "sub_block_id", "aiv_time(us)", "aic_total_cycles", "zzz", "", "aiv_vec_ratio"])
    ),
    st.lists(ROW, max_size=6),
)
def test_accounting_holds_for_any_table(family: str, header: list[str], rows: list[str]) -> None:
    assert_accounting(read("\n".join([",".join(header), *rows]), family))


@given(st.lists(ROW, min_size=1, max_size=5))
def test_the_fast_path_reads_what_the_close_look_reads(rows: list[str]) -> None:
    """Whatever the fast path accepts, the cell by cell reading gives the same."""
    text = "\n".join([f"{HEADER},", *(row.rstrip(",") + "," for row in rows)])
    usual = read(text)
    close = FamilyData("PipeUtilization", "empty", device_csv.IssueLog(), "utf-8")
    device_csv._read_closely(close, split_lines(text), open_end=ends_open(text))
    assert usual.counts == close.counts
    for column in usual.metrics:
        assert values(usual, column) == values(close, column)


def test_the_fast_path_converts_decimals_as_python_does() -> None:
    draw = random.Random(7)
    numbers = [f"{draw.uniform(0, 10 ** draw.randrange(-3, 9)):f}" for _ in range(20_000)]
    rows = "\n".join(f"{at},vector0,{number}," for at, number in enumerate(numbers))
    data = read(f"block_id,sub_block_id,aiv_time(us),\n{rows}\n")
    assert list(data.groups[0].columns["aiv_time_us"]) == [float(number) for number in numbers]


CUT_HEADER = "block_id,sub_block_id,aiv_time(us),aiv_total_cycles,"


@pytest.mark.parametrize("end", ["12345", "1234", "123", "12", "1"])
def test_a_number_in_which_the_file_ends_is_lost_and_not_shortened(end: str) -> None:
    data = read_family("PipeUtilization", f"{CUT_HEADER}\n0,vector0,1.5,99999,\n1,vector0,1.5,{end}".encode())
    assert [value for _, _, value in data.cells("aiv_total_cycles")] == [99999, None]
    (issue,) = data.issues
    assert (issue.code, issue.line, issue.raw) == ("cut_off", 3, end)
    assert (data.counts.read, data.counts.stored, data.counts.nulls, data.counts.lost) == (8, 7, 0, 1)


@pytest.mark.parametrize("end", ["12345,", "12345,\n", "12345\n"])
def test_a_last_line_that_has_its_end_is_kept_whole(end: str) -> None:
    data = read_family("PipeUtilization", f"{CUT_HEADER}\n0,vector0,1.5,99999,\n1,vector0,1.5,{end}".encode())
    assert [value for _, _, value in data.cells("aiv_total_cycles")] == [99999, 12345]
