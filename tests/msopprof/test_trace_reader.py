"""trace.json: what is read from whole, cut and damaged traces, and what is said about the rest."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opprof_db.msopprof.trace_events import CounterBatch, EventBatch, Flag, FlowBatch, Kind
from opprof_db.msopprof.trace_json import MAX_EVENT_BYTES
from opprof_db.msopprof.trace_lanes import TraceKind
from opprof_db.msopprof.trace_reader import TraceReader, TraceSummary
from tests.builders.trace import COUNTERS, AllCoresTrace, Instruction, OneCoreTrace, device_trace, dump
from tests.shared import CORPUS, INPUTS, needs_shared

REAL_TRACES = sorted(CORPUS.rglob("trace.json")) if CORPUS.is_dir() else []


class Read:
    """Everything a reader gave."""

    def __init__(self, data: bytes | Iterable[bytes], core: str | None = None) -> None:
        reader = TraceReader([data] if isinstance(data, bytes) else data, "trace.json", core)
        self.events, self.flows, self.counters = EventBatch(), FlowBatch(), CounterBatch()
        for batch in reader:
            self.events.extend(batch.events)
            for whole, part in ((self.flows, batch.flows), (self.counters, batch.counters)):
                for column in type(whole).__slots__:
                    getattr(whole, column).extend(getattr(part, column))
        self.summary: TraceSummary = reader.summary
        self.issues = list(reader.issues)

    @property
    def codes(self) -> list[str]:
        return [issue.code for issue in self.issues]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Events in file order."""
        columns = EventBatch.__slots__
        values = zip(*(getattr(self.events, column) for column in columns), strict=True)
        return sorted((dict(zip(columns, row, strict=True)) for row in values), key=lambda row: row["ordinal"])

    def pipe_of(self, row: dict[str, Any]) -> str | None:
        pipe: str | None = self.summary.lanes[row["lane"]].pipe
        return pipe


def work(name: str = "VADD", ts: float = 1.0, dur: float = 0.5, **members: Any) -> dict[str, Any]:
    args = {"code": "a.cpp:1", "detail": "x", "pc_addr": "0x10"}
    event = {"name": name, "cname": "c", "ph": "X", "pid": "core0.veccore0", "tid": "VECTOR", "ts": ts, "dur": dur}
    return {**event, "args": args, **members}


def text(*elements: str, close: str = "]}") -> bytes:
    return ('{"profilingType":"op","traceEvents":[' + ",".join(elements) + close).encode()


GOOD = json.dumps(work(), separators=(",", ":"))
PIPELINE = [
    Instruction("SCALAR", "MOV_XD_IMM", 100, 102, "XD:X1=0,", 0x1000, "add.cpp:10\nkernel.h:3", fetched=90, issued=95),
    Instruction("MTE2", "MOV_OUT_TO_UB", 102, 400, "Src:OUT,", 0x1004, moved=32),
    Instruction("MTE2", "SET_FLAG", 395, 401, "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:0,", 0x1008),
    Instruction("VECTOR", "WAIT_FLAG", 110, 402, "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:0,", 0x100C),
    Instruction("VECTOR", "VADD", 402, 420, "Dtype:F16,", 0x1010),
    Instruction("ALL", "BAR", 405, 430, "PIPE:ALL", 0x1014),
]


def test_all_core_trace_gives_cores_pipes_kinds_and_arguments() -> None:
    read = Read(AllCoresTrace({"core0.veccore1": PIPELINE}).text())
    assert read.summary.kind is TraceKind.ALL_CORES
    assert read.summary.schema_version == 2
    assert not read.summary.truncated and not read.issues
    kinds = [(row["name"], Kind(row["kind"]), read.pipe_of(row)) for row in read.rows]
    assert kinds == [
        ("cache_time", Kind.CACHE_HEAD, "SCALAR"),
        ("ccu_time", Kind.CCU_HEAD, "SCALAR"),
        ("MOV_XD_IMM", Kind.WORK, "SCALAR"),
        ("MOV_OUT_TO_UB", Kind.WORK, "MTE2"),
        ("VADD", Kind.WORK, "VECTOR"),
        ("BAR", Kind.BARRIER, "ALL"),
        ("SET_FLAG", Kind.SET, "MTE2"),
        ("WAIT_FLAG", Kind.WAIT, "VECTOR"),
    ]
    assert {read.summary.lanes[row["lane"]].core for row in read.rows} == {"core0.veccore1"}
    scalar, copy = read.rows[2], read.rows[3]
    assert (scalar["pc_addr"], scalar["code"], scalar["group_id"]) == (0x1000, "add.cpp:10\nkernel.h:3", "MOV_XD_IMM0")
    assert (copy["process_bytes"], copy["detail"], copy["phase"]) == (32, "Src:OUT,", "X")
    assert read.summary.has_flags and read.summary.has_heads


def test_flag_halves_become_one_event_and_their_flow_names_both() -> None:
    trace = AllCoresTrace({"core0.veccore1": PIPELINE})
    read = Read(trace.text())
    setting, waiting = read.rows[6], read.rows[7]
    assert (setting["phase"], setting["pair_id"]) == ("P", "core0.veccore1_0")
    assert waiting["dur_us"] == pytest.approx(trace.us(402) - trace.us(110))
    assert read.summary.pairs == 2 and read.summary.flows == 1
    assert read.flows.category == ["MTE2ToVECTOR"]
    assert read.flows.from_event == [setting["ordinal"]] and read.flows.to_event == [waiting["ordinal"]]
    assert read.flows.from_ts_us == [trace.us(401)] and read.flows.to_ts_us == [trace.us(402)]


def test_flag_without_its_other_half_is_kept_flagged_and_counted() -> None:
    flag = {"name": "SET_FLAG", "id": "f", "pid": "core0.veccore0", "tid": "MTE2", "cname": "black", "args": {}}
    begin, end = {**flag, "ph": "B", "ts": 1.0}, {**flag, "name": "WAIT_FLAG", "ph": "E", "ts": 2.0}
    flow = {"name": "flow", "id": "f", "cat": "AToB", "ph": "s", "pid": "core0.veccore0", "tid": "MTE2", "ts": 1.0}
    read = Read(dump([begin, end, flow]))
    assert [(row["phase"], row["flags"], row["ts_us"], row["dur_us"]) for row in read.rows] == [
        ("B", Flag.UNMATCHED, 1.0, None),
        ("E", Flag.UNMATCHED, 2.0, None),
    ]
    assert read.flows.flags == [Flag.UNMATCHED] and read.flows.to_ts_us == [None]
    counts = read.summary.unmatched_begins, read.summary.unmatched_ends, read.summary.unmatched_flows
    assert counts == (1, 1, 1)
    assert read.codes == ["unmatched"] * 3


def test_halves_that_stand_apart_and_interleave_are_joined_by_id_and_name() -> None:
    shared = {"pid": "core0.veccore0", "tid": "MTE2", "name": "SET_FLAG", "args": {}}
    order = [("B", "a", 1.0), ("B", "b", 2.0), ("E", "a", 4.0), ("E", "b", 8.0)]
    read = Read(dump([{**shared, "ph": phase, "id": flag, "ts": ts} for phase, flag, ts in order]))
    assert [(row["pair_id"], row["ts_us"], row["dur_us"]) for row in read.rows] == [("a", 1.0, 3.0), ("b", 2.0, 6.0)]


def test_pair_whose_end_stands_in_another_lane_is_joined() -> None:
    shared = {"pid": "core0.veccore0", "name": "SET_INTRA_BLOCK", "id": "intra_0", "args": {}}
    begin = {**shared, "ph": "B", "tid": "WARP_1", "ts": 1.0}
    read = Read(dump([begin, {**shared, "ph": "E", "tid": "VECTOR", "ts": 3.0}]))
    assert [(row["phase"], row["dur_us"], read.pipe_of(row)) for row in read.rows] == [("P", 2.0, "WARP_1")]


def test_counters_are_megabytes_per_second_with_the_closing_zero() -> None:
    read = Read(AllCoresTrace({"core0.veccore0": PIPELINE}, throughput=[[10.5, 0, 10.5, 0, 0, 0]]).text())
    assert read.counters.name == [*COUNTERS, *COUNTERS]
    assert read.counters.value == [10.5, 0, 10.5, 0, 0, 0, *[0.0] * 6]
    assert read.counters.ts_us == [0.0] * 6 + [1.0] * 6
    assert set(read.counters.unit) == {"throughput(MB/s)"}


def test_one_core_trace_tells_pipes_by_number_and_links_flows_by_time() -> None:
    read = Read(OneCoreTrace(PIPELINE).text(), core="core0.veccore1")
    assert read.summary.kind is TraceKind.ONE_CORE
    assert not read.issues
    assert {(row["name"], read.pipe_of(row)) for row in read.rows} == {(one.name, one.pipe) for one in PIPELINE}
    assert {read.summary.lanes[row["lane"]].core for row in read.rows} == {"core0.veccore1"}
    named = {row["ordinal"]: row["name"] for row in read.rows}
    assert [named[event] for event in read.flows.from_event if event is not None] == ["SET_FLAG"]
    assert [named[event] for event in read.flows.to_event if event is not None] == ["WAIT_FLAG"]


def test_pipes_of_process_zero_are_told_apart_by_thread_names_that_come_last() -> None:
    events = [work(pid=0, tid=1), work(pid=0, tid=2)]
    names = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": lane, "args": {"name": f"{pipe}_{lane}"}}
        for lane, pipe in ((1, "RVECEX"), (2, "RVECLD"))
    ]
    read = Read(dump([*events, *names]))
    assert [read.pipe_of(row) for row in read.rows] == ["RVECEX", "RVECLD"]


def test_device_trace_is_recognised_and_its_own_arguments_are_kept_as_text() -> None:
    read = Read(device_trace())
    assert read.summary.kind is TraceKind.DEVICE
    assert read.rows[1]["other"] == '{"block_id":0,"core_id":0,"core_type":1,"warp_id":3}'
    assert [row["dur_us"] for row in read.rows] == [9.0, 2.5]


def test_user_marks_are_no_work() -> None:
    mark = work("MARK_0", tid="USERMARK", args={"trace_start": "a.cpp:1", "trace_stop": "a.cpp:9"})
    row = Read(dump([mark])).rows[0]
    assert (row["kind"], row["other"]) == (Kind.MARKER, '{"trace_start":"a.cpp:1","trace_stop":"a.cpp:9"}')


def test_addresses_in_decimal_and_hexadecimal_are_one_number() -> None:
    args = {"code": "", "detail": ""}
    read = Read(dump([work(args={**args, "pc_addr": value}) for value in ("0x10d0d01c", "282120220", 282120220)]))
    assert read.events.pc_addr == [282120220] * 3


def test_pretty_printed_trace_reads_the_same() -> None:
    whole = AllCoresTrace({"core0.veccore1": PIPELINE}, throughput=[[1.0] * 6]).text()
    pretty = Read(json.dumps(json.loads(whole), indent=2).encode())
    plain = Read(whole)
    without_place = [{**row, "offset": 0} for row in pretty.rows]
    assert without_place == [{**row, "offset": 0} for row in plain.rows]
    assert pretty.counters == plain.counters and not pretty.issues


def test_each_event_says_where_it_stands() -> None:
    data = dump([work(name=f"n{at}", dur=True if at == 700 else 1.0) for at in range(1_500)])
    for row in Read(data).rows:
        assert data[row["offset"] :].startswith(b'{"args"')
        assert json.JSONDecoder().raw_decode(data[row["offset"] :].decode())[0]["name"] == f"n{row['ordinal']}"


# Cut, empty and foreign files


def test_cut_at_every_byte_keeps_exactly_the_events_before_the_cut() -> None:
    trace = AllCoresTrace({"core0.veccore1": PIPELINE[:3]}, throughput=[[1.0] * 6])
    trace.cores["core0.veccore1"].append(Instruction("MTE2", "N", 1, 2, '}},{"name":"[]}', code="\\"))
    data = trace.text()
    starts, at = [], data.index(b'"traceEvents":[') + 15
    decoder = json.JSONDecoder()
    plain = data.decode()
    while plain[at] != "]":
        _, end = decoder.raw_decode(plain, at)
        starts.append((at, end))
        at = end + (plain[end] == ",")
    for cut in range(len(data)):
        read = Read(data[:cut])
        assert read.summary.elements == sum(end <= cut for _, end in starts), cut
        assert read.summary.truncated == (cut > 0), cut
        assert read.summary.lost == 0
        assert set(read.codes) <= {"truncated", "unmatched", "not_msopprof", "empty"}
    assert not Read(data).summary.truncated


@needs_shared
def test_cut_inputs_keep_complete_events_and_are_marked() -> None:
    folder = INPUTS / "13-trace-truncated"
    array = Read((folder / "array_no_bracket/trace.json").read_bytes())
    assert [(row["name"], row["ts_us"], row["dur_us"]) for row in array.rows] == [("typecheck", 4619295550.0, 8000.0)]
    string = Read((folder / "cut_in_string/trace.json").read_bytes())
    assert [(row["name"], row["dur_us"]) for row in string.rows] == [("MMAD", 0.14)]
    whole = Read((folder / "object_not_closed/trace.json").read_bytes())
    assert [(row["name"], row["kind"]) for row in whole.rows] == [("MMAD", Kind.WORK), ("Finishing", Kind.MARKER)]
    assert whole.summary.schema_version == 1
    for read in (array, string, whole):
        assert read.summary.truncated and "truncated" in read.codes
    empty = Read((folder / "zero_byte/trace.json").read_bytes())
    assert (empty.summary.kind, empty.codes, empty.summary.events) == (TraceKind.EMPTY, ["empty"], 0)


@needs_shared
def test_bad_durations_are_issues_with_their_place_and_stay_without_a_number() -> None:
    data = (INPUTS / "15-trace-bad-durations/trace.json").read_bytes()
    read = Read(data)
    rows = {row["name"]: row for row in read.rows}
    assert len(rows) == 9
    for name in ("overflow", "nan_text", "bool", "text_number", "huge_int"):
        assert rows[name]["dur_us"] is None and rows[name]["flags"] & Flag.NO_TIME
        place = data.index(f'{{"name":"{name}"'.encode())
        assert rows[name]["offset"] == place
        about = [issue for issue in read.issues if issue.offset == place and issue.column == "dur"]
        assert len(about) == 1 and about[0].raw and name in about[0].raw
    assert rows["negative"]["flags"] & Flag.ENDS_BEFORE_START
    assert "ends_before_start" in read.codes
    assert (rows["zero"]["dur_us"], rows["valid"]["dur_us"], rows["instant"]["kind"]) == (0.0, 3.0, Kind.MARKER)
    assert rows["zero"]["flags"] == rows["valid"]["flags"] == 0


@needs_shared
def test_older_tool_and_pointers_are_called_what_they_are() -> None:
    for path in sorted((CORPUS / "legacy-simulator").glob("*.json")):
        assert Read(path.read_bytes()).summary.kind is TraceKind.LEGACY, path.name
    pointer = next((CORPUS / "lfs-pointer-950").rglob("trace.json"))
    read = Read(pointer.read_bytes())
    assert (read.summary.kind, read.codes) == (TraceKind.LFS_POINTER, ["lfs_pointer"])


@needs_shared
@pytest.mark.corpus
def test_every_event_of_the_real_traces_is_read_and_every_flow_finds_its_flags() -> None:
    seen = 0
    for path in REAL_TRACES:
        try:
            events = json.loads(path.read_bytes())["traceEvents"]
        except ValueError:
            continue  # the pointer and the cut one
        read = Read(path.read_bytes(), core=path.parent.name)
        expected = [event for event in events if event["ph"] in "XBE"]
        assert [row["name"] for row in read.rows] == [event["name"] for event in expected]
        assert [row["ts_us"] for row in read.rows] == [event["ts"] for event in expected]
        assert len(read.flows) == sum(event["ph"] == "s" for event in events)
        if read.summary.kind is TraceKind.ONE_CORE:
            assert None not in read.flows.from_event and None not in read.flows.to_event
            names = {(m["pid"]): m["args"]["name"] for m in events if m["name"] == "process_name"}
            assert [read.pipe_of(row) for row in read.rows] == [names[event["pid"]] for event in expected]
        assert not [issue for issue in read.issues if issue.code != "unmatched"]
        seen += 1
    assert seen == 57


# Damage


DAMAGES = {
    "raw control character": (GOOD.replace('"x"', '"x\x01\ny"'), "control_character", 3),
    "invalid UTF-8": (GOOD.replace('"x"', '"x\udcff"'), "bad_encoding", 3),
    "duplicate key": (GOOD.replace('"dur":0.5', '"dur":9,"dur":0.5'), "duplicate_key", 3),
    "duplicate key in args": (GOOD.replace('"detail":"x"', '"detail":"y","detail":"x"'), "duplicate_key", 3),
    "NaN": (GOOD.replace("0.5", "NaN"), "non_finite", 3),
    "text in ts": (GOOD.replace('"ts":1.0', '"ts":"1"'), "wrong_type", 3),
    "list in name": (GOOD.replace('"VADD"', '["VADD"]'), "wrong_type", 3),
    "missing ts": (GOOD.replace('"ts":1.0,', ""), "missing_ts", 3),
    "NUL in text": (GOOD.replace('"x"', '"x\\u0000"'), "nul_in_text", 3),
    "bad address": (GOOD.replace("0x10", "0xzz"), "not_a_number", 3),
    "no phase": ('{"name":"a"}', "no_phase", 2),
    "null": ("null", "stray_text", 2),
    "a list": ('[{"a":1}]', "not_an_event", 2),
    "a text": ('"a"', "not_an_event", 2),
    "missing colon": (GOOD.replace('"ts":', '"ts"'), "unreadable_event", 2),
    "stray quote": (GOOD.replace('"x"', '"x""'), "unreadable_event", 2),
    "missing bracket": (GOOD[:-1], "unreadable_event", 2),
    "spare bracket": (GOOD + "]", "stray_text", 3),
    "deep nesting": (GOOD.replace('"x"', "[" * 5_000 + "]" * 5_000), "nested_too_deep", 2),
    "deep nesting, open": (GOOD.replace('"x"', "[" * 5_000), "nested_too_deep", 2),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("neighbours", [1, 700])
def test_damage_costs_only_itself_and_is_reported_with_its_place(damage: str, neighbours: int) -> None:
    element, code, kept = DAMAGES[damage]
    before = ",".join([GOOD] * neighbours)
    data = ('{"profilingType":"op","traceEvents":[' + ",".join([before, element, before]) + "]}").encode(
        "utf-8", "surrogateescape"
    )
    read = Read(data)
    assert len(read.events) == 2 * neighbours + kept - 2
    assert code in read.codes
    issue = next(issue for issue in read.issues if issue.code == code)
    assert issue.offset is not None and issue.raw
    place = data.index(b"[") + 1 + len(before) + 1
    assert place <= issue.offset <= place + len(element)
    assert not read.summary.truncated
    sound = [row for row in read.rows if not row["flags"] and row["detail"] == "x" and row["dur_us"] == 0.5]
    assert len(sound) >= 2 * neighbours


@pytest.mark.parametrize("data", [text(GOOD, GOOD, close=",]}"), text(GOOD, "", GOOD), text(GOOD, GOOD) + b"\x00" * 9])
def test_trailing_and_double_commas_and_padding_cost_nothing(data: bytes) -> None:
    read = Read(data)
    assert len(read.events) == 2 and not read.issues and not read.summary.truncated


def test_bare_arrays_and_byte_order_marks_are_read() -> None:
    assert len(Read(f"[{GOOD},{GOOD}]".encode()).events) == 2
    assert len(Read(b"\xef\xbb\xbf" + text(GOOD)).events) == 1


def test_header_behind_the_events_and_large_unknown_members_are_read_over() -> None:
    data = b'{"stackFrames":{"1":[{"a":"]"}]},"big":"' + b"x" * 300_000 + b'","traceEvents":[' + GOOD.encode()
    read = Read(data + b'],"schemaVersion":2,"profilingType":"op"}')
    assert len(read.events) == 1 and not read.issues
    assert read.summary.header == {"schemaVersion": 2, "profilingType": "op"}
    assert read.summary.kind is TraceKind.ALL_CORES


def test_enormous_event_is_skipped() -> None:
    def blocks() -> Iterable[bytes]:
        yield text(GOOD, close=',{"name":"a\\"')
        for _ in range(MAX_EVENT_BYTES * 5 // (1 << 20)):
            yield b"y" * (1 << 20)
        yield f'"}},{GOOD}]}}'.encode()

    read = Read(blocks())
    assert len(read.events) == 2 and read.codes == ["event_too_large"] and not read.summary.truncated


def test_long_event_within_the_limit_is_kept() -> None:
    detail = "y" * (3 << 20)
    read = Read(dump([work(), work(args={"code": "", "detail": detail, "pc_addr": "1"}), work()]))
    assert [len(row["detail"]) for row in read.rows] == [1, len(detail), 1] and not read.issues


def test_no_more_lanes_than_a_limit() -> None:
    read = Read(dump([work(tid=f"t{at}") for at in range(2_000)]))
    assert len(read.summary.lanes) == 2_000


# Any bytes

PIECES = st.sampled_from(
    [GOOD, ",", "]", "}", "[", "{", '"', "\\", ":", "null", "1e309", '"ph":"B"', '"id":1', '"traceEvents":[', "\x00"]
)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_make_the_reader_fail(data: bytes) -> None:
    Read(data)
    Read(b'{"traceEvents":[' + data)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.text(max_size=5), max_size=40), st.integers(1, 50))
def test_no_arrangement_of_json_makes_the_reader_fail(pieces: list[str], step: int) -> None:
    data = "".join(pieces).encode("utf-8", "replace")
    whole = Read(data)
    stepped = Read([data[at : at + step] for at in range(0, len(data), step)])
    assert stepped.rows == whole.rows


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda held: st.lists(held, max_size=3) | st.dictionaries(st.text(max_size=5), held, max_size=3),
    max_leaves=8,
)
KEYS = ("name", "cname", "ph", "pid", "tid", "ts", "dur", "id", "cat", "args", "group_id", "else")
PHASES = st.sampled_from("XBEstCMi")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=12), max_size=5), PHASES)
def test_events_of_any_types_are_kept_or_counted_as_lost(events: list[dict[str, Any]], phase: str) -> None:
    shaped = [{"ph": phase, **event} for event in events]
    read = Read(json.dumps({"traceEvents": [work(), *shaped, work()]}).encode())
    assert read.summary.elements == len(events) + 2
    assert sum(row["detail"] == "x" and row["name"] == "VADD" for row in read.rows) >= 2
    assert all(row["ts_us"] is None or isinstance(row["ts_us"], float) for row in read.rows)


def test_reading_a_file_names_it_in_issues(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(text(GOOD, close=""))
    reader = TraceReader.open(path, "simulator/trace.json")
    assert sum(len(batch.events) for batch in reader) == 1
    assert [(issue.code, issue.path) for issue in reader.issues] == [("truncated", "simulator/trace.json")]
