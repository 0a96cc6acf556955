"""Where msopprof is: named by the user, on PATH, or below the CANN installation."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HOMES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
"""Environment variables that CANN's set_env.sh sets."""
NAMES = ("msopprof", "msprof")
_BELOW = ("bin", "tools/msopprof/bin", "tools/profiler/bin")


@dataclass(frozen=True, slots=True)
class Tool:
    """The executable that is run."""

    path: Path
    origin: str
    """How it was found: --tool, PATH, or the name of an environment variable."""

    def beginning(self, mode: str) -> list[str]:
        """The words before the options: ``msprof op [simulator]``, or ``msopprof [simulator]``."""
        words = [str(self.path)]
        # msprof profiles whole programs, too; its operator profiler is the sub-command op.
        if self.path.name.startswith("msprof"):
            words.append("op")
        if mode == "simulator":
            words.append("simulator")
        return words


@dataclass(frozen=True, slots=True)
class NotFound:
    """Why there is no tool."""

    what: str
    remedy: str


def find_tool(given: str | None, environment: Mapping[str, str]) -> Tool | NotFound:
    """The tool to run, or why there is none."""
    if given is not None:
        return _given(given, environment)
    search = environment.get("PATH", "")
    for name in NAMES:
        found = shutil.which(name, path=search)
        if found:
            return Tool(Path(found).absolute(), "PATH")
    for variable in HOMES:
        for path in _below(environment.get(variable)):
            if _executable(path):
                return Tool(path.absolute(), variable)
    for variable in HOMES:
        for path in _below(environment.get(variable)):
            if path.is_file():
                return NotFound(f"{path} is not executable", f"chmod u+x {path}, or install CANN again")
    homes = [f"{name}={environment[name]}" for name in HOMES if environment.get(name)]
    return NotFound(
        "neither msopprof nor msprof is on PATH"
        + (f" or below {', '.join(homes)}" if homes else f", and {' and '.join(HOMES)} are not set"),
        "source set_env.sh of the CANN toolkit, or name the tool with --tool PATH; `opprof-db doctor` looks closer",
    )


def _given(given: str, environment: Mapping[str, str]) -> Tool | NotFound:
    path = Path(given).expanduser()
    if os.sep not in given:
        found = shutil.which(given, path=environment.get("PATH", ""))
        if found:
            return Tool(Path(found).absolute(), "--tool")
    if path.is_dir():
        inside = [path / name for name in NAMES if _executable(path / name)]
        if inside:
            return Tool(inside[0].absolute(), "--tool")
        return NotFound(f"--tool {given} is a folder without msopprof or msprof", "name the executable itself")
    if not path.exists():
        return NotFound(f"--tool {given} does not exist", "name the msopprof or msprof executable")
    if not _executable(path):
        return NotFound(f"--tool {given} is not executable", f"chmod u+x {given}")
    return Tool(path.absolute(), "--tool")


def _below(home: str | None) -> Iterator[Path]:
    if home:
        for folder in _BELOW:
            for name in NAMES:
                yield Path(home) / folder / name


def _executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def cann_home(environment: Mapping[str, str], tool: Tool | None = None) -> Path | None:
    """The CANN installation: by environment variable, else above the tool."""
    for variable in HOMES:
        value = environment.get(variable)
        if value and Path(value).is_dir():
            return Path(value)
    if tool is not None:
        for parent in tool.path.resolve().parents:
            if (parent / "tools" / "simulator").is_dir() or _version_files(parent):
                return parent
    return None


def simulators(environment: Mapping[str, str], tool: Tool | None = None) -> list[str] | None:
    """Simulators that are installed; None where nothing can be said (source: msopprof ascend_helper.cpp)."""
    home = cann_home(environment, tool)
    folder = home / "tools" / "simulator" if home else None
    if folder is None:
        return None
    try:
        return sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and entry.name.startswith("Ascend"))
    except OSError:
        return []


def _version_files(home: Path) -> list[Path]:
    names = (
        "version.cfg",
        "version.info",
        "ascend_toolkit_install.info",
        "toolkit/version.info",
        "compiler/version.info",
    )
    found = [home / name for name in names if (home / name).is_file()]
    try:
        return found + sorted(home.glob("*-linux/ascend_toolkit_install.info"))
    except OSError:
        return found


_VERSION = re.compile(r"version\w*\s*[=:]\s*\[?([^\s\]]+)", re.IGNORECASE)


def cann_version(environment: Mapping[str, str], tool: Tool | None = None) -> str | None:
    """Version that the CANN installation states in its own files; None when it does not."""
    home = cann_home(environment, tool)
    for path in _version_files(home) if home else []:
        try:
            text = path.read_bytes()[:65536].decode("utf-8", "replace")
        except OSError:
            continue
        found = _VERSION.search(text)
        if found:
            return found[1].rpartition(":")[2].strip('"')
    return None
