"""Real simulator statistics and bins: what SQL says equals what an independent reading of the files says."""

from __future__ import annotations

import csv
import json
import sqlite3
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.ingest.bins import tables_of
from opprof_db.msopprof.visualize_bin import read_bin
from opprof_db.warehouse.tables import metadata
from tests.conftest import Warehouse
from tests.shared import CORPUS, INPUTS, needs_shared

pytestmark = [needs_shared, pytest.mark.corpus]

SIMULATOR = CORPUS / "gemv-910B3-simulator"
BINS = sorted(CORPUS.rglob("visualize_data.bin"))


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    filled = Warehouse(tmp_path_factory.mktemp("sim") / "sim.db")
    (outcome,) = filled.ingest(SIMULATOR, conditions={"kernel": "FP32RMGemvAiv", "soc": "Ascend910B3"})
    assert outcome.kind == "new"
    return filled


def test_cycles_and_calls_per_pipe_equal_a_separate_count(simulated: Warehouse) -> None:
    cycles: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    rows = 0
    cores = set()
    for path in SIMULATOR.rglob("*_instr_exe.csv"):
        cores.add(path.name.partition("_")[0])
        with path.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                rows += 1
                cycles[row["pipe"]] += int(row["cycles"])
                calls[row["pipe"]] += int(row["call_count"])
    assert len(cores) == 60
    stored = simulated.rows("SELECT pipe, sum(cycles), sum(call_count), count(*) FROM instruction_stats GROUP BY pipe")
    assert {pipe: total for pipe, total, _, _ in stored} == dict(cycles)
    assert {pipe: total for pipe, _, total, _ in stored} == dict(calls)
    assert sum(count for *_, count in stored) == rows


def test_details_are_whole_and_their_pairs_reachable(simulated: Warehouse) -> None:
    printed = set()
    for path in SIMULATOR.rglob("*_instr_exe.csv"):
        with path.open(newline="", encoding="utf-8") as stream:
            printed |= {row["detail"] for row in csv.DictReader(stream) if row["detail"]}
    assert {detail for (detail,) in simulated.rows("SELECT detail FROM instruction_details")} == printed
    pipes = simulated.rows(
        "SELECT DISTINCT p.value ->> 'value' FROM instruction_stats s JOIN instruction_details d ON d.id = s.detail_id,"
        " json_each(d.pairs) p WHERE s.instruction = 'WAIT_FLAG' AND p.value ->> 'key' = 'PIPE'"
    )
    assert pipes


def test_the_clock_is_inferred_and_its_origin_stored(simulated: Warehouse) -> None:
    ((clock, low, high, source, mode, duration, name),) = simulated.rows(
        "SELECT clock_mhz, clock_low_mhz, clock_high_mhz, clock_source, mode, duration_us, name FROM kernels"
    )
    assert (clock, mode, duration, name) == (1850.0, "simulator", None, "FP32RMGemvAiv")
    assert low < 1850 < high
    assert "cycles / running time" in source
    assert simulated.rows("SELECT soc, soc_source FROM runs") == [("Ascend910B3", "user")]


def test_times_below_resolution_are_unknown_not_zero(simulated: Warehouse) -> None:
    assert simulated.value("SELECT count(*) FROM instruction_stats WHERE below_resolution = 1") > 0  # type: ignore[operator]
    assert simulated.value("SELECT count(*) FROM instruction_stats WHERE running_time_us = 0 AND cycles > 0") == 0


def blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    """(type, payload) of a bin, read with nothing of the project."""
    data = path.read_bytes()
    at = 0
    while at + 12 <= len(data):
        size, kind, pad = struct.unpack_from("<QBB", data, at)
        at += 12 + (4096 if kind == 1 else 0)
        yield kind, data[at : at + size - pad]
        at += size


def numbers(value: object) -> Iterator[float]:
    """Every leaf of a JSON value that is a number, also one written as text."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from numbers(inner)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, str):
        try:
            yield float(value)
        except ValueError:
            return


BIN_TABLES = [table.name for table in metadata.sorted_tables if str(table.comment).startswith("Block")]


@pytest.mark.parametrize("path", BINS, ids=lambda path: path.parent.name)
def test_every_number_of_blocks_5_to_13_is_in_sql(path: Path, warehouse: Warehouse) -> None:
    warehouse.ingest(path.parent)
    stored: set[float] = set()
    for table in BIN_TABLES:
        for row in warehouse.rows(f"SELECT * FROM {table}"):
            stored |= {float(value) for value in row if isinstance(value, int | float)}
    assert len(BIN_TABLES) > 10
    looked = 0
    for kind, payload in blocks(path):
        if 5 <= kind <= 13:
            for number in numbers(json.loads(payload)):
                looked += 1
                assert number in stored, (kind, number)
    assert looked > 50


@pytest.mark.parametrize("path", BINS, ids=lambda path: path.parent.name)
def test_every_record_of_a_bin_is_stored_as_it_was_read(path: Path, warehouse: Warehouse) -> None:
    warehouse.ingest(path.parent)
    with closing(sqlite3.connect(warehouse.path)) as connection:
        for table in tables_of(read_bin(path)):
            columns = ", ".join(table.columns)
            stored = connection.execute(f"SELECT {columns} FROM {table.table}").fetchall()
            assert Counter(map(_plain, stored)) == Counter(map(_plain, table.rows)), table.table


def _plain(row: tuple) -> tuple:
    """REAL columns give back whole numbers as floats."""
    return tuple(float(value) if isinstance(value, int) else value for value in row)


def test_a_bin_alone_names_chip_kernel_and_duration(warehouse: Warehouse) -> None:
    warehouse.ingest(CORPUS / "bin-mix-910B4")
    ((mode, name, duration, op_type),) = warehouse.rows("SELECT mode, name, duration_us, op_type FROM kernels")
    assert mode == "device"
    assert name
    assert duration > 0
    assert op_type == "mix"
    ((soc, source, family),) = warehouse.rows("SELECT soc, soc_source, chip_family FROM runs")
    assert soc.startswith("Ascend910B4")
    assert (source, family) == ("bin", "910B")


def test_the_known_upstream_mistake_is_marked_unreliable(warehouse: Warehouse) -> None:
    warehouse.ingest(*[path.parent for path in BINS])
    rows = warehouse.rows(
        "SELECT DISTINCT reliability FROM vendor_advice WHERE advice LIKE '%lower than 80%when active%'"
    )
    assert rows == [("unreliable",)]


def test_04_a_saturated_counter_is_kept_and_flagged(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "04-int32-saturated-cycles")
    assert warehouse.rows("SELECT line, cycles, saturated FROM source_line_stats ORDER BY line") == [
        (41, 2147483647, 1),
        (42, 185000, 0),
    ]


def test_05_a_time_of_zero_beside_cycles_is_below_resolution(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "05-sim-running-time-rounded-to-zero")
    assert warehouse.rows(
        "SELECT instruction, cycles, running_time_us, below_resolution FROM instruction_stats ORDER BY line_number"
    ) == [("VADD", 88, 0.05, 0), ("MOV_XD_IMM", 8, None, 1), ("MOVEMASK", 21, 0.01, 0), ("WAIT_FLAG", 950, 0.51, 0)]


def test_18_a_gb18030_path_is_read_and_its_encoding_recorded(warehouse: Warehouse) -> None:
    warehouse.ingest(INPUTS / "18-encoding-bom-gbk-crlf" / "gbk_path")
    ((file, line, encoding),) = warehouse.rows(
        "SELECT s.file, s.line, a.encoding FROM source_line_stats s JOIN artifacts a ON a.kernel_id = s.kernel_id"
    )
    assert file == "/home/用户/算子/核函数.cpp"
    assert (line, encoding) == (12, "gb18030")


def test_30_hostile_rows_cost_only_their_cells(warehouse: Warehouse) -> None:
    (outcome,) = warehouse.ingest(INPUTS / "30-hostile-code-path")
    counts = outcome.counts
    assert outcome.kind == "new"
    assert counts.read == counts.stored + counts.nulls + counts.lost
    assert counts.lost == warehouse.value("SELECT sum(cells) FROM ingest_issues")
    assert warehouse.value("SELECT max(length(code)) FROM source_line_stats") >= 300  # type: ignore[operator]
