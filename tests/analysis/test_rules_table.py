"""Every device rule: where it must come first, and near misses where it must be silent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opprof_db.analysis.diagnose import diagnose
from opprof_db.analysis.findings import Diagnosis
from opprof_db.analysis.rules import rule_set
from opprof_db.warehouse import opening
from tests.builders.device import DeviceRun
from tests.builders.problems import PROBLEMS, Problem
from tests.conftest import Warehouse

Diagnoses = dict[str, Diagnosis]


def key(problem: Problem) -> str:
    return f"{problem.rule}: {problem.case}"


@pytest.fixture(scope="module")
def diagnoses(tmp_path_factory: pytest.TempPathFactory) -> Diagnoses:
    """All folders in one warehouse, each diagnosed."""
    folder = tmp_path_factory.mktemp("problems")
    warehouse = Warehouse(folder / "warehouse.db")
    for at, problem in enumerate(PROBLEMS):
        launch = replace(problem.make(), pid=5000 + at)  # the same content twice would be the same run
        DeviceRun([launch], f"OPPROF_20260510{at:06d}_AAAAAAAAAAAAAAAA").write(folder / "out")
    warehouse.ingest(folder / "out")
    found = {}
    with opening.reading(warehouse.path) as connection:
        kernels = dict(
            connection.execute("SELECT r.name, k.id FROM kernels k JOIN runs r ON r.id = k.run_id").fetchall()
        )
        for at, problem in enumerate(PROBLEMS):
            kernel = kernels[f"OPPROF_20260510{at:06d}_AAAAAAAAAAAAAAAA"]
            found[key(problem)] = diagnose(connection, kernel, work=problem.work)
    return found


@pytest.mark.parametrize("problem", [one for one in PROBLEMS if one.fires], ids=key)
def test_comes_first(diagnoses: Diagnoses, problem: Problem) -> None:
    findings = diagnoses[key(problem)].findings
    told = [(one.rule, one.recoverable_us, one.confidence) for one in findings]
    assert [one.rule for one in findings][:1] == [problem.rule], told
    first = findings[0]
    assert first.evidence
    assert first.advice
    assert first.recoverable_us is None or first.recoverable_why
    if problem.gain_us is not None:
        assert first.recoverable_us is not None
        assert problem.gain_us[0] <= first.recoverable_us <= problem.gain_us[1]


@pytest.mark.parametrize("problem", [one for one in PROBLEMS if not one.fires], ids=key)
def test_is_silent(diagnoses: Diagnoses, problem: Problem) -> None:
    outcomes = {one.outcome for one in diagnoses[key(problem)].outcomes if one.rule == problem.rule}
    assert outcomes <= {"no_problem", "could_not_look"}
    assert outcomes


def test_every_device_rule_has_both() -> None:
    device = {rule.id for rule in rule_set().of_profile("default") if not rule.id.startswith("sim_")}
    assert {one.rule for one in PROBLEMS if one.fires} == device
    assert {one.rule for one in PROBLEMS if not one.fires} == device
