"""Looks at a machine: what is there to collect with, and what to mend."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from opprof_db.collect import tools
from opprof_db.collect.places import check_places
from opprof_db.collect.request import Request, Surroundings

FREE_BYTES = 2 * 1024**3
"""Simulations leave hundreds of megabytes; below this a run may end half-way."""
_DRIVER = Path("/usr/local/Ascend/driver/version.info")


@dataclass(frozen=True, slots=True)
class Checked:
    """One thing that was looked at."""

    item: str
    state: str
    """ok, warning or missing."""
    found: str
    fix: str = ""


def examine(environment: Mapping[str, str], folder: Path, output: Path, tool: str | None) -> Iterator[Checked]:
    """Everything that collecting needs, in the order in which it is needed."""
    found = tools.find_tool(tool, environment)
    usable = found if isinstance(found, tools.Tool) else None
    if isinstance(found, tools.NotFound):
        yield Checked("tool", "missing", found.what, found.remedy)
    else:
        yield Checked("tool", "ok", f"{found.path} ({found.origin})")
    home = tools.cann_home(environment, usable)
    if home is None:
        yield Checked("cann", "missing", "no installation in ASCEND_HOME_PATH", "source set_env.sh of the CANN toolkit")
    else:
        version = tools.cann_version(environment, usable)
        state = "ok" if version else "warning"
        fix = "" if version else "state it with --cann-version: its files do not say"
        yield Checked("cann", state, f"{version or 'version unknown'} in {home}", fix)
    yield from _device()
    there = tools.simulators(environment, usable)
    if there:
        yield Checked("simulators", "ok", ", ".join(there))
    else:
        yield Checked(
            "simulators", "missing", "none found", "install the CANN toolkit; needed for --mode simulator only"
        )
    around = Surroundings(environment, folder, usable)
    remarks = list(check_places(Request(None, output), around))
    for remark in remarks:
        yield Checked("output", "warning", remark.what, remark.remedy)
    if not remarks:
        yield Checked("output", "ok", str(output))
    yield from _space(output)


def _device() -> Iterator[Checked]:
    devices = sorted(Path("/dev").glob("davinci[0-9]*"))
    if not devices:
        fix = "install the NPU driver, or use --mode simulator, which needs none"
        yield Checked("npu", "missing", "no /dev/davinci*: no NPU or no driver", fix)
        return
    closed = [path for path in devices if not os.access(path, os.R_OK | os.W_OK)]
    if closed:
        fix = "join the group that owns it (usually HwHiAiUser) and log in again"
        yield Checked("npu", "warning", f"{closed[0]} may not be opened", fix)
    else:
        yield Checked("npu", "ok", f"{len(devices)} in /dev")
    try:
        text = _DRIVER.read_text(encoding="utf-8", errors="replace")
        version = next((line for line in text.splitlines() if line.lower().startswith("version")), "version unknown")
        yield Checked("driver", "ok", version)
    except OSError:
        yield Checked(
            "driver", "warning", f"{_DRIVER} cannot be read", "`npu-smi info` shows the driver, where it is there"
        )


def _space(output: Path) -> Iterator[Checked]:
    existing = next(parent for parent in (output, *output.parents) if parent.exists())
    free = shutil.disk_usage(existing).free
    fix = "" if free >= FREE_BYTES else "free some space, or collect elsewhere"
    yield Checked(
        "disk", "ok" if free >= FREE_BYTES else "warning", f"{free / 1024**3:.1f} GiB free at {existing}", fix
    )
