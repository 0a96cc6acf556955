"""Generated pages are current, and every command stands in them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.shared import ROOT


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "page", ["schema.md", "diagram.md", "queries.md", "metrics.md", "rules.md", "knowledge.md", "commands.md"]
)
def test_the_reference_is_current(generator: ModuleType, page: str) -> None:
    written = (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")
    assert generator.pages()[page] == written, "run `python docs/generate.py`"


def test_every_command_is_in_the_reference(generator: ModuleType) -> None:
    written = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    names = list(generator.command_names())
    assert ("ingest",) in names
    assert ("db", "compact") in names
    for name in names:
        assert f"## {' '.join(('opprof-db', *name))}\n" in written


def test_the_readme_names_every_command(generator: ModuleType) -> None:
    readme = (Path(ROOT) / "README.md").read_text(encoding="utf-8")
    missing = [name for name in generator.command_names() if name and f"opprof-db {' '.join(name)}" not in readme]
    assert missing == [("db",)] or missing == []
