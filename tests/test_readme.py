"""What README.md and the tutorial show is what the program prints."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import ROOT

BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def sessions(text: str) -> list[tuple[str, str]]:
    """(command, output) pairs of the console blocks; a command stands behind ``$``."""
    pairs = []
    for block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            pairs.append((command, output.strip("\n")))
    return pairs


def without_line_ends(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_the_program_prints_what_the_page_shows(page: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    command = bin_folder / "opprof-db"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m opprof_db "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    environment.pop("OPPROF_DB", None)
    tour = sessions((ROOT / page).read_text(encoding="utf-8"))
    assert len(tour) >= 6
    for shown, expected in tour:
        done = subprocess.run(
            shown, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        printed = (done.stdout + done.stderr).replace(f"{tmp_path}/", "")
        assert without_line_ends(printed) == without_line_ends(expected), shown
