"""Pipe activity and overlap against counting every cycle, and what is withheld or flagged."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opprof_db.msopprof.intervals import IntervalStore, Union
from opprof_db.msopprof.pipe_activity import Activity, PipeActivity, PipeActivityBuilder
from opprof_db.msopprof.trace_reader import TraceReader
from tests.builders.trace import PIPE_NUMBER, AllCoresTrace, Instruction, OneCoreTrace, dump
from tests.shared import CORPUS, INPUTS, needs_shared

REAL_TRACES = sorted(CORPUS.rglob("trace.json")) if CORPUS.is_dir() else []
APART = {"SET_FLAG", "WAIT_FLAG", "BAR", "cache_time", "ccu_time"}


def activity_of(*traces: bytes, core: str | None = None, run_end_us: float | None = None, held: int = 100) -> Activity:
    builder = PipeActivityBuilder(most_held=held)
    for data in traces:
        reader = TraceReader([data], core=core)
        for batch in reader:
            builder.add(batch.events)
        builder.end_trace(reader.summary)
    return builder.finish(run_end_us)


def by_pipe(activity: Activity) -> dict[tuple[str | None, str | None], PipeActivity]:
    return {(pipe.core, pipe.pipe): pipe for pipe in activity.pipes}


def event(ts: float, dur: float, pipe: str = "VECTOR", name: str = "VADD", core: str = "core0.veccore0") -> Any:
    return {"name": name, "ph": "X", "pid": core, "tid": pipe, "ts": ts, "dur": dur, "args": {}}


# Counting every cycle


def busy_cycles(starts_and_ends: list[tuple[float, float]], clock: float) -> set[int]:
    """Every cycle in which something of the list ran."""
    return {cycle for start, end in starts_and_ends for cycle in range(round(start * clock), round(end * clock))}


@needs_shared
@pytest.mark.corpus
def test_busy_and_overlap_of_the_real_traces_equal_counting_every_tenth_of_a_nanosecond() -> None:
    """The real traces print times rounded to 0.001 us, flags in cycles: 0.0001 us resolves the work."""
    seen = 0
    for path in REAL_TRACES:
        data = path.read_bytes()
        try:
            events = json.loads(data)["traceEvents"]
        except ValueError:
            continue
        names = {m["pid"]: m["args"]["name"] for m in events if m["name"] == "process_name"}
        work: dict[str, list[tuple[float, float]]] = defaultdict(list)
        for one in events:
            if one["ph"] == "X" and one["name"] not in APART:
                pipe = names.get(one["pid"], one["tid"])
                work[pipe].append((one["ts"], one["ts"] + one["dur"]))
        cycles = {pipe: busy_cycles(held, 10_000) for pipe, held in work.items()}
        activity = activity_of(data, core=None)
        found = {pipe.pipe: pipe for pipe in activity.pipes}
        for pipe, held in cycles.items():
            noise = 1e-6 * (len(work[pipe]) + 1)
            assert found[pipe].busy_us == pytest.approx(len(held) / 10_000, abs=noise), (path, pipe)
            assert found[pipe].work_events == len(work[pipe])
            if held:
                assert found[pipe].last_us == pytest.approx((max(held) + 1) / 10_000, abs=1e-5)
        for pair in activity.overlaps:
            both = len(cycles[pair.pipe_a] & cycles[pair.pipe_b]) / 10_000
            either = len(cycles[pair.pipe_a] | cycles[pair.pipe_b]) / 10_000
            noise = 1e-6 * (len(work[pair.pipe_a]) + len(work[pair.pipe_b]))
            assert pair.both_us == pytest.approx(both, abs=noise), (path, pair)
            assert pair.either_us == pytest.approx(either, abs=noise)
        seen += 1
    assert seen == 57


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("one_core", [False, True])
def test_busy_overlap_and_gaps_of_random_traces_equal_counting_cycles(seed: int, one_core: bool) -> None:
    chance = random.Random(seed)
    pipes = chance.sample(sorted(PIPE_NUMBER), 4)
    made = []
    for _ in range(300):
        start = chance.randrange(3_000)
        name = chance.choice(["VADD", "MOV", "WAIT_FLAG", "SET_FLAG", "BAR"])
        detail = f"PIPE:{chance.randrange(5)}"
        made.append(Instruction(chance.choice(pipes), name, start, start + chance.randrange(1, 40), detail))
    made = [one for one in made if one.pipe != "USERMARK"]
    data = OneCoreTrace(made).text() if one_core else AllCoresTrace({"core0.veccore0": made}).text()
    activity = activity_of(data, core="core0.veccore0")
    cycles: dict[str, set[int]] = defaultdict(set)
    for one in made:
        if one.name in ("VADD", "MOV"):
            cycles[one.pipe] |= set(range(one.start, one.end))
    found = by_pipe(activity)
    for pipe, busy in cycles.items():
        row = found["core0.veccore0", pipe]
        assert row.busy_us * 1850 == pytest.approx(len(busy), abs=0.2)
        assert row.span_us is not None and row.span_us * 1850 == pytest.approx(max(busy) + 1 - min(busy), abs=0.01)
        idle = sorted(busy)
        gaps = [after - before - 1 for before, after in pairwise(idle) if after > before + 1]
        assert row.gaps == len(gaps)
        shown = (row.gap_p50_us, row.gap_p90_us, row.gap_p99_us, row.gap_max_us)
        for value, share in zip(shown, (50, 90, 99, 100), strict=True):
            assert value is not None
            assert value * 1850 == pytest.approx(float(np.percentile(gaps, share)), abs=0.01)
    assert len(activity.overlaps) == len(cycles) * (len(cycles) - 1) // 2
    for pair in activity.overlaps:
        both, either = cycles[pair.pipe_a] & cycles[pair.pipe_b], cycles[pair.pipe_a] | cycles[pair.pipe_b]
        assert pair.both_us * 1850 == pytest.approx(len(both), abs=0.2)
        assert pair.share == pytest.approx(len(both) / len(either), abs=1e-3)


INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), max_size=15)


@settings(max_examples=200, deadline=None)
@given(INTERVALS, INTERVALS)
def test_unions_and_their_overlap_equal_counting(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> None:
    made = []
    for held in (first, second):
        starts = np.array([float(start) for start, _ in held])
        made.append(Union(starts, starts + np.array([float(length) for _, length in held])))
    cycles = [{at for start, length in held for at in range(start, start + length)} for held in (first, second)]
    assert [union.length for union in made] == [len(held) for held in cycles]
    assert made[0].overlap(made[1]) == made[1].overlap(made[0]) == len(cycles[0] & cycles[1])
    assert all((union.gaps() > 0).all() for union in made)


def test_intervals_beyond_the_limit_go_to_a_file_and_come_back() -> None:
    store: IntervalStore[str] = IntervalStore(most_held=10)
    for at in range(50):
        store.add("ab"[at % 2], np.array([float(at)]), np.array([at + 0.5]))
    starts, ends = store.take("a")
    assert sorted(starts) == [float(at) for at in range(0, 50, 2)]
    assert (ends - starts == 0.5).all()
    assert store.keys() == {"b"}
    store.close()


def test_limit_on_memory_changes_nothing() -> None:
    chance = random.Random(1)
    events = [event(chance.random() * 50, chance.random(), chance.choice("AB")) for _ in range(2_000)]
    few, many = activity_of(dump(events), held=7), activity_of(dump(events), held=10**6)
    assert few == many


# Kinds kept apart


def test_waits_sets_barriers_and_heads_are_not_work() -> None:
    made = [
        Instruction("VECTOR", "VADD", 1850, 3700, fetched=0, issued=925),
        Instruction("VECTOR", "WAIT_FLAG", 3700, 5550, "d"),
        Instruction("MTE2", "SET_FLAG", 0, 5550, "d"),
        Instruction("VECTOR", "BAR", 5550, 7400),
    ]
    activity = activity_of(AllCoresTrace({"core0.veccore0": made}).text())
    row = by_pipe(activity)["core0.veccore0", "VECTOR"]
    assert (row.work_events, row.wait_events, row.barrier_events) == (1, 1, 1)
    assert (row.cache_head_events, row.ccu_head_events, row.events) == (1, 1, 5)
    assert row.busy_us == row.span_us == 1.0
    assert row.wait_us == pytest.approx(1.0)
    assert (row.cache_head_us, row.ccu_head_us) == (0.5, 0.5)
    assert row.barrier_us == pytest.approx(1 / 1850, rel=1e-3)
    assert row.waiting_share == pytest.approx(0.5)
    setting = by_pipe(activity)["core0.veccore0", "MTE2"]
    assert (setting.work_events, setting.busy_us, setting.span_us) == (0, 0.0, None)
    assert activity.flags_collected and activity.heads_collected


def test_without_flags_the_share_of_waiting_is_unknown_not_zero() -> None:
    activity = activity_of(dump([event(0, 1)]))
    assert not activity.flags_collected
    assert activity.pipes[0].waiting_share is None


def test_float32_noise_between_touching_events_is_no_gap() -> None:
    trace = AllCoresTrace({"core0.veccore0": [Instruction("CUBE", "MMAD", at, at + 7) for at in range(0, 700_000, 7)]})
    row = activity_of(trace.text(), held=10**6).pipes[0]
    assert row.gaps == 0 and row.gap_max_us is None
    assert row.busy_us == pytest.approx(row.span_us or 0, rel=1e-4)


def test_one_core_files_of_a_run_come_together() -> None:
    builder = PipeActivityBuilder()
    for core in ("core0.veccore0", "core1.veccore0"):
        reader = TraceReader([OneCoreTrace([Instruction("VECTOR", "VADD", 0, 1850)]).text()], core=core)
        for batch in reader:
            builder.add(batch.events)
        builder.end_trace(reader.summary)
    pipes = builder.finish().pipes
    assert [(pipe.core, pipe.pipe, pipe.busy_us) for pipe in pipes] == [
        ("core0.veccore0", "VECTOR", 1.0),
        ("core1.veccore0", "VECTOR", 1.0),
    ]


# Impossible events and cut traces


@needs_shared
def test_overlapping_work_is_a_union_and_an_event_beyond_the_run_is_left_out_and_shown() -> None:
    activity = activity_of((INPUTS / "15-trace-bad-durations/overlap_same_lane.json").read_bytes())
    row = activity.pipes[0]
    assert (row.work_events, row.impossible_events, activity.run_end_us) == (3, 1, 70.0)
    assert (row.busy_us, row.busy_with_impossible_us, row.span_us) == (45.0, 3_400_000.0, 50.0)


@needs_shared
def test_bad_durations_are_in_no_total() -> None:
    activity = activity_of((INPUTS / "15-trace-bad-durations/trace.json").read_bytes())
    row = next(pipe for pipe in activity.pipes if pipe.work_events)
    assert (row.work_events, row.impossible_events) == (8, 6)
    assert (row.busy_us, row.work_us, row.first_us, row.last_us) == (3.0, 3.0, 11.0, 15.0)


def test_overflowed_ticks_are_beyond_the_run() -> None:
    good = [event(at, 1.5) for at in range(100)]
    wrong = [event(3, 2**64 / 1850), event(2**32 / 1850, 1), event(-4, 1)]
    activity = activity_of(dump([*good, *wrong]))
    assert activity.impossible_events == 3
    assert (activity.pipes[0].busy_us, activity.run_end_us) == (100.5, 100.5)


def test_known_end_of_the_run_has_float32_tolerance() -> None:
    end = float(np.float32(8_765.4321))
    data = dump([event(0, end), event(1, 9_000)])
    assert activity_of(data, run_end_us=8_765.4321).impossible_events == 1


def test_long_and_few_events_are_not_taken_for_impossible() -> None:
    blocks = [event(at * 0.01, 100 + at, f"core{at}", core="BLOCK") for at in range(20)]
    assert activity_of(dump(blocks)).impossible_events == 0
    assert activity_of(dump([event(0, 0.5), event(0, 30)])).impossible_events == 0


def test_cut_trace_keeps_busy_time_and_withholds_spans_and_shares() -> None:
    trace = AllCoresTrace({"core0.veccore0": [Instruction(p, "N", 0, 1850) for p in ("CUBE", "MTE1")]}).text()
    whole, cut = activity_of(trace), activity_of(trace[:-1])
    assert whole.pipes[0].span_us == 1.0 and whole.overlaps[0].share == 1.0
    assert cut.truncated and cut.pipes[0].truncated
    assert (cut.pipes[0].busy_us, cut.overlaps[0].both_us) == (1.0, 1.0)
    row = cut.pipes[0]
    assert {row.first_us, row.last_us, row.span_us, row.busy_share, row.waiting_share} == {None}
    assert cut.overlaps[0].share is None


def test_unmatched_flags_count_as_impossible_and_have_no_length() -> None:
    flag = {"name": "WAIT_FLAG", "ph": "B", "id": "1", "pid": "core0.veccore0", "tid": "VECTOR", "ts": 1, "args": {}}
    row = activity_of(dump([flag])).pipes[0]
    assert (row.wait_events, row.impossible_events, row.wait_us) == (1, 1, 0.0)


def test_nothing_gives_nothing() -> None:
    activity = activity_of(b"")
    assert (activity.pipes, activity.overlaps, activity.impossible_events) == ([], [], 0)
