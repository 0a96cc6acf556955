"""The run report: its structure, that its numbers are the warehouse's, and that nothing of a file gets out of hand."""

from __future__ import annotations

import json
import re
import sqlite3
from html.parser import HTMLParser
from pathlib import Path

import pytest

from opprof_db.errors import UsageError
from opprof_db.report import run_report
from opprof_db.report.assets import FOLDER, Assets
from tests.conftest import Warehouse
from tests.report.conftest import page


class Outline(HTMLParser):
    """Headings, tables, ids, links, scripts and figures of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tables: dict[str, list[list[tuple[str, str | None]]]] = {}
        self.scripts: list[dict[str, str | None]] = []
        self.specs: list[dict] = []
        self.tags: list[str] = []
        self._within: str | None = None
        self._table: str | None = None
        self._spec = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append("")
            self._within = "heading"
        elif tag == "table":
            self._table = given.get("id") or ""
            self.tables[self._table] = []
        elif tag == "tr" and self._table is not None:
            self.tables[self._table].append([])
        elif tag in ("td", "th") and self._table is not None:
            self.tables[self._table][-1].append(("", None))
            self._within = "cell"
        elif tag == "data" and self._within == "cell" and self._table is not None:
            row = self.tables[self._table][-1]
            row[-1] = (row[-1][0], given.get("value"))
        elif tag == "script":
            self.scripts.append(given)
            self._spec = given.get("type") == "application/json"

    def handle_endtag(self, tag: str) -> None:
        if re.fullmatch("h[1-6]", tag) or tag in ("td", "th"):
            self._within = None
        elif tag == "table":
            self._table = None
        elif tag == "script":
            self._spec = False

    def handle_data(self, data: str) -> None:
        if self._spec:
            self.specs.append(json.loads(data))
        elif self._within == "heading":
            self.headings[-1] += data
        elif self._within == "cell" and self._table is not None:
            row = self.tables[self._table][-1]
            row[-1] = (row[-1][0] + data, row[-1][1])


@pytest.fixture(scope="module")
def outlines(example: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outline]:
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, run in (("mix", 1), ("several", 2), ("310p", 3), ("simulator", 4), ("before", 6)):
        made[name] = Outline(page(example, run, folder / f"{name}.html").read_text(encoding="utf-8"))
    return made


def test_headings_of_a_device_run(outlines: dict[str, Outline]) -> None:
    assert outlines["before"].headings == [
        "Where the time goes in OPPROF_20260512093015_KQWJXZPLMVNRTYBD",
        "What to try first",
        *outlines["before"].headings[2:4],
        "Conditions",
        "Kernels",
        "add_custom",
        "Facts",
        "What helped elsewhere",
        *[one for one in outlines["before"].headings if one.startswith(("pattern ", "recipe ", "case ", "tip "))],
        "Pipes and limits",
        "Pipe utilization",
        "Achieved and possible",
        "Cores",
        "Time of each core",
        "AIV cores: time and busy shares",
        "Memory",
        "Memory traffic",
        "L2 hit rate",
        "Compute, waits and conflicts",
        "What was computed",
        "Waits and conflicts",
        "Roofline",
        "Roofline",
        "Rules without a finding",
        "Where the numbers come from",
        "Origin",
        "Not collected, and how to collect it",
        "Issues",
        "Files",
    ]
    assert "Transfers are small" in outlines["before"].headings[2]


def test_a_simulator_run_has_timelines_cycles_instructions_and_lines(outlines: dict[str, Outline]) -> None:
    held = outlines["simulator"].headings
    for heading in (
        "Cycles by pipe",
        "Cycles of each core and pipe",
        "Pipes of core0.veccore0 over time",
        "Which pipes of core0.veccore0 work together",
        "Gaps in the work of core0.veccore0",
        "Hot instructions",
        "Hot source lines",
    ):
        assert heading in held


def test_several_kernels_have_their_launches_over_time(outlines: dict[str, Outline]) -> None:
    assert "Launches over time" in outlines["several"].headings
    assert {"gelu_custom", "reduce_sum"} <= set(outlines["several"].headings)


@pytest.mark.parametrize("name", ["mix", "several", "310p", "simulator", "before"])
def test_links_lead_somewhere_and_ids_are_unique(outlines: dict[str, Outline], name: str) -> None:
    held = outlines[name]
    assert len(held.ids) == len(set(held.ids))
    assert all(link.startswith("#") for link in held.links)
    assert {link[1:] for link in held.links} <= set(held.ids)


@pytest.mark.parametrize("name", ["mix", "several", "310p", "simulator", "before"])
def test_figures_are_what_plotly_takes_and_axes_have_titles(outlines: dict[str, Outline], name: str) -> None:
    from plotly.graph_objects import Figure

    assert outlines[name].specs
    for spec in outlines[name].specs:
        figure = Figure(spec)  # refuses unknown properties and wrong values
        if figure.data[0].type not in ("sankey",):
            assert figure.layout.xaxis.title.text
            assert figure.layout.yaxis.title.text is not None


def _numbers(outline: Outline, table: str, column: str) -> list[float | None]:
    head, *rows = outline.tables[table]
    at = [text.strip().split(" ")[0] if False else " ".join(text.split()) for text, _ in head].index(column)
    return [float(row[at][1]) if row[at][1] is not None else None for row in rows]


def test_numbers_equal_those_of_sql(example: Warehouse, outlines: dict[str, Outline]) -> None:
    kernel = example.value("SELECT id FROM kernels WHERE run_id = 6")
    held = outlines["before"]
    for table, column, sql in (
        (
            f"k{kernel}-pipes-table",
            "Share of core time",
            "SELECT ratio FROM pipe_usage WHERE kernel_id = ? ORDER BY core_kind, ratio DESC, pipe",
        ),
        (
            f"k{kernel}-core-times-table",
            "Time us",
            "SELECT time_us FROM core_times WHERE kernel_id = ? ORDER BY core_kind, block_id, sub_block_id",
        ),
        (
            f"k{kernel}-flow-table",
            "Volume KiB",
            "SELECT volume_kib FROM memory_traffic WHERE kernel_id = ? ORDER BY core_kind, volume_kib DESC, path",
        ),
        (
            f"k{kernel}-conflicts-table",
            "Most",
            "SELECT max_ratio FROM resource_conflicts WHERE kernel_id = ? AND max_ratio IS NOT NULL"
            " ORDER BY max_ratio DESC, core_kind DESC, pipe DESC, conflict DESC",
        ),
        ("kernel-table", "Task duration us", "SELECT duration_us FROM kernels WHERE id = ?"),
    ):
        assert _numbers(held, table, column) == [row[0] for row in example.rows(sql, kernel)], table
    assert _numbers(held, "files-table", "Size") == [
        row[0]
        for row in example.rows("SELECT size_bytes FROM artifacts WHERE run_id = 6 ORDER BY in_fingerprint DESC, path")
    ]


def test_cycles_of_a_simulator_run_equal_those_of_sql(example: Warehouse, outlines: dict[str, Outline]) -> None:
    kernel = example.value("SELECT id FROM kernels WHERE run_id = 4")
    for table, view in (("instruction-table", "instruction_hotspots"), ("line-table", "line_hotspots")):
        shown = _numbers(outlines["simulator"], f"k{kernel}-{table}", "Cycles")
        sql = f"SELECT cycles FROM {view} WHERE kernel_id = ? ORDER BY cycles DESC"
        assert shown == [row[0] for row in example.rows(sql, kernel)]


def test_the_report_says_what_the_diagnosis_says(example: Warehouse, tmp_path: Path) -> None:
    from opprof_db.analysis.diagnose import diagnose_run

    connection = sqlite3.connect(example.path)
    made = diagnose_run(connection, 6)
    context = run_report.context(connection, 6)
    connection.close()
    (diagnosis,), (kernel,) = made, context["kernels"]
    assert [one["sentence"] for one in kernel["findings"]] == [one.sentence for one in diagnosis.findings]
    assert context["findings"][0]["finding"]["rule"] == diagnosis.findings[0].rule
    assert "2,050 us" in kernel["verdict"]
    assert "First: transfers are small" in kernel["verdict"]


def test_every_field_may_be_hostile(hostile: Warehouse, tmp_path: Path) -> None:
    for run in (1, 2, 4):
        text = page(hostile, run, tmp_path / "page.html").read_text(encoding="utf-8")
        outline = Outline(text)
        assert "img" not in outline.tags
        assert outline.tags.count("script") == 2 + len(outline.specs)
        assert outline.tags.count("title") == 1
        assert "\x00" not in text
        assert "\u202e" not in text
        assert "{{7*7}}" in text  # as it stood, not reckoned
        assert "hacked" in text


def test_no_absolute_path_unless_asked_for(example: Warehouse, tmp_path: Path) -> None:
    here = str(Path(str(example.value("SELECT path FROM run_overview WHERE run_id = 4"))).parent)
    hidden = page(example, 4, tmp_path / "hidden.html").read_text(encoding="utf-8")
    shown = page(example, 4, tmp_path / "shown.html", show_paths=True).read_text(encoding="utf-8")
    assert here not in hidden
    assert "/home/dev" not in hidden
    assert "/src/" not in hidden
    assert here in shown
    assert "/home/dev" in shown


def test_assets_may_stand_beside_the_pages(example: Warehouse, tmp_path: Path) -> None:
    for run in (3, 6):
        text = page(example, run, tmp_path / f"{run}.html", assets=Assets.DIRECTORY).read_text(encoding="utf-8")
        assert len(text) < 600_000
        assert all(one.get("src", "").startswith(f"{FOLDER}/") for one in Outline(text).scripts if not one.get("type"))
    assert {path.name for path in (tmp_path / FOLDER).iterdir()} == {"report.css", "report.js", "plotly.min.js"}


def test_templates_of_the_user_win(example: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "run.html").write_text("{{ context_version }} {{ run.name }}: {{ kernels[0].duration_us | n('us') }}")
    text = page(example, 6, tmp_path / "page.html", template_dir=tmp_path).read_text(encoding="utf-8")
    assert text.startswith("1 OPPROF_20260512093015_KQWJXZPLMVNRTYBD: <data")
    (tmp_path / "run.html").write_text("{{ no_such_thing }}")
    with pytest.raises(UsageError, match=r"run\.html.*no_such_thing"):
        page(example, 6, tmp_path / "page.html", template_dir=tmp_path)


def test_the_same_run_gives_the_same_page(example: Warehouse, tmp_path: Path) -> None:
    assert page(example, 1, tmp_path / "a.html").read_bytes() == page(example, 1, tmp_path / "b.html").read_bytes()


def test_what_the_documentation_says_the_context_holds(example: Warehouse) -> None:
    from tests.shared import ROOT

    text = (ROOT / "docs" / "report-context.md").read_text(encoding="utf-8")
    connection = sqlite3.connect(example.path)
    context = run_report.context(connection, 1)
    connection.close()
    for name in [*context, *context["kernels"][0], *context["kernels"][0]["findings"][0]]:
        assert f"`{name}`" in text, name
