"""The run report in headless Chromium: no errors, no network, figures, tables, contents, widths, themes, axe-core."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Warehouse
from tests.report.conftest import page as write_page

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        held = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield held
        held.close()


def opened(browser: Any, path: Path, width: int, scheme: str) -> tuple[Any, list[str]]:
    """The page with every figure drawn, and what went wrong in it."""
    shown = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    wrong: list[str] = []
    shown.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    shown.on("pageerror", lambda error: wrong.append(str(error)))
    local = ("file:", "data:", "blob:")
    shown.on("request", lambda request: None if request.url.startswith(local) else wrong.append(request.url))
    shown.goto(path.as_uri())
    shown.evaluate("window.opprofDrawAll()")
    return shown, wrong


@pytest.mark.parametrize(("run", "width", "scheme"), [(1, 1440, "light"), (4, 390, "dark"), (6, 3840, "light")])
def test_pages_open_and_draw(
    browser: Any, example: Warehouse, tmp_path: Path, run: int, width: int, scheme: str
) -> None:
    shown, wrong = opened(browser, write_page(example, run, tmp_path / "page.html"), width, scheme)
    assert wrong == []
    plots = shown.locator(".plot").count()
    assert plots > 4
    assert shown.locator(".plot .main-svg").count() >= plots
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shown.close()


def test_hostile_names_run_nothing(browser: Any, hostile: Warehouse, tmp_path: Path) -> None:
    shown, wrong = opened(browser, write_page(hostile, 1, tmp_path / "page.html"), 390, "light")
    assert wrong == []
    assert shown.evaluate("typeof window.hacked") == "undefined"
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shown.close()
