"""Statistics of simulator runs: rows, cells that cannot be kept, and the clock inferred from them."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opprof_db.msopprof.layout import discover
from opprof_db.msopprof.sim_clock import NOMINAL_MHZ, Clock, infer_clock
from opprof_db.msopprof.sim_records import CoreName, InstructionStat, core_of, parse_detail
from opprof_db.msopprof.simulator_csv import SimulatorCsv, read_instructions, read_source_lines
from tests.builders.simulator import (
    Instruction,
    SimulatedCore,
    SimulatorKernel,
    SimulatorRun,
    example_kernel,
)
from tests.shared import CORPUS, INPUTS, needs_shared

CORE = core_of("core0.veccore0")
INSTR = "instr,addr,pipe,call_count,cycles,running_time(us),detail\n"
CODE = "code,call_count,cycles,running_time(us)\n"
REAL = CORPUS / "gemv-910B3-simulator"


def instr(text: str | bytes) -> SimulatorCsv:
    return checked(read_instructions(text if isinstance(text, bytes) else text.encode(), CORE, "i.csv"))


def code(text: str | bytes) -> SimulatorCsv:
    return checked(read_source_lines(text if isinstance(text, bytes) else text.encode(), CORE, "c.csv"))


def checked(result: SimulatorCsv) -> SimulatorCsv:
    """Cells read = stored + NULLs + cells that issues explain."""
    counts = result.counts
    assert counts.read == counts.stored + counts.nulls + counts.lost
    assert counts.lost == result.issues.cells
    return result


def codes(result: SimulatorCsv) -> list[str]:
    return [issue.code for issue in result.issues]


def read_file(path: Path) -> SimulatorCsv:
    reader = read_instructions if "_instr_exe" in path.name else read_source_lines
    return checked(reader(path.read_bytes(), core_of(path.name), path.name))


# --- real captures ---------------------------------------------------------------------------------------


@needs_shared
@pytest.mark.corpus
def test_the_real_run_is_read_completely() -> None:
    """Sums per pipe equal those of the csv module, which knows nothing of this reader."""
    ours: dict[str | None, list[int]] = {}
    theirs: dict[str, list[int]] = {}
    files = sorted(REAL.rglob("*_instr_exe.csv"))
    assert len(files) == 60
    for path in files:
        result = read_file(path)
        assert result.status == "read"
        assert result.counts.lost == 0
        for row in result.instructions:
            sums = ours.setdefault(row.pipe, [0, 0, 0])
            sums[0] += 1
            sums[1] += row.call_count or 0
            sums[2] += row.cycles or 0
        with path.open(newline="") as handle:
            for record in csv.DictReader(handle):
                sums = theirs.setdefault(record["pipe"], [0, 0, 0])
                sums[0] += 1
                sums[1] += int(record["call_count"])
                sums[2] += int(record["cycles"])
    assert ours == theirs


@needs_shared
@pytest.mark.corpus
def test_real_details_survive_whole() -> None:
    path = next(REAL.rglob("core0.veccore0_instr_exe.csv"))
    with path.open(newline="") as handle:
        expected = [record["detail"] or None for record in csv.DictReader(handle)]
    assert [row.detail for row in read_file(path).instructions] == expected


@needs_shared
@pytest.mark.corpus
def test_the_clock_of_the_real_run_is_found() -> None:
    results = [read_file(path) for path in REAL.rglob("*_instr_exe.csv")]
    assert any(result.single_calls_untimed for result in results)
    clock = infer_clock(row for result in results for row in result.instructions)
    assert clock is not None
    assert (clock.mhz, clock.nominal) == (1850.0, True)
    assert clock.rows == clock.rows_used > 50
    assert clock.high_mhz - clock.low_mhz < 5


@needs_shared
@pytest.mark.corpus
def test_code_files_of_the_real_run_hold_a_header_only() -> None:
    results = [read_file(path) for path in REAL.rglob("*_code_exe.csv")]
    assert {result.status for result in results} == {"header_only"}
    assert {issue.severity.value for result in results for issue in result.issues} == {"info"}


@needs_shared
@pytest.mark.corpus
def test_files_of_msopgen_are_named_as_such() -> None:
    result = read_file(CORPUS / "legacy-simulator" / "code_exe_prof.csv")
    assert (result.status, codes(result), result.lines) == ("legacy", ["legacy_msopgen"], [])


@needs_shared
@pytest.mark.corpus
def test_a_one_core_run_of_hand_edited_numbers_has_no_clock() -> None:
    (path,) = (CORPUS / "partial-910B").rglob("*_instr_exe.csv")
    result = read_file(path)
    assert result.instructions[0].address == 288400416
    assert infer_clock(result.instructions) is None


# --- small inputs ----------------------------------------------------------------------------------------


@needs_shared
def test_04_a_saturated_counter_is_kept_and_flagged() -> None:
    (path,) = (INPUTS / "04-int32-saturated-cycles").rglob("*.csv")
    rows = read_file(path).lines
    assert [(row.cycles, row.saturated) for row in rows] == [(2147483647, True), (185000, False)]


@needs_shared
def test_05_a_time_of_zero_beside_cycles_is_below_resolution() -> None:
    (path,) = (INPUTS / "05-sim-running-time-rounded-to-zero").rglob("*.csv")
    result = read_file(path)
    short = result.instructions[1]
    assert (short.cycles, short.running_time_us, short.below_resolution) == (8, None, True)
    assert (result.counts.nulls, codes(result)) == (1, ["below_resolution"])
    assert sum(row.cycles or 0 for row in result.instructions) == 88 + 8 + 21 + 950


@needs_shared
def test_18_a_path_in_gb18030_is_read_and_its_encoding_recorded() -> None:
    (path,) = (INPUTS / "18-encoding-bom-gbk-crlf" / "gbk_path").glob("*.csv")
    result = read_file(path)
    assert (result.lines[0].file, result.lines[0].line) == ("/home/用户/算子/核函数.cpp", 12)
    assert result.encoding == "gb18030"


@needs_shared
def test_23_a_line_of_a_run_without_basic_info() -> None:
    (path,) = (INPUTS / "23-simulator-run-has-no-OpBasicInfo").rglob("*.csv")
    (row,) = read_file(path).lines
    assert (row.file, row.line, row.call_count, row.cycles, row.running_time_us) == ("k.cpp", 1, 1, 100, 0.05)


@needs_shared
def test_30_one_bad_cell_costs_one_cell() -> None:
    (path,) = (INPUTS / "30-hostile-code-path").rglob("*.csv")
    result = read_file(path)
    assert [row.cycles for row in result.lines] == [2] * 5
    assert [row.line for row in result.lines] == [1, 1, 7, None, 1]
    assert result.lines[1].file == "bad\\x00.cpp"
    assert result.lines[2].file == "/src/a,b.cpp"
    assert len(result.lines[0].file or "") > 300
    assert result.lines[3].call_count == 0
    assert (result.counts.read, result.counts.lost) == (20, 1)
    (lost,) = [issue for issue in result.issues if issue.cells]
    assert (lost.code, lost.line, lost.column) == ("number_too_long", 6, "call_count")


# --- rows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("printed", ["282135748", "0x10d10cc4", "0X10D10CC4"])
def test_decimal_and_hexadecimal_addresses_are_the_same(printed: str) -> None:
    (row,) = instr(INSTR + f'VADD,{printed},VECTOR,1,88,0.050000,"a:1"\n').instructions
    assert row.address == 0x10D10CC4


@pytest.mark.parametrize("printed", ["0x", "0xzz", "0x" + "f" * 16, "-4", "0x1_0", "f" * 70, "0x" + "1" * 99])
def test_an_address_that_cannot_be_kept_costs_its_cell(printed: str) -> None:
    result = instr(INSTR + f'VADD,{printed},VECTOR,1,88,0.050000,"a:1"\n')
    assert (result.instructions[0].address, result.instructions[0].cycles) == (None, 88)
    (issue,) = result.issues
    assert (issue.column, issue.line, issue.cells, issue.raw) == ("addr", 2, 1, printed)


def test_a_detail_full_of_commas_stays_whole() -> None:
    (row,) = instr(INSTR + 'SET_FLAG,1,MTE2,1,88,0.05,"PIPE:MTE2,TRIGGERPIPE:V,FLAGID:1,"\n').instructions
    assert row.detail == "PIPE:MTE2,TRIGGERPIPE:V,FLAGID:1,"
    assert row.pairs == (("PIPE", "MTE2"), ("TRIGGERPIPE", "V"), ("FLAGID", "1"))


@pytest.mark.parametrize(
    ("detail", "pairs"),
    [
        ("", ()),
        (",,", ()),
        ("id:10", (("id", "10"),)),
        ("XD:X20=0x1, Dtype:F32", (("XD", "X20=0x1"), ("Dtype", "F32"))),
        ("#POST:0,#IMM_TYPE:ZERO,", (("#POST", "0"), ("#IMM_TYPE", "ZERO"))),
        ("shape:1,2,3,id:4", (("shape", "1,2,3"), ("id", "4"))),
        ("path:C:/x,y", (("path", "C:/x,y"),)),
        ("bare,id:1", (("bare", None), ("id", "1"))),
        ("id:1,id:2", (("id", "1"), ("id", "2"))),
    ],
)
def test_details_are_taken_apart(detail: str, pairs: object) -> None:
    assert parse_detail(detail) == pairs


def test_a_comma_in_an_instructions_name_does_not_shift_its_row() -> None:
    (row,) = instr(INSTR + 'user mark, part 2,16,USERMARK,1,88,0.05,"a:1"\n').instructions
    assert (row.instruction, row.address, row.pipe, row.cycles) == ("user mark, part 2", 16, "USERMARK", 88)


@pytest.mark.parametrize(
    ("printed", "file", "line"),
    [
        ("/a/b.cpp:12", "/a/b.cpp", 12),
        ("C:\\src\\k.cpp:7", "C:\\src\\k.cpp", 7),
        ("/a,b/c:d,e.cpp:3", "/a,b/c:d,e.cpp", 3),
        ("/算子/核 函数.cpp:4", "/算子/核 函数.cpp", 4),
        ("no line", "no line", None),
        ("k.cpp:", "k.cpp", None),
        ("k.cpp:x", "k.cpp:x", None),
        ("k.cpp:-1", "k.cpp:-1", None),
    ],
)
def test_code_is_split_from_the_right(printed: str, file: str, line: int | None) -> None:
    (row,) = code(CODE + f"{printed},3,90,0.050000\n").lines
    assert (row.code, row.file, row.line, row.call_count, row.cycles) == (printed, file, line, 3, 90)


@pytest.mark.parametrize(
    ("cells", "column", "code_"),
    [
        ("x,90,0.05", "call_count", "not_a_number"),
        ("-1,90,0.05", "call_count", "negative"),
        ("1.5,90,0.05", "call_count", "fraction_in_count"),
        ("1,18446744073709551615,0.05", "cycles", "integer_too_large"),
        ("1,90,nan", "running_time(us)", "non_finite"),
        ("1,90,1e999", "running_time(us)", "non_finite"),
    ],
)
def test_a_bad_number_costs_its_cell_and_says_where(cells: str, column: str, code_: str) -> None:
    result = code(CODE + f"k.cpp:1,{cells}\n" + "k.cpp:2,1,90,0.05\n")
    (issue,) = result.issues
    assert (issue.code, issue.column, issue.line, issue.cells) == (code_, column, 2, 1)
    assert result.counts.read == 8
    assert result.counts.stored == 7


def test_zero_cycles_in_zero_time_is_zero() -> None:
    (row,) = code(CODE + "k.cpp:1,0,0,0.000000\n").lines
    assert (row.cycles, row.running_time_us, row.below_resolution) == (0, 0.0, False)


def test_na_is_no_value() -> None:
    result = code(CODE + "k.cpp:1,NA,,N/A\n")
    assert (result.lines[0].call_count, result.lines[0].cycles, result.lines[0].running_time_us) == (None,) * 3
    assert (result.counts.nulls, codes(result)) == (3, [])


def test_rows_with_too_few_cells_are_lost_as_a_whole() -> None:
    result = instr(INSTR + "VADD,1,VECTOR\n" + 'VADD,1,VECTOR,1,88,0.05,"a:1"\n')
    assert len(result.instructions) == 1
    assert [(issue.code, issue.line, issue.cells) for issue in result.issues] == [("ragged_row", 2, 3)]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_marks_do_not_matter(end: str, mark: str) -> None:
    text = mark + (CODE + "/a.cpp:1,3,90,0.050000\n/b.cpp:2,3,80,0.040000\n").replace("\n", end)
    result = code(text)
    assert [(row.file, row.cycles) for row in result.lines] == [("/a.cpp", 90), ("/b.cpp", 80)]
    assert codes(result) == []
    assert result.encoding == ("utf-8 (BOM)" if mark else "utf-8")


def test_a_trailing_comma_in_every_line_shifts_nothing() -> None:
    (row,) = code(CODE.replace("\n", ",\n") + "/a,b.cpp:1,3,90,0.050000,\n").lines
    assert (row.file, row.cycles, row.running_time_us) == ("/a,b.cpp", 90, 0.05)


@pytest.mark.parametrize(
    ("data", "status", "codes_"),
    [
        (b"", "empty", ["empty_file"]),
        (CODE.encode(), "header_only", ["header_only"]),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "unrecognised", ["unrecognised_header"]),
        (b"a,b\n1,2\n", "unrecognised", ["unrecognised_header"]),
        (b"line,call count,cycles\n/a.cpp:1,1,2\n", "legacy", ["legacy_msopgen"]),
    ],
)
def test_files_without_rows_say_why(data: bytes, status: str, codes_: list[str]) -> None:
    result = code(data)
    assert (result.status, codes(result)) == (status, codes_)


@pytest.mark.parametrize(
    ("name", "core"),
    [
        ("core0.veccore1", CoreName("core0.veccore1", "aiv", 0, 1)),
        ("core12.cubecore0_instr_exe_20240603022810284.csv", CoreName("core12.cubecore0", "aic", 12, 0)),
        ("core3_code_exe.csv", CoreName("core3", "aicore", 3, None)),
        ("core3x", None),
        ("xcore3", None),
    ],
)
def test_cores_by_their_names(name: str, core: CoreName | None) -> None:
    assert core_of(name) == core


# --- built runs ------------------------------------------------------------------------------------------


def built(kernel: SimulatorKernel, **options: bool) -> list[InstructionStat]:
    texts = [core.instr_csv(kernel.clock, **{**kernel.options, **options}) for core in kernel.cores]
    return [row for text in texts for row in instr(text).instructions]


def test_the_same_run_with_hexadecimal_addresses_is_the_same() -> None:
    assert built(example_kernel()) == built(example_kernel(), hexadecimal=True)


def test_built_rows_hold_what_was_simulated() -> None:
    rows = {row.instruction: row for row in built(example_kernel())}
    copy = rows["MOV_OUT_TO_UB"]
    assert (copy.address, copy.call_count, copy.cycles) == (0x1168DE04, 2, 3002)
    assert copy.running_time_us == pytest.approx(2901 / 1850, abs=0.005)
    assert rows["ADD_IMM"].below_resolution


def test_built_source_lines_survive_their_paths() -> None:
    rows = code(example_kernel().cores[0].code_csv(1850.0)).lines
    assert {(row.file, row.line) for row in rows} == {
        ("/home/dev/算子, v2/add:custom.cpp", line) for line in (41, 42, 43)
    }


@pytest.mark.parametrize("stamped", [False, True])
@pytest.mark.parametrize("device", [None, 3])
def test_layouts_are_found_with_all_their_cores(stamped: bool, device: int | None, tmp_path: Path) -> None:
    kernels = {("add_custom", 0): example_kernel(), ("add_custom", 1): example_kernel(), ("mul", 0): example_kernel()}
    SimulatorRun(kernels, device).write(tmp_path / "OPPROF_20240603022810_ABCDEFGHIJKLMNOP", stamped=stamped)
    (run,) = discover(tmp_path).runs
    assert [(kernel.folder_name, kernel.launch_index) for kernel in run.kernels] == list(kernels)
    assert {kernel.device_id for kernel in run.kernels} == {device}
    for kernel in run.kernels:
        assert sorted(found.kind for found in kernel.files) == ["code_csv"] * 2 + ["instr_csv"] * 2


def test_one_kernel_collapses_into_the_run_folder(tmp_path: Path) -> None:
    SimulatorRun({("add_custom", 0): example_kernel()}).write(tmp_path / "OPPROF_x")
    assert (tmp_path / "OPPROF_x/simulator/core0.veccore0/core0.veccore0_instr_exe.csv").is_file()
    (run,) = discover(tmp_path).runs
    assert len(run.kernels) == 1


# --- the clock -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clock", NOMINAL_MHZ)
@pytest.mark.parametrize("drop_last_call", [False, True])
def test_every_clock_upstream_knows_is_inferred(clock: int, drop_last_call: bool) -> None:
    calls = [[(at, at + 900) for at in range(0, count * 1000, 1000)] for count in range(1, 80, 5)]
    instructions = [Instruction("VADD", at, "VECTOR", own) for at, own in enumerate(calls)]
    kernel = SimulatorKernel([SimulatedCore("core0.veccore0", instructions)], float(clock))
    found = infer_clock(built(kernel, drop_last_call=drop_last_call))
    assert found is not None
    assert (found.mhz, found.nominal) == (clock, True)
    assert found.low_mhz <= clock <= found.high_mhz


def test_overlapping_calls_do_not_raise_the_clock() -> None:
    overlapping = [Instruction("MOV", at, "MTE2", [(0, 1000 + at), (500, 1500 + at)]) for at in range(50)]
    single = [Instruction("MMAD", at, "CUBE", [(0, 5000 + 7 * at)]) for at in range(4)]
    kernel = SimulatorKernel([SimulatedCore("core0.cubecore0", overlapping + single)], 1650.0)
    assert mhz(infer_clock(built(kernel))) == 1650.0


def test_a_clock_that_upstream_does_not_know_is_the_middle_of_its_bracket() -> None:
    single = [Instruction("MMAD", at, "CUBE", [(0, 50_000 + 77 * at)]) for at in range(9)]
    kernel = SimulatorKernel([SimulatedCore("core0.cubecore0", single)], 1400.0)
    found = infer_clock(built(kernel))
    assert found is not None
    assert not found.nominal
    assert found.mhz == pytest.approx(1400.0, abs=1.0)


def test_nothing_timed_gives_no_clock() -> None:
    assert infer_clock([]) is None
    assert infer_clock(code(CODE + "k.cpp:1,1,8,0.000000\n").lines) is None


def mhz(clock: Clock | None) -> float | None:
    return None if clock is None else clock.mhz


# --- damaged files ---------------------------------------------------------------------------------------


def test_instructions_cut_at_every_byte_keep_their_complete_rows() -> None:
    whole = example_kernel().cores[0].instr_csv(1850.0).encode()
    complete = instr(whole).instructions
    for cut in range(len(whole) + 1):
        rows = instr(whole[:cut]).instructions
        ended = max(whole[:cut].count(b"\n") - 1, 0)
        assert rows[:ended] == complete[:ended]
        assert len(rows) <= ended + 1
        for row in rows[ended:]:
            expected = complete[ended]
            assert (row.address, row.cycles, row.running_time_us) == (
                expected.address,
                expected.cycles,
                expected.running_time_us,
            )


def test_lines_cut_at_every_byte_never_show_a_number_that_was_not_printed() -> None:
    whole = (CODE + "/a,b.cpp:41,1234,567890,306.967577\n/c.cpp:7,12,3456,1.868108\n").encode()
    complete = code(whole).lines
    for cut in range(len(CODE), len(whole) + 1):
        rows = code(whole[:cut]).lines
        ended = whole[:cut].count(b"\n") - 1
        assert rows[:ended] == complete[:ended]
        for row in rows[ended:]:
            expected = complete[ended]
            assert (row.code, row.call_count, row.cycles) == (expected.code, expected.call_count, expected.cycles)
            assert row.running_time_us in (None, expected.running_time_us)


ANY = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


@ANY
@given(data=st.binary(max_size=200))
def test_arbitrary_bytes_never_raise(data: bytes) -> None:
    for whole in (data, INSTR.encode() + data, CODE.encode() + data):
        instr(whole)
        code(whole)


CELLS = st.text(alphabet=st.sampled_from('0123456789.,:"-exNAF \x00\r核'), max_size=12)


@ANY
@given(lines=st.lists(st.lists(CELLS, max_size=9), max_size=4))
def test_arbitrary_cells_add_up(lines: Iterable[list[str]]) -> None:
    body = "\n".join(",".join(cells) for cells in lines)
    for result in (instr(INSTR + body), code(CODE + body)):
        infer_clock([*result.instructions, *result.lines])


@given(text=st.text(max_size=60))
def test_any_detail_can_be_taken_apart(text: str) -> None:
    for key, value in parse_detail(text):
        assert isinstance(key, str)
        assert value is None or isinstance(value, str)
