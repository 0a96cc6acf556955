"""The command line in processes that are forked from one with everything loaded.

A kill then meets the command at work, hardly ever the interpreter at its start.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

_LOADED = [
    "alembic.command",
    "sqlalchemy.dialects.sqlite",
    "opprof_db.cli.app",
    "opprof_db.ingest.service",
    "opprof_db.ingest.restoring",
    "opprof_db.warehouse.tables",
    "tests.hard.content",
    "tests.shared",
]
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(_LOADED)

PATIENCE_S = 300


@dataclass
class Command:
    """One running command."""

    process: BaseProcess
    said: Path

    @property
    def code(self) -> int | None:
        """Exit code; negative: the signal that ended it; ``None``: still running."""
        return self.process.exitcode

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.process.pid is not None:
            try:
                os.kill(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.join(PATIENCE_S)

    def wait(self) -> int:
        """The exit code, once it has ended by itself."""
        self.process.join(PATIENCE_S)
        if self.process.exitcode is None:
            self.kill()
            raise AssertionError(f"still running after {PATIENCE_S} s: {self.text()}")
        return self.process.exitcode

    def text(self) -> str:
        """What it printed on both streams."""
        return self.said.read_text(encoding="utf-8", errors="replace") if self.said.exists() else ""


def start(said: Path, *arguments: object) -> Command:
    """Start ``opprof-db`` with these arguments; what it prints goes to a file."""
    process = _context.Process(target=_run, args=(str(said), [str(argument) for argument in arguments]))
    process.start()
    return Command(process, said)


def run(said: Path, *arguments: object) -> float:
    """Run a command to its end; returns the seconds it took.

    Raises:
        AssertionError: it did not end with 0.
    """
    begun = time.monotonic()
    command = start(said, *arguments)
    if command.wait() != 0:
        raise AssertionError(f"{' '.join(map(str, arguments))}: exit code {command.code}\n{command.text()}")
    return time.monotonic() - begun


def _run(said: str, arguments: list[str]) -> None:
    from opprof_db.cli.app import main

    handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.stdin = Path(os.devnull).open()  # noqa: SIM115 - for the rest of the process
    sys.argv = ["opprof-db", *arguments]
    try:
        main()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
