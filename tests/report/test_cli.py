"""``opprof-db report``: a file is written, the first word may be a run, mistakes are one line."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Cli
from tests.shared import ROOT

EXAMPLE = ROOT / "examples" / "out" / "before"


def test_the_run_comes_first_or_behind_the_command(cli: Cli, tmp_path: Path) -> None:
    assert cli("ingest", EXAMPLE).returncode == 0
    for words in (["report", "last"], ["report", "run", "last"], ["report", "-o", "report.html", "last"]):
        done = cli(*words)
        assert done.returncode == 0, done.stderr
        assert "report.html" in done.stderr
        page = tmp_path / "cli" / "report.html"
        assert "add_custom" in page.read_text(encoding="utf-8")
        page.unlink()


def test_mistakes_are_one_line(cli: Cli, tmp_path: Path) -> None:
    assert cli("ingest", EXAMPLE).returncode == 0
    for words, code in (
        (["report", "last", "--assets", "nowhere"], 2),
        (["report", "last", "--template", "nowhere"], 2),
        (["report", "last", "-o", "opprof.db"], 2),
        (["report", "last", "-o", "."], 2),
        (["report", "no-such-run"], 2),
        (["report", "last", "-o", "no/such/folder/report.html"], 3),
    ):
        done = cli(*words)
        assert done.returncode == code, (words, done.stderr)
        assert done.stderr.startswith("opprof-db: ")
        assert "Traceback" not in done.stderr
