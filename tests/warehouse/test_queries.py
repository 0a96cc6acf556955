"""Named queries bind what was given and refuse the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from opprof_db.errors import UsageError
from opprof_db.warehouse import readonly
from opprof_db.warehouse.queries import NamedQuery, named_query, query_files
from tests import small
from tests.conftest import Warehouse


@pytest.mark.parametrize("query", query_files(), ids=lambda query: query.name)
def test_every_query_is_documented_and_runs(query: NamedQuery, warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(small.run(tmp_path / "OPPROF_A"))
    assert query.file.purpose.endswith((".", "?"))
    assert query.file.grain
    assert f"--name {query.name}" in query.file.example
    needed = {parameter.name: "1" for parameter in query.parameters if parameter.required}
    result = readonly.run(warehouse.path, query.file.sql, query.bind(needed))
    assert list(query.file.columns) == result.columns


def test_an_unknown_run_or_launch_has_no_rows(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(small.run(tmp_path / "OPPROF_A"))
    asked = 0
    for query in query_files():
        needed = {parameter.name: "1" for parameter in query.parameters if parameter.required}
        for name in ("run_id", "kernel_id"):
            if any(parameter.name == name for parameter in query.parameters):
                bound = query.bind(needed | {name: "999"})
                assert readonly.run(warehouse.path, query.file.sql, bound).rows == [], query.name
                asked += 1
    assert asked > 40


def test_parameters_take_their_type_and_default() -> None:
    query = named_query("top_kernels")
    assert query.bind({}) == {"limit": 10, "run_id": None}
    assert query.bind({"limit": "3"})["limit"] == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [({"limit": "many"}, "not a whole number"), ({"limt": "1"}, "did you mean limit")],
)
def test_wrong_parameters_are_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as raised:
        named_query("top_kernels").bind(given)
    assert said in f"{raised.value.what} {raised.value.hint}"


def test_a_wrong_name_gets_a_suggestion() -> None:
    with pytest.raises(UsageError) as raised:
        named_query("top_kernel")
    assert "top_kernels" in str(raised.value.hint)
