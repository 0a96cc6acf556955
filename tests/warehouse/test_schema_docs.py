"""The schema is documented the way agents and people look for it."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest

from opprof_db.errors import UsageError
from opprof_db.warehouse import migrate, schema_docs
from tests.conftest import Cli, Warehouse


def test_everything_in_a_database_is_described(warehouse: Warehouse) -> None:
    migrate.upgrade(warehouse.path, create=True)
    real = {
        name: [row[0] for row in warehouse.rows("SELECT name FROM pragma_table_info(?)", name)]
        for (name,) in warehouse.rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        if not name.startswith("sqlite_") and name != "alembic_version"
    }
    described = {
        one.name: [field.name for field in one.fields] for one in schema_docs.described() if one.kind != "query"
    }
    assert described == real
    assert all(field.meaning for one in schema_docs.described() for field in (*one.fields, *one.parameters))


def test_markdown_has_one_section_a_table(cli: Cli) -> None:
    text = cli("schema").stdout
    sections = re.findall(r"^\*\*(\w+)\*\*$", text, re.MULTILINE)
    assert sections == [one.name for one in schema_docs.described()]
    one = cli("schema", "task").stdout
    assert one.startswith("**TASK**\n")
    assert "|globalTaskId|INTEGER|the kernel's id|" in one


def test_json_and_ddl(cli: Cli) -> None:
    (found,) = json.loads(cli("schema", "top_kernels", "-f", "json").stdout)
    assert found["kind"] == "view"
    assert found["fields"][0]["name"] == "kernel_id"
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(cli("schema", "kernels", "-f", "ddl").stdout)
        assert connection.execute("SELECT count(*) FROM kernels").fetchone() == (0,)


def test_patterns_and_wrong_names() -> None:
    assert {one.name for one in schema_docs.find("KERNEL_*")} >= {"kernel_overview", "kernel_metrics"}
    with pytest.raises(UsageError) as raised:
        schema_docs.find("kernel_overviw")
    assert "kernel_overview" in str(raised.value.hint)
