"""OpBasicInfo: one row, names with commas, unknown frequencies; the text file of dump/ beside it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opprof_db.msopprof.basic_info import BasicInfo, read_basic_info, read_op_basic_info_text
from tests import small
from tests.small import BASIC_HEADER


def assert_accounting(info: BasicInfo) -> None:
    counts = info.counts
    assert counts.read == counts.stored + counts.nulls + counts.lost
    assert counts.lost == info.issues.cells


@pytest.mark.parametrize("name", ["k", "f<int,float>", "a,b,,c", "核函数", "x" * 800])
def test_names_with_commas_are_put_together_again(name: str) -> None:
    info = read_basic_info(f"{BASIC_HEADER}\n{name},mix,5.5,8,16,2,77,1000,1800,\n".encode())
    assert info.values == {
        "name": name,
        "op_type": "mix",
        "duration_us": 5.5,
        "block_dim": 8,
        "mix_block_dim": 16,
        "device_id": 2,
        "pid": 77,
        "current_freq_mhz": 1000,
        "rated_freq_mhz": 1800,
    }
    assert list(info.issues) == []
    assert_accounting(info)


def test_missing_values_are_none() -> None:
    info = read_basic_info(f"{BASIC_HEADER}\nk,vector,NA,8,,0,NA,N/A,1800,\n".encode())
    assert [info.values[key] for key in ("duration_us", "mix_block_dim", "pid", "current_freq_mhz")] == [None] * 4
    assert info.counts.nulls == 4
    assert_accounting(info)


@pytest.mark.parametrize("printed", ["-1", "0"])
def test_a_frequency_the_tool_could_not_read_is_unknown_and_says_so(printed: str) -> None:
    info = read_basic_info(f"{BASIC_HEADER}\nk,vector,5.0,8,NA,0,1,{printed},1800,\n".encode())
    assert info.values["current_freq_mhz"] is None
    (issue,) = info.issues
    assert (issue.code, issue.column, issue.raw, issue.cells) == ("frequency_unknown", "Current Freq", printed, 1)
    assert_accounting(info)


def test_a_310p_header_without_mix_block_dim_is_read() -> None:
    header = BASIC_HEADER.replace("Mix Block Dim,", "")
    info = read_basic_info(f"{header}\nadd,AiCore,9.8,8,0,55,1080,1080,\n".encode())
    assert (info.values["op_type"], info.values["device_id"]) == ("AiCore", 0)
    assert "mix_block_dim" not in info.values


def test_one_bad_cell_costs_one_cell() -> None:
    info = read_basic_info(f"{BASIC_HEADER}\nk,vector,fast,8,NA,0,1,1800,1800,\n".encode())
    assert info.values["duration_us"] is None
    assert info.values["block_dim"] == 8
    assert [(issue.code, issue.line, issue.raw) for issue in info.issues] == [("not_a_number", 2, "fast")]
    assert_accounting(info)


def test_a_second_row_is_not_mixed_in() -> None:
    info = read_basic_info(f"{BASIC_HEADER}\nk,vector,5.0,8,NA,0,1,1800,1800,\nz,cube,9.0,1,NA,0,1,1,1,\n".encode())
    assert info.values["name"] == "k"
    assert [(issue.code, issue.line, issue.cells) for issue in info.issues] == [("surplus_row", 3, 9)]
    assert_accounting(info)


@pytest.mark.parametrize(
    ("content", "status"), [(b"", "empty"), (f"{BASIC_HEADER}\n".encode(), "header_only"), (b"hello", "unrecognised")]
)
def test_files_without_a_row_say_what_they_are(content: bytes, status: str) -> None:
    info = read_basic_info(content)
    assert info.status == status
    assert info.values == {}


def test_dump_text_is_key_value() -> None:
    text = "Op Name=f<a=b>\nRun Soc Version=Ascend910B2\nnonsense\n=x\nIs MC2=0\n"
    assert read_op_basic_info_text(text.encode()) == {
        "Op Name": "f<a=b>",
        "Run Soc Version": "Ascend910B2",
        "Is MC2": "0",
    }


@given(st.binary(max_size=300))
def test_no_bytes_raise(content: bytes) -> None:
    assert_accounting(read_basic_info(content))
    read_op_basic_info_text(content)


@given(st.text(alphabet="kv,.01NA/-\n\r ", max_size=80))
def test_accounting_holds_for_any_row(row: str) -> None:
    assert_accounting(read_basic_info(f"{BASIC_HEADER}\n{row}".encode()))


def test_a_number_in_which_the_file_ends_is_lost() -> None:
    info = read_basic_info(small.basic_info("k", "5.5").rstrip("\n")[:-3].encode())
    assert info.real("duration_us") == 5.5
    assert info.whole("rated_freq_mhz") is None
    (issue,) = info.issues
    assert (issue.code, issue.column, issue.raw) == ("cut_off", "Rated Freq", "18")
    assert info.counts.read == info.counts.stored + info.counts.nulls + info.counts.lost
    assert info.counts.lost == 1
