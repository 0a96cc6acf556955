"""Builds the command line: ``--name=value`` only, never a bare ``--``, a wrapper where arguments would be split.

msopprof joins the application's arguments by blanks and splits them again, and takes no ``--name value``.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path

from opprof_db.collect.catalogue import catalogue
from opprof_db.collect.places import executable, output_path
from opprof_db.collect.request import Request, Surroundings
from opprof_db.collect.tools import Tool
from opprof_db.errors import InputError

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
"""Arguments that come through joining and splitting as they are."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A script that starts the application with its exact arguments."""

    path: Path
    content: str

    def write(self) -> None:
        """Write it for this user alone.

        Raises:
            InputError: it cannot be written.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.write_text(self.content, encoding="utf-8", errors="surrogateescape")
            self.path.chmod(0o700)
        except OSError as error:
            raise InputError(
                f"{self.path}: the wrapper for the application's arguments cannot be written ({error.strerror})",
                "set TMPDIR to a writable folder that allows execution",
            ) from error


@dataclass(frozen=True, slots=True)
class Command:
    """What is run."""

    words: tuple[str, ...]
    wrapper: Wrapper | None

    @property
    def line(self) -> str:
        """The command line as a shell takes it."""
        return shlex.join(self.words)

    def script(self) -> str:
        """Everything to run it by hand: the wrapper, where there is one, and the line."""
        if self.wrapper is None:
            return self.line
        path = shlex.quote(str(self.wrapper.path))
        folder = shlex.quote(str(self.wrapper.path.parent))
        return (
            f"mkdir -p -m 700 {folder} && cat > {path} <<'END_OF_WRAPPER' && chmod 700 {path}\n"
            f"{self.wrapper.content}END_OF_WRAPPER\n{self.line}"
        )


def build(request: Request, around: Surroundings, tool: Tool) -> Command:
    """The command of a request that was checked."""
    words = tool.beginning(request.mode or "device")
    if request.output is not None:
        words.append(f"--output={output_path(request.output, around.folder)}")
    values = dict(request.values)
    if request.asked_sets:
        values["aic-metrics"] = ",".join(request.asked_sets)
    for name, option in catalogue().options.items():
        if name in values:
            value = values[name]
            if option.kind in ("file", "folder"):
                value = os.path.normpath(around.folder / Path(value).expanduser())
            words.append(f"--{name}={value}")
    words += [f"--{text}" for text in request.extra]
    application, wrapper = _application(request.application, around)
    return Command((*words, *application), wrapper)


def _application(words: tuple[str, ...], around: Surroundings) -> tuple[tuple[str, ...], Wrapper | None]:
    if not words:
        return (), None
    first = words[0]
    found = executable(first, around)
    if found is not None and ("/" not in first or first.startswith("~")):
        first = str(found)  # msopprof's own look-up is not relied on
    exact = (first, *words[1:])
    if all(_PLAIN.fullmatch(word) for word in exact):
        return exact, None
    if not first.startswith("/"):
        exact = (str(Path(os.path.normpath(around.folder / first))), *words[1:])
    content = f"#!/bin/sh\nexec {shlex.join(exact)}\n"
    digest = hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"opprof-db-{os.getuid()}"
    wrapper = Wrapper(folder / f"run_{digest}.sh", content)
    return (str(wrapper.path),), wrapper
