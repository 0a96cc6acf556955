"""The bundled examples are what the builder writes, in the format of the catalogue, and make sense to an expert."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opprof_db.catalog import load
from tests.builders import examples
from tests.builders.device import GIB_PER_KIB_US
from tests.conftest import Warehouse
from tests.shared import ROOT

BUNDLED = ROOT / "examples" / "out"


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_bundled_examples_are_what_the_builder_writes(tmp_path: Path) -> None:
    examples.write(tmp_path)
    assert files(tmp_path) == files(BUNDLED)


def test_every_line_of_every_csv_ends_in_a_comma_and_headers_are_the_catalogues() -> None:
    for name, content in files(BUNDLED).items():
        if not name.endswith(".csv") or "/simulator/" in name:
            continue
        lines = content.decode().split("\n")
        assert lines.pop() == ""
        assert all(line.endswith(",") for line in lines), name
        family = re.sub(r"_\d{17}", "", Path(name).stem)
        chip = "310P" if "OPPROF_20260515" in name else "910B"
        assert tuple(lines[0].rstrip(",").split(",")) == load().header(family, chip), name


@pytest.fixture
def ingested(warehouse: Warehouse) -> Warehouse:
    outcomes = warehouse.ingest(BUNDLED)
    assert [outcome.kind for outcome in outcomes] == ["new"] * 6
    assert warehouse.rows("SELECT code FROM ingest_issues WHERE severity <> 'info'") == []
    return warehouse


def test_volume_bandwidth_and_time_agree(ingested: Warehouse) -> None:
    rows = ingested.rows(
        "SELECT gm_to_ub_datas_kb, aiv_gm_to_ub_bw_gb_s, CASE op_type WHEN 'mix' THEN duration_us ELSE aiv_time_us END"
        " FROM memory m JOIN kernels k ON k.id = m.kernel_id WHERE gm_to_ub_datas_kb > 0"
    )
    assert len(rows) > 100
    for volume, bandwidth, time in rows:
        assert volume / time * GIB_PER_KIB_US == pytest.approx(bandwidth, rel=1e-4)


def test_ratios_of_a_mix_kernel_are_over_the_whole_microseconds_of_the_task(ingested: Warehouse) -> None:
    rows = ingested.rows(
        "SELECT aic_cube_time_us, aic_cube_ratio, duration_us FROM pipe_utilization p"
        " JOIN kernels k ON k.id = p.kernel_id WHERE op_type = 'mix' AND sub_block_id = 'cube0'"
    )
    assert len(rows) == 24
    for busy, ratio, duration in rows:
        assert busy / int(duration) == pytest.approx(ratio, abs=1e-5)


def test_the_fix_moves_what_it_should(ingested: Warehouse) -> None:
    rows = dict(
        ingested.rows(
            "SELECT r.name, m.max FROM kernel_metric_values m JOIN kernels k ON k.id = m.kernel_id"
            " JOIN runs r ON r.id = k.run_id"
            " WHERE m.metric = 'aiv_mte2_kb_per_instruction' AND r.name LIKE '%20260512%'"
        )
    )
    assert rows == {
        "OPPROF_20260512093015_KQWJXZPLMVNRTYBD": pytest.approx(4.0, abs=0.01),
        "OPPROF_20260512111842_GHTRWQPLKMXNVBZC": pytest.approx(40.0, abs=0.1),
    }


def test_the_vector_kernel_shows_the_figures_of_the_published_case(ingested: Warehouse) -> None:
    rows = ingested.rows(
        "SELECT duration_us, min(aiv_time_us), max(aiv_time_us), min(gm_to_ub_bw_usage_rate_pct),"
        " max(gm_to_ub_bw_usage_rate_pct), min(aiv_gm_to_ub_bw_gb_s), max(aiv_gm_to_ub_bw_gb_s),"
        " max(aiv_mte2_instructions), max(aiv_mte3_instructions), count(*)"
        " FROM memory m JOIN kernels k ON k.id = m.kernel_id JOIN runs r ON r.id = k.run_id"
        " WHERE r.name LIKE '%20260512%' GROUP BY k.id ORDER BY duration_us DESC"
    )
    before, after = (pytest.approx(row, abs=0.01) for row in rows)
    assert before == (2049.78, 2006.67, 2049.09, 8.66, 8.85, 19.06, 19.47, 10241, 5121, 8)
    assert after == (892.02, 771.18, 891.38, 19.91, 23.02, 43.82, 50.65, 1025, 513, 8)


def test_the_examples_stay_small() -> None:
    assert sum(map(len, files(BUNDLED).values())) < 400_000
