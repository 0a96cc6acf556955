"""The exported msprof database: ordinary tables of the documented shape, whole or not there, the same every time."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.errors import InputError, UsageError
from opprof_db.warehouse import opening
from opprof_db.warehouse.msprof_db import export as module
from opprof_db.warehouse.msprof_db.export import Exported, export
from opprof_db.warehouse.msprof_db.shape import SchemaVersion
from tests.builders.device import DeviceRun, Layout
from tests.builders.kernels import mix, vector
from tests.builders.simulator import SimulatorRun, example_kernel
from tests.conftest import Cli, Warehouse
from tests.shared import ROOT
from tests.warehouse.msprof_macros import COMPUTE

COLUMNS = {
    # source: msprof profile_data_file_references_db.md
    "STRING_IDS": "id value",
    "TASK": "startNs endNs deviceId connectionId globalTaskId globalPid taskType contextId streamId taskId modelId",
    "COMPUTE_TASK_INFO": "name globalTaskId blockDim mixBlockDim taskType opType inputFormats inputDataTypes"
    " inputShapes outputFormats outputDataTypes outputShapes attrInfo opState hf32Eligible",
    "TASK_PMU_INFO": "globalTaskId name value",
    "NPU_INFO": "id name",
    "META_DATA": "name value",
    "AICORE_FREQ": "deviceId timestampNs freq",
    "SESSION_TIME_INFO": "startTimeNs endTimeNs",
    "HOST_INFO": "hostUid hostName",
    "RANK_DEVICE_MAP": "rankId deviceId",
    "COMMUNICATION_OP": "opName startNs endNs connectionId groupName opId relay retry dataType algType count opType"
    " deviceId",
    "COMMUNICATION_TASK_INFO": "name globalTaskId taskType planeId groupName notifyId rdmaType srcRank dstRank"
    " transportType size dataType linkType opId isMaster bandwidth",
    "CANN_API": "startNs endNs type globalTid connectionId name",
    "PYTORCH_API": "startNs endNs globalTid connectionId name sequenceNumber fwdThreadId inputDtypes inputShapes"
    " callchainId type",
    "CONNECTION_IDS": "id connectionId",
    **dict.fromkeys(
        (
            "ENUM_API_TYPE",
            "ENUM_MODULE",
            "ENUM_HCCL_DATA_TYPE",
            "ENUM_HCCL_LINK_TYPE",
            "ENUM_HCCL_TRANSPORT_TYPE",
            "ENUM_HCCL_RDMA_TYPE",
            "ENUM_MSTX_EVENT_TYPE",
            "ENUM_MEMCPY_OPERATION",
        ),
        "id name",
    ),
}
SUMMARIES = {"op_summary", "task_summary", "model_summary", "step_summary"}
EMPTY = ("COMMUNICATION_OP", "COMMUNICATION_TASK_INFO", "CANN_API", "PYTORCH_API", "CONNECTION_IDS")


@pytest.fixture
def filled(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    """Run 1: a mix and a vector launch; run 2: one vector launch; run 3: a simulator."""
    runs = tmp_path / "runs"
    first = DeviceRun([mix(blocks=2), vector()], "OPPROF_20260510120000_ABCDEFGHIJKLMNOP", Layout.OPERATORS)
    second = DeviceRun([vector("gelu", 7.5)], "OPPROF_20260511120000_BBCDEFGHIJKLMNOP")
    warehouse.ingest(first.write(runs))
    warehouse.ingest(second.write(runs))
    simulated = SimulatorRun({("add_custom", 0): example_kernel()})
    simulated.write(runs / "OPPROF_20260512120000_CBCDEFGHIJKLMNOP")
    warehouse.ingest(runs / "OPPROF_20260512120000_CBCDEFGHIJKLMNOP")
    return warehouse


def write(warehouse: Warehouse, target: Path, *runs: int, version: SchemaVersion = SchemaVersion.BLOCK_DIM) -> Exported:
    with opening.reading(warehouse.path) as connection:
        return export(connection, target, runs or None, version)


def rows(path: Path, sql: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def test_it_holds_ordinary_tables_with_the_documented_columns(filled: Warehouse, tmp_path: Path) -> None:
    write(filled, tmp_path / "m.db")
    with closing(sqlite3.connect(tmp_path / "m.db")) as made:
        # Asked the way the skill asks for them.
        names = {row[0] for row in made.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY name")}
        assert names == set(COLUMNS) | SUMMARIES
        for name, columns in COLUMNS.items():
            assert [row[1] for row in made.execute(f"PRAGMA table_info({name})")] == columns.split()
        strict = [row[1] for row in made.execute("PRAGMA table_list") if row[5]]
        assert strict == []
        assert made.execute("PRAGMA application_id").fetchone() == (0,)
        assert made.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        keys = {row[1]: row[5] for row in made.execute("PRAGMA table_info(STRING_IDS)")}
        assert keys == {"id": 1, "value": 0}
        types = {row[1]: row[2] for row in made.execute("PRAGMA table_info(TASK_PMU_INFO)")}
        assert types == {"globalTaskId": "INTEGER", "name": "INTEGER", "value": "NUMERIC"}
        assert [row[2] for row in made.execute("PRAGMA index_info(TaskIndex)")] == ["startNs", "globalTaskId"]


def test_tables_without_data_are_there_and_empty_and_enumerations_are_filled(filled: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "m.db"
    write(filled, target)
    for name in EMPTY:
        assert rows(target, f"SELECT count(*) FROM {name}") == [(0,)]
    assert rows(target, "SELECT id FROM ENUM_API_TYPE WHERE name = 'acl'") == [(20000,)]
    assert rows(target, "SELECT name FROM ENUM_MODULE WHERE id IN (7, 45, 77) ORDER BY id") == [
        ("RUNTIME",),
        ("GE",),
        ("CUSTOM",),
    ]
    assert rows(target, "SELECT name FROM ENUM_HCCL_DATA_TYPE WHERE id = 65534") == [("N/A",)]
    assert rows(target, "SELECT rankId, deviceId FROM RANK_DEVICE_MAP") == [(-1, 0)]
    assert rows(target, "SELECT hostUid, hostName FROM HOST_INFO") == [("N/A", "N/A")]


def test_texts_are_interned_from_zero(filled: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "m.db"
    done = write(filled, target)
    strings = rows(target, "SELECT id, value FROM STRING_IDS ORDER BY id")
    assert strings[0] == (0, "N/A")
    assert [number for number, _ in strings] == list(range(done.strings))
    assert len({text for _, text in strings}) == done.strings
    # The operator of a kernel without suffix and the kernel itself are one text.
    assert rows(target, "SELECT count(*) FROM COMPUTE_TASK_INFO WHERE name = opType") == [(2,)]


def test_the_session_spans_the_tasks(filled: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "m.db"
    write(filled, target)
    assert rows(target, "SELECT startTimeNs, endTimeNs FROM SESSION_TIME_INFO") == rows(
        target, "SELECT min(startNs), max(endNs) FROM TASK"
    )


def test_a_newer_declared_schema_has_the_newer_columns(filled: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "m.db"
    write(filled, target, version=SchemaVersion.BLOCK_NUM)
    with closing(sqlite3.connect(target)) as made:
        columns = [row[1] for row in made.execute("PRAGMA table_info(COMPUTE_TASK_INFO)")]
        assert columns[2:4] == ["blockNum", "mixBlockNum"]
        assert columns[-2:] == ["gridDim", "blockDim"]
        blocks = "SELECT blockNum, mixBlockNum, gridDim, blockDim FROM COMPUTE_TASK_INFO ORDER BY blockNum"
        assert made.execute(blocks).fetchall() == [(2, 4, 0, 0), (8, None, 0, 0), (8, None, 0, 0)]
        facts = dict(made.execute("SELECT name, value FROM META_DATA"))
        assert made.execute("SELECT DISTINCT dieId FROM AICORE_FREQ").fetchall() == [(-1,)]
        assert made.execute(f"{COMPUTE} SELECT count(*) FROM compute_view").fetchone() == (3,)
    assert facts["SCHEMA_VERSION"] == "1.2.0"
    assert [facts[f"SCHEMA_VERSION_{part}"] for part in ("MAJOR", "MINOR", "MICRO")] == ["1", "2", "0"]


def test_only_the_chosen_runs_are_in_every_table(filled: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "m.db"
    done = write(filled, target, 2)
    assert (done.runs, done.launches, done.tasks, done.left_out) == (1, 1, 1, 0)
    ((task,),) = rows(target, "SELECT globalTaskId FROM TASK")
    assert filled.rows("SELECT run_id FROM kernels WHERE id = ?", task) == [(2,)]
    for table in ("COMPUTE_TASK_INFO", "TASK_PMU_INFO"):
        assert rows(target, f"SELECT DISTINCT globalTaskId FROM {table}") == [(task,)]
    assert rows(target, "SELECT op_name, total_time, call_times FROM op_summary") == [("gelu", 7.5, 1)]
    assert rows(target, "SELECT step_id FROM step_summary") == [(2,)]
    assert rows(target, "SELECT count(*) FROM AICORE_FREQ") == [(1,)]
    assert rows(target, "SELECT value FROM STRING_IDS WHERE value LIKE 'matmul%'") == []
    assert rows(target, "SELECT endTimeNs - startTimeNs FROM SESSION_TIME_INFO") == [(7_500,)]


def test_a_launch_keeps_its_id_whatever_is_exported_with_it(filled: Warehouse, tmp_path: Path) -> None:
    write(filled, tmp_path / "all.db")
    write(filled, tmp_path / "one.db", 2)
    question = "SELECT globalTaskId, startNs, endNs FROM TASK WHERE endNs - startNs = 7500"
    assert rows(tmp_path / "all.db", question) == rows(tmp_path / "one.db", question)


def test_the_same_runs_give_the_same_bytes(filled: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(filled, tmp_path / "a.db", 1, 2)
    write(filled, tmp_path / "b.db", 2, 1, 2)
    monkeypatch.setattr(module, "LAUNCHES_AT_A_TIME", 1)
    write(filled, tmp_path / "c.db")
    contents = {(tmp_path / f"{name}.db").read_bytes() for name in "abc"}
    assert len(contents) == 1


def test_an_existing_file_is_never_touched(filled: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "m.db"
    target.write_bytes(b"mine")
    with pytest.raises(UsageError, match="exists already"):
        write(filled, target)
    assert target.read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".part"] == []


def test_a_file_that_appears_while_writing_is_kept(
    filled: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "m.db"
    monkeypatch.setattr(module._Writer, "_summaries", lambda _: target.write_bytes(b"theirs"))
    with pytest.raises(UsageError, match="exists already"):
        write(filled, target)
    assert target.read_bytes() == b"theirs"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError, sqlite3.OperationalError])
def test_nothing_is_left_behind_when_it_fails_halfway(
    filled: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: type[BaseException]
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()

    def fail(self: object) -> None:
        raise failure("database or disk is full")

    monkeypatch.setattr(module._Writer, "_summaries", fail)
    with pytest.raises(BaseException, match="full"):
        write(filled, folder / "m.db")
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_not_there_is_said(filled: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write(filled, tmp_path / "nowhere" / "m.db")


def test_runs_without_a_launch_on_a_device_are_refused(filled: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no launch on a device"):
        write(filled, tmp_path / "m.db", 3)
    assert not (tmp_path / "m.db").exists()


def test_the_warehouse_itself_stays_as_it_is(filled: Warehouse, tmp_path: Path) -> None:
    before = hashlib.sha256(filled.path.read_bytes()).hexdigest()
    write(filled, tmp_path / "m.db")
    assert hashlib.sha256(filled.path.read_bytes()).hexdigest() == before


def test_the_command_takes_any_run_reference_and_says_what_it_wrote(filled: Warehouse, cli: Cli) -> None:
    first = cli("export", "msprof-db", "m.db", "--db", filled.path)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("m.db: 3 tasks of 2 runs, ")
    assert "left out" in first.stderr
    named = cli("export", "msprof-db", "n.db", "--db", filled.path, "--run", "OPPROF_20260511", "--run", "1")
    assert named.returncode == 0, named.stderr
    assert named.stdout.startswith("n.db: 3 tasks of 2 runs, ")
    assert named.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (("m.db", "--run", "nobody"), "no run is called", 2),
        (("m.db", "--run", "last"), "no launch on a device", 2),
        (("none/m.db",), "cannot be written", 3),
        (("m.db", "--schema-version", "9"), "schema-version", 2),
    ],
)
def test_the_command_refuses_in_one_line(
    filled: Warehouse, cli: Cli, arguments: tuple[str, ...], said: str, code: int
) -> None:
    done = cli("export", "msprof-db", *arguments, "--db", filled.path)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_sql_of_the_documentation_runs_on_both(filled: Warehouse, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "downstream.md").read_text(encoding="utf-8")
    statements = [block.partition("```")[0] for block in text.split("```sql\n")[1:]]
    assert len(statements) == 3
    target = tmp_path / "m.db"
    write(filled, target)
    for statement in statements:
        found = rows(target, statement)
        assert found
        assert found == rows(filled.path, statement)
