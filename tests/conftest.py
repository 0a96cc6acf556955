"""What every test may use: a warehouse of its own, and the command line."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from opprof_db.ingest.finding import Outcome, find
from opprof_db.ingest.options import IngestOptions
from opprof_db.ingest.service import ingest as run_ingest
from opprof_db.warehouse import opening


@dataclass
class Warehouse:
    """A warehouse file with the calls tests need."""

    path: Path

    def ingest(self, *paths: Path, **options: object) -> list[Outcome]:
        """Take runs in; returns every outcome."""
        found = find(paths)
        with opening.writing(self.path, create=True) as connection:
            return [
                *found.outcomes,
                *run_ingest(connection, self.path, found, IngestOptions(**options)),  # type: ignore[arg-type]
            ]

    def rows(self, sql: str, *parameters: object) -> list[tuple]:
        """All rows of a statement."""
        connection = sqlite3.connect(self.path)
        try:
            return connection.execute(sql, parameters).fetchall()
        finally:
            connection.close()

    def value(self, sql: str, *parameters: object) -> object:
        """The only value of a statement."""
        ((value,),) = self.rows(sql, *parameters)
        return value


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse.db")


Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """Run the real command in a folder of its own, with opprof.db there as default."""
    folder = tmp_path / "cli"
    folder.mkdir()

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "opprof_db", *map(str, arguments)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **options,  # type: ignore[call-overload]
        )

    return run
