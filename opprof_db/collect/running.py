"""Runs msopprof: output passed through and kept, a time limit, Ctrl-C; the folders it leaves tell how it went."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from opprof_db.collect.command import Command
from opprof_db.errors import InputError

FINISHED, INTERRUPTED, STOPPED, TIME_LIMIT, KILLED = "finished", "interrupted", "stopped", "time limit", "killed"
_LONGEST_GRACE_S = 60.0
_KILL_AFTER_S = 3.0
_TAIL_LINES = 5
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended."""

    exit_code: int
    """As the tool gave it; negative: the signal that ended it. Says nothing about the data."""
    ended: str
    """finished; interrupted (asked once, it finished by itself); stopped (asked twice); time limit; killed at it."""
    folders: tuple[Path, ...]
    """Folders that were not there before, by name."""
    last_lines: tuple[str, ...]
    log: Path | None
    seconds: float


def folders_in(output: Path) -> set[Path]:
    """Folders of runs directly below the output folder."""
    try:
        return {entry for entry in output.iterdir() if entry.name.startswith("OPPROF_") and entry.is_dir()}
    except OSError:
        return set()


def run(command: Command, output: Path, folder: Path, *, log: Path, limit_s: float | None, say: Say) -> Ran:
    """Run a command to its end.

    Raises:
        InputError: it cannot be started.
    """
    if command.wrapper is not None:
        command.wrapper.write()
    before = folders_in(output)
    started = time.monotonic()
    try:
        # A session of its own: Ctrl-C comes here alone, and is passed on as often as meant.
        process = subprocess.Popen(
            command.words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
    except OSError as error:
        raise InputError(
            f"{command.words[0]} cannot be started: {error.strerror}", "`opprof-db doctor` looks closer"
        ) from error
    keeper = _Keeper(process.stdout, log, say)
    ended = _Waiting(process, limit_s, say).until_done()
    keeper.finish()
    new = tuple(sorted(folders_in(output) - before))
    return Ran(process.returncode, ended, new, keeper.last_lines(), keeper.kept, time.monotonic() - started)


class _Keeper:
    """Copies output to stderr and to a file, byte for byte (some builds write GBK)."""

    def __init__(self, stream: IO[bytes] | None, log: Path, say: Say) -> None:
        self.kept: Path | None = log
        self._tail = bytearray()
        self._say = say
        self._file: IO[bytes] | None = None
        self._stream = stream
        try:
            self._file = log.open("wb", buffering=0)
        except OSError as error:
            self.kept = None
            say(f"{log}: the output is not kept ({error.strerror})")
        self._thread = threading.Thread(target=self._copy, args=(stream,), daemon=True)
        self._thread.start()

    def _copy(self, stream: IO[bytes] | None) -> None:
        while stream is not None and (part := os.read(stream.fileno(), 65536)):
            self._tail = (self._tail + part)[-8192:]
            with suppress(OSError, ValueError):
                sys.stderr.buffer.write(part)
                sys.stderr.buffer.flush()
            if self._file is not None:
                try:
                    self._file.write(part)
                except OSError as error:
                    self._say(f"{self.kept}: the output is no longer kept ({error.strerror})")
                    with suppress(OSError):
                        self._file.close()
                    self._file, self.kept = None, None

    def finish(self) -> None:
        """Wait for the last words; a process left behind may hold the pipe for ever."""
        self._thread.join(2.0)
        if self._stream is not None and not self._thread.is_alive():
            self._stream.close()
        if self._file is not None:
            self._file.close()

    def last_lines(self) -> tuple[str, ...]:
        """The last lines that are not empty, as text."""
        content = bytes(self._tail)
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            text = content.decode("gb18030", "replace")
        lines = deque((line.strip() for line in text.splitlines() if line.strip()), maxlen=_TAIL_LINES)
        return tuple(lines)


class _Waiting:
    """Waits for the process while Ctrl-C and the time limit are heeded."""

    def __init__(self, process: subprocess.Popen[bytes], limit_s: float | None, say: Say) -> None:
        self._process = process
        self._limit_s = limit_s
        self._say = say
        self._asked = 0

    def until_done(self) -> str:
        """Returns how it ended."""
        old = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            return self._wait()
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)

    def _ask(self, number: int, _frame: object) -> None:
        self._asked += 1 if number == signal.SIGINT else 2

    def _wait(self) -> str:
        begin = time.monotonic()
        heeded = 0
        over_at: float | None = None
        grace = min(_LONGEST_GRACE_S, max(2.0, (self._limit_s or 0.0) / 2))
        while self._process.poll() is None:
            passed = time.monotonic() - begin
            if self._asked >= 2:
                self._say("stopping msopprof")
                self._stop()
                return STOPPED
            if self._asked > heeded:
                heeded = self._asked
                self._say("interrupted: msopprof finishes its own parsing; Ctrl-C again stops it")
                self._signal(signal.SIGINT)
            if self._limit_s is not None and over_at is None and passed > self._limit_s:
                over_at = passed
                self._say(f"the time limit of {self._limit_s:g} s is over: msopprof may parse for {grace:g} s more")
                self._signal(signal.SIGINT)
            if over_at is not None and passed > over_at + grace:
                self._stop()
                return KILLED
            time.sleep(0.05)
        if over_at is not None:
            return TIME_LIMIT
        return INTERRUPTED if heeded else FINISHED

    def _stop(self) -> None:
        self._signal(signal.SIGTERM)
        try:
            self._process.wait(_KILL_AFTER_S)
        except subprocess.TimeoutExpired:
            pass
        self._signal(signal.SIGKILL)
        self._process.wait()

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)
