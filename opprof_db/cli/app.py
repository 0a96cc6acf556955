"""The command line: all commands put together, and errors turned into one line and an exit code."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from opprof_db import __version__
from opprof_db.cli import (
    baseline,
    collect,
    compare,
    database,
    diagnose,
    doctor,
    export,
    forget,
    hotspots,
    ingest,
    kb,
    label,
    listing,
    mcp,
    pipeline,
    queries,
    query,
    recommend,
    report,
    restore,
    roofline,
    rules,
    schema,
    shell,
    show,
    similar,
    skill,
    sweep,
    trace,
    trend,
    verify,
    watch,
    work,
)
from opprof_db.cli.output import pretty

EXIT_CODES = (
    "Exit codes: 0 ok, 1 finding or regression, 2 usage, 3 input unreadable, 4 database problem, 70 internal error, "
    "130 interrupted."
)

app = typer.Typer(
    name="opprof-db",
    help="A SQLite warehouse for Ascend operator profiles written by msopprof.\n\n"
    "Take runs in with 'opprof-db ingest out/', then ask: 'opprof-db runs', 'opprof-db kernels', "
    "'opprof-db query \"SELECT * FROM top_kernels\"'.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Rich costs 0.1 s to import and its frames are of no use in a pipe.
    rich_markup_mode="rich" if pretty(sys.stdout) else None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("ingest", epilog=ingest.EPILOG)(ingest.ingest)
app.command("runs", epilog=listing.RUNS_EPILOG)(listing.runs)
app.command("kernels", epilog=listing.KERNELS_EPILOG)(listing.kernels)
app.command("show", epilog=show.EPILOG)(show.show)
app.command("issues", epilog=listing.ISSUES_EPILOG)(listing.issues)
app.command("metrics", epilog=listing.METRICS_EPILOG)(listing.metrics)
app.command("query", epilog=query.EPILOG)(query.query)
app.command("shell", epilog=shell.EPILOG)(shell.shell)
app.command("schema", epilog=schema.EPILOG)(schema.schema)
app.command("queries", epilog=queries.EPILOG)(queries.queries)
app.command("hotspots", epilog=hotspots.EPILOG)(hotspots.hotspots)
app.command("pipeline", epilog=pipeline.EPILOG)(pipeline.pipeline)
app.command("compare", epilog=compare.EPILOG)(compare.compare)
app.command("trend", epilog=trend.EPILOG)(trend.trend)
app.command("sweep", epilog=sweep.EPILOG)(sweep.sweep)
app.command("similar", epilog=similar.EPILOG)(similar.similar)
app.command("diagnose", epilog=diagnose.EPILOG)(diagnose.diagnose)
app.command("recommend", epilog=recommend.EPILOG)(recommend.recommend)
app.command("verify", epilog=verify.EPILOG)(verify.verify)
app.command("roofline", epilog=roofline.EPILOG)(roofline.roofline)
app.command("rules", epilog=rules.EPILOG)(rules.rules)
app.command("label", epilog=label.EPILOG)(label.label)
app.command("restore", epilog=restore.EPILOG)(restore.restore)
app.command("forget", epilog=forget.EPILOG)(forget.forget)
app.command("mcp", epilog=mcp.EPILOG)(mcp.mcp)
app.command("doctor", epilog=doctor.EPILOG)(doctor.doctor)
app.command("watch", epilog=watch.EPILOG)(watch.watch)
app.add_typer(collect.app, name="collect")
app.add_typer(report.app, name="report", epilog=report.EPILOG)
app.add_typer(baseline.app, name="baseline")
app.add_typer(kb.app, name="kb")
app.add_typer(trace.app, name="trace")
app.add_typer(work.app, name="work")
app.add_typer(export.app, name="export")
app.add_typer(skill.app, name="skill")
app.add_typer(database.app, name="db")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"opprof-db {__version__}")
        raise typer.Exit


@app.callback()
def main_options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Options of the program itself."""


def main() -> None:
    """Entry point: run a command; what goes wrong is one line on stderr and an exit code."""
    from opprof_db.errors import OpprofError

    for name in ("stdout", "stderr"):  # closed by the caller: nobody wants to read it
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - for the rest of the program
    if hasattr(signal, "SIGPIPE"):  # as other commands: end quietly when `head` has seen enough
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        app()
    except OpprofError as error:
        _say(f"{error.what}", error.hint)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _say("interrupted; what was stored before is safe", None)
        sys.exit(130)
    except OSError as error:
        if os.environ.get("OPPROF_DEBUG"):
            raise
        _say(f"{error.filename or 'the output'}: {error.strerror or error}", "check permissions and free space")
        sys.exit(3)
    except Exception as error:
        if os.environ.get("OPPROF_DEBUG"):
            raise
        _say(
            f"internal error: {type(error).__name__}: {error}",
            "please report it; OPPROF_DEBUG=1 shows where it happened",
        )
        sys.exit(70)


def _say(what: str, hint: str | None) -> None:
    from opprof_db.cli.output import shown

    bold, end = ("\033[1;31m", "\033[0m") if pretty(sys.stderr) and not os.environ.get("NO_COLOR") else ("", "")
    print(f"{bold}opprof-db:{end} {shown(what)}" + (f"\n  {shown(hint)}" if hint else ""), file=sys.stderr)
