"""The Markdown report: the fixed structure the workflow checks, numbers that are SQL's, and texts that stay texts."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from opprof_db.report.markdown import render
from opprof_db.report.markdown_text import LONGEST, cell, figure
from opprof_db.report.page import Options
from tests.builders.cases import SMALL_TRANSFERS
from tests.conftest import Cli, Warehouse
from tests.shared import CORPUS, ROOT, needs_shared

HEADINGS = [
    "## 1. Operator Basic Information",
    "## 2. Key Data TOP5",
    "## 3. Core Bottleneck TOP5",
    "## 4. Optimization Suggestions TOP5",
]
COLUMNS = [
    ["Field", "Content"],
    ["Name", "Metric", "Value"],
    ["Name", "Conclusion", "Evidence"],
    ["Name", "Suggestion", "Related Bottleneck"],
]
HOSTILE = (
    "<script>alert(1)</script>|x\n## heading `code` **bold** [a](http://evil) {{7*7}} \x00 \u202e\"' & @me www.evil.com"
    " _em_ ~~s~~ C:\\x\\y $m$ ###"
)


def made(path: Path, run_id: int, **more: object) -> str:
    with closing(sqlite3.connect(path)) as connection:
        return render(connection, run_id, **more)  # type: ignore[arg-type]


def sections(text: str) -> list[tuple[str, list[list[str]], list[str]]]:
    """Heading, rows of cells (the header first) and the lines behind the table, of every section."""
    found = []
    for part in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
        heading, *rest = part.strip().split("\n")
        table = [line for line in rest if line.startswith("|")]
        assert re.fullmatch(r"\|(-+\|)+", table[1]), table[1]
        rows = [cells(line) for line in (table[0], *table[2:])]
        assert {len(row) for row in rows} == {len(rows[0])}
        found.append((heading, rows, [line for line in rest if line and not line.startswith("|")]))
    return found


def cells(line: str) -> list[str]:
    assert line.startswith("| ") and line.endswith(" |"), line
    return re.split(r" (?<!\\)\| ", line[2:-2])


def check(text: str) -> list[tuple[str, list[list[str]], list[str]]]:
    """What must hold of every Markdown report."""
    assert [line for line in text.split("\n") if "##" in line] == HEADINGS
    found = sections(text)
    assert [rows[0] for _, rows, _ in found] == COLUMNS
    for _, rows, notes in found[1:]:
        assert len(rows) <= 6
        assert len(rows) == 6 or notes, "fewer than five rows need a reason"
    assert text.endswith("\n") and not text.endswith("\n\n")
    return found


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    filled = Warehouse(tmp_path_factory.mktemp("markdown") / "example.db")
    filled.ingest(ROOT / "examples" / "out", labels={"branch": "main"})
    return filled.path


def test_every_run_has_the_four_sections(example: Path) -> None:
    with closing(sqlite3.connect(example)) as connection:
        runs = connection.execute("SELECT id, mode FROM runs").fetchall()
    assert len(runs) == 6
    for run_id, mode in runs:
        text = made(example, run_id)
        basics = check(text)[0][1]
        assert ["Mode", mode] in basics
        assert f"| Mode | {mode} |" in text
        assert ["Label branch", "main"] in basics


@needs_shared
@pytest.mark.corpus
def test_real_captures_have_them_too(tmp_path: Path) -> None:
    filled = Warehouse(tmp_path / "corpus.db")
    filled.ingest(CORPUS / "cummin-910B2" / "round_002", CORPUS / "lfs-pointer-950", CORPUS / "partial-910B")
    for (run_id,) in filled.rows("SELECT id FROM runs"):
        check(made(filled.path, run_id))


def test_numbers_are_those_of_sql(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.ingest(SMALL_TRANSFERS.launch().write(tmp_path / "OPPROF_20260501100000_AAAAAAAAAAAAAAAA"))
    basics, key, bottlenecks, suggestions = [rows[1:] for _, rows, _ in check(made(warehouse.path, 1))]
    duration = warehouse.value("SELECT duration_us FROM kernels")
    assert ["Task Duration", f"{duration!r} us"] in basics
    assert key[0] == ["add_custom", "Task Duration", f"{duration!r} us"]
    values = {metric: value for _, metric, value in key}
    pipe, ratio = warehouse.rows("SELECT pipe, ratio FROM dominant_pipe")[0]
    assert pipe == "mte2"
    assert values["Busiest AIV pipe, share of the working cores' time"].startswith(f"MTE2 {100 * ratio:.1f} %, then")
    volume, rate = warehouse.rows("SELECT volume_kib, kernel_bw_gib_s FROM memory_traffic WHERE path = 'gm_to_ub'")[0]
    assert values["Traffic GM to UB (AIV), volume"].startswith(f"{volume:,.0f} KiB at {figure(rate)} GiB/s")
    slowest = warehouse.value("SELECT max_us FROM core_balance")
    assert values["Slowest AIV core"].startswith(f"{figure(slowest)} us")
    assert bottlenecks[0][0] == "Transfers are small"
    instructions = warehouse.value("SELECT sum FROM kernel_metric_values WHERE metric = 'aiv_mte2_instructions'")
    assert f"= {figure(instructions)} count" in bottlenecks[0][2]
    assert suggestions[0][2] == "Transfers are small"
    assert {row[2] for row in suggestions} <= {row[0] for row in bottlenecks}
    assert len({row[1] for row in suggestions}) == len(suggestions)


def test_of_several_kernels_the_longest_come_first(example: Path) -> None:
    with closing(sqlite3.connect(example)) as connection:
        (run_id,) = connection.execute("SELECT run_id FROM kernels GROUP BY run_id HAVING count(*) = 4").fetchone()
    basics, key, bottlenecks, _ = [rows[1:] for _, rows, _ in check(made(example, run_id))]
    assert ["Kernels", "2, 4 launches: gelu_custom, reduce_sum"] in basics
    assert [row[0] for row in key[:2]] == ["gelu_custom", "reduce_sum"]
    assert all("median of 2 launches" in row[2] for row in key[:2])
    assert all(re.search(r"\((gelu_custom|reduce_sum)\)", row[0]) for row in bottlenecks)


def test_one_launch_of_a_run(example: Path) -> None:
    with closing(sqlite3.connect(example)) as connection:
        run_id, kernel_id = connection.execute(
            "SELECT run_id, kernel_id FROM kernel_overview WHERE operator = 'reduce_sum'"
        ).fetchone()
    basics = check(made(example, run_id, kernel_id=kernel_id))[0][1]
    assert ["Operator", "reduce_sum"] in basics


def test_hostile_texts_stay_texts(example: Path, tmp_path: Path) -> None:
    target = tmp_path / "hostile.db"
    with closing(sqlite3.connect(example)) as source, closing(sqlite3.connect(target)) as connection:
        source.backup(connection)
        connection.execute("PRAGMA foreign_keys = OFF")
        for field in (
            "runs.name runs.soc runs.missing kernels.name kernels.op_type kernels.missing operators.name"
        ).split():
            table, column = field.split(".")
            connection.execute(f"UPDATE {table} SET {column} = ? || id", (HOSTILE + "y" * 10_000,))
        connection.execute("UPDATE run_conditions SET value = ?", (HOSTILE,))
        connection.commit()
    for run_id in range(1, 7):
        text = made(target, run_id)
        check(text)
        assert "<" not in text
        assert "\x00" not in text and "\u202e" not in text
        assert "http://" not in text and "www.evil" not in text and "@me" not in text
        assert "\\x00" in text or "\\\\x00" in text
        assert "{{7" in text
        assert max(map(len, text.split("\n"))) < 12 * LONGEST


def test_cells() -> None:
    assert cell("a|b") == "a\\|b"
    assert cell("a\\|b") == "a\\\\\\|b"
    assert cell("## x") == "\\#\\# x"
    assert cell("add_custom_1") == "add_custom_1"
    assert cell("_x_ *y* `z`") == "\\_x\\_ \\*y\\* \\`z\\`"
    assert cell("<b>&amp;") == "&lt;b&gt;&amp;amp;"
    assert cell("two\nlines\t here") == "two lines here"
    assert cell("https://a.b") == "https:&#47;&#47;a.b"
    assert cell(None) == "–"
    assert cell(1234567) == "1,234,567"
    assert cell(0.5) == "0.5"
    assert figure(2049.780029) == "2,049.78"
    assert figure(240.0) == "240"
    assert len(cell("x" * 100_000)) == LONGEST


def test_absolute_paths_only_when_asked_for(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = SMALL_TRANSFERS.launch().write(tmp_path / "OPPROF_20260501100000_AAAAAAAAAAAAAAAA")
    warehouse.ingest(folder, labels={"from": "/home/someone/op/run.sh"})
    assert "/home" not in made(warehouse.path, 1)
    assert "…/run.sh" in made(warehouse.path, 1)
    assert "/home/someone/op/run.sh" in made(warehouse.path, 1, options=Options(show_paths=True))


def test_a_template_of_the_user_is_escaped_too(example: Path, tmp_path: Path) -> None:
    (tmp_path / "report.md").write_text("{{ '##' }} {% for row in basics %}{{ row.field }};{% endfor %}\n")
    text = made(example, 1, options=Options(template_dir=tmp_path))
    assert text.startswith("\\#\\# Mode;Run;")


def test_the_command_prints_or_writes(cli: Cli, tmp_path: Path) -> None:
    assert cli("ingest", ROOT / "examples" / "out" / "before").returncode == 0
    printed = cli("report", "last", "--format", "markdown")
    assert printed.returncode == 0, printed.stderr
    check(printed.stdout)
    written = cli("report", "last", "--format", "markdown", "-o", "report.md")
    assert written.returncode == 0, written.stderr
    assert written.stdout == ""
    assert (tmp_path / "cli" / "report.md").read_text(encoding="utf-8") == printed.stdout
    refused = cli("report", "last", "--format", "word")
    assert refused.returncode == 2
    assert "html or markdown" in refused.stderr
    assert cli("report", "last", "--format", "markdown", "-o", "opprof.db").returncode == 2
