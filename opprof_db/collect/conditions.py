"""The conditions a collection is stored with."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from pathlib import Path

from opprof_db.collect import tools
from opprof_db.collect.command import Command
from opprof_db.collect.request import Request, Surroundings
from opprof_db.collect.running import Ran


def conditions(
    request: Request, around: Surroundings, command: Command, ran: Ran, cann_version: str | None
) -> dict[str, str]:
    """Keys of ``run_conditions``; what is not known is left out."""
    values = request.values
    simulated = request.mode == "simulator"
    name = values.get("kernel-name", "")
    found = {
        "command": command.line,
        "wrapper": command.wrapper.content if command.wrapper else None,
        "mode": request.mode,
        "aic_metrics": ",".join(request.effective_sets),
        "goal": request.goal,
        "warm_up": None if simulated else values.get("warm-up", "5"),
        "replay_mode": None if simulated else values.get("replay-mode", "kernel"),
        "launch_count": values.get("launch-count"),
        "flags": json.dumps(dict(sorted(values.items()))) if values else None,
        "soc": values.get("soc-version") if simulated else request.chip,
        "kernel": name if simulated and re.fullmatch(r"\w+", name) else None,
        "tool": str(around.tool.path) if around.tool else None,
        "tool_version": request.tool_version,
        "cann_version": cann_version or tools.cann_version(around.environment, around.tool),
        "host": socket.gethostname(),
        "exit_code": str(ran.exit_code),
        "ended": ran.ended,
        **git_state(around.folder),
    }
    return {key: value for key, value in found.items() if value}


def git_state(folder: Path) -> dict[str, str | None]:
    """Commit of a working directory, and whether something is changed beside it."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return {}
    changes = _git(folder, "status", "--porcelain")
    return {"git_commit": commit.strip(), "git_dirty": None if changes is None else "yes" if changes.strip() else "no"}


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
