"""Every record of every block type has its table and columns (builders follow the upstream writer)."""

from __future__ import annotations

import dataclasses
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.ingest.bins import tables_of
from opprof_db.msopprof.bin_hotspots import HotValues
from opprof_db.msopprof.visualize_bin import read_bin
from opprof_db.warehouse.tables import metadata
from tests import small
from tests.builders import bin as bins
from tests.conftest import Warehouse


@pytest.mark.parametrize("made", [bins.mix_bin(), bins.simulator_bin()], ids=["mix", "simulator"])
def test_every_record_goes_into_sql(made: bins.Bin, warehouse: Warehouse, tmp_path: Path) -> None:
    folder = small.run(tmp_path / "OPPROF_A")
    made.write(folder)
    (outcome,) = warehouse.ingest(folder, cache_lines=True)
    assert outcome.kind == "new"
    tables = tables_of(read_bin(folder / "visualize_data.bin", cache_lines=True))
    assert len(tables) >= 5
    for table in tables:
        assert set(table.columns) | {"kernel_id"} == {column.name for column in metadata.tables[table.table].columns}
        assert warehouse.value(f"SELECT count(*) FROM {table.table}") == len(table.rows), table.table


def test_cache_lines_are_taken_only_on_request(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = small.run(tmp_path / "OPPROF_A")
    bins.mix_bin().write(folder)
    warehouse.ingest(folder)
    assert warehouse.value("SELECT count(*) FROM cache_lines") == 0
    assert warehouse.value("SELECT status FROM bin_blocks WHERE type = 14") == "not_asked_for"


def test_source_texts_are_stored_once_per_content(warehouse: Warehouse, tmp_path: Path) -> None:
    for number in (1, 2):
        folder = small.run(tmp_path / f"OPPROF_{number}", f"{number}.0", pid=number)
        bins.simulator_bin().write(folder)
    warehouse.ingest(tmp_path)
    assert warehouse.value("SELECT count(*) FROM source_files") == 2
    assert warehouse.rows("SELECT source FROM source_texts") == [("__aicore__ void add() {}\n",)]


def test_a_broken_bin_costs_only_itself(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = small.run(tmp_path / "OPPROF_A")
    (folder / "visualize_data.bin").write_bytes(bins.mix_bin().data[:-5])
    (outcome,) = warehouse.ingest(folder)
    assert outcome.kind == "new"
    assert warehouse.value("SELECT count(*) FROM pipe_utilization") == 2
    assert warehouse.value("SELECT count(*) FROM bin_blocks WHERE status = 'cut'") == 1
    assert warehouse.value("SELECT status FROM artifacts WHERE kind = 'bin'") == "partial"


def test_opbasicinfo_wins_over_the_bin_and_both_are_kept(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = small.run(tmp_path / "OPPROF_A", "7.5", name="from_csv")
    bins.Bin().add(5, bins.basics([[19.0]], name="from_bin", soc="Ascend910B2", duration_us=20.0)).write(folder)
    warehouse.ingest(folder)
    assert warehouse.rows("SELECT name, duration_us FROM kernels") == [("from_csv", 7.5)]
    assert warehouse.rows("SELECT name, duration_us FROM bin_basics") == [("from_bin", 20.0)]
    assert warehouse.rows("SELECT soc, soc_source, chip_family FROM runs") == [("Ascend910B2", "bin", "910B")]


def test_a_run_stored_when_bins_were_only_archived_is_read_anew(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = small.run(tmp_path / "OPPROF_A")
    bins.mix_bin().write(folder)
    warehouse.ingest(folder)
    with closing(sqlite3.connect(warehouse.path, isolation_level=None)) as connection:
        connection.execute("UPDATE artifacts SET status = 'archived' WHERE kind = 'bin'")
        connection.execute("DELETE FROM bin_blocks")
    (outcome,) = warehouse.ingest(folder)
    assert outcome.kind == "replaced"
    assert "read anew" in outcome.message
    assert warehouse.value("SELECT count(*) FROM bin_blocks") > 0  # type: ignore[operator]
    assert [outcome.kind for outcome in warehouse.ingest(folder)] == ["known"]


def test_figures_of_lines_and_instructions_all_have_a_column() -> None:
    """Tables are made from attribute names: a renamed field must fail here, not at a user's."""
    names = {field.name for field in dataclasses.fields(HotValues)}
    columns = {column.name for column in metadata.tables["hot_line_values"].columns}
    assert names == columns - {"kernel_id", "position"}
