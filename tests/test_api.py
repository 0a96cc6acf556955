"""The Python API gives the database's own values and one kind of error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import opprof_db
from opprof_db.errors import DatabaseError, UsageError
from tests import small


@pytest.fixture
def wh(tmp_path: Path) -> opprof_db.Warehouse:
    made = opprof_db.open(tmp_path / "w.db")
    (run,) = made.ingest(small.run(tmp_path / "OPPROF_A"), labels={"branch": "main"}, soc="Ascend910B4")
    assert (run.outcome, run.run_id, run.kernels) == ("new", 1, 1)
    return made


def test_runs_and_kernels_are_the_overviews(wh: opprof_db.Warehouse) -> None:
    runs = wh.runs()
    assert list(runs["labels"]) == ["branch=main"]
    assert list(runs["chip"]) == ["Ascend910B4"]
    assert len(wh.kernels()) == len(wh.kernels("last")) == len(wh.kernels(1)) == 1
    with pytest.raises(UsageError):
        wh.kernels("nowhere")


def test_the_same_run_again_is_known(wh: opprof_db.Warehouse, tmp_path: Path) -> None:
    (again,) = wh.ingest(tmp_path / "OPPROF_A")
    assert (again.outcome, again.run_id) == ("known", 1)


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1, 2], "int64", [1, 2]),
        ([2**63 - 1, None, -(2**63)], "Int64", [2**63 - 1, pd.NA, -(2**63)]),
        ([0.1, None], "float64", [0.1, None]),
        ([1, 2.5], "float64", [1.0, 2.5]),
        ([2**53 + 1, 0.5], "object", [2**53 + 1, 0.5]),
        (["a", None], "object", ["a", None]),
        (["a", 1], "object", ["a", 1]),
        ([None, None], "object", [None, None]),
    ],
)
def test_no_value_is_changed(wh: opprof_db.Warehouse, values: list[object], dtype: str, expected: list[object]) -> None:
    sql = " UNION ALL ".join(f"SELECT :v{at} AS v" for at in range(len(values)))
    frame = wh.query(sql, **{f"v{at}": value for at, value in enumerate(values)})
    assert str(frame["v"].dtype) == dtype
    for value, wanted in zip(frame["v"], expected, strict=True):
        if wanted is None or wanted is pd.NA:
            assert pd.isna(value)
        else:
            assert value == wanted


def test_columns_of_one_name_are_both_there(wh: opprof_db.Warehouse) -> None:
    frame = wh.query("SELECT 1 AS a, 2 AS a")
    assert list(frame.columns) == ["a", "a"]
    assert frame.to_numpy().tolist() == [[1, 2]]


def test_no_rows_are_a_frame_with_columns(wh: opprof_db.Warehouse) -> None:
    frame = wh.query("SELECT 1 AS a, 2 AS b WHERE 0")
    assert list(frame.columns) == ["a", "b"]
    assert len(frame) == 0


def test_named_queries_take_values(wh: opprof_db.Warehouse) -> None:
    assert len(wh.named("top_kernels", limit=1, run_id=None)) == 1
    with pytest.raises(UsageError):
        wh.named("top_kernels", nonsense=1)


def test_values_out_of_a_frame_are_bound_as_what_they_are(wh: opprof_db.Warehouse) -> None:
    kernel = wh.kernels()["kernel_id"].iloc[0]
    assert type(kernel) is not int
    assert len(wh.query("SELECT 1 FROM kernels WHERE id = :kernel", kernel=kernel)) == 1
    assert len(wh.named("top_kernels", limit=kernel)) == 1
    frame = wh.query("SELECT typeof(:a) AS a, typeof(:b) AS b, typeof(:c) AS c", a=kernel, b=pd.NA, c=pd.NaT)
    assert frame.iloc[0].tolist() == ["integer", "null", "null"]
    assert wh.query("SELECT :sql AS sql, :self AS self", sql=1, self=2).iloc[0].tolist() == [1, 2]


def test_none_is_null_also_where_the_default_is_another(wh: opprof_db.Warehouse) -> None:
    with pytest.raises(UsageError, match="datatype mismatch"):
        wh.named("top_kernels", limit=None)  # LIMIT NULL, not the default


def test_wrong_use_is_said(wh: opprof_db.Warehouse, tmp_path: Path) -> None:
    for call in (
        lambda: wh.query("DELETE FROM runs"),
        lambda: wh.query("SELECT :a"),
        lambda: wh.query("SELECT 1", a=1),
        lambda: wh.query("SELECT :a", a=[1]),
        lambda: wh.ingest(tmp_path, soz="x"),
        lambda: wh.ingest(tmp_path, trace="all"),
    ):
        with pytest.raises(UsageError):
            call()
    with pytest.raises(DatabaseError, match="no such database"):
        opprof_db.open(tmp_path / "none.db").runs()


def test_importing_the_package_loads_nothing_heavy() -> None:
    program = (
        "import sys, opprof_db; print([m for m in ('pandas', 'numpy', 'sqlalchemy', 'sqlite3') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    with pytest.raises(AttributeError):
        opprof_db.nothing  # noqa: B018
