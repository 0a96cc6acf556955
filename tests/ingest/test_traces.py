"""Traces into SQL: the same events once, exact activity, damage that costs only itself, and out again."""

from __future__ import annotations

import io
import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.ingest import traces
from opprof_db.msopprof.trace_reader import TraceReader
from opprof_db.warehouse.strips import work_strips
from opprof_db.warehouse.trace_export import Window, export
from tests.builders.bin import Bin
from tests.conftest import Cli, Warehouse
from tests.shared import CORPUS, INPUTS, needs_shared

CORE = "core0.veccore0"


def event(name: str, pipe: str, start: float, length: float, **more: object) -> dict[str, object]:
    """An X event of an all-core trace."""
    return {"name": name, "ph": "X", "pid": CORE, "tid": pipe, "ts": start, "dur": length, **more}


ALL_CORES = [
    {"name": "process_sort_index", "ph": "M", "pid": CORE, "tid": "NA", "args": {"sort_index": 1}},
    event("MOV_OUT_TO_UB", "MTE2", 0.0, 4.0, args={"pc_addr": "0x10", "detail": "id:1", "code": "/a.cpp:3\n/b.cpp:9"}),
    event("MOV_OUT_TO_UB", "MTE2", 3.0, 3.0, args={"pc_addr": "0x10", "detail": "id:2", "process_bytes": "4096"}),
    event("VADD", "VECTOR", 5.0, 3.0, args={"pc_addr": "0x14", "detail": "id:1"}),
    event("VADD", "VECTOR", 10.0, 1.0, args={"pc_addr": "0x14", "detail": "id:1"}),
    {"name": "SET_FLAG", "ph": "B", "pid": CORE, "tid": "MTE2", "ts": 6.0, "id": "7"},
    {"name": "SET_FLAG", "ph": "E", "pid": CORE, "tid": "MTE2", "ts": 6.5, "id": "7"},
    {"name": "WAIT_FLAG", "ph": "B", "pid": CORE, "tid": "VECTOR", "ts": 4.0, "id": "7"},
    {"name": "WAIT_FLAG", "ph": "E", "pid": CORE, "tid": "VECTOR", "ts": 5.0, "id": "7"},
    {"name": "flow", "ph": "s", "pid": CORE, "tid": "MTE2", "ts": 6.0, "id": "7", "cat": "MTE2ToVECTOR"},
    {"name": "flow", "ph": "t", "pid": CORE, "tid": "VECTOR", "ts": 5.0, "id": "7", "cat": "MTE2ToVECTOR"},
    {"name": "GM_TO_UB", "ph": "C", "pid": "MTE Throughput", "tid": "NA", "ts": 1.0,
     "args": {"throughput(MB/s)": 512.5}},
]  # fmt: skip


def trace(events: list[dict[str, object]], version: int = 2) -> str:
    return json.dumps({"schemaVersion": version, "displayTimeUnit": "ns", "profilingType": "op", "traceEvents": events})


def simulated(folder: Path, text: str | None = None, **cores: str) -> Path:
    """A simulator run with an all-core trace, and traces of single cores."""
    simulator = folder / "simulator"
    simulator.mkdir(parents=True)
    if text is not None:
        (simulator / "trace.json").write_text(text)
    for name, own in cores.items():
        (simulator / name.replace("_", ".")).mkdir()
        (simulator / name.replace("_", ".") / "trace.json").write_text(own)
    return folder


def test_events_pairs_flows_and_counters_are_stored(warehouse: Warehouse, tmp_path: Path) -> None:
    (outcome,) = warehouse.ingest(simulated(tmp_path / "OPPROF_A", trace(ALL_CORES)))
    assert outcome.kind == "new"
    assert warehouse.rows(
        "SELECT core, pipe, phase, kind, name, ts_us, dur_us, pc_addr, detail FROM trace_event_list ORDER BY ordinal"
    ) == [
        (CORE, "MTE2", "X", "work", "MOV_OUT_TO_UB", 0.0, 4.0, 16, "id:1"),
        (CORE, "MTE2", "X", "work", "MOV_OUT_TO_UB", 3.0, 3.0, 16, "id:2"),
        (CORE, "VECTOR", "X", "work", "VADD", 5.0, 3.0, 20, "id:1"),
        (CORE, "VECTOR", "X", "work", "VADD", 10.0, 1.0, 20, "id:1"),
        (CORE, "MTE2", "P", "set", "SET_FLAG", 6.0, 0.5, None, None),
        (CORE, "VECTOR", "P", "wait", "WAIT_FLAG", 4.0, 1.0, None, None),
    ]
    assert warehouse.rows("SELECT flow_id, category, from_ts_us, to_ts_us FROM trace_flows") == [
        ("7", "MTE2ToVECTOR", 6.0, 5.0)
    ]
    assert warehouse.rows("SELECT name, unit, ts_us, value FROM trace_counters") == [
        ("GM_TO_UB", "throughput(MB/s)", 1.0, 512.5)
    ]
    assert warehouse.value("SELECT count(*) FROM trace_strings WHERE string = 'id:1'") == 1


def test_activity_is_a_union_and_overlap_an_intersection(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(simulated(tmp_path / "OPPROF_A", trace(ALL_CORES)))
    assert warehouse.rows(
        "SELECT pipe, busy_us, work_us, first_us, last_us, gap_max_us, wait_events FROM pipe_activity ORDER BY pipe"
    ) == [("MTE2", 6.0, 7.0, 0.0, 6.0, None, 0), ("VECTOR", 4.0, 4.0, 5.0, 11.0, 2.0, 1)]
    assert warehouse.rows("SELECT pipe_a, pipe_b, both_us, either_us, overlap_share FROM pipe_overlap") == [
        ("MTE2", "VECTOR", 1.0, 9.0, pytest.approx(1 / 9))
    ]


def test_the_all_core_file_is_preferred_and_nothing_stored_twice(warehouse: Warehouse, tmp_path: Path) -> None:
    run = simulated(tmp_path / "OPPROF_A", trace(ALL_CORES), core0_veccore0=trace(ALL_CORES))
    Bin().trace(trace(ALL_CORES)).write(run / "simulator")
    warehouse.ingest(run)
    assert warehouse.rows("SELECT path FROM trace_files") == [("simulator/trace.json",)]
    assert warehouse.value("SELECT count(*) FROM trace_events") == 6
    assert warehouse.rows("SELECT path, status FROM artifacts WHERE kind = 'trace' ORDER BY path") == [
        ("simulator/core0.veccore0/trace.json", "same_events_elsewhere"),
        ("simulator/trace.json", "read"),
    ]


def test_the_bin_serves_where_no_file_holds_events(warehouse: Warehouse, tmp_path: Path) -> None:
    run = simulated(tmp_path / "OPPROF_A", "")
    Bin().trace(trace(ALL_CORES)).write(run / "simulator")
    warehouse.ingest(run)
    assert warehouse.rows("SELECT path, events FROM trace_files WHERE events > 0") == [
        ("simulator/visualize_data.bin", 6)
    ]
    assert warehouse.value("SELECT status FROM artifacts WHERE kind = 'trace'") == "empty"


def test_summary_keeps_activity_and_no_events_and_none_keeps_nothing(warehouse: Warehouse, tmp_path: Path) -> None:
    run = simulated(tmp_path / "OPPROF_A", trace(ALL_CORES))
    full = Warehouse(tmp_path / "full.db")
    full.ingest(run)
    warehouse.ingest(run, trace="summary")
    for table in ("pipe_activity", "pipe_overlap"):
        assert warehouse.rows(f"SELECT * FROM {table}") == full.rows(f"SELECT * FROM {table}") != []
    assert warehouse.value("SELECT count(*) FROM trace_events") == 0
    nothing = Warehouse(tmp_path / "nothing.db")
    nothing.ingest(run, trace="none")
    assert nothing.value("SELECT count(*) FROM pipe_activity") == 0
    assert nothing.value("SELECT status FROM artifacts WHERE kind = 'trace'") == "not_asked_for"


def test_a_large_trace_is_summarised_and_says_how_to_get_all(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "FULL_UP_TO_BYTES", 100)
    warehouse.ingest(simulated(tmp_path / "OPPROF_A", trace(ALL_CORES)))
    assert warehouse.value("SELECT kept FROM trace_files") == "summary"
    ((code, message),) = warehouse.rows("SELECT code, message FROM ingest_issues")
    assert code == "trace_summarised"
    assert "--trace full" in message


def test_many_batches_and_forgotten_strings_give_the_same(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More distinct texts than are remembered: a text may stand twice, what is read back is the same."""
    monkeypatch.setattr(traces, "STRINGS_HELD", 3)
    events = [event(f"OP{at % 50}", "VECTOR", at, 0.5, args={"detail": f"id:{at}"}) for at in range(20_000)]
    warehouse.ingest(simulated(tmp_path / "OPPROF_A", trace(events)))
    assert warehouse.rows("SELECT name, detail, ts_us FROM trace_event_list ORDER BY ordinal") == [
        (f"OP{at % 50}", f"id:{at}", float(at)) for at in range(20_000)
    ]
    assert warehouse.value("SELECT busy_us FROM pipe_activity") == 10_000.0


def read_back(text: str) -> tuple[Counter, Counter, Counter]:
    """Events, flows and counters of a trace as the reader sees them, without places."""
    reader = TraceReader([text.encode()])
    batches = list(reader)
    lanes = [(lane.core or lane.process, lane.pipe or lane.thread) for lane in reader.summary.lanes]
    events: Counter = Counter()
    flows: Counter = Counter()
    counters: Counter = Counter()
    for batch in batches:
        e, f, c = batch.events, batch.flows, batch.counters
        for at in range(len(e)):
            length = e.dur_us[at]
            events[
                lanes[e.lane[at]], e.phase[at], e.kind[at], e.name[at], e.ts_us[at],
                None if length is None else round(length, 9), e.pc_addr[at], e.code[at], e.detail[at],
                e.process_bytes[at], e.group_id[at], e.pair_id[at], e.other[at],
            ] += 1  # fmt: skip
        for at in range(len(f)):
            flows[f.flow_id[at], f.category[at], f.from_ts_us[at], f.to_ts_us[at]] += 1
        for at in range(len(c)):
            counters[c.process[at], c.name[at], c.unit[at], c.ts_us[at], c.value[at]] += 1
    return events, flows, counters


def exported(warehouse: Warehouse, window: Window | None = None) -> str:
    out = io.StringIO()
    with closing(sqlite3.connect(warehouse.path)) as connection:
        export(connection, 1, out, window)
    return out.getvalue()


def test_an_exported_trace_reads_back_as_the_same_events(warehouse: Warehouse, tmp_path: Path) -> None:
    text = trace(ALL_CORES)
    warehouse.ingest(simulated(tmp_path / "OPPROF_A", text))
    again = exported(warehouse)
    assert json.loads(again)["schemaVersion"] == 2
    assert read_back(again) == read_back(text)


def objects(text: str) -> Counter:
    """The event objects themselves; empty args are none, and the end of a pair is exact to 1e-9 us."""
    found: Counter = Counter()
    for event in json.loads(text)["traceEvents"]:
        held = {key: value for key, value in event.items() if key != "args" or value}
        held["ts"] = round(held["ts"], 9) if "ts" in held else None
        found[json.dumps(held, sort_keys=True)] += 1
    return found


def test_every_event_object_comes_back(warehouse: Warehouse, tmp_path: Path) -> None:
    """Also those of an E that has arguments, a colour or a lane of its own."""
    text = trace(ALL_CORES)
    made = json.loads(text)
    ends = [event for event in made["traceEvents"] if event["ph"] == "E"]
    assert len(ends) >= 2
    ends[0]["args"] = {"detail": "FLAG:3", "result": [1, 2]}
    ends[0]["cname"] = "other"
    ends[0]["extra"] = "member"
    ends[1].pop("cname", None)
    text = json.dumps(made)
    warehouse.ingest(simulated(tmp_path / "OPPROF_A", text))
    assert objects(exported(warehouse)) == objects(text)


def test_a_window_of_time_leaves_out_what_does_not_reach_into_it(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(simulated(tmp_path / "OPPROF_A", trace(ALL_CORES)))
    names = [e["name"] for e in json.loads(exported(warehouse, Window(8.5, 20.0)))["traceEvents"] if e["ph"] == "X"]
    assert names == ["VADD"]


@needs_shared
def test_real_per_core_traces_go_in_and_out_unchanged(warehouse: Warehouse) -> None:
    folder = CORPUS / "gemv-910B3-simulator"
    warehouse.ingest(folder)
    events: Counter = Counter()
    for path in folder.rglob("trace.json"):
        for key, count in read_back(path.read_text())[0].items():
            events[key[1:]] += count  # one file names its lanes by the core's name
    back: Counter = Counter()
    for key, count in read_back(exported(warehouse))[0].items():
        back[key[1:]] += count
    assert sum(events.values()) > 20_000
    assert back == events


PIPE_OF_PID = {
    10: "SCALAR", 20: "SCALARLDST", 30: "VECTOR", 40: "CUBE", 50: "MTE1", 60: "MTE2", 70: "MTE3", 80: "FIXP",
    90: "FLOWCTRL", 100: "ALL", 110: "CACHEMISS", 120: "USERMARK",
}  # fmt: skip


@needs_shared
def test_real_busy_times_equal_a_count_step_by_step(warehouse: Warehouse) -> None:
    """Brute force over the trace of one core, with nothing of the project: marks every 0.0001 us of work."""
    path = next(p for p in sorted((CORPUS / "gemv-910B3-simulator").rglob("trace.json")) if "veccore0" in str(p))
    warehouse.ingest(CORPUS / "gemv-910B3-simulator")
    core = path.parent.name
    raw = json.loads(path.read_text())["traceEvents"]
    artificial = {"SET_FLAG", "WAIT_FLAG", "BAR", "cache_time", "ccu_time"}
    marked: dict[str, set[int]] = {}
    for e in raw:
        if e["ph"] == "X" and e["name"] not in artificial and not e["name"].startswith("BAR"):
            steps = marked.setdefault(PIPE_OF_PID[e["pid"]], set())
            steps.update(range(round(e["ts"] * 1e4), round((e["ts"] + e["dur"]) * 1e4)))
    stored = dict(warehouse.rows("SELECT pipe, busy_us FROM pipe_activity WHERE core = ? AND work_events > 0", core))
    assert len(stored) >= 4
    for pipe, busy in stored.items():
        assert busy == pytest.approx(len(marked[pipe]) / 1e4, abs=2e-3), pipe


@needs_shared
@pytest.mark.parametrize(
    ("folder", "events"), [("object_not_closed", 2), ("cut_in_string", 1), ("array_no_bracket", 1)]
)
def test_13_complete_events_before_the_cut_are_stored(warehouse: Warehouse, folder: str, events: int) -> None:
    warehouse.ingest(INPUTS / "13-trace-truncated" / folder)
    assert warehouse.rows("SELECT truncated, events FROM trace_files") == [(1, events)]
    assert warehouse.value("SELECT count(*) FROM trace_events") == events
    assert warehouse.value("SELECT count(*) FROM pipe_activity WHERE span_us IS NOT NULL") == 0


@needs_shared
def test_13_zero_byte_files_are_reported_as_empty(cli: Cli) -> None:
    done = cli("ingest", INPUTS / "13-trace-truncated" / "zero_byte")
    assert done.returncode == 3
    assert "trace.json is empty" in done.stdout
    assert "visualize_data.bin is empty" in done.stdout


@needs_shared
def test_15_impossible_lengths_are_issues_and_never_in_totals(warehouse: Warehouse, tmp_path: Path) -> None:
    run = tmp_path / "OPPROF_A" / "simulator"
    run.mkdir(parents=True)
    (run / "trace.json").write_bytes((INPUTS / "15-trace-bad-durations" / "trace.json").read_bytes())
    warehouse.ingest(tmp_path / "OPPROF_A")
    elements = len(json.loads((run / "trace.json").read_text(), parse_int=float)["traceEvents"])
    assert warehouse.value("SELECT elements FROM trace_files") == elements
    assert warehouse.value("SELECT count(*) FROM ingest_issues WHERE byte_offset IS NOT NULL") > 0  # type: ignore[operator]
    assert warehouse.value("SELECT count(*) FROM trace_events WHERE dur_us < 0 AND flags & 2 = 0") == 0
    totals = warehouse.rows("SELECT busy_us, busy_with_impossible_us FROM pipe_activity")
    assert all(busy is None or 0 <= busy < 1e9 for busy, _ in totals)


@needs_shared
def test_15_overlaps_within_one_pipe_are_normal(warehouse: Warehouse, tmp_path: Path) -> None:
    run = tmp_path / "OPPROF_A" / "simulator"
    run.mkdir(parents=True)
    (run / "trace.json").write_bytes((INPUTS / "15-trace-bad-durations" / "overlap_same_lane.json").read_bytes())
    warehouse.ingest(tmp_path / "OPPROF_A")
    ((busy, with_impossible, impossible),) = warehouse.rows(
        "SELECT busy_us, busy_with_impossible_us, impossible_events FROM pipe_activity"
    )
    assert (busy, with_impossible, impossible) == (45.0, 3_400_000.0, 1)


@needs_shared
def test_cycles_of_an_older_tool_never_stand_among_microseconds(warehouse: Warehouse, tmp_path: Path) -> None:
    run = tmp_path / "OPPROF_A" / "simulator"
    run.mkdir(parents=True)
    (run / "trace.json").write_bytes((CORPUS / "legacy-simulator" / "dump2json_core0.json").read_bytes())
    warehouse.ingest(tmp_path / "OPPROF_A")
    assert warehouse.value("SELECT count(*) FROM trace_events") == 0
    assert warehouse.value("SELECT count(*) FROM pipe_activity") == 0
    assert warehouse.rows("SELECT status FROM artifacts WHERE kind = 'trace'") == [("legacy",)]
    assert warehouse.rows("SELECT code FROM ingest_issues WHERE severity = 'error'") == [("legacy_trace",)]


@needs_shared
def test_a_git_lfs_pointer_is_named(warehouse: Warehouse) -> None:
    warehouse.ingest(CORPUS / "lfs-pointer-950")
    assert warehouse.value("SELECT status FROM artifacts WHERE kind = 'trace'") == "lfs_pointer"
    assert warehouse.value("SELECT count(*) FROM ingest_issues WHERE message LIKE '%LFS%'") == 1


def test_strips_show_when_pipes_worked(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(simulated(tmp_path / "OPPROF_A", trace(ALL_CORES)))
    with closing(sqlite3.connect(warehouse.path)) as connection:
        strips = work_strips(connection, 1, CORE, 11)
    assert strips == {
        "MTE2": [1.0] * 6 + [0.0] * 5,
        "VECTOR": [0.0] * 5 + [1.0] * 3 + [0.0] * 2 + [1.0],
    }


def test_pipeline_and_trace_export_on_the_command_line(cli: Cli, tmp_path: Path) -> None:
    cli("ingest", simulated(tmp_path / "OPPROF_A", trace(ALL_CORES)))
    shown = cli("pipeline", "last").stdout
    assert "VECTOR" in shown
    assert "█" in shown
    (core,) = json.loads(cli("pipeline", "last", "-f", "json").stdout)
    assert {pipe["pipe"]: pipe["busy_us"] for pipe in core["pipes"]} == {"MTE2": 6.0, "VECTOR": 4.0}
    out = tmp_path / "out.json"
    assert cli("trace", "export", "last", "-o", out).returncode == 0
    assert read_back(out.read_text()) == read_back(trace(ALL_CORES))
    again = cli("trace", "export", "last", "-o", out)
    assert again.returncode == 2
    assert "exists already" in again.stderr
    wrong = cli("pipeline", "last", "--core", "core0.veccore7")
    assert wrong.returncode == 2
    assert "did you mean core0.veccore0" in wrong.stderr
