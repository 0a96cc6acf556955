"""``opprof-db doctor``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opprof_db.cli.common import FormatOption
from opprof_db.cli.output import Format, print_rows

EPILOG = """Examples:

  opprof-db doctor                      is everything there to collect?

  opprof-db doctor --output /data/prof  also for this output folder

Exit code 1: without a tool, or with neither NPU nor simulator, nothing can be collected."""


def doctor(
    output: Annotated[Path, typer.Option(metavar="DIR", help="Folder that runs shall go to.")] = Path("out"),
    tool: Annotated[str | None, typer.Option(metavar="PATH", help="msopprof or msprof, if not on PATH.")] = None,
    style: FormatOption = Format.TABLE,
) -> None:
    """Look at this machine: tool, CANN, NPU, driver, simulators, output folder, space; and what to mend."""
    import os

    from opprof_db.collect.doctor import examine

    here = Path.cwd()
    found = list(examine(os.environ, here, here / output, tool))
    print_rows(
        ("item", "state", "found", "fix"), [(one.item, one.state, one.found, one.fix or None) for one in found], style
    )
    missing = {one.item for one in found if one.state == "missing"}
    if "tool" in missing or {"npu", "simulators"} <= missing:
        raise typer.Exit(1)
