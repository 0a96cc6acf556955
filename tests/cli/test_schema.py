"""``opprof-db schema``: works without a database, in three formats."""

from __future__ import annotations

import json
import sqlite3

from tests.conftest import Cli


def test_a_view_is_shown_plain_in_a_pipe_without_a_database(cli: Cli) -> None:
    done = cli("schema", "top_kernels")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("**top_kernels**\n\nView: Launches")
    assert "\x1b" not in done.stdout


def test_without_a_name_everything_is_shown_as_json(cli: Cli) -> None:
    found = json.loads(cli("schema", "--format", "json").stdout)
    kinds = {item["name"]: item["kind"] for item in found}
    assert kinds["kernel_overview"] == "view"
    assert kinds["kernels"] == "table"
    assert all(item["fields"] for item in found)


def test_the_ddl_is_sql(cli: Cli) -> None:
    statements = cli("schema", "runs", "--format", "ddl").stdout
    connection = sqlite3.connect(":memory:")
    connection.executescript(statements)
    assert connection.execute("SELECT count(*) FROM runs").fetchone() == (0,)
    connection.close()


def test_a_wrong_name_is_one_line_with_a_hint(cli: Cli) -> None:
    done = cli("schema", "top_kernel")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean top_kernels" in done.stderr
