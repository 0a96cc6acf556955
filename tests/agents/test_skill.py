"""The skill: follows the conventions, its SQL runs, and installing never destroys what others wrote."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from opprof_db.agents import skill
from opprof_db.errors import InputError, UsageError
from opprof_db.warehouse import readonly
from opprof_db.warehouse.queries import query_files
from tests.conftest import Cli, Warehouse
from tests.shared import ROOT

SQL = re.compile(r"```sql\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")
PARAMETER = re.compile(r":([a-z_]+)")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    return skill.install(tmp_path / "skills").folder


def front_matter(text: str) -> dict[str, str]:
    head = text.split("---\n")[1]
    pairs = [line.partition(": ") for line in head.splitlines() if not line.startswith(" ")]
    assert all(": " not in value for _, _, value in pairs), "a plain YAML value holds no colon with a blank behind it"
    return {key.rstrip(":"): value for key, _, value in pairs}


def test_the_front_matter_follows_the_conventions(installed: Path) -> None:
    text = (installed / "SKILL.md").read_text(encoding="utf-8")
    assert text.startswith("---\n")
    head = front_matter(text)
    assert head["name"] == installed.name == "opprof-db"
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"])
    assert len(head["name"]) <= 64
    assert 100 < len(head["description"]) <= 1024
    assert "Use it when" in head["description"]
    assert len(head["compatibility"]) <= 500
    assert set(head) <= {"name", "description", "license", "compatibility", "metadata"}
    assert len(text.splitlines()) < 500


def test_links_lead_to_files_of_the_skill(installed: Path) -> None:
    linked = set()
    for path in installed.rglob("*.md"):
        for target in LINK.findall(path.read_text(encoding="utf-8")):
            assert (path.parent / target).is_file(), (path, target)
            linked.add((path.parent / target).resolve())
    references = {path.resolve() for path in (installed / "references").iterdir()}
    assert linked == references, "every reference is named in SKILL.md, and nothing else"


def test_every_statement_of_the_skill_runs_on_the_examples(installed: Path, warehouse: Warehouse) -> None:
    warehouse.ingest(ROOT / "examples" / "out")
    defaults = {p.name: p.default for query in query_files() for p in query.parameters if not p.required}
    needed = {p.name: {"integer": 1, "real": 1.0, "text": "x"}[p.type] for q in query_files() for p in q.parameters}
    statements = [
        (path.name, sql) for path in sorted(installed.rglob("*.md")) for sql in SQL.findall(path.read_text("utf-8"))
    ]
    assert len(statements) > 15
    rows = {}
    for _, sql in statements:
        # A colon in a quoted text is no parameter.
        values = {key: defaults.get(key, needed[key]) for key in PARAMETER.findall(sql) if key in needed}
        rows[sql] = len(readonly.run(warehouse.path, sql, values).rows)
    by_hand = [sql for name, sql in statements if name in ("SKILL.md", "numbers.md")]
    assert [sql for sql in by_hand if not rows[sql]] == [], "an example without a row teaches nothing"


def test_the_statements_written_by_hand_aggregate_or_limit(installed: Path) -> None:
    for name in ("SKILL.md", "references/numbers.md"):
        for sql in SQL.findall((installed / name).read_text("utf-8")):
            assert re.search(r"\bLIMIT \d+\s*$|\bGROUP BY\b", sql), sql
            assert "SELECT *" not in sql


def test_every_named_query_and_view_is_listed(installed: Path) -> None:
    text = (installed / "SKILL.md").read_text("utf-8")
    for query in query_files():
        assert f"| `{query.name}` |" in text
    assert "| `kernel_overview` |" in text
    assert "**kernel_overview**" in (installed / "references/views.md").read_text("utf-8")
    assert "**pipe_utilization**" in (installed / "references/tables.md").read_text("utf-8")


def test_installing_again_changes_nothing(tmp_path: Path) -> None:
    first = skill.install(tmp_path)
    assert len(first.written) == 6
    before = {path: (first.folder / path).stat().st_mtime_ns for path in files(first.folder)}
    again = skill.install(tmp_path)
    assert (again.written, again.updated, again.removed) == ([], [], [])
    assert len(again.unchanged) == 6
    assert {path: (first.folder / path).stat().st_mtime_ns for path in files(first.folder)} == before


def test_files_of_an_earlier_version_are_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    current = skill.contents()
    earlier = {
        "SKILL.md": "old\n",
        "references/numbers.md": "old\n",
        "references/gone.md": "x\n",
        "references/kept.md": "y\n",
    }
    monkeypatch.setattr(skill, "contents", lambda: earlier)
    folder = skill.install(tmp_path).folder
    (folder / "references/kept.md").write_text("mine\n")
    monkeypatch.setattr(skill, "contents", lambda: current)
    done = skill.install(tmp_path)
    assert sorted(done.updated) == ["SKILL.md", "references/numbers.md"]
    assert (done.removed, done.left) == (["references/gone.md"], ["references/kept.md"])
    assert (folder / "references/kept.md").read_text() == "mine\n"
    assert (folder / "SKILL.md").read_text("utf-8") == current["SKILL.md"]


@pytest.mark.parametrize("where", ["SKILL.md", "references/numbers.md"])
def test_a_file_that_was_changed_is_not_overwritten_unless_forced(installed: Path, where: str) -> None:
    (installed / where).write_text("mine\n")
    (installed / "references/tables.md").unlink()
    before = files(installed)
    with pytest.raises(UsageError, match="changed since") as error:
        skill.install(installed.parent)
    assert where in error.value.what
    assert "--force" in str(error.value.hint)
    assert files(installed) == before, "all files or none"
    assert skill.install(installed.parent, force=True).updated == [where]
    assert files(installed) != before


def test_a_file_that_was_there_before_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "opprof-db").mkdir()
    (tmp_path / "opprof-db" / "SKILL.md").write_text("another skill\n")
    with pytest.raises(UsageError, match="did not write"):
        skill.install(tmp_path)
    assert files(tmp_path) == {"opprof-db/SKILL.md": b"another skill\n"}


@pytest.mark.parametrize(
    "link", ["opprof-db", "opprof-db/references", "opprof-db/SKILL.md", "opprof-db/.opprof-db-skill.json"]
)
@pytest.mark.parametrize("force", [False, True])
def test_links_out_of_the_folder_are_never_followed(tmp_path: Path, link: str, force: bool) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("precious\n")
    skills = tmp_path / "skills"
    place = skills / link
    place.parent.mkdir(parents=True)
    place.symlink_to(outside / "SKILL.md" if place.suffix else outside)
    with pytest.raises(UsageError, match="is a link"):
        skill.install(skills, force=force)
    assert files(outside) == {"SKILL.md": b"precious\n"}
    assert place.is_symlink()


def test_a_manifest_cannot_make_it_delete_files_elsewhere(installed: Path) -> None:
    victim = installed.parent / "victim.md"
    victim.write_text("x\n")
    written = skill._hash(b"x\n")
    hostile = {"files": {"../victim.md": written, str(victim): written}}
    (installed / skill.MANIFEST).write_text(json.dumps(hostile))
    assert skill.install(installed.parent).removed == []
    assert victim.read_text() == "x\n"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": 3}', "\x00"])
def test_a_damaged_manifest_is_as_good_as_none(installed: Path, text: str) -> None:
    (installed / skill.MANIFEST).write_text(text)
    assert skill.install(installed.parent).unchanged
    (installed / "SKILL.md").write_text("mine\n")
    (installed / skill.MANIFEST).write_text(text)
    with pytest.raises(UsageError):
        skill.install(installed.parent)


def test_a_file_in_the_place_of_the_directory_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="not a folder"):
        skill.install(tmp_path / "file")
    with pytest.raises((InputError, UsageError)):
        skill.install(tmp_path / "file" / "below")


def test_the_command_says_what_it_wrote(cli: Cli, tmp_path: Path) -> None:
    done = cli("skill", "install", tmp_path / "skills")
    assert done.returncode == 0, done.stderr
    assert "wrote     SKILL.md\n" in done.stdout
    assert done.stdout.endswith("opprof-db: 6 files changed, 0 up to date\n")
    (tmp_path / "skills/opprof-db/SKILL.md").write_text("mine")
    refused = cli("skill", "install", tmp_path / "skills")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--force" in refused.stderr
