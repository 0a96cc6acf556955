"""The installed skill is complete, true on the bundled example, and never overwrites what is not its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opprof_db.agents import skill
from opprof_db.errors import UsageError
from opprof_db.warehouse import readonly, schema_docs
from opprof_db.warehouse.queries import named_query, query_files
from tests.conftest import Cli, Warehouse
from tests.shared import ROOT


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("skills")
    skill.install(folder)
    return folder / skill.NAME


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    made = Warehouse(tmp_path_factory.mktemp("example") / "opprof.db")
    made.ingest(ROOT / "examples" / "out")
    return made


def test_the_front_matter_is_what_skills_need(installed: Path) -> None:
    text = (installed / "SKILL.md").read_text()
    head = re.fullmatch(r"---\n(.*?)\n---\n.*", text, re.DOTALL)
    assert head is not None
    fields = dict(line.split(": ", 1) for line in head[1].splitlines() if not line.startswith(" ") and ": " in line)
    assert fields["name"] == installed.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", fields["name"])
    assert 100 < len(fields["description"]) <= 1024
    assert "Use when" in fields["description"]
    assert len(text.splitlines()) < 500


def test_links_lead_to_files_and_all_views_and_queries_are_named(installed: Path) -> None:
    text = (installed / "SKILL.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) >= 5
    for link in links:
        assert (installed / link).is_file(), link
    for one in schema_docs.described():
        if one.kind in ("view", "query"):
            assert f"`{one.name}`" in text
            page = "views.md" if one.kind == "view" else "queries.md"
            assert f"**{one.name}**" in (installed / "references" / page).read_text()


def test_every_statement_of_the_skill_runs(installed: Path, example: Warehouse) -> None:
    ran = 0
    named = {query.file.sql: query for query in query_files()}
    for page in sorted(installed.rglob("*.md")):
        for sql in re.findall(r"```sql\n(.*?)```", page.read_text(), re.DOTALL):
            query = named.get(sql.strip())
            bound = query.bind({p.name: "1" for p in query.parameters if p.required}) if query else {}
            readonly.run(example.path, sql, bound)
            ran += 1
    assert ran >= 20
    for name, rest in re.findall(r"query --name (\w+)(.*)", (installed / "SKILL.md").read_text()):
        query = named_query(name)
        given = dict(pair.split("=") for pair in re.findall(r"--param (\S+)", rest))
        assert readonly.run(example.path, query.file.sql, query.bind(given)).columns


def test_installing_again_changes_nothing_and_keeps_what_was_changed(tmp_path: Path) -> None:
    skill.install(tmp_path)
    assert {file.what for file in skill.install(tmp_path)} == {"unchanged"}
    page = tmp_path / skill.NAME / "references" / "numbers.md"
    page.write_text("mine\n")
    (tmp_path / skill.NAME / "SKILL.md").unlink()
    with pytest.raises(UsageError, match="was changed"):
        skill.install(tmp_path)
    assert page.read_text() == "mine\n"
    assert not (tmp_path / skill.NAME / "SKILL.md").exists(), "nothing is written where something is refused"
    skill.install(tmp_path, force=True)
    assert page.read_text() != "mine\n"


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    inside = tmp_path / "skills"
    inside.mkdir()
    (inside / skill.NAME).symlink_to(outside)
    with pytest.raises(UsageError, match="is a link"):
        skill.install(inside)
    assert list(outside.iterdir()) == []


def test_the_command_says_what_it_wrote_and_what_is_wrong(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "cli" / "skills").mkdir()
    done = cli("skill", "install", "skills")
    assert done.returncode == 0
    assert "written    skills/opprof-db-explorer/SKILL.md" in done.stdout
    missing = cli("skill", "install", "nowhere")
    assert missing.returncode == 2
    assert "create it first" in missing.stderr
