"""Checks of the machine: tool, application, output folder, simulators, LD_LIBRARY_PATH."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from opprof_db.catalog import load
from opprof_db.collect.catalogue import SIMULATOR
from opprof_db.collect.request import Remark, Request, Surroundings, refusal, warning
from opprof_db.collect.tools import HOMES, simulators
from opprof_db.ingest.chip import family_of_soc

OUTPUT_LENGTH = 200
"""Characters of --output that msopprof takes."""


def check_places(request: Request, around: Surroundings) -> Iterator[Remark]:
    """Everything that depends on the machine; the tool itself is looked for elsewhere."""
    if request.application:
        yield from _application(request.application[0], around)
    if request.output is not None:
        yield from _output(output_path(request.output, around.folder), around)
    if request.mode == SIMULATOR:
        yield from _simulator(request, around)
    yield from _libraries(request, around)


def output_path(output: Path, folder: Path) -> Path:
    """The absolute output folder; links are not resolved, msopprof sees them as well."""
    return Path(os.path.normpath(folder / output.expanduser()))


def executable(word: str, around: Surroundings) -> Path | None:
    """The file behind an application's first word; a name without a slash is looked up on PATH, then here."""
    if "/" in word:
        return around.folder / Path(word).expanduser()
    found = shutil.which(word, path=around.environment.get("PATH", ""))
    if found:
        return Path(found)
    here = around.folder / word
    return here if here.exists() else None


def _application(word: str, around: Surroundings) -> Iterator[Remark]:
    if word.startswith("-"):
        return
    path = executable(word, around)
    if path is None or not path.exists():
        where = "on PATH nor in this folder" if "/" not in word else f"at {path}"
        head = "neither " if "/" not in word else "not "
        yield refusal(f"the application {word} is {head}{where}", "build it first, or give its path")
    elif path.is_dir():
        yield refusal(f"the application {word} is a folder", "give the executable inside it")
    elif not os.access(path, os.X_OK):
        yield refusal(f"the application {word} is not executable", f"chmod u+x {word}, or run it as: python3 {word}")


def _output(path: Path, around: Surroundings) -> Iterator[Remark]:
    text = str(path)
    if len(text) > OUTPUT_LENGTH:
        yield refusal(
            f"--output has {len(text)} characters (as absolute path), msopprof takes {OUTPUT_LENGTH}",
            "use a shorter path",
        )
    if any(char.isspace() or not char.isprintable() for char in text):
        yield warning("--output holds blanks: msopprof may split it when it starts itself again", "use a path without")
    if path.exists() and not path.is_dir():
        yield refusal(f"--output: {path} is a file", "name a folder; it is made where it does not exist")
        return
    existing = next(parent for parent in (path, *path.parents) if parent.exists())
    if not existing.is_dir():
        yield refusal(f"--output: {existing} is a file, no folder can be made in it", "name another folder")
        return
    if not os.access(existing, os.W_OK | os.X_OK):
        yield warning(f"--output: {existing} is not writable, so the run will leave nothing", "name another folder")
    link = next((part for part in (existing, *existing.parents) if part.is_symlink()), None)
    if link is not None:
        yield warning(f"--output: {link} is a link; msopprof warns of it", f"use the real path {existing.resolve()}")
    facts = existing.stat()
    if facts.st_uid not in (os.geteuid(), 0):
        yield warning(f"--output: {existing} belongs to another user; msopprof warns of it", "use a folder of your own")
    elif facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not facts.st_mode & stat.S_ISVTX:
        yield warning(f"--output: {existing} is writable for others; msopprof warns of it", f"chmod go-w {existing}")
    yield from _source_tree(path, existing, around)


def _source_tree(path: Path, existing: Path, around: Surroundings) -> Iterator[Remark]:
    """Profiles in a git work tree get committed, and make every later run 'dirty'."""
    if any(part.name == ".git" for part in (path, *path.parents)):
        yield refusal(f"--output: {path} is inside .git", "name another folder")
        return
    tree = next((parent for parent in (existing, *existing.parents) if (parent / ".git").exists()), None)
    if tree is None or not around.folder.is_relative_to(tree):
        return
    try:
        done = subprocess.run(
            ["git", "-C", str(tree), "check-ignore", "-q", f"{path}/OPPROF_x"],
            capture_output=True,
            timeout=5,
            check=False,
        )
        ignored = done.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        ignored = False
    if not ignored:
        yield warning(
            f"--output is inside the source tree {tree}: profiles would count as uncommitted files",
            f"use a folder outside, or add {path.relative_to(tree)}/ to .gitignore",
        )


def _simulator(request: Request, around: Surroundings) -> Iterator[Remark]:
    soc = request.values.get("soc-version")
    installed = simulators(around.environment, around.tool)
    if installed is not None and not installed and "config" not in request.values:
        yield refusal(
            "no simulator is installed (tools/simulator of the CANN toolkit is empty or missing)",
            "install the toolkit package with simulators; `opprof-db doctor` shows where it looked",
        )
    if not soc or "/" in soc or soc in (".", ".."):
        if soc:
            yield refusal(f"--soc-version {soc}: not a name", "write for example --soc-version Ascend910B2")
        return
    if installed and soc not in installed and not soc.startswith("Ascend950"):
        names = ", ".join(installed[:8]) + (", …" if len(installed) > 8 else "")
        yield refusal(f"--soc-version {soc}: this simulator is not installed", f"installed: {names}")
    elif installed is None and load().chip(soc) is None and family_of_soc(soc) is None:
        yield warning(f"--soc-version {soc}: not a chip this program knows", "names are those under tools/simulator")


def _libraries(request: Request, around: Surroundings) -> Iterator[Remark]:
    """LD_LIBRARY_PATH entries that load another chip's or version's libraries."""
    entries = [entry for entry in around.environment.get("LD_LIBRARY_PATH", "").split(":") if entry]
    simulated = [_simulator_of(entry) for entry in entries]
    found = [name for name in simulated if name]
    soc = request.values.get("soc-version")
    if found and request.mode != SIMULATOR:
        yield warning(
            f"LD_LIBRARY_PATH holds the simulator {found[0]}: a device run may load its libraries",
            "unset it in this shell: take the tools/simulator entry out of LD_LIBRARY_PATH",
        )
    elif found and soc and found[0] != soc:
        yield warning(
            f"LD_LIBRARY_PATH holds the simulator {found[0]}, --soc-version says {soc}",
            "take the tools/simulator entry out of LD_LIBRARY_PATH; msopprof sets its own",
        )
    for entry in entries:
        if "ascend" in entry.lower() and not Path(entry).is_dir():
            yield warning(
                f"LD_LIBRARY_PATH names {entry}, which does not exist", "source set_env.sh of the CANN in use again"
            )
    homes = [Path(value).resolve() for value in map(around.environment.get, HOMES) if value]
    if len(set(homes)) > 1:
        yield warning(
            f"{' and '.join(HOMES)} name two installations: {homes[0]} and {homes[1]}",
            "source set_env.sh of one CANN only",
        )


def _simulator_of(entry: str) -> str | None:
    """``…/tools/simulator/Ascend910B2/lib`` -> Ascend910B2."""
    parts = Path(entry).parts
    at = next((at for at in range(len(parts) - 2) if parts[at : at + 2] == ("tools", "simulator")), None)
    return parts[at + 2] if at is not None else None
