"""What the gate decides, over plain samples of durations; each output is parsed back."""

from __future__ import annotations

import json
import random
import re
import sqlite3
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opprof_db.analysis.gate import Alone, Gate, GatePair, GateSide, judge
from opprof_db.analysis.gate_output import COLUMNS, COMMENT_CHARS, as_json, junit, markdown, rows
from opprof_db.analysis.gate_rules import KernelRules, Rules, rules

NOWHERE = sqlite3.connect(":memory:")
"""Without limits the judgement asks no database."""
BASE = (100.0, 100.4, 99.8, 100.2, 99.9)
durations = st.lists(st.floats(0.1, 1e6), min_size=2, max_size=12)


def pair(base: object, candidate: object, operator: str | None = "MatMul", **more: object) -> GatePair:
    first, second = tuple(base), tuple(candidate)  # type: ignore[call-overload]
    sides = (
        GateSide(tuple(range(1, len(first) + 1)), first),
        GateSide(tuple(range(1001, len(second) + 1001)), second),
    )
    return GatePair(operator, "", *sides, **more)  # type: ignore[arg-type]


def gate(*pairs: GatePair, by: Rules | None = None, **more: object) -> Gate:
    return judge(NOWHERE, pairs, by or Rules(), base="before", candidate="after", **more)  # type: ignore[arg-type]


def scaled(sample: object, factor: float) -> list[float]:
    return [value * factor for value in sample]  # type: ignore[attr-defined]


@given(durations)
def test_a_run_with_itself_passes(sample: list[float]) -> None:
    side = GateSide(tuple(range(len(sample))), tuple(sample))
    for by in (Rules(), Rules(max_regression=0.0)):
        found = gate(GatePair("MatMul", "", side, side), by=by)
        assert found.passed
        assert found.kernels[0].change_share == 0.0
        assert found.kernels[0].reason == "the very same launches"


@given(durations)
def test_ten_per_cent_more_fails_five_and_passes_fifteen(sample: list[float]) -> None:
    held = pair(sample, scaled(sample, 1.1))
    assert not gate(held, by=rules(max_regression="5%")).passed
    assert gate(held, by=rules(max_regression="15%")).passed
    assert gate(held, by=rules(max_regression="10%")).passed  # exactly the threshold is allowed


@given(durations, durations, st.randoms())
def test_shuffling_launches_changes_nothing(base: list[float], candidate: list[float], order: random.Random) -> None:
    def shuffled(side: GateSide) -> GateSide:
        held = list(zip(side.kernel_ids, side.durations_us, strict=True))
        order.shuffle(held)
        return GateSide(*(tuple(column) for column in zip(*held, strict=True)))  # type: ignore[arg-type]

    one = pair(base, candidate)
    other = replace(one, base=shuffled(one.base), candidate=shuffled(one.candidate))
    first, second = gate(one), gate(other)
    assert first.passed == second.passed
    assert rows(first) == rows(second)
    several = [replace(one, operator=name) for name in ("a", "b", "c")]
    assert rows(gate(*several)) == rows(gate(*reversed(several)))


@given(durations, durations, st.floats(0, 0.5), st.floats(0, 0.5))
def test_a_laxer_gate_never_fails_what_a_stricter_one_passed(
    base: list[float], candidate: list[float], one: float, other: float
) -> None:
    held = pair(base, candidate)
    strict, lax = (gate(held, by=Rules(max_regression=share)) for share in sorted((one, other)))
    assert lax.passed or not strict.passed


def test_a_clear_slowdown_is_a_regression_with_its_figures() -> None:
    (found,) = gate(pair(BASE, scaled(BASE, 1.1))).kernels
    assert (found.status, found.failed) == ("regression", True)
    assert found.change_share == pytest.approx(0.1)
    assert found.change_us == pytest.approx(10.0)
    assert (found.base_launches, found.candidate_launches) == (5, 5)
    assert found.noise_us == pytest.approx(0.4627, abs=0.0001)  # 2.306 * 1.2533 * sqrt((0.058 + 0.07018) / 5)
    assert found.reason == "100 to 110 us, +10.00%: slower by more than 5 %"


def test_a_slowdown_within_the_spread_is_inconclusive_and_the_switch_says_what_becomes_of_it() -> None:
    held = pair((80.0, 100.0, 120.0), (90.0, 108.0, 130.0))
    (found,) = gate(held).kernels
    assert (found.status, found.failed) == ("inconclusive", True)
    assert "the launches' spread" in found.reason
    assert gate(held, by=Rules(inconclusive="pass")).passed
    compared = gate(held, by=Rules(inconclusive="compare"))
    assert compared.kernels[0].status == "regression"


@pytest.mark.parametrize(
    ("candidate", "verdicts"),
    [
        (100.0, {"fail": False, "pass": True, "compare": True}),
        (104.0, {"fail": False, "pass": True, "compare": True}),
        (120.0, {"fail": False, "pass": True, "compare": False}),
    ],
)
def test_one_launch_against_one_is_inconclusive(candidate: float, verdicts: dict[str, bool]) -> None:
    held = pair([100.0], [candidate])
    for switch, passed in verdicts.items():
        found = gate(held, by=Rules(inconclusive=switch))  # type: ignore[arg-type]
        assert found.passed is passed
        assert found.kernels[0].noise_us is None
    assert "no noise estimate" in gate(held).kernels[0].reason


def test_one_launch_against_itself_passes() -> None:
    side = GateSide((7,), (100.0,))
    assert gate(GatePair("MatMul", "", side, side)).passed


def test_one_launch_against_several_takes_their_spread() -> None:
    (found,) = gate(pair(BASE, [110.0])).kernels
    assert found.status == "regression"
    assert found.noise_us == pytest.approx(0.92, abs=0.01)


def test_short_kernels_do_not_fail_on_a_step_of_the_timer() -> None:
    held = pair([0.3] * 4, [0.32] * 4, chip_family="910B")  # 6.7 %, one step of 20 ns
    (found,) = gate(held).kernels
    assert found.status == "inconclusive"
    assert "the timer's steps" in found.reason


def test_the_smallest_effect_and_the_noise_floor_let_small_changes_pass() -> None:
    held = pair([2.0] * 4, [2.3] * 4)
    assert gate(held).kernels[0].status == "regression"
    assert gate(held, by=rules(min_effect_us="0.5us")).passed
    assert gate(held, by=rules(noise_floor="20%")).passed
    assert not gate(held, by=rules(noise_floor="10%")).passed


def test_noise_beyond_the_threshold_is_said_where_the_kernel_passes() -> None:
    (found,) = gate(pair((60.0, 100.0, 140.0), (61.0, 101.0, 141.0))).kernels
    assert found.status == "pass"
    assert any("collect more launches" in text for text in found.warnings)


def test_refused_comparisons_fail_with_the_reason_and_force_marks_them() -> None:
    held = pair(BASE, BASE, refused=("the chips differ: 910B3 and 910B4",))
    found = gate(held)
    assert (found.kernels[0].status, found.passed) == ("refused", False)
    assert "the chips differ" in found.kernels[0].reason
    forced = gate(held, force=True)
    assert (forced.passed, forced.forced, forced.kernels[0].forced) == (True, True, True)
    assert "(forced)" in forced.summary
    assert not gate(pair(BASE, BASE), force=True).forced


def test_missing_durations_are_inconclusive() -> None:
    found = gate(pair([], [5.0]))
    assert found.kernels[0].reason == "the base records no task duration"
    assert not found.passed


def test_new_and_vanished_kernels_are_reported_and_may_fail() -> None:
    sides = {"new": [Alone("Gelu", "", (5,), 3.0)], "vanished": [Alone("Relu", "", (6,), 2.0)]}
    found = gate(pair(BASE, BASE), **sides)
    assert found.passed
    assert ([one.operator for one in found.new], [one.operator for one in found.vanished]) == (["Gelu"], ["Relu"])
    assert not gate(pair(BASE, BASE), by=Rules(vanished="fail"), **sides).passed


def test_nothing_in_common_does_not_pass() -> None:
    found = gate(new=[Alone("Gelu", "", (5,), 3.0)])
    assert not found.passed
    assert "nothing to compare" in found.summary
    assert ET.fromstring(junit(found)).get("failures") == "1"


def everything() -> Gate:
    hostile = "evil|<script>alert(1)</script>`@someone`\n# [x](http://y)\x00\x1b[31m&"
    return gate(
        pair(BASE, scaled(BASE, 1.1), "Slow"),
        pair(BASE, BASE, hostile),
        pair(BASE, BASE, "Refused", refused=("modes differ",)),
        pair(BASE, scaled(BASE, 2), None, warnings=("build unknown",)),
        pair(BASE, scaled(BASE, 2), "Ignored"),
        by=Rules(kernels=(KernelRules("Ign*", ignore=True),)),
        new=[Alone("Gelu", "block dim 8", (5,), 3.0)],
        vanished=[Alone("Relu", "", (6,), None)],
        warnings=["a warning <b>"],
    )


def test_json_says_everything() -> None:
    found = everything()
    held = json.loads(as_json(found))
    assert (held["passed"], held["base"], held["candidate"]) == (False, "before", "after")
    assert [one["operator"] for one in held["kernels"]] == [one.operator for one in found.kernels]
    slow = next(one for one in held["kernels"] if one["operator"] == "Slow")
    assert slow["change_share"] == next(one for one in found.kernels if one.operator == "Slow").change_share
    assert held["counts"] == {"regression": 2, "refused": 1, "pass": 1, "ignored": 1}
    assert held["new"][0]["operator"] == "Gelu"
    assert held["rules"]["max_regression"] == 0.05


def test_junit_is_read_back_with_a_case_a_kernel() -> None:
    found = everything()
    (suite,) = ET.fromstring(junit(found))
    cases = suite.findall("testcase")
    assert len(cases) == len(found.kernels) + 2
    assert suite.get("tests") == "7"
    assert (suite.get("failures"), suite.get("skipped")) == ("3", "3")
    failed = {case.get("classname"): case.find("failure") for case in cases if case.find("failure") is not None}
    assert failed["Slow"].get("type") == "regression"  # type: ignore[union-attr]
    assert failed["Refused"].get("type") == "refused"  # type: ignore[union-attr]
    assert "modes differ" in (failed["Refused"].text or "")  # type: ignore[union-attr]
    assert any("<script>" in (case.get("classname") or "") for case in cases)  # as text, not as an element
    assert suite.find("properties/property[@name='candidate']").get("value") == "after"  # type: ignore[union-attr]


def test_markdown_is_a_table_that_hostile_names_cannot_break() -> None:
    text = markdown(everything())
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {9}
    assert "<script>" not in text
    assert "@someone" not in text
    assert "\x1b" not in text
    assert "**Vanished**: Relu" in text
    assert "slower by more than 5 %" in text
    tags: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, _: object) -> None:
            tags.append(tag)

    Tags().feed(text)
    assert set(tags) == {"details", "summary"}


def test_a_comment_of_thousands_of_kernels_still_fits() -> None:
    many = [pair(BASE, scaled(BASE, 1.2), f"op_{at}_" + "x" * 700) for at in range(3000)]
    text = markdown(gate(*many))
    assert len(text) < COMMENT_CHARS + 200
    assert "… and 2,950 more" in text
    assert "3000 slower" in text


def test_rows_hold_what_the_columns_say() -> None:
    for row in rows(everything()):
        assert len(row) == len(COLUMNS)
