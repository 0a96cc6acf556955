"""Numbers to read, texts that hide nothing, paths cut down, and traces joined without leaving anything out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opprof_db.report.figures.timeline import fitting, union
from opprof_db.report.numbers import bytes_text, percent, readable, us_text
from opprof_db.report.texts import for_figure, shortened, visible, without_paths


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0"),
        (0.861857, "0.862"),
        (2049.780029, "2,050"),
        (22123.4, "22,100"),
        (9.9996, "10.0"),
        (81928, "81,928"),
        (0.00001234, "1.23e-05"),
        (-4.5678, "-4.57"),
        (1e20, "1.00e+20"),
    ],
)
def test_readable(value: float | None, text: str) -> None:
    assert readable(value) == text


def test_units() -> None:
    assert bytes_text(369064 * 1024) == "360 MiB"
    assert bytes_text(25) == "25 B"
    assert us_text(22123.0) == "22.1 ms"
    assert us_text(269.18) == "269 us"
    assert percent(0.99999) == "100 %"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/me/work/OPPROF_1", "…/OPPROF_1"),
        ("at /home/me/x.cpp:41, then", "at …/x.cpp:41, then"),
        ("--output=/data/out/run", "--output=…/run"),
        ("file:///root/a/b", "…/b"),
        (r"C:\Users\me\x.cpp", "…/x.cpp"),
        ("1/2 of GM/L2", "1/2 of GM/L2"),
        ("https://example.org/a/b", "https://example.org/a/b"),
        ("sub/folder/file.csv", "sub/folder/file.csv"),
    ],
)
def test_without_paths(text: str, shown: str) -> None:
    assert without_paths(text) == shown


def test_what_cannot_be_seen_is_written_out() -> None:
    assert visible("a\x00b\u202ec\u200f") == "a\\x00b\\u202ec\\u200f"
    assert visible("核函数 ü\n\t") == "核函数 ü\n\t"
    assert for_figure("<b>x</b>") == "&lt;b&gt;x&lt;/b&gt;"
    assert len(shortened("x" * 10_000, 60)) == 60


spans = st.lists(
    st.tuples(st.floats(0, 1000, allow_nan=False), st.floats(0, 5, allow_nan=False)), min_size=1, max_size=60
)


@given(spans, spans, st.integers(2, 40))
def test_joining_keeps_every_event_and_all_work(a: list, b: list, most: int) -> None:
    lanes = [
        union(np.array([start for start, _ in lane]), np.array([start + length for start, length in lane]))
        for lane in (a, b)
    ]
    drawn, closed = fitting(lanes, most)
    assert sum(len(lane.start) for lane in drawn) <= most
    for before, after, events in zip(lanes, drawn, (a, b), strict=True):
        assert after.events.sum() == len(events)
        assert after.busy.sum() == pytest.approx(before.length.sum())
        assert (after.busy <= after.length + 1e-9).all()
        assert after.start[0] == before.start[0]
    if sum(len(lane.start) for lane in lanes) <= most:
        assert closed == 0.0
