"""trend, sweep and similar on the command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from opprof_db.cli.app import app
from opprof_db.cli.pictures import bar, scatter, sparkline
from opprof_db.errors import UsageError
from tests.builders import scenario
from tests.builders.device import DeviceRun
from tests.conftest import Warehouse

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    folder = tmp_path_factory.mktemp("across")
    made = scenario.fill(Warehouse(folder / "warehouse.db"), folder / "runs")
    for day, duration in enumerate((99.5, 100.5, 80.0, 80.5), 10):
        run = DeviceRun([scenario.add_custom(duration, pid=day)], f"OPPROF_202605{day}100000_{'K' * 16}")
        made.ingest(
            run.write(folder / "runs"), labels={"tile": str(day), "branch": "a|b"}, conditions={"git_commit": "c0ffee"}
        )
    return made


@pytest.fixture
def run(example: Warehouse) -> Run:
    def call(*arguments: object) -> Result:
        return CliRunner().invoke(app, [*map(str, arguments), "--db", str(example.path)])

    return call


def test_trend_draws_and_tells_steps(run: Run) -> None:
    done = run("trend", "add_custom")
    assert done.exit_code == 0
    out = done.stdout
    assert "add_custom: vector, Ascend910B4, block dim 4" in out
    assert "▇█" in out or "██" in out
    assert "step at run 11 (OPPROF_20260512100000_KKKKKKKKKKKKKKKK): " in out
    assert "faster" in out
    assert "not comparable with the runs before: frequency 1650 MHz and 1320 MHz" in out
    assert "not comparable with the runs before: frequency 1320 MHz and unknown" in out
    assert "branch=a|b tile=10 commit c0ffee" in out
    assert "launches left out, for they record no duration: 1" in done.stderr


def test_trend_as_data_has_the_exact_figures(run: Run) -> None:
    found = json.loads(run("trend", "add_custom", "-f", "json").stdout)
    assert found["operator"] == "add_custom"
    places = found["series"][0]["stretches"][0]["places"]
    assert places[0]["point"]["median_us"] == 100.0
    assert places[1]["change_us"] == places[1]["point"]["median_us"] - 100.0
    rows = list(csv.DictReader(io.StringIO(run("trend", "add_custom", "-f", "csv").stdout)))
    assert {row["series"] for row in rows} == {"1"}
    assert [float(row["median_us"]) for row in rows if row["stretch"] == "2"] == [90.0]
    assert run("trend", "add_custom", "-f", "markdown").stdout.splitlines()[1].startswith("|---")


def test_trend_takes_a_launch_and_a_limit(run: Run) -> None:
    out = run("trend", "kernel:1", "--limit", "2").stdout
    assert "earlier runs are not listed; --limit 0 shows all" in out
    assert run("trend", "add_cus").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("trend", "add_costum"), "did you mean add_custom"),
        (("trend", "kernel:999"), "there is no kernel:999"),
        (("trend", "add_custom", "--label", "branch=none"), "no run with a duration with branch=none"),
        (("trend", "add_custom", "--min-change", "much"), "is no share"),
        (("trend", "add_custom", "--min-change", "-1%"), "is no share"),
        (("sweep", "add_custom", "--by", "colour"), "has the label 'colour'"),
        (("sweep", "add_custom", "--pareto", "duration_us"), "is not two metrics"),
        (("sweep", "add_custom", "--pareto", "duration_us,nix"), "no metric is called 'nix'"),
        (("similar", "kernel:12"), "has no counters"),
    ],
)
def test_what_is_wrong_is_one_line(run: Run, arguments: tuple[str, ...], said: str) -> None:
    done = run(*arguments)
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


def test_sweep_draws_bars_and_the_front(run: Run) -> None:
    done = run("sweep", "add_custom", "--by", "tile", "--pareto", "duration_us,aiv_vec_bank_cflt_ratio")
    assert done.exit_code == 0
    out = done.stdout
    assert "12    ████" in out.replace("12  █", "12    █")
    assert "80.0 us  best" in out
    assert "not comparable with the variants above" in out
    assert "* on the Pareto front" in out
    assert "variants of a single launch: no noise estimate" in out
    assert "none of the labels tile: 1" in done.stderr


def test_sweep_as_data(run: Run) -> None:
    found = json.loads(run("sweep", "add_custom", "--by", "tile", "-f", "json").stdout)
    assert found["groups"][0]["conditions"]["frequency"] == "1650 MHz"
    rows = list(csv.DictReader(io.StringIO(run("sweep", "add_custom", "--by", "tile", "-f", "csv").stdout)))
    assert [row["tile"] for row in rows if row["group"] == "1"] == ["10", "11", "12", "13", "32"]
    assert [row["best"] for row in rows] == ["0", "0", "1", "0", "0", "1"]


def test_similar_tells_what_is_in_common(run: Run) -> None:
    done = run("similar", "kernel:1", "--limit", "3")
    assert done.exit_code == 0
    assert "in common: " in done.stdout
    assert "differ: " in done.stdout
    assert "other kinds of cores" in done.stderr
    found = json.loads(run("similar", "kernel:1", "-f", "json").stdout)
    assert found["neighbours"][0]["operator"] == "add_custom"
    assert found["neighbours"][0]["distance"] < 0.01
    assert run("similar", "kernel:1", "-f", "csv").stdout.startswith("kernel_id,run_id,run,operator")


def test_names_of_any_length_are_printed(tmp_path: Path) -> None:
    made = Warehouse(tmp_path / "warehouse.db")
    launch = scenario.add_custom(50.0)
    launch.name = "n" * 10_000
    made.ingest(launch.write(tmp_path / "OPPROF_20260501100000_AAAAAAAAAAAAAAAA"), labels={"l": "v" * 10_000})
    for arguments in (["trend", "n"], ["sweep", "n", "--by", "l"], ["similar", "kernel:1"]):
        done = CliRunner().invoke(app, [*arguments, "--db", str(made.path)])
        assert done.exit_code == 0, done.exception


def test_sparklines_reach_from_low_to_high() -> None:
    assert sparkline([0.0, 3.5, 7.0], 0.0, 7.0) == "▁▅█"
    assert sparkline([5.0, 5.0], 5.0, 5.0) == "▄▄"


def test_bars_start_at_zero() -> None:
    assert bar(10.0, 10.0, 4) == "████"
    assert bar(5.0, 10.0, 4) == "██"
    assert bar(0.001, 10.0, 4) == "▏"
    assert bar(0.0, 10.0, 4) == ""
    assert bar(1.0, 0.0, 4) == ""


def test_a_scatter_plot_puts_points_where_they_are() -> None:
    assert scatter([(0.0, 0.0, "a"), (2.0, 1.0, "b"), (2.0, 1.0, "c")], 3, 2) == ["│  +", "│a", "└───"]
    assert scatter([]) == []
    assert scatter([(1.0, 1.0, "a")], 2, 2) == ["│", "│a", "└──"]
