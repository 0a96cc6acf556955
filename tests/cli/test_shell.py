"""The shell: scripts through a pipe, a conversation in a terminal, completion."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from opprof_db.cli.shell import completer, converse, session
from opprof_db.cli.shell_core import Leave, Shell, complete, split, statements
from tests import small
from tests.conftest import Cli, Warehouse


@pytest.fixture
def filled(warehouse: Warehouse, tmp_path: Path) -> Warehouse:
    warehouse.ingest(small.run(tmp_path / "OPPROF_A"))
    return warehouse


def test_a_script_from_a_pipe_is_run_statement_by_statement(cli: Cli, tmp_path: Path) -> None:
    cli("ingest", small.run(tmp_path / "OPPROF_A"))
    script = "SELECT 1 AS a,\n  'x;y' AS b;\n\n.format csv\nSELECT count(*) AS n FROM kernels;\n"
    script += ".run top_kernels limit=1\n"
    done = cli("shell", input=script)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["a  b", "1  x;y"]
    assert lines[2:4] == ["n", "1"]
    assert lines[4].startswith("kernel_id,run,operator")
    assert len(lines) == 6


def test_mistakes_in_a_script_are_said_and_the_rest_runs(cli: Cli, tmp_path: Path) -> None:
    cli("ingest", small.run(tmp_path / "OPPROF_A"))
    script = "SELECT * FROM kernel;\n.tabels\n.limit x\n.format xml\n.schema nothing_like_it\n.run\n"
    script += "DROP TABLE runs;\nSELECT 7 AS n;"
    done = cli("shell", input=script)
    assert done.returncode == 2
    for said in ("did you mean", ".tables", "no number of rows", "one of: table", "needs the name", "only reading"):
        assert said in done.stderr
    assert done.stdout.split() == ["n", "7"]
    assert "Traceback" not in done.stderr


def test_several_statements_on_a_line_run_one_after_the_other(cli: Cli, tmp_path: Path) -> None:
    cli("ingest", small.run(tmp_path / "OPPROF_A"))
    done = cli("shell", "--format", "csv", input="SELECT 1 AS a; SELECT ';' AS b; -- the end\n/* ; */ SELECT 3 AS c")
    assert done.stdout.split() == ["a", "1", "b", ";", "c", "3"]
    assert done.returncode == 0


def test_the_exit_code_of_a_script_is_that_of_its_first_error(cli: Cli, tmp_path: Path) -> None:
    cli("ingest", small.run(tmp_path / "OPPROF_A"))
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c;"
    done = cli("shell", "--timeout", "0.2", input=f"{endless}\nSELEC 1;\n.limit ²\n.run top_kernels limit\n")
    assert done.returncode == 4
    assert "internal error" not in done.stderr
    assert "no number of rows" in done.stderr
    assert "'limit' is not NAME=VALUE" in done.stderr
    assert cli("shell", input="SELEC 1;\n.quit\n").returncode == 2


def test_a_script_that_is_no_utf_8_says_where(cli: Cli, tmp_path: Path) -> None:
    cli("ingest", small.run(tmp_path / "OPPROF_A"))
    script = tmp_path / "odd.sql"
    script.write_bytes(b"SELECT 1 AS a;\nSELECT '\xff';\n")
    with script.open("rb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "opprof_db", "shell"],
            cwd=tmp_path / "cli", stdin=stream, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 3
    assert "line 2 is no UTF-8" in done.stderr
    assert done.stdout.split() == ["a", "1"]


def test_statements_are_split_outside_of_quotes_and_comments() -> None:
    assert split("a;b") == ["a", "b"]
    assert split(" ;; -- x;y\n") == []
    assert split('SELECT \';\' ; SELECT "a;""b", [c;d], `e;` /* ; */ -- ;\n;') == [
        "SELECT ';'",
        'SELECT "a;""b", [c;d], `e;` /* ; */ -- ;',
    ]
    assert split("SELECT 'not closed; ") == ["SELECT 'not closed;"]


def test_what_is_whole() -> None:
    assert complete(".help")
    assert complete("SELECT ';' ;")
    assert not complete("SELECT ';'")
    assert not complete("SELECT 1 -- ;")
    assert list(statements(iter(["SELECT 1;\n", "\n", "SELECT\n", "2"]))) == ["SELECT 1;\n", "SELECT\n2"]


def offered(filled: Warehouse, text: str) -> list[str]:
    document = Document(text, len(text))
    return [made.text for made in completer(filled.path).get_completions(document, CompleteEvent())]


def test_completion_knows_tables_columns_queries_and_commands(filled: Warehouse) -> None:
    assert "kernel_overview" in offered(filled, "SELECT * FROM kernel_o")
    assert offered(filled, "SELECT * FROM top_kernels WHERE dur")[0] == "duration_us"
    assert offered(filled, "SELECT top_kernels.bl") == ["block_dim"]
    assert offered(filled, "SELECT * FROM Top_Kernels AS k WHERE k.bl") == ["block_dim"]
    assert offered(filled, "SELECT * FROM kernel_overview o, top_kernels k WHERE k.bl") == ["block_dim"]
    assert "top_kernels" in offered(filled, ".run top_k")
    assert offered(filled, ".run top_kernels li") == ["limit="]
    assert offered(filled, ".ta") == [".tables"]
    assert offered(filled, ".format m") == ["markdown"]
    assert offered(filled, "sel")[0] == "SELECT"


def test_a_conversation_over_several_lines(
    filled: Warehouse, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("SELECT 41 + 1\nAS answer;\n.limit 5\n.quit\n")
        with pytest.raises(Leave):
            converse(Shell(filled.path), session(filled.path, input=keys, output=DummyOutput()))
    assert capsys.readouterr().out.split() == ["answer", "42"]
    history = tmp_path / "state" / "opprof-db" / "history"
    assert "AS answer;" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


def test_without_a_place_for_history_it_still_works(
    filled: Warehouse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        keys.send_text("\x04")
        converse(Shell(filled.path), session(filled.path, input=keys, output=DummyOutput()))


def test_ctrl_c_in_a_terminal_ends_the_statement_and_not_the_shell(filled: Warehouse, tmp_path: Path) -> None:
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "opprof_db", "shell", "--db", str(filled.path)],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True, close_fds=True,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
    )  # fmt: skip
    os.close(slave)
    seen = ""

    def wait_for(text: str) -> None:
        nonlocal seen
        deadline = time.monotonic() + 30
        while text not in seen and time.monotonic() < deadline:
            if select.select([master], [], [], 0.2)[0]:
                try:
                    seen += os.read(master, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        assert text in seen, seen

    wait_for("opprof>")
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c;\r"
    os.write(master, endless.encode())
    time.sleep(2)
    running.send_signal(signal.SIGINT)
    wait_for("interrupted")
    os.write(master, b"SELECT 6 * 7 AS answer;\r")
    wait_for("42")
    for _ in range(40):  # a key that comes before the prompt is back is lost
        os.write(master, b"\x04")
        try:
            assert running.wait(0.5) == 0
            break
        except subprocess.TimeoutExpired:
            continue
    assert running.returncode == 0
    os.close(master)
    assert "Traceback" not in seen
