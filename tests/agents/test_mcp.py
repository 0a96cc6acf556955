"""The MCP server, asked by the SDK's own client over stdin and stdout; and what it must refuse."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opprof_db.agents.access import ANSWER_BYTES, Access, answer
from tests.conftest import Cli, Warehouse
from tests.shared import ROOT

pytest.importorskip("mcp")

Call = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    made = Warehouse(tmp_path_factory.mktemp("mcp") / "opprof.db")
    made.ingest(ROOT / "examples" / "out")
    return made


def converse(arguments: list[str], calls: list[Call], folder: Path) -> tuple[list[str], list[Any]]:
    """Names of the tools, and the answers as decoded JSON (or text)."""
    from mcp import ClientSession, StdioServerParameters, stdio_client

    async def run() -> tuple[list[str], list[Any]]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "opprof_db", "mcp", *arguments],
            cwd=folder,
            env={"PYTHONPATH": str(ROOT)},
        )
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            tools = await session.list_tools()
            answers = []
            for name, given in calls:
                result = await session.call_tool(name, given)
                answers.append(result.content[0].text)
            return [tool.name for tool in tools.tools], answers

    names, texts = asyncio.run(asyncio.wait_for(run(), 60))
    return names, [json.loads(text) if text.startswith(("{", "[")) else text for text in texts]


def test_the_sdks_client_gets_answers(example: Warehouse, tmp_path: Path) -> None:
    calls: list[Call] = [
        ("list_tables", {}),
        ("get_schema", {"table_name": "kernel_overview"}),
        ("execute_sql", {"db_path": str(example.path), "query": "SELECT count(*) AS n FROM kernels"}),
        ("execute_sql_to_csv", {"query": "SELECT id FROM metrics ORDER BY id", "output_csv_path": "m.csv"}),
        ("list_runs", {"limit": 2}),
        ("list_kernels", {"limit": 3}),
        ("named_query", {"name": "slowest_kernels", "parameters": {"limit": 1}}),
        ("execute_sql", {"query": "DELETE FROM runs"}),
    ]
    names, answers = converse(["--db", str(example.path), "--output-dir", str(tmp_path)], calls, tmp_path)
    assert {call[0] for call in calls} == set(names)
    tables, schema, count, written, runs, kernels, named, refused = answers
    assert tables["objects"][0]["kind"] == "view"
    assert "**kernel_overview**" in schema
    assert count == {"columns": ["n"], "rows": [[9]], "row_count": 1}
    assert written["row_count"] == example.value("SELECT count(*) FROM metrics")
    assert len((tmp_path / "m.csv").read_text().splitlines()) == written["row_count"] + 1
    assert runs["row_count"] == 2
    assert kernels["row_count"] == 3
    assert named["rows"][0][named["columns"].index("duration_us")] == example.value(
        "SELECT max(duration_us) FROM kernels"
    )
    assert "refused" in refused["error"]
    assert "only reading" in refused["hint"]


def ask(access: Access, name: str, *arguments: Any) -> Any:
    made = answer(getattr(access, name), *arguments)
    return json.loads(made) if made.startswith("{") else made


def test_only_allowed_databases_are_read(example: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "allowed"
    folder.mkdir()
    (folder / "link.db").symlink_to(example.path)
    access = Access([example.path.parent / "other.db"], [folder])
    for given in ("/etc/passwd", str(example.path), str(folder / ".." / "x.db"), str(folder / "link.db"), ""):
        said = ask(access, "sql", given, "SELECT 1")
        assert "not a database this server may read" in said["error"], given
    assert "no such database" in ask(access, "sql", str(folder / "none.db"), "SELECT 1")["error"]
    (folder / "text.db").write_text("no database" * 100)
    assert "not a SQLite database" in ask(access, "sql", str(folder / "text.db"), "SELECT 1")["error"]


def test_files_are_written_in_the_output_folder_only(example: Warehouse, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "link").symlink_to(tmp_path)
    (out / "there.csv").write_text("mine")
    (out / "dangling.csv").symlink_to(tmp_path / "elsewhere.csv")
    access = Access([example.path], [], out)
    for given in (
        "../x.csv", "/tmp/x.csv", str(tmp_path / "x.csv"), "link/x.csv", "there.csv", "dangling.csv", ".", "",
        "no/folder/x.csv", "a\0b.csv",
    ):  # fmt: skip
        assert "error" in ask(access, "sql_to_csv", None, "SELECT 1", given), given
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    assert (out / "there.csv").read_text() == "mine"
    assert "may not write files" in ask(Access([example.path]), "sql_to_csv", None, "SELECT 1", "x.csv")["error"]
    failing = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
    slow = Access([example.path], [], out, 0.3)
    assert "was stopped after" in ask(slow, "sql_to_csv", None, failing, "long.csv")["error"]
    assert not [path for path in out.iterdir() if "long" in path.name]


def test_answers_are_of_a_bounded_size_and_say_when_cut(example: Warehouse) -> None:
    access = Access([example.path], seconds=2)
    many = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5000) SELECT n FROM c"
    wide = f"SELECT printf('%.3000c', 'x') AS x, n FROM ({many})"
    for sql in (many, wide):
        text = answer(access.sql, None, sql)
        assert len(text.encode()) < ANSWER_BYTES + 1000
        made = json.loads(text)
        assert made["truncated"] is True
        assert "execute_sql_to_csv" in made["hint"]
        assert made["row_count"] == len(made["rows"])
    assert "truncated" not in json.loads(answer(access.sql, None, "SELECT 1"))


@pytest.mark.parametrize(
    "call",
    [
        lambda access: ask(access, "schema", "kernel_overviw"),
        lambda access: ask(access, "named", None, "slowest_kernel", {}),
        lambda access: ask(access, "named", None, "slowest_kernels", {"limit": "many"}),
        lambda access: ask(access, "sql", None, "SELECT 1; SELECT 2"),
        lambda access: ask(access, "sql", None, "ATTACH 'x' AS y"),
        lambda access: ask(access, "sql", None, "SELECT nothing FROM kernels"),
    ],
)
def test_problems_are_objects_with_a_hint(example: Warehouse, call: Callable[[Access], Any]) -> None:
    said = call(Access([example.path]))
    assert set(said) == {"error", "hint"}
    assert said["hint"]


def test_an_older_warehouse_is_not_upgraded_by_an_agent(tmp_path: Path) -> None:
    old = sorted((ROOT / "tests" / "fixtures" / "databases").glob("*.db"))[0]
    copy = tmp_path / "old.db"
    copy.write_bytes(old.read_bytes())
    said = ask(Access([copy]), "sql", None, "SELECT 1")
    assert "older schema" in said["error"]
    assert copy.read_bytes() == old.read_bytes()


def test_without_the_extra_the_command_says_how_to_get_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cli" / "sitecustomize.py").write_text(
        "import importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'mcp' else find(name, *rest)\n"
    )
    import os

    path = os.pathsep.join([str(tmp_path / "cli"), str(ROOT)])
    done = cli("mcp", env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 2
    assert "pip install 'opprof-db[mcp]'" in done.stderr
