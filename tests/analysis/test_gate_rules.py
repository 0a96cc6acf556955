"""Rules, limits and noise of the gate."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opprof_db.analysis.gate_noise import noise
from opprof_db.analysis.gate_rules import Rules, micros, rules, share
from opprof_db.analysis.limits import check, parse_limit
from opprof_db.analysis.work import Work
from opprof_db.errors import InputError, UsageError
from opprof_db.warehouse import opening
from tests.builders import kernels
from tests.conftest import Warehouse

FILE = """
max_regression = "5%"
min_effect_us = 0.5
noise_floor = 0.01
inconclusive = "compare"
limits = ["task_duration_us<120"]

[kernels."MatMul*"]
max_regression = "2%"
limits = ["aiv_mte2_ratio@aiv <= 90%"]

[kernels.MatMulBias]
max_regression = "50%"

[kernels.warm_up]
ignore = true
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("text", "value"), [("5%", 0.05), ("0.05", 0.05), (0.05, 0.05), ("150 %", 1.5), ("0%", 0.0)])
def test_shares_are_per_cent_or_fractions(text: object, value: float) -> None:
    assert share(text, "x") == pytest.approx(value)


@pytest.mark.parametrize("text", ["5", "1", "-5%", "nan", "five", "", "%", True, "inf"])
def test_what_could_mean_two_things_or_nothing_is_refused(text: object) -> None:
    with pytest.raises(UsageError):
        share(text, "--max-regression")


def test_an_ambiguous_share_says_both_ways_to_write_it() -> None:
    with pytest.raises(UsageError) as caught:
        share("5", "--max-regression")
    assert caught.value.hint == "write 5% or 0.05"


def test_times_may_carry_their_unit() -> None:
    assert (micros("0.5us", "x"), micros(2, "x")) == (0.5, 2.0)
    with pytest.raises(UsageError):
        micros("1ms", "x")


def test_the_first_entry_that_fits_counts_and_the_rest_is_as_for_all(tmp_path: Path) -> None:
    held = rules(write(tmp_path, FILE))
    matmul = held.of("MatMulBias")
    assert matmul.max_regression == pytest.approx(0.02)  # the pattern stands first
    assert matmul.min_effect_us == 0.5
    assert [limit.text for limit in matmul.limits] == ["task_duration_us<120", "aiv_mte2_ratio@aiv <= 90%"]
    assert held.of("Softmax").max_regression == 0.05
    assert held.of(None).max_regression == 0.05
    assert held.of("warm_up").ignore
    assert not held.of("matmul").limits[1:]  # case counts
    assert held.unused(["MatMulBias", "Softmax"]) == ("warm_up",)


def test_options_win_over_the_file_and_limits_of_both_hold(tmp_path: Path) -> None:
    held = rules(write(tmp_path, FILE), max_regression="10%", inconclusive="pass", limits=["block_dim<49"])
    assert (held.max_regression, held.inconclusive, held.noise_floor) == (0.1, "pass", 0.01)
    assert [limit.text for limit in held.limits] == ["task_duration_us<120", "block_dim<49"]
    assert held.of("MatMul").max_regression == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('max_regresion = "5%"', "there is no rule 'max_regresion'"),
        ('[kernels.a]\nmax = "5%"', "kernels.a: there is no rule 'max'"),
        ("max_regression = 5", "ambiguous"),
        ('inconclusive = "maybe"', "inconclusive cannot be 'maybe'"),
        ('limits = "a<1"', "limits is no list"),
        ('limits = ["a=1"]', "is no limit"),
        ("kernels = 3", "kernels is no table"),
        ("[kernels]\na = 3", "kernels.a is no table"),
        ('[kernels.a]\nignore = "yes"', "ignore is 'yes'"),
        ("min_effect_us = true", "min_effect_us cannot be"),
    ],
)
def test_a_wrong_rule_is_named_with_its_file(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        rules(write(tmp_path, text))
    assert what in caught.value.what
    assert "gate.toml" in caught.value.what


def test_an_unreadable_file_and_no_toml_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        rules(tmp_path / "missing.toml")
    with pytest.raises(InputError, match="no TOML"):
        rules(write(tmp_path, "= 5"))
    (tmp_path / "gate.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="no TOML"):
        rules(tmp_path / "gate.toml")


@pytest.mark.parametrize(
    ("text", "name", "core", "sign", "bound"),
    [
        ("task_duration_us<120", "duration_us", None, "<", 120.0),
        (" aiv_mte2_ratio@aiv <= 90% ", "aiv_mte2_ratio", "aiv", "<=", 0.9),
        ("achieved_tflops>=1e2", "achieved_tflops", None, ">=", 100.0),
        ("block_dim > 8", "block_dim", None, ">", 8.0),
    ],
)
def test_limits_are_read(text: str, name: str, core: str | None, sign: str, bound: float) -> None:
    limit = parse_limit(text)
    assert (limit.name, limit.core, limit.sign, limit.bound) == (name, core, sign, bound)


@pytest.mark.parametrize(
    "text", ["", "a", "a<", "<5", "a<x", "a<nan", "a==5", "a b<5", "a<5<6", "a<5; DROP TABLE runs"]
)
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no limit"):
        parse_limit(text)


@given(st.sampled_from(["<", "<=", ">", ">="]), st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_a_limit_and_its_opposite_never_agree(sign: str, bound: float, value: float) -> None:
    opposite = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}[sign]
    kept = parse_limit(f"x{sign}{bound!r}").kept(value)
    assert kept != parse_limit(f"x{opposite}{bound!r}").kept(value)


def test_limits_are_held_against_the_figure_the_catalogue_allows(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(kernels.mix().write(tmp_path / "OPPROF_20260501100000_AAAAAAAAAAAAAAAA"))
    worst = warehouse.value("SELECT max(aic_cube_ratio) FROM pipe_utilization")
    least = warehouse.value("SELECT min(aic_cube_ratio) FROM pipe_utilization WHERE sub_block_id = 'cube0'")
    with opening.reading(warehouse.path) as connection:

        def held(text: str, work: Work | None = None) -> tuple[str, object]:
            found = check(connection, parse_limit(text), (1,), work)
            return found.state, found.value

        assert held("task_duration_us<120.5") == ("exceeded", 120.5)
        assert held("task_duration_us<=120.5") == ("kept", 120.5)
        assert held("aic_cube_ratio<1") == ("kept", worst)  # an upper limit holds for the worst core …
        assert held("aic_cube_ratio>0.1") == ("kept", least)  # … and a lower one for the least
        assert held("achieved_tflops>0")[0] == "not collected"
        state, value = held("achieved_tflops>1", Work(flops=120.5e-6 * 2e12))
        assert (state, value) == ("kept", pytest.approx(2.0))
        with pytest.raises(UsageError, match="no metric is called"):
            held("aic_cubes_ratio<1")


def test_a_limit_on_cores_that_took_no_part_does_not_apply(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(kernels.vector().write(tmp_path / "OPPROF_20260501100000_AAAAAAAAAAAAAAAA"))
    with opening.reading(warehouse.path) as connection:
        assert check(connection, parse_limit("aic_cube_ratio<1"), (1,)).state == "does not apply"
        assert check(connection, parse_limit("aiv_vec_ratio<1"), (1,)).state == "kept"


def test_noise_is_the_timers_steps_or_the_spread() -> None:
    assert noise([100.0], [100.0], "910B").spread_us is None
    assert noise([100.0], [100.0], "910B").total_us == pytest.approx(0.04)
    assert noise([100.0], [100.0], None).timer_us == pytest.approx(0.052)
    assert noise([100.0] * 3, [100.0] * 3, "950").total_us == pytest.approx(0.002)
    # Two samples with s = 1 and n = 4: t(6) = 2.447, 1.2533 * sqrt(1/4 + 1/4).
    sample = [99.0, 100.0, 100.0, 101.0]
    s = math.sqrt(2 / 3)
    assert noise(sample, sample, "910B").spread_us == pytest.approx(2.447 * 1.2533 * s * math.sqrt(0.5))
    # A single launch takes the other side's spread.
    assert noise(sample, [100.0], "910B").spread_us == pytest.approx(3.182 * 1.2533 * s * math.sqrt(1.25))


@given(st.lists(st.floats(0.1, 1e6), min_size=1, max_size=9), st.lists(st.floats(0.1, 1e6), min_size=1, max_size=9))
def test_noise_knows_no_order(base: list[float], candidate: list[float]) -> None:
    assert noise(base, candidate, "910B") == noise(base[::-1], sorted(candidate), "910B")


def test_defaults_are_those_of_the_page() -> None:
    assert Rules() == rules()
    assert (Rules().max_regression, Rules().inconclusive, Rules().vanished) == (0.05, "fail", "report")
