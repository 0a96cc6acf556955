"""The documentation of the schema says what there really is, and can be printed for people and programs."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.errors import UsageError
from opprof_db.warehouse import migrate, schema_docs
from opprof_db.warehouse.fts import internal_tables
from opprof_db.warehouse.schema_docs import COMPUTED, Documented, Field, Kind
from tests.conftest import Warehouse
from tests.shared import ROOT

SECTION = re.compile(r"^\*\*(.+?)\*\*$", re.MULTILINE)


def test_everything_in_a_new_warehouse_is_documented_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    migrate.upgrade(path, create=True)
    with closing(sqlite3.connect(path)) as connection:
        real = {
            (kind, name)
            for kind, name in connection.execute("SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')")
            if name != "alembic_version" and not name.startswith("sqlite_") and name not in internal_tables(connection)
        }
        documented = {
            ("table" if item.kind is Kind.TABLE else "view", item.name)
            for item in schema_docs.of_kind(Kind.VIEW, Kind.COMPAT, Kind.TABLE)
        }
        assert documented == real
        for item in schema_docs.of_kind(Kind.VIEW, Kind.COMPAT, Kind.TABLE):
            columns = connection.execute("SELECT name, type FROM pragma_table_info(?)", (item.name,)).fetchall()
            assert [field.name for field in item.fields] == [name for name, _ in columns]
            for field, (_, declared) in zip(item.fields, columns, strict=True):
                assert field.type in (declared.replace("VARCHAR(32)", "TEXT"), COMPUTED)  # alembic_version
                if item.kind is Kind.TABLE:
                    assert field.type == declared


def test_the_ddl_makes_the_schema_that_migrations_make(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    migrate.upgrade(path, create=True)
    shape = (
        'SELECT m.type, m.name, c.name, c.type, c.pk, c."notnull"'
        " FROM sqlite_master AS m, pragma_table_info(m.name) AS c"
        " WHERE m.type IN ('table', 'view') AND m.name NOT IN ('alembic_version') AND m.name NOT LIKE 'sqlite_%'"
        " ORDER BY m.name, c.cid"
    )
    indexes = "SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name"
    with closing(sqlite3.connect(path)) as migrated, closing(sqlite3.connect(":memory:")) as made:
        ordered = schema_docs.of_kind(Kind.TABLE) + schema_docs.of_kind(Kind.VIEW, Kind.COMPAT)
        made.execute("CREATE TABLE alembic_version (version_num VARCHAR(32))")  # a view may show it
        made.executescript(schema_docs.ddl(ordered))
        assert made.execute(shape).fetchall() == migrated.execute(shape).fetchall()
        assert made.execute(indexes).fetchall() == migrated.execute(indexes).fetchall()


def test_the_declared_types_of_views_hold_for_real_rows(warehouse: Warehouse) -> None:
    warehouse.ingest(ROOT / "examples" / "out")
    storage = {"INTEGER": {"integer"}, "REAL": {"real"}, "TEXT": {"text"}, "BLOB": {"blob"}}
    checked = 0
    for item in schema_docs.of_kind(Kind.VIEW):
        for field in item.fields:
            if field.type == COMPUTED:
                continue
            found = {
                kind
                for (kind,) in warehouse.rows(f'SELECT DISTINCT typeof("{field.name}") FROM {item.name}')
                if kind != "null"
            }
            assert found <= storage[field.type], (item.name, field.name)
            checked += len(found)
    assert checked > 50


def test_markdown_has_one_bold_heading_and_a_field_table_for_each() -> None:
    items = schema_docs.documentation()
    text = schema_docs.markdown(items)
    assert SECTION.findall(text) == [item.name for item in items]
    section = text.split("**top_kernels**\n")[1].split("\n**")[0]
    assert "| Field | Type | Meaning |\n|---|---|---|\n| kernel_id | INTEGER | identifier of the launch |" in section
    assert "Grain: kernel (one launch on one device)" in section


def test_cells_of_the_field_table_stay_on_one_line_and_in_one_cell() -> None:
    item = Documented(Kind.TABLE, "t", "Purpose.", "", (Field("x", "TEXT", "a | b\nc"),), "CREATE TABLE t (x)")
    assert "| x | TEXT | a \\| b c |\n" in schema_docs.markdown([item])


def test_a_name_is_found_whatever_its_case_and_a_pattern_finds_several() -> None:
    assert [item.name for item in schema_docs.matching("KERNEL_OVERVIEW")] == ["kernel_overview"]
    names = {item.name for item in schema_docs.matching("memory*")}
    assert {"memory", "memory_l0", "memory_ub", "memory_paths"} <= names


def test_a_wrong_name_is_refused_with_similar_ones() -> None:
    with pytest.raises(UsageError) as error:
        schema_docs.matching("kernel_overvew")
    assert "kernel_overview" in str(error.value.hint)
    with pytest.raises(UsageError):
        schema_docs.matching("nothing_like_it_*")


def test_a_named_query_has_parameters_and_no_ddl() -> None:
    (query,) = (item for item in schema_docs.matching("top_kernels") if item.kind is Kind.QUERY)
    assert ("limit", "integer") in [(field.name, field.type) for field in query.parameters]
    assert schema_docs.as_objects([query])[0]["parameters"][0] == {
        "name": "limit",
        "type": "integer",
        "required": False,
        "meaning": "how many launches (default 10)",
    }
    assert "| limit | integer | how many launches (default 10) |" in schema_docs.markdown([query])
    with pytest.raises(UsageError) as error:
        schema_docs.ddl([query])
    assert "named query" in error.value.what


def test_objects_say_none_for_what_does_not_apply() -> None:
    (runs,) = schema_docs.as_objects(schema_docs.matching("runs"))
    assert (runs["kind"], runs["grain"], runs["parameters"]) == ("table", None, [])
    assert runs["fields"][0] == {
        "name": "id",
        "type": "INTEGER",
        "key": True,
        "meaning": "Identifier of the run.",
    }
    json.dumps(runs)
