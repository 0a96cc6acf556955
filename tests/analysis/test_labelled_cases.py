"""Measured cases get the expected finding first, fixed folders no longer have it, and the gain is about right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opprof_db.analysis.diagnose import diagnose
from opprof_db.analysis.findings import Diagnosis
from opprof_db.warehouse import opening
from tests.builders.cases import (
    EIGHT_CORES,
    LARGE_TRANSFERS,
    ONE_BUFFER,
    ONE_CORE,
    SMALL_TRANSFERS,
    TWO_BUFFERS,
    Case,
)
from tests.builders.device import Launch
from tests.conftest import Warehouse

CASES = (
    pytest.param("one_core_only", ONE_CORE, EIGHT_CORES, id="one core"),
    pytest.param("small_transfers", SMALL_TRANSFERS, LARGE_TRANSFERS, id="small transfers"),
    pytest.param("transfer_compute_in_turn", ONE_BUFFER, TWO_BUFFERS, id="no double buffering"),
)
VARIANTS: tuple[Any, ...] = (
    pytest.param({}, id="as measured"),
    pytest.param({"l2_hits": 1.0}, id="all hits in L2"),
    pytest.param({"l2_hits": 0.6}, id="some hits in L2"),
    pytest.param({"scalar": 0.0}, id="no scalar work"),
    pytest.param({"scalar": 0.25}, id="some scalar work"),
    pytest.param({"soc": None}, id="chip not recorded"),
    pytest.param({"soc": None, "rated_freq": 1800}, id="chip not recorded, 1800 MHz"),
    pytest.param({"soc": "Ascend910B2", "rated_freq": 1800}, id="910B2"),
    pytest.param({"current_freq": "N/A"}, id="frequency not recorded"),
    pytest.param({"families": ("PipeUtilization", "Memory", "ResourceConflictRatio")}, id="three families"),
)


def diagnosed(warehouse: Warehouse, folder: Path, launch: Launch, profile: str = "default") -> Diagnosis:
    """Write, take in and diagnose one launch."""
    before = 0 if not warehouse.path.exists() else warehouse.value("SELECT count(*) FROM kernels")
    warehouse.ingest(launch.write(folder / f"OPPROF_2026051012000{before}_AAAAAAAAAAAAAAAA"))
    kernel_id = warehouse.value("SELECT max(id) FROM kernels")
    assert isinstance(kernel_id, int)
    with opening.reading(warehouse.path) as connection:
        return diagnose(connection, kernel_id, profile=profile)


@pytest.mark.parametrize("changes", VARIANTS)
@pytest.mark.parametrize(("rule", "before", "after"), CASES)
def test_the_expected_finding_comes_first_and_goes_with_its_fix(
    warehouse: Warehouse, tmp_path: Path, rule: str, before: Case, after: Case, changes: dict[str, Any]
) -> None:
    worse = diagnosed(warehouse, tmp_path, before.launch(**changes))
    better = diagnosed(warehouse, tmp_path, after.launch(**changes))
    first = worse.findings[0]
    assert first.rule == rule, [(one.rule, one.recoverable_us) for one in worse.findings]
    assert rule not in [one.rule for one in better.findings]
    gain = before.duration - after.duration
    assert first.recoverable_us is not None
    assert gain / 2 <= first.recoverable_us <= 2 * gain
    assert first.evidence
    assert first.advice
    assert first.expected
    assert first.recoverable_why
