"""visualize_data.bin: blocks, records, and what becomes of damaged files."""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opprof_db.msopprof.bin_advice import Reliability
from opprof_db.msopprof.bin_blocks import walk_blocks
from opprof_db.msopprof.bin_memory import MEMORY_PATHS, OTHER_PIPES_VOLUME
from opprof_db.msopprof.issues import IssueLog
from opprof_db.msopprof.visualize_bin import BinData, read_bin
from tests.builders import bin as make
from tests.builders.bin import Bin
from tests.shared import CORPUS, INPUTS, needs_shared

ANY_FIXTURE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
REAL_BINS = sorted(CORPUS.rglob("visualize_data.bin")) if CORPUS.is_dir() else []
NUMERIC_BLOCKS = (5, 6, 7, 8, 9, 12, 13)
INDEXES = {"position", "row", "column", "order"}


def read(data: bytes, folder: Path, *, cache_lines: bool = False) -> BinData:
    path = folder / "visualize_data.bin"
    path.write_bytes(data)
    return read_bin(path, "visualize_data.bin", cache_lines=cache_lines)


def codes(data: BinData) -> list[str]:
    return [issue.code for issue in data.issues]


def leaf_paths(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Where the numbers of a JSON value are, numbers printed as text among them."""
    if isinstance(value, dict):
        for key, held in value.items():
            if not key.endswith(" Dtype"):  # how the viewer draws columns: no data
                yield from leaf_paths(held, (*path, key))
    elif isinstance(value, list):
        for at, held in enumerate(value):
            yield from leaf_paths(held, (*path, at))
    elif is_number(value):
        yield path


def is_number(value: object) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return isinstance(value, int | float)


def at(value: object, path: tuple[object, ...]) -> object:
    for key in path:
        value = value[key]  # type: ignore[index]
    return value


def replace_at(value: object, path: tuple[object, ...], new: object) -> None:
    held = at(value, path[:-1])
    held[path[-1]] = new  # type: ignore[index]


def numbers(record: object) -> Iterator[int | float]:
    """Every number in records, positions that this program counts itself left out."""
    if dataclasses.is_dataclass(record):
        for field in dataclasses.fields(record):
            if field.name not in INDEXES:
                yield from numbers(getattr(record, field.name))
    elif isinstance(record, list | tuple):
        for held in record:
            yield from numbers(held)
    elif isinstance(record, int | float) and not isinstance(record, bool):
        yield record


def all_numbers(data: BinData) -> set[int | float]:
    parts = (
        data.basics,
        data.durations,
        data.loads,
        data.memory,
        data.tables,
        data.table_cells,
        data.occupancy,
        data.roofline,
        data.hot_lines,
        data.hot_instructions,
        data.stalls,
        data.cache_lines,
    )
    return {number for part in parts for number in numbers(part)}


def payloads(path: Path, kinds: tuple[int, ...]) -> Iterator[tuple[int, dict[str, object]]]:
    for block in walk_blocks(path, IssueLog()):
        if block.type in kinds:
            yield block.type, json.loads(block.read())


def assert_every_number_is_found(path: Path, kinds: tuple[int, ...], folder: Path) -> int:
    """Give every leaf a number of its own, read again, and look for each."""
    made, wanted, renumbered = Bin(), {}, 1_000_003
    for kind, value in payloads(path, kinds):
        for leaf in list(leaf_paths(value)):
            old = at(value, leaf)
            replace_at(value, leaf, str(renumbered) if isinstance(old, str) else renumbered)
            wanted[renumbered] = (kind, leaf)
            renumbered += 1
        made.add(kind, value)
    found = all_numbers(read(made.data, folder, cache_lines=True))
    assert not {where for number, where in wanted.items() if number not in found}
    return len(wanted)


# --- real captures ---------------------------------------------------------------------------------------


@needs_shared
@pytest.mark.corpus
@pytest.mark.parametrize("path", REAL_BINS, ids=lambda path: path.parent.name)
def test_every_number_of_a_real_bin_is_in_the_records(path: Path, tmp_path: Path) -> None:
    found = all_numbers(read_bin(path))
    for _, value in payloads(path, NUMERIC_BLOCKS):
        for leaf in leaf_paths(value):
            held = at(value, leaf)
            assert (float(held) if isinstance(held, str) else held) in found, leaf
    assert assert_every_number_is_found(path, NUMERIC_BLOCKS, tmp_path) > 50


@needs_shared
@pytest.mark.corpus
@pytest.mark.parametrize("path", REAL_BINS, ids=lambda path: path.parent.name)
def test_a_real_bin_has_no_surprises(path: Path) -> None:
    data = read_bin(path, cache_lines=True)
    assert list(data.issues) == []
    assert data.status == "read"
    assert {block.status for block in data.blocks} == {"read"}
    assert data.cache_lines == []
    assert any(advice.reliability is Reliability.UNRELIABLE for advice in data.advice)


@needs_shared
@pytest.mark.corpus
def test_basics_of_a_real_mix_kernel() -> None:
    data = read_bin(CORPUS / "bin-mix-910B4" / "visualize_data.bin")
    basics = data.basics
    assert basics is not None
    assert (basics.soc, basics.block_dim, basics.mix_block_dim, basics.pid) == ("Ascend910B4", 2, 4, 1112422)
    assert basics.current_freq_mhz is None
    assert [(one.block_id, one.core, one.duration_us) for one in data.durations[:3]] == [
        (0, "cube0", 250.377579),
        (0, "vector0", 133.206055),
        (0, "vector1", 247.620605),
    ]
    assert "HBM Vector Core0" in {table.table for table in data.tables}


@needs_shared
def test_a_zero_byte_bin_is_reported_as_empty() -> None:
    data = read_bin(INPUTS / "13-trace-truncated" / "zero_byte" / "visualize_data.bin")
    assert (data.status, codes(data)) == ("empty", ["empty_file"])


# --- built: every block type -----------------------------------------------------------------------------


def test_every_number_of_every_block_type_is_in_the_records(tmp_path: Path) -> None:
    path = make.mix_bin().add(15, make.top_stalls()).write(tmp_path / "mix")
    assert assert_every_number_is_found(path, (3, 5, 6, 7, 8, 9, 12, 13, 14, 15), tmp_path) > 100
    path = make.simulator_bin().write(tmp_path / "simulator")
    assert assert_every_number_is_found(path, (3, 4), tmp_path) > 20


def test_all_blocks_of_a_built_bin_are_read(tmp_path: Path) -> None:
    data = read(make.mix_bin().data, tmp_path)
    assert list(data.issues) == []
    assert [block.type for block in data.blocks] == [5, 6, 7, 8, 9, 12, 13, 1, 3, 4, 14]
    assert [block.status for block in data.blocks if block.status != "read"] == ["not_asked_for"]
    assert {block.version for block in data.blocks if block.type == 4} == {0}
    assert {block.version for block in data.blocks if block.type != 4} == {None}


def test_rows_shorter_than_their_head_keep_their_cores(tmp_path: Path) -> None:
    durations = read(make.mix_bin().data, tmp_path).durations
    assert [one.core for one in durations if one.block_id == 1] == ["cube0", "vector0"]


def test_310p_has_durations_without_a_block(tmp_path: Path) -> None:
    block = make.basics([[12.5]], op_type="AiCore", soc="Ascend310P3", cur_freq="N/A")
    core = make.memory_core("NA", [make.path(20, 5, 1.0, chip="310P")], {}, op_type="AiCore", chip="310P")
    data = read(Bin().add(5, block).add(8, make.memory_map([core])).data, tmp_path)
    assert [(one.block_id, one.core, one.duration_us) for one in data.durations] == [(None, "AiCore", 12.5)]
    assert data.memory.paths[0].path == "L2/UB>L1"
    assert data.memory.paths[0].core_no is None
    assert codes(data) == []


def test_950_has_paths_of_its_own_and_right_active_bandwidths(tmp_path: Path) -> None:
    paths = [make.path(1, 5, 1.0, chip="950"), make.path(48, 5, 1.0, chip="950")]
    core = make.memory_core("0", paths, {"Vector": (1, 2)}, op_type="mix", chip="950")
    made = Bin().add(8, make.memory_map([core])).add(9, make.memory_tables([[make.pipe_table()]], op_type="mix"))
    data = read(made.data, tmp_path)
    assert codes(data) == []
    assert [(path.path, path.theoretical) for path in data.memory.paths] == [("L2>GM", False), ("L2>DCache", False)]
    assert data.memory.cores[0].memory_detail == 0
    assert not any(cell.flag for cell in data.table_cells)


def test_na_is_no_value_and_zero_is_zero(tmp_path: Path) -> None:
    paths = {path.path_code: path for path in read(make.mix_bin().data, tmp_path).memory.paths}
    assert (paths[13].request, paths[13].bandwidth_gb_s) == (None, None)
    assert paths[1].theoretical
    assert not paths[0].theoretical


def test_active_bandwidths_of_mix_vector_pipes_are_flagged(tmp_path: Path) -> None:
    cells = read(make.mix_bin().data, tmp_path).table_cells
    flagged = {(cell.row_name, cell.column_name) for cell in cells if cell.flag == OTHER_PIPES_VOLUME}
    assert flagged == {("MTE2", "active bw(GB/s)"), ("MTE3", "active bw(GB/s)")}
    vector = Bin().add(9, make.memory_tables([[make.pipe_table("Pipe")]]))
    assert not any(cell.flag for cell in read(vector.data, tmp_path).table_cells)


def test_advice_carries_its_reliability(tmp_path: Path) -> None:
    advice = {one.block: one for one in read(make.mix_bin().data, tmp_path).advice}
    assert advice["memory_tables"].reliability is Reliability.UNRELIABLE
    assert advice["memory_tables"].block_id == 1
    assert advice["roofline"].reliability is Reliability.MAYBE_OTHER_KERNEL
    assert advice["occupancy"].text == "vector1 of core[1] take more time than other vector cores."


def test_a_point_above_the_roof_has_no_share(tmp_path: Path) -> None:
    points = read(make.mix_bin().data, tmp_path).roofline
    assert [point.roof_share for point in points] == [0.731429, None]
    assert points[1].ops_per_byte == 9.5


def test_simulator_values_go_to_their_cores_and_minus_one_is_none(tmp_path: Path) -> None:
    data = read(make.simulator_bin().data, tmp_path)
    first, second = data.hot_instructions
    assert first.address == 0x10D0B000
    assert [(one.core, one.cycles) for one in first.values] == [("core0.cubecore0", None), ("core0.veccore0", 900)]
    assert first.values[1].real_stall_cycles == 7
    assert second.values[0].ub_write_conflicts is None
    assert data.hot_lines[0].address_ranges[0] == (0x10D0B000, 0x10D0B008)
    assert [one.process_bytes for one in data.hot_lines[0].values] == [None, 4096]
    assert data.traces[0].payload_size == len(b"".join(data.traces[0].stream(7)))


def test_cache_rates_printed_as_text_are_numbers(tmp_path: Path) -> None:
    old = make.hot_instructions(["ALL"], [make.device_instruction("0x10", 1, rate="62.500000")])
    assert read(Bin().add(4, old).data, tmp_path).hot_instructions[0].values[0].l2_hit_rate_pct == 62.5


def test_register_states_are_kept_as_json(tmp_path: Path) -> None:
    block = make.hot_instructions(["ALL"], [make.device_instruction("0x10", 1, stalls=True)])
    (instruction,) = read(Bin().add(4, block).data, tmp_path).hot_instructions
    assert json.loads(instruction.gpr_status or "") == [{"regIndex": "R1", "regStatus": 2, "survivalTime": 9}]


def test_stall_cycles_under_their_older_name(tmp_path: Path) -> None:
    instruction = {**make.simulator_instruction("0x10", [5]), "TheoreticalStallCycles": [3]}
    data = read(Bin().add(4, make.hot_instructions(["core0.veccore0"], [instruction])).data, tmp_path)
    assert data.hot_instructions[0].values[0].theoretical_stall_cycles == 3
    assert codes(data) == []


def test_stall_samples_of_lines_and_of_the_kernel(tmp_path: Path) -> None:
    lines = make.hot_lines(["ALL"], "k.cpp", [make.device_line(3, 1, stalls=True)])
    data = read(Bin().add(15, make.top_stalls()).add(3, lines).data, tmp_path)
    assert codes(data) == []
    top = {one.reason: one.samples for one in data.stalls if one.scope == "top"}
    assert top["IBuf_Empty"] == 9
    assert len(top) == 8
    active = [one for one in data.stalls if one.reason == "Active"]
    assert [(one.owner, one.scope, one.samples) for one in active] == [("line", "all_samples", 8)]
    assert {one.share for one in data.stalls if one.reason is None} == {0.25, 0.125}


def test_only_used_cache_lines_and_only_when_asked_for(tmp_path: Path) -> None:
    data = make.mix_bin().data
    assert read(data, tmp_path).cache_lines == []
    (line,) = read(data, tmp_path, cache_lines=True).cache_lines
    assert (line.line_id, line.hits, line.misses, line.hit_share) == (3, 30, 10, 0.75)


def test_a_source_text_is_kept_once_per_content(tmp_path: Path) -> None:
    made = Bin()
    for _ in range(3):
        made.source("/src/a.cpp", "one\n")
    made.source("/src/b.cpp", "one\n").source("/src/a.cpp", "two\n").source("/src/核.cpp", "核".encode("gb18030"))
    sources = read(made.data, tmp_path).sources
    assert [(file.path, file.encoding) for file in sources.files.values()] == [
        ("/src/a.cpp", "utf-8"),
        ("/src/b.cpp", "utf-8"),
        ("/src/a.cpp", "utf-8"),
        ("/src/核.cpp", "gb18030"),
    ]
    assert sorted(sources.texts.values()) == ["one\n", "two\n", "核"]


# --- values that cannot be kept --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "code"),
    [
        ('"9223372036854775808"', "integer_too_large"),
        ("18446744073709551615", "integer_too_large"),
        ("9" * 5000, "number_too_long"),
        ("1e999", "non_finite"),
        ("NaN", "non_finite"),
        ('"inf"', "non_finite"),
        ('"12us"', "not_a_number"),
        ("true", "not_a_number"),
        ("[1]", "not_a_number"),
    ],
)
def test_a_number_that_cannot_be_kept_is_an_issue_with_its_text(printed: str, code: str, tmp_path: Path) -> None:
    text = '{"name":"k","pid":"7","device_id":"9223372036854775807","duration":' + printed + "}"
    data = read(make.block(5, text.encode()), tmp_path)
    assert data.basics is not None
    assert (data.basics.duration_us, data.basics.name, data.basics.pid) == (None, "k", 7)
    assert data.basics.device_id == 2**63 - 1
    (issue,) = data.issues
    assert (issue.code, issue.column, issue.offset) == (code, "operator_basics.duration", 0)
    assert issue.raw


def test_text_numbers_keep_their_kind(tmp_path: Path) -> None:
    tables = make.memory_tables([[make.table("T", ["a", "b", "c", "d"], {"r": ["7", "7.0", "-", ""]})]])
    values = [cell.value for cell in read(Bin().add(9, tables).data, tmp_path).table_cells]
    assert values == [7, 7.0, None, None]
    assert [type(value) for value in values[:2]] == [int, float]


def test_unknown_keys_are_named_with_their_value(tmp_path: Path) -> None:
    block = {**make.basics([[1.0]]), "thermal": {"celsius": 71}}
    (issue,) = read(Bin().add(5, block).data, tmp_path).issues
    assert (issue.code, issue.column, issue.raw) == ("unknown_key", "operator_basics.thermal", '{"celsius": 71}')


def test_lone_surrogates_do_not_reach_the_records(tmp_path: Path) -> None:
    data = read(make.block(5, rb'{"name":"a\ud800","\ud801":1}'), tmp_path)
    assert data.basics is not None
    (data.basics.name or "").encode()
    for issue in data.issues:
        f"{issue.column}{issue.raw}{issue.message}".encode()


# --- damaged files ---------------------------------------------------------------------------------------


def test_unknown_and_unparsable_blocks_cost_only_themselves(tmp_path: Path) -> None:
    good = make.block(5, make.dump(make.basics([[1.0]])))
    deep = make.block(6, b"[" * 100_000)
    data = read(make.block(99, b"new") + make.block(13, b"{oops") + deep + make.block(7, b"[]") + good, tmp_path)
    assert [block.status for block in data.blocks] == ["unknown", "unparsable", "unparsable", "unparsable", "read"]
    assert data.blocks[0].size == 4
    assert data.status == "partial"
    assert data.basics is not None


def test_a_size_beyond_the_file_keeps_what_stands_before(tmp_path: Path) -> None:
    good = make.block(5, make.dump(make.basics([[1.0]])))
    data = read(good + struct.pack("<QBBBB", 2**63, 6, 0, 0x5A, 0x5A) + b"{}", tmp_path)
    assert [block.status for block in data.blocks] == ["read", "cut"]
    assert sorted((issue.code, issue.offset) for issue in data.issues) == [
        ("cut_block", len(good)),
        ("integer_too_large", len(good)),
    ]
    assert data.blocks[1].size == 2**63 - 1


def test_a_cut_trace_is_handed_on_and_marked(tmp_path: Path) -> None:
    data = read(make.block(2, b'{"traceEvents":[{"ph":"X"},')[:-6], tmp_path)
    (trace,) = data.traces
    assert not trace.complete
    assert trace.read().startswith(b'{"traceEvents"')


def test_a_padding_larger_than_its_block_is_not_believed(tmp_path: Path) -> None:
    payload = make.dump(make.top_stalls())
    data = read(struct.pack("<QBBBB", len(payload), 15, 255, 0x5A, 0x5A) + payload, tmp_path)
    assert codes(data) == ["bad_padding"]
    assert len(data.stalls) == 8


def test_a_padding_that_is_not_empty_is_reported(tmp_path: Path) -> None:
    data = read(struct.pack("<QBBBB", 4, 99, 2, 0x5A, 0x5A) + b"{}xy", tmp_path)
    assert "padding_not_empty" in codes(data)


@pytest.mark.parametrize("rest", [b"\x00" * 4096, b"garbage"])
def test_trailing_bytes_are_reported_once(rest: bytes, tmp_path: Path) -> None:
    good = make.block(5, make.dump(make.basics([[1.0]])))
    data = read(good + rest, tmp_path)
    assert (codes(data), len(data.blocks)) == (["trailing_bytes"], 1)


def test_a_second_block_of_a_type_is_reported_and_the_first_kept(tmp_path: Path) -> None:
    made = Bin().add(5, make.basics([[1.0]], name="first")).add(5, make.basics([[2.0]], name="second"))
    data = read(made.data, tmp_path)
    assert data.basics is not None
    assert data.basics.name == "first"
    assert (codes(data), data.blocks[1].status) == (["repeated_block"], "repeated")


def test_a_missing_file_is_an_issue(tmp_path: Path) -> None:
    assert codes(read_bin(tmp_path / "nothing.bin")) == ["unreadable_file"]


def test_a_lfs_pointer_says_what_to_do(tmp_path: Path) -> None:
    data = read(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n", tmp_path)
    assert codes(data) == ["lfs_pointer"]


def test_cut_at_every_byte_keeps_complete_blocks(tmp_path: Path) -> None:
    parts = [
        make.block(15, make.dump(make.top_stalls())),
        make.block(13, make.dump({"multiple_rooflines": [], "advice": "none bound"})),
        make.block(5, make.dump(make.basics([[1.0]]))),
    ]
    whole = b"".join(parts)
    ends = [sum(map(len, parts[: at + 1])) for at in range(len(parts))]
    for cut in range(len(whole) + 1):
        data = read(whole[:cut], tmp_path)
        complete = [end for end in ends if end <= cut]
        assert [block.status for block in data.blocks if block.status == "read"] == ["read"] * len(complete)
        assert bool(list(data.issues)) == (cut not in ends)


def test_cuts_inside_a_source_block_keep_what_stands_before(tmp_path: Path) -> None:
    before = make.block(15, make.dump(make.top_stalls()))
    whole = before + make.block(1, b"int main() {}", path="/src/a.cpp")
    for cut in (*range(len(before) + 1, len(before) + 14), *range(len(whole) - 18, len(whole))):
        data = read(whole[:cut], tmp_path)
        assert len(data.stalls) == 8
        assert not data.sources.files
        assert codes(data)


@ANY_FIXTURE
@given(data=st.binary(max_size=300))
def test_arbitrary_bytes_never_raise(data: bytes, tmp_path: Path) -> None:
    read(data, tmp_path, cache_lines=True)


@ANY_FIXTURE
@given(kind=st.integers(0, 20), pad=st.integers(0, 255), size=st.integers(0, 2**64 - 1), rest=st.binary(max_size=60))
def test_arbitrary_headers_never_raise(kind: int, pad: int, size: int, rest: bytes, tmp_path: Path) -> None:
    read(struct.pack("<QBBBB", size, kind, pad, 0, 0) + rest, tmp_path, cache_lines=True)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
TEMPLATES = [
    (kind, json.dumps(value))
    for kind, value in (
        (block[0], json.loads(block[1]))
        for block in (
            (5, make.dump(make.basics([[1.0, 2.0, 3.0]], op_type="mix"))),
            (6, make.dump(make.loads([make.load("0", "cube0", "Cube FP", 3, 1.0, 2.0)]))),
            (8, make.dump(make.memory_map([make.memory_core("0", [make.path(0, 1, 1.0)], {"Cube": (1, 2)})]))),
            (9, make.dump(make.memory_tables([[make.pipe_table()]], op_type="mix"))),
            (12, make.dump(make.occupancy({0: [make.subcore("vector", 0, 1, 2, 3.0, simt=4)]}))),
            (13, make.dump(make.roofline())),
            (3, make.dump(make.hot_lines(["a", "b"], "k", [make.simulator_line(1, [1, 2], [3, 4])]))),
            (3, make.dump(make.hot_lines(["ALL"], "k", [make.device_line(1, 2, stalls=True)]))),
            (4, make.dump(make.hot_instructions(["a"], [make.simulator_instruction("0x1", [1], scalar=True)]))),
            (14, make.dump(make.cache_lines({0: (1, 2)}, lines=1))),
            (15, make.dump(make.top_stalls())),
        )
    )
]


def nodes(value: object, path: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Where anything can be replaced."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in inner:
        yield from nodes(held, (*path, key))


@ANY_FIXTURE
@given(data=st.data(), template=st.sampled_from(TEMPLATES), new=JSON_VALUES)
def test_any_value_of_a_wrong_kind_never_raises(
    data: st.DataObject, template: tuple[int, str], new: object, tmp_path: Path
) -> None:
    kind, text = template
    value = json.loads(text)
    replace_at(value, data.draw(st.sampled_from(list(nodes(value)))), new)
    read(make.block(kind, json.dumps(value).encode()), tmp_path, cache_lines=True)


def test_every_path_code_of_the_writer_has_a_name() -> None:
    assert set(MEMORY_PATHS) == {*range(26), *range(35, 56)}
