"""The warehouse's copy: by content, overridden by the user's directories, joinable, readable by SQL from outside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opprof_db.errors import InputError, UsageError
from opprof_db.knowledge.places import BUILT_IN, places
from opprof_db.knowledge.store import is_current, synchronise
from opprof_db.warehouse import opening, readonly
from tests.conftest import Cli, Warehouse
from tests.knowledge.making import ENTRY, write

PATTERN = (
    ENTRY.replace("recipe-mine", "pattern-small-transfers")
    .replace("kind: recipe", "kind: pattern")
    .replace("title: Our recipe", "title: Ours instead")
    .replace("## Problem", "## Symptoms")
    .replace("## Sketch", "## Cause")
)


@pytest.fixture
def stored(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Warehouse:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("OPPROF_KB", raising=False)
    synchronised(warehouse)
    return warehouse


def synchronised(warehouse: Warehouse, *given: Path) -> bool:
    with opening.writing(warehouse.path, create=True) as connection:
        return synchronise(connection, warehouse.path, given)


def test_entries_are_stored_once_and_looked_at_again_only_when_something_changed(
    stored: Warehouse, tmp_path: Path
) -> None:
    before = stored.rows("SELECT id, entry, content_sha256, stored_at FROM knowledge_entries ORDER BY id")
    assert len(before) > 70
    assert synchronised(stored) is False
    folder = write(tmp_path / "kb")
    assert synchronised(stored, folder) is True
    after = stored.rows("SELECT id, entry, content_sha256, stored_at FROM knowledge_entries ORDER BY id")
    assert after[:-1] == before
    assert after[-1][1] == "recipe-mine"
    assert stored.value("SELECT origin FROM knowledge_entries WHERE entry = 'recipe-mine'") == str(folder)
    assert synchronised(stored, folder) is False
    (folder / "recipe-mine.md").write_text(ENTRY.replace("Our recipe", "Our new recipe"))
    assert synchronised(stored, folder) is True
    assert stored.value("SELECT title FROM knowledge_entries WHERE entry = 'recipe-mine'") == "Our new recipe"
    assert synchronised(stored) is True
    assert stored.rows("SELECT id, entry, content_sha256, stored_at FROM knowledge_entries ORDER BY id") == before
    assert stored.value("SELECT count(*) FROM knowledge_index") == len(before)


def test_a_directory_of_the_user_overrides_by_id(stored: Warehouse, tmp_path: Path) -> None:
    folder = write(tmp_path / "kb", PATTERN, "pattern-small-transfers")
    synchronised(stored, folder)
    assert stored.rows("SELECT title, origin FROM knowledge_entries WHERE entry = 'pattern-small-transfers'") == [
        ("Ours instead", str(folder))
    ]
    assert stored.rows("SELECT path FROM knowledge_places ORDER BY position") == [(BUILT_IN,), (str(folder),)]


def test_sql_joins_rules_with_entries_and_searches_them(stored: Warehouse) -> None:
    rows = readonly.run(
        stored.path,
        "SELECT e.entry FROM knowledge_facets AS f INNER JOIN knowledge_entries AS e ON e.id = f.entry_id"
        " WHERE f.facet = 'rule' AND f.value = 'small_transfers' AND f.position = 0 AND e.kind = 'pattern'",
    ).rows
    assert ("pattern-small-transfers",) in rows
    found = readonly.run(
        stored.path,
        "SELECT e.entry FROM knowledge_index INNER JOIN knowledge_entries AS e ON e.id = knowledge_index.rowid"
        " WHERE knowledge_index MATCH 'icache' ORDER BY bm25(knowledge_index) LIMIT 1",
    ).rows
    assert found == [("pattern-instruction-cache",)]


def test_the_movements_and_sources_stand_in_tables(stored: Warehouse) -> None:
    assert ("duration_us", "down", 1) in stored.rows(
        "SELECT metric, direction, decides FROM knowledge_movements AS m INNER JOIN knowledge_entries AS e"
        " ON e.id = m.entry_id WHERE e.entry = 'recipe-double-buffer'"
    )
    assert (
        stored.value(
            "SELECT count(*) FROM knowledge_entries AS e WHERE NOT EXISTS"
            " (SELECT 1 FROM knowledge_sources AS s WHERE s.entry_id = e.id)"
        )
        == 0
    )


def test_directories_come_from_configuration_variable_and_option_in_this_order(tmp_path: Path) -> None:
    first, second, third = (write(tmp_path / name) for name in ("one", "two", "three"))
    config = tmp_path / "config" / "opprof-db" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[knowledge]\ndirectories = ["../../one"]\n')
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "OPPROF_KB": f"{second}{os.pathsep}"}
    assert [place.path for place in places([third], environment)][1:] == [first, second, third]
    assert [place.path for place in places([first], environment)][1:] == [second, first]
    named = {"OPPROF_CONFIG": str(config)}
    assert [place.path for place in places([], named)][1:] == [first]


@pytest.mark.parametrize(
    "text", ["[knowledge", "knowledge = 3", "[knowledge]\ndirectories = 3", "[knowledge]\ndirectories=[1]"]
)
def test_a_configuration_that_makes_no_sense_is_told(tmp_path: Path, text: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(text)
    with pytest.raises(InputError, match=r"config\.toml"):
        places([], {"OPPROF_CONFIG": str(config)})


def test_directories_that_are_none_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a directory"):
        places([tmp_path / "nowhere"], {})
    with pytest.raises(InputError, match="no such file"):
        places([], {"OPPROF_CONFIG": str(tmp_path / "nowhere.toml")})


def test_links_out_of_a_directory_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside")
    folder = tmp_path / "kb"
    folder.mkdir()
    (folder / "stolen.md").symlink_to(outside / "recipe-mine.md")
    (place,) = places([folder], {})[1:]
    assert place.files() == []


def test_commands_search_the_warehouse_and_without_one_the_same_in_memory(cli: Cli, warehouse: Warehouse) -> None:
    asked = ("kb", "search", "ping-pong", "buffers", "-f", "json")
    alone = cli(*asked)
    synchronised(warehouse)
    beside = cli(*asked, "--db", warehouse.path)
    assert alone.returncode == beside.returncode == 0
    assert alone.stdout == beside.stdout
    assert "recipe-double-buffer" in alone.stdout
    with opening.reading(warehouse.path) as connection:
        assert is_current(connection, places())


def test_a_warehouse_gets_its_entries_when_it_is_first_asked(cli: Cli, warehouse: Warehouse, tmp_path: Path) -> None:
    with opening.writing(warehouse.path, create=True):
        pass
    folder = write(tmp_path / "kb")
    listed = cli("kb", "list", "--kb", folder, "--db", warehouse.path)
    assert "recipe-mine" in listed.stdout
    assert warehouse.value("SELECT count(*) FROM knowledge_entries WHERE entry = 'recipe-mine'") == 1


def test_an_entry_is_shown_whole_and_an_unknown_one_gets_a_suggestion(cli: Cli) -> None:
    shown = cli("kb", "show", "pattern-small-transfers")
    assert shown.returncode == 0
    for text in ("# Transfers too small", "## When not to apply", "## Sources", "task duration 2.3 times as fast"):
        assert text in shown.stdout
    wrong = cli("kb", "show", "pattern-smal-transfers")
    assert wrong.returncode == 2
    assert "did you mean pattern-small-transfers" in wrong.stderr
