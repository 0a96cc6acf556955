"""Every SQL statement, query command and Python example in README.md and docs/ runs on the bundled example."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from opprof_db.warehouse import readonly
from opprof_db.warehouse.queries import named_query, query_files
from tests.conftest import Warehouse
from tests.shared import ROOT

SKETCHES = ROOT / "docs" / "reference" / "knowledge.md"  # code for a device, not for this program
PAGES = [ROOT / "README.md", *sorted(page for page in (ROOT / "docs").rglob("*.md") if page != SKETCHES)]
BLOCK = re.compile(r"```(sql|python|console|bash|text)\n(.*?)```", re.DOTALL)
QUERY = "opprof-db query "


def blocks(*kinds: str) -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for at, (kind, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8"))):
            if kind in kinds:
                yield f"{page.relative_to(ROOT)}#{at}", text


def commands() -> Iterator[tuple[str, list[str]]]:
    """The words behind each ``opprof-db query``; a quoted statement may go over several lines."""
    for where, text in blocks("console", "bash", "text"):
        lines = text.split("\n")
        for at, line in enumerate(lines):
            if QUERY not in line:
                continue
            start = line.index(QUERY)
            command = line[start + len(QUERY) :]
            if line[start - 1 : start] == "'":  # quoted within a sentence
                command = command.rpartition("'")[0]
            if line.strip().startswith(QUERY) and line.startswith("  "):  # a help text, which breaks lines anywhere
                command = " ".join([command, *takewhile(str.strip, lines[at + 1 :])])
            for more in (*lines[at + 1 :], None):
                try:
                    yield where, shlex.split(command)
                    break
                except ValueError:
                    assert more is not None, command
                    command += f" {more.strip()}"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    made = Warehouse(tmp_path_factory.mktemp("docs") / "opprof.db")
    made.ingest(ROOT / "examples" / "out")
    return made


SQL = dict(blocks("sql"))
NAMED = {query.file.sql: query for query in query_files()}
COMMANDS = [(where, words) for where, words in commands() if words and not {"--help", "NAME"} & set(words)]
PYTHON = [(where, text) for where, text in blocks("python")]


@pytest.mark.parametrize("where", SQL)
def test_statements_run(where: str, example: Warehouse) -> None:
    query = NAMED.get(SQL[where].strip())
    bound = query.bind({p.name: "1" for p in query.parameters if p.required}) if query else {}
    assert readonly.run(example.path, SQL[where], bound).columns


def test_there_are_examples() -> None:
    assert len(SQL) >= 5
    assert len(COMMANDS) >= 5
    assert len(PYTHON) >= 3


@pytest.mark.parametrize(("where", "words"), COMMANDS)
def test_query_commands_run(where: str, words: list[str], example: Warehouse) -> None:
    params = dict(words[at + 1].split("=", 1) for at, word in enumerate(words) if word in ("--param", "-p"))
    if "--name" in words:
        query = named_query(words[words.index("--name") + 1])
        readonly.run(example.path, query.file.sql, query.bind(params))
    elif not words[0].startswith("-") and words[0] != "[OPTIONS]":
        readonly.run(example.path, words[0], params)


def test_python_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, object] = {}
    for where, text in PYTHON:
        exec(compile(text, where, "exec"), names)
