"""The MCP server over a real stdio subprocess, asked by the SDK's own client; friendly and hostile."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from opprof_db.agents.answers import MAX_BYTES, MAX_ROWS
from opprof_db.ingest.finding import find
from opprof_db.ingest.options import IngestOptions
from opprof_db.ingest.service import ingest
from opprof_db.warehouse import opening
from tests.shared import ROOT

mcp = pytest.importorskip("mcp")

SERVER = [sys.executable, "-m", "opprof_db", "mcp"]
TIMEOUT_S = 1.5
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
Asked = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mcp") / "filled.db"
    found = find([ROOT / "examples" / "out"])
    with opening.writing(path, create=True) as connection:
        list(ingest(connection, path, found, IngestOptions()))
    return path


@pytest.fixture
def place(tmp_path: Path, filled: Path) -> Path:
    shutil.copy(filled, tmp_path / "opprof.db")
    (tmp_path / "csv").mkdir()
    return tmp_path


def session(place: Path, *arguments: str, mode: str = "auto") -> Any:
    from mcp.client.stdio import StdioServerParameters

    environment = {"PYTHONPATH": str(ROOT)}
    return mcp.Client(
        StdioServerParameters(command=SERVER[0], args=[*SERVER[1:], *arguments], cwd=place, env=environment), mode=mode
    )


def ask(place: Path, *asked: Asked, arguments: tuple[str, ...] = ("--output-dir", "csv")) -> list[tuple[bool, Any]]:
    """Every answer as (whether it is an error, decoded JSON), of one server."""

    async def conversation() -> list[tuple[bool, Any]]:
        answers = []
        async with session(place, "--timeout", str(TIMEOUT_S), *arguments) as client:
            for name, values in asked:
                result = await client.call_tool(name, values)
                (content,) = result.content
                assert len(content.text.encode()) <= MAX_BYTES
                answers.append((result.is_error, json.loads(content.text)))
        return answers

    return anyio.run(conversation)


def sql(query: str, **more: str) -> Asked:
    return ("execute_sql", {"query": query, **more})


def test_tools_have_the_names_and_arguments_that_the_public_skill_uses(place: Path) -> None:
    async def conversation() -> tuple[Any, str, Any]:
        async with session(place) as client:
            return client.server_info, client.instructions, (await client.list_tools()).tools

    info, instructions, tools = anyio.run(conversation)
    assert info.name == "opprof-db"
    assert "NULL is not zero" in instructions
    arguments = {tool.name: set(tool.input_schema["properties"]) for tool in tools}
    assert arguments == {
        "list_tables": {"db_path"},
        "get_schema": {"table_name", "db_path"},
        "execute_sql": {"db_path", "query"},
        "execute_sql_to_csv": {"db_path", "query", "output_csv_path"},
        "list_runs": {"limit", "db_path"},
        "list_kernels": {"run", "operator", "limit", "db_path"},
        "named_query": {"name", "parameters", "db_path"},
        "trend": {"kernel", "order_by", "db_path"},
        "sweep": {"kernel", "by", "where", "pareto", "db_path"},
        "similar": {"kernel", "limit", "others", "db_path"},
        "compare_modes": {"kernel", "with_kernel", "db_path"},
        "recommend": {"kernel", "limit", "db_path"},
        "kb_search": {"question", "kind", "chip", "operator", "rule", "limit", "db_path"},
        "kb_show": {"entry", "db_path"},
        "verify": {"before", "after", "entry", "db_path"},
    }
    assert {tool.name for tool in tools if not tool.annotations.read_only_hint} == {"execute_sql_to_csv"}
    described = {tool.name: tool.description for tool in tools}
    assert "Aggregate" in described["execute_sql"]
    assert "LIMIT" in described["execute_sql"]
    assert "views" in described["list_tables"]


def test_the_page_says_what_the_server_offers() -> None:
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    for tool in ("list_tables", "get_schema", "execute_sql", "execute_sql_to_csv", "list_runs", "list_kernels"):
        assert f"| `{tool}` |" in page
    assert f"at most {MAX_ROWS} rows and\n{MAX_BYTES:,} bytes" in page


def test_what_is_known_about_a_launch_is_recommended_found_shown_and_verified(place: Path) -> None:
    answers = ask(
        place,
        ("recommend", {"kernel": "kernel:9", "limit": 2}),
        ("kb_search", {"question": "小数据搬运", "kind": "pattern", "limit": 1}),
        ("kb_search", {"rule": "bank_conflicts", "chip": "910B"}),
        ("kb_show", {"entry": "pattern-small-transfers"}),
        ("verify", {"before": "kernel:9", "after": "kernel:8", "entry": "recipe-tile-size"}),
        ("verify", {"before": "kernel:8", "after": "kernel:9", "entry": "recipe-tile-size"}),
    )
    assert [failed for failed, _ in answers] == [False] * 6, answers
    fitting, found, about, entry, done, undone = (answer for _, answer in answers)
    assert [row["entry"] for row in fitting["rows"]] == ["pattern-small-transfers", "recipe-tile-size"]
    assert "duration_us down" in fitting["rows"][0]["expected"]
    assert [row["entry"] for row in found["rows"]] == ["pattern-small-transfers"]
    assert "pattern-bank-conflicts" in [row["entry"] for row in about["rows"]]
    assert "## When not to apply" in entry["text"]
    assert (done["verdict"], undone["verdict"]) == ("confirmed", "denied")
    for name, arguments in (
        ("kb_search", {"rule": "nonsense"}),
        ("kb_search", {"operator": "frobnicate"}),
        ("kb_search", {"chip": "H100"}),
        ("kb_show", {"entry": "../../etc/passwd"}),
        ("recommend", {"kernel": "kernel:99"}),
    ):
        failed, answer = ask(place, (name, arguments))[0]
        assert failed
        assert set(answer) == {"error", "hint"}


def test_kernels_are_followed_over_runs_variants_and_likeness(place: Path) -> None:
    answers = ask(
        place,
        ("trend", {"kernel": "kernel:9"}),
        ("sweep", {"kernel": "add_custom", "by": ["block_dim"], "pareto": ["duration_us", "block_dim"]}),
        ("similar", {"kernel": "kernel:9", "limit": 1}),
    )
    assert [failed for failed, _ in answers] == [False] * 3
    trend, sweep, similar = (answer for _, answer in answers)
    assert [row["median_us"] for row in trend["rows"]] == [2049.780029, 892.02002]
    assert trend["series"][0]["block_dim"] == 8
    assert [row["best"] for row in sweep["rows"]] == [1, 1]
    assert [group["chip"] for group in sweep["groups"]] == ["(310P)", "Ascend910B4"]
    assert [row["kernel_id"] for row in similar["rows"]] == [8]
    failed, answer = ask(place, ("sweep", {"kernel": "add_custom", "pareto": ["duration_us"]}))[0]
    assert failed
    assert answer["error"] == "pareto names two metrics"


def test_a_launch_is_set_beside_its_simulation(place: Path) -> None:
    with sqlite3.connect(place / "opprof.db") as connection:
        ((simulated,),) = connection.execute("SELECT id FROM kernels WHERE mode = 'simulator'").fetchall()
    (failed, answer), (refused, error) = ask(
        place,
        ("compare_modes", {"kernel": "kernel:9", "with_kernel": f"kernel:{simulated}"}),
        ("compare_modes", {"kernel": "kernel:9", "with_kernel": "kernel:8"}),
    )
    assert not failed
    assert "Do not equate the totals" in answer["warning"]
    assert {"vec", "mte2"} <= {row["pipe"] for row in answer["rows"]}
    assert refused
    assert "both of the device" in error["error"]


def test_clients_of_the_older_protocol_are_served_too(place: Path) -> None:
    async def conversation() -> Any:
        async with session(place, mode="legacy") as client:
            return await client.call_tool("execute_sql", {"query": "SELECT count(*) AS n FROM kernels"})

    assert json.loads(anyio.run(conversation).content[0].text)["rows"] == [{"n": 9}]


def test_a_question_is_answered_step_by_step(place: Path) -> None:
    answers = ask(
        place,
        ("list_tables", {}),
        ("get_schema", {"table_name": "kernel_overview"}),
        ("list_runs", {"limit": 2}),
        ("list_kernels", {"run": "OPPROF_20260512093015"}),
        ("list_kernels", {"run": 2, "operator": "GELU"}),
        ("named_query", {}),
        ("named_query", {"name": "top_kernels", "parameters": {"limit": 2}}),
        sql("SELECT operator, max(duration_us) AS us FROM kernel_overview GROUP BY operator ORDER BY 2 DESC LIMIT 1"),
    )
    assert [failed for failed, _ in answers] == [False] * 8
    tables, schema, runs, kernels, of_operator, queries, slowest, counted = (answer for _, answer in answers)
    kinds = [row["kind"] for row in tables["rows"]]
    assert kinds[0] == "view"
    assert kinds.index("table") > max(at for at, kind in enumerate(kinds) if kind == "view")
    assert tables["allowed_databases"] == [str(place / "opprof.db")]
    assert schema["schema"].startswith("**kernel_overview**\n")
    assert [run["run_id"] for run in runs["rows"]] == [4, 3]
    assert runs["truncated"]
    assert [(kernel["operator"], kernel["duration_us"]) for kernel in kernels["rows"]] == [("add_custom", 2049.780029)]
    assert {kernel["operator"] for kernel in of_operator["rows"]} == {"gelu_custom"}
    assert "top_kernels" in [query["name"] for query in queries["rows"]]
    assert [kernel["kernel_id"] for kernel in slowest["rows"]] == [9, 8]
    assert "duration_us" in slowest["columns_mean"]
    assert counted["rows"] == [{"operator": "add_custom", "us": 2049.780029}]


WRITES = [
    "DELETE FROM runs",
    "WITH x AS (SELECT 1) DELETE FROM runs",
    "DROP TABLE runs",
    "CREATE TABLE t (x)",
    "ATTACH DATABASE 'new.db' AS n",
    "VACUUM INTO 'copy.db'",
    "PRAGMA writable_schema = 1",
    "PRAGMA table_info(runs)",
    "SELECT load_extension('x')",
    "SELECT writefile('x', 'y')",
    "SELECT readfile('/etc/passwd')",
    "SELECT 1; DELETE FROM runs",
    "BEGIN",
    "",
    "-- nothing",
    "SELECT * FROM no_such_table",
    "SELECT \0 1",
]


def test_nothing_can_be_changed_and_every_refusal_is_json_with_a_hint(place: Path) -> None:
    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in place.iterdir() if path.is_file()}
    answers = ask(place, *(sql(query) for query in WRITES))
    for query, (failed, answer) in zip(WRITES, answers, strict=True):
        assert failed, query
        assert set(answer) == {"error", "hint"}, query
        assert answer["error"], query
        assert answer["hint"], query
    after = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in place.iterdir() if path.is_file()}
    assert after["opprof.db"] == before["opprof.db"]
    assert {name for name in after if not name.endswith(("-shm", "-wal"))} == set(before)


def test_no_other_file_can_be_read(place: Path) -> None:
    outside = place.parent / f"{place.name}-outside"
    outside.mkdir()
    shutil.copy(place / "opprof.db", outside / "other.db")
    (place / "link.db").symlink_to(outside / "other.db")
    (place / "text.db").write_text("not a database at all, but long enough to be read as one" * 20)
    names = [
        "/etc/passwd",
        f"../{outside.name}/other.db",
        "link.db",
        str(outside / "other.db"),
        "text.db",
        ".",
        "none.db",
    ]
    answers = ask(place, *(sql("SELECT 1", db_path=name) for name in names), arguments=("--allow-dir", "."))
    for name, (failed, answer) in zip(names, answers, strict=True):
        assert failed, name
        assert set(answer) == {"error", "hint"}, name
    assert "not a SQLite database" in answers[4][1]["error"]
    assert "allowed" in answers[0][1]["hint"]


def test_another_programs_database_below_an_allowed_folder_can_be_asked(place: Path) -> None:
    with sqlite3.connect(place / "msprof.db") as connection:
        connection.execute("CREATE TABLE TASK (startNs INTEGER, endNs INTEGER)")
        connection.execute("INSERT INTO TASK VALUES (1, 3)")
    connection.close()
    answers = ask(
        place,
        sql("SELECT endNs - startNs AS ns FROM TASK LIMIT 1", db_path="msprof.db"),
        ("list_tables", {"db_path": "msprof.db"}),
        ("get_schema", {"table_name": "task", "db_path": "msprof.db"}),
        ("get_schema", {"table_name": "kernels", "db_path": "msprof.db"}),
        ("list_runs", {"db_path": "msprof.db"}),
        arguments=("--allow-dir", "."),
    )
    assert answers[0] == (False, {**answers[0][1], "rows": [{"ns": 2}]})
    assert answers[1][1]["rows"] == [{"name": "TASK", "kind": "table", "purpose": None}]
    assert answers[2][1]["schema"] == "CREATE TABLE TASK (startNs INTEGER, endNs INTEGER)"
    assert answers[3][0]
    assert answers[4][0]
    assert "another program" in answers[4][1]["error"]


def test_large_results_are_cut_and_say_how_to_get_the_rest(place: Path) -> None:
    count = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100000) SELECT"
    answers = ask(
        place,
        sql(f"{count} n FROM c"),
        sql(f"{count} n, printf('%.*c', 2000, '\"') AS text FROM c"),
        sql("SELECT printf('%.*c', 500000, 'x') AS text"),
        sql("SELECT 1 AS a, 2 AS a, NULL AS n, x'00ff' AS b, 9e999 AS inf"),
        ("get_schema", {"table_name": "*"}),
        sql("SELECT 1 AS [" + "n" * 62_000 + "]"),
    )
    rows, wide, one, values, schema, names = (answer for _, answer in answers)
    assert (rows["row_count"], rows["truncated"]) == (MAX_ROWS, True)
    assert "OFFSET" in rows["note"]
    assert 0 < wide["row_count"] < MAX_ROWS
    assert f"{MAX_BYTES} bytes" in wide["note"]
    assert (one["row_count"], one["truncated"]) == (0, True)
    assert values["rows"] == [{"a": 1, "a_2": 2, "n": None, "b": "00ff", "inf": "inf"}]
    assert schema["truncated"]
    assert "fewer" in schema["note"]
    assert "names of the columns" in names["error"]


def test_endless_statements_are_stopped_and_the_server_goes_on(place: Path) -> None:
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT"
    began = time.monotonic()
    answers = ask(
        place,
        sql(f"{endless} count(*) FROM c"),
        ("execute_sql_to_csv", {"query": f"{endless} count(*) FROM c", "output_csv_path": "endless.csv"}),
        sql("SELECT 1 AS n"),
    )
    assert time.monotonic() - began < 15
    assert "stopped after 1.5 s" in answers[0][1]["error"]
    assert "stopped after 1.5 s" in answers[1][1]["error"]
    assert answers[2][1]["rows"] == [{"n": 1}]
    assert list((place / "csv").iterdir()) == []


def test_wrong_calls_are_explained(place: Path) -> None:
    answers = ask(
        place,
        ("execute_sql", {}),
        ("execute_sql", {"query": 5}),
        ("execute_sq", {"query": "SELECT 1"}),
        ("list_kernels", {"limit": 0}),
        ("list_kernels", {"run": "nothing like it"}),
        ("named_query", {"name": "top_kernel"}),
        ("named_query", {"name": "top_kernels", "parameters": {"limit": "many"}}),
        ("get_schema", {"table_name": "kernel_overvie"}),
        sql("SELECT duration FROM kernels"),
        sql("SELECT operator FORM kernels"),
    )
    assert all(failed and set(answer) == {"error", "hint"} for failed, answer in answers)
    errors = [answer for _, answer in answers]
    assert "query: Field required" in errors[0]["error"]
    assert "execute_sql" in errors[2]["hint"]
    assert "top_kernels" in errors[5]["hint"]
    assert "whole number" in errors[6]["error"]
    assert "kernel_overview" in errors[7]["hint"]
    assert "duration_us" in errors[8]["hint"]
    assert "--help" not in errors[9]["hint"]


def test_a_csv_file_is_written_once_and_only_where_allowed(place: Path) -> None:
    query = "SELECT kernel_id, duration_us, NULL AS empty FROM kernel_overview ORDER BY kernel_id"
    (place / "csv" / "out").symlink_to(place)
    names = ["a.csv", "a.csv", "../b.csv", str(place / "c.csv"), "out/d.csv", "e.db", str(place / "csv/sub/f.csv")]
    answers = ask(place, *(("execute_sql_to_csv", {"query": query, "output_csv_path": name}) for name in names))
    assert [failed for failed, _ in answers] == [False, True, True, True, True, True, False]
    assert answers[0][1]["csv_export"] == {"status": "success", "path": str(place / "csv/a.csv"), "saved_rows": 9}
    with (place / "csv/a.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["kernel_id", "duration_us", "empty"]
    assert len(lines) == 10
    assert lines[9] == ["9", "2049.780029", ""]
    assert "exists already" in answers[1][1]["error"]
    assert {path.name for path in place.iterdir() if path.is_file()} <= {"opprof.db", "opprof.db-shm", "opprof.db-wal"}
    assert sorted(path.name for path in (place / "csv").iterdir()) == ["a.csv", "out", "sub"]
    refused = ask(place, ("execute_sql_to_csv", {"query": query, "output_csv_path": "z.csv"}), arguments=())
    assert "--output-dir" in refused[0][1]["hint"]


def test_a_database_that_is_not_there_yet_is_explained(place: Path) -> None:
    answers = ask(place, ("list_runs", {}), ("get_schema", {"table_name": "runs"}), arguments=("--db", "later.db"))
    assert "no such database" in answers[0][1]["error"]
    assert answers[1][1]["schema"].startswith("**runs**")
    assert not (place / "later.db").exists()


def test_an_older_warehouse_is_read_but_not_upgraded(place: Path) -> None:
    old = sorted((ROOT / "tests/fixtures/databases").glob("*.db"))[0]
    shutil.copy(old, place / "old.db")
    before = (place / "old.db").read_bytes()
    answers = ask(place, sql("SELECT count(*) AS n FROM runs"), ("list_runs", {}), arguments=("--db", "old.db"))
    assert answers[0][0] is False
    assert "db upgrade" in answers[1][1]["hint"]
    assert (place / "old.db").read_bytes() == before


def test_stdout_holds_nothing_but_messages_and_the_end_of_stdin_ends_it(place: Path) -> None:
    lines = f"{json.dumps(HELLO)}\nthis is not JSON\n"
    done = subprocess.run(
        [*SERVER, "--db", "none.db"],
        input=lines,
        cwd=place,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    assert messages[0]["result"]["serverInfo"]["name"] == "opprof-db"
    assert "none.db: no such database yet" in done.stderr


def test_an_interrupt_ends_the_server_at_once(place: Path) -> None:
    server = subprocess.Popen(
        SERVER,
        cwd=place,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        assert server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=10) in (-signal.SIGINT, 130)
        assert server.stderr is not None
        assert b"Traceback" not in server.stderr.read()


@pytest.mark.parametrize("found", ["", "from .server import gone"])
def test_without_the_extra_it_says_what_to_install(place: Path, found: str) -> None:
    (place / "shadow" / "mcp").mkdir(parents=True)
    (place / "shadow" / "mcp" / "__init__.py").write_text(found or "raise ModuleNotFoundError('No module named mcp')\n")
    done = subprocess.run(
        SERVER,
        input="",
        cwd=place,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{place / 'shadow'}:{ROOT}"},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'opprof-db[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr
