"""kb lint: one thing wrong with an entry, one line that says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from opprof_db.knowledge.lint import lint
from opprof_db.knowledge.places import Place
from opprof_db.knowledge.reading import Problem
from tests.conftest import Cli
from tests.knowledge.making import ENTRY, SOURCES, write


def problems(folder: Path) -> list[Problem]:
    return lint([Place(folder, str(folder))])[1]


def spoilt(tmp_path: Path, before: str, after: str) -> list[tuple[int, str]]:
    assert before in ENTRY
    found = problems(write(tmp_path, ENTRY.replace(before, after, 1)))
    return [(problem.line, problem.code) for problem in found]


def test_a_right_entry_has_no_problem(tmp_path: Path) -> None:
    assert problems(write(tmp_path)) == []


@pytest.mark.parametrize(
    ("before", "after", "line", "code"),
    [
        ("sources: [mine]", "sources: [mine, theirs]", 13, "source"),
        ("sources: [mine]", "sources: [mine, {id: page, title: A page, confidence: reported}]", 13, "source"),
        (
            "sources: [mine]",
            "sources: [mine, {id: page, title: A page, confidence: measured, address: 'https://a.example/b'}]",
            13,
            "source",
        ),
        ("rules: [mte1_bound]", "rules: [mte1_bound, mte9_bound]", 8, "rule"),
        ("operators: [matmul]", "operators: [matmull]", 7, "operator"),
        ("metric: duration_us", "metric: aiv_mte9_ratio", 10, "metric"),
        ("related: []", "related: [recipe-theirs]", 12, "link"),
        ("related: []", "related: [recipe-mine]", 12, "link"),
        ("Do less,", "See [[recipe-theirs]],", 22, "link"),
        ("source: mine}", "source: theirs}", 11, "citation"),
        ("long.[^mine]", "long.[^theirs]", 18, "citation"),
        ("long.[^mine]", "long.", 18, "figure"),
        ("By 1.5 times.[^mine]", "By 1.5 times.", 34, "figure"),
        ("The duration falls.", "It falls by 5%.", 33, "figure"),
        ("910B4", "910B4, above 16 KB", 38, "figure"),
        ("low: 1.5, high: 2", "low: 2.5, high: 2", 11, "schema"),
        ("## Sketch", "## Drawing", 1, "section"),
        ("title: Our recipe", "title: ''", 4, "schema"),
        ("id: recipe-mine", "id: recipe-ours", 2, "name"),
        ("  - {metric: duration_us, direction: down, why: less to do}", "  []", 3, "schema"),
        ("kind: recipe", "kind: idea", 1, "schema"),
        ("title: Our recipe", "titel: Our recipe", 1, "schema"),
        ("title: Our recipe", "title: [", 6, "unreadable"),
        ("---\nid", "id", 1, "unreadable"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, before: str, after: str, line: int, code: str) -> None:
    found = spoilt(tmp_path, before, after)
    assert (line, code) in found, found
    assert {each for _, each in found} == {code}


def test_an_entry_without_sources_can_cite_none(tmp_path: Path) -> None:
    assert (13, "source") in spoilt(tmp_path, "sources: [mine]", "sources: []")


def test_numbers_in_code_and_in_names_need_no_source(tmp_path: Path) -> None:
    text = ENTRY.replace("Never on fp32 or 910B4.", "On `910B4` with int8, L0 and `tile=12`:\n\n```\n17 us\n```\n")
    assert problems(write(tmp_path, text)) == []


def test_a_table_is_one_statement(tmp_path: Path) -> None:
    table = "| what | before | after |\n|---|---|---|\n| time | 3 us | 2 us |{}\n"
    assert problems(write(tmp_path / "a", ENTRY + "\n" + table.format("[^mine]"))) == []
    found = problems(write(tmp_path / "b", ENTRY + "\n" + table.format("")))
    assert [problem.code for problem in found] == ["figure"]


def test_two_files_with_one_id_and_unreadable_files_are_told(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path / "deeper", name="other", sources=None)
    (tmp_path / "latin.md").write_bytes(b"\xff\xfe")
    found = {problem.code for problem in problems(tmp_path)}
    assert {"unreadable", "duplicate"} <= found


def test_a_damaged_bibliography_is_told(tmp_path: Path) -> None:
    write(tmp_path, sources=SOURCES + "- id: [\n")
    codes = {problem.code for problem in problems(tmp_path)}
    assert "unreadable" in codes
    assert "source" in codes


def test_the_command_ends_with_1_and_says_file_and_line(tmp_path: Path, cli: Cli) -> None:
    folder = write(tmp_path / "kb", ENTRY.replace("long.[^mine]", "long."))
    done = cli("kb", "lint", folder)
    assert done.returncode == 1
    assert done.stdout == f"{folder}/recipe-mine.md:18: figure: '12 us' stands without a source: cite [^one]\n"
    assert done.stderr == "1 entries checked, 1 problem\n"
    (folder / "recipe-mine.md").write_text(ENTRY)
    fine = cli("kb", "lint", folder)
    assert (fine.returncode, fine.stdout, fine.stderr) == (0, "", "1 entries checked, 0 problems\n")
