"""``opprof-db ingest``."""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from opprof_db.cli import common
from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption
from opprof_db.cli.output import Format, note, pretty, print_rows, shown

if TYPE_CHECKING:
    import sqlite3

    from opprof_db.ingest.finding import Found, Outcome
    from opprof_db.ingest.options import IngestOptions
    from opprof_db.ingest.service import Progress

EPILOG = """Examples:

  opprof-db ingest out/                              every run below out/

  opprof-db ingest out/ --label branch=main          with a label on each run

  opprof-db ingest sweep/ --label-from-path 'tile(?P<tile>\\d+)'

  opprof-db ingest OPPROF_20260522_x --soc Ascend910B2 --cann-version 8.5

  opprof-db ingest out/ --dry-run                    only say what would happen

Exit code 3: a path could not be read, a run failed, or nothing could be taken at all (with --strict: any issue)."""


class TraceKeep(StrEnum):
    """What ingest keeps of a trace."""

    AUTO = "auto"
    FULL = "full"
    SUMMARY = "summary"
    NONE = "none"


_WORDS = ("new", "known", "replaced", "failed", "empty", "foreign")


def ingest(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH…", help="Folders with runs below, or single runs.", readable=False)
    ],
    db: DbOption = DEFAULT_DB,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", "-l", metavar="KEY=VALUE", help="Label on each run; repeatable."),
    ] = None,
    label_from_path: Annotated[
        str | None,
        typer.Option(metavar="REGEX", help="Labels from folder names: each named group becomes one."),
    ] = None,
    soc: Annotated[str | None, typer.Option(help="Chip, where the data does not record it: Ascend910B2.")] = None,
    cann_version: Annotated[str | None, typer.Option(help="CANN version the runs were made with.")] = None,
    tool_version: Annotated[str | None, typer.Option(help="msopprof version or build date.")] = None,
    git_commit: Annotated[str | None, typer.Option(help="Commit of the operator's source.")] = None,
    trace: Annotated[
        TraceKeep, typer.Option("--trace", help="What to keep of traces; auto: all events up to 2 GiB.")
    ] = TraceKeep.AUTO,
    kernel: Annotated[str | None, typer.Option(help="Kernel name of simulator runs, which record none.")] = None,
    cache_lines: Annotated[
        bool, typer.Option("--cache-lines", help="Take in the L2 cache lines of bins (block 14).")
    ] = False,
    aic_metrics: Annotated[
        str | None,
        typer.Option(help="Metric sets collected (--aic-metrics): tells 0 from not collected on the 950."),
    ] = None,
    archive_max: Annotated[
        str, typer.Option(metavar="SIZE", help="Larger files are not archived (device CSVs always are).")
    ] = "256MiB",
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=0, max=64, help="Processes that read, beside the one that writes (one for large trees)."
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 on any issue.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Read everything, store nothing.")] = False,
    style: FormatOption = Format.TABLE,
) -> None:
    """Take every msopprof run at or below PATH into the warehouse.

    Identity is content: a run that is known already, moved, renamed or copied only gets a new location;
    a folder that has grown replaces its former self. Nothing is ever written into the source folders.
    """
    if hasattr(signal, "SIGPIPE"):  # a reader that goes away must not stop the storing
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    from opprof_db.ingest import options as opts
    from opprof_db.ingest.finding import find
    from opprof_db.ingest.service import fitting_jobs

    found = find(paths)
    chosen = opts.IngestOptions(
        labels=opts.parse_labels(label or []),
        conditions={
            key: value
            for key, value in {
                "soc": soc,
                "cann_version": cann_version,
                "tool_version": tool_version,
                "git_commit": git_commit,
                "aic_metrics": aic_metrics,
                "kernel": kernel,
            }.items()
            if value
        },
        label_from_path=opts.parse_path_pattern(label_from_path),
        cache_lines=cache_lines,
        trace=str(trace),
        archive_max=opts.parse_size(archive_max),
        jobs=fitting_jobs(found.kernels) if jobs is None else jobs,
        dry_run=dry_run,
    )
    for message in found.notes:
        note(message)
    for root, problem in found.problems:
        note(f"{root}/{problem.path}: {problem.message}")
    outcomes = list(found.outcomes)
    with _connection(db, found, dry_run) as connection, _progress(found.kernels) as progress:
        outcomes = _store(connection, db, found, chosen, progress, outcomes, style)
    if style is not Format.TABLE:
        print_rows(_COLUMNS, [_row(outcome) for outcome in outcomes], style)
    _summarize(outcomes, dry_run, to_stderr=style is not Format.TABLE)
    _exit(outcomes, strict, bool(found.problems))


@contextmanager
def _connection(db: Path, found: Found, dry_run: bool) -> Iterator[sqlite3.Connection | None]:
    """A dry run reads an existing warehouse and creates none; without runs there is nothing to open."""
    if not found.runs or (dry_run and not db.exists()):
        yield None
    elif dry_run:
        with common.reading(db) as connection:
            yield connection
    else:
        with common.writing(db, create=True) as connection:
            yield connection


def _store(
    connection: sqlite3.Connection | None,
    db: Path,
    found: Found,
    chosen: IngestOptions,
    progress: Progress | None,
    outcomes: list[Outcome],
    style: Format,
) -> list[Outcome]:
    from opprof_db.ingest.service import ingest as run_ingest

    for outcome in outcomes:
        _say(outcome, style)
    try:
        for outcome in run_ingest(connection, db, found, chosen, progress) if found.runs else ():
            outcomes.append(outcome)
            _say(outcome, style)
    except KeyboardInterrupt:
        note("\ninterrupted: the runs listed above are stored, the one at hand is not; the same command goes on")
        raise typer.Exit(130) from None
    return outcomes


def _say(outcome: Outcome, style: Format) -> None:
    if style is not Format.TABLE:
        return
    run = f"run {outcome.run_id}" if outcome.run_id is not None else "-"
    launches = f"{outcome.kernels} launch{'' if outcome.kernels == 1 else 'es'}" if outcome.kernels else ""
    parts = [launches] if launches else []
    if outcome.counts.read:
        parts.append(f"{outcome.counts.stored:,} values")
    issues = outcome.issues - outcome.remarks
    for count, word in ((issues, "issue"), (outcome.remarks, "remark")):
        if count:
            parts.append(f"{count:,} {word}{'' if count == 1 else 's'}")
    if outcome.message:
        parts.append(outcome.message)
    _print(f"{outcome.kind:<8}  {run:<8}  {shown(_near(outcome.path))}: {shown(', '.join(parts))}")


def _near(path: Path) -> str:
    """A path as short as it can be said from here."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) and path != here else str(path)


def _print(text: str) -> None:
    """A line on stdout; where nobody reads any more, runs are stored all the same."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_COLUMNS = (
    "outcome", "run_id", "run", "path", "launches", "cells_read", "cells_stored", "cells_null", "cells_lost",
    "issues", "message",
)  # fmt: skip


def _row(outcome: Outcome) -> tuple[object, ...]:
    counts = outcome.counts
    return (
        outcome.kind, outcome.run_id, outcome.name, str(outcome.path), outcome.kernels, counts.read, counts.stored,
        counts.nulls, counts.lost, outcome.issues, outcome.message or None,
    )  # fmt: skip


def _summarize(outcomes: list[Outcome], dry_run: bool, *, to_stderr: bool) -> None:
    kinds = Counter(outcome.kind for outcome in outcomes)
    stored = [outcome for outcome in outcomes if outcome.kind in ("new", "replaced")]
    read = sum(outcome.counts.read for outcome in stored)
    values = sum(outcome.counts.stored for outcome in stored)
    nulls = sum(outcome.counts.nulls for outcome in stored)
    lost = sum(outcome.counts.lost for outcome in stored)
    remarks = sum(outcome.remarks for outcome in stored)
    issues = sum(outcome.issues for outcome in stored) - remarks
    words = [
        f"{kinds[kind]} {kind}" for kind in _WORDS if kinds[kind] or kind in ("new", "known", "replaced", "failed")
    ]
    lines = [
        f"runs:    {', '.join(words)}" + (" (dry run: nothing was stored)" if dry_run else ""),
        f"kernels: {sum(outcome.kernels for outcome in stored):,}",
        f"cells:   {read:,} read = {values:,} values + {nulls:,} NULL + {lost:,} lost to issues",
        f"issues:  {issues:,}" + (" (`opprof-db issues` lists them)" if issues and not dry_run else ""),
    ]
    if remarks:
        lines[-1] += f", {remarks:,} remark{'s' if remarks > 1 else ''}"
    if to_stderr:
        note("\n".join(lines))
    else:
        _print("\n".join(lines))


def _exit(outcomes: list[Outcome], strict: bool, problems: bool) -> None:
    taken = any(outcome.kind in ("new", "known", "replaced") for outcome in outcomes)
    failed = any(outcome.kind == "failed" for outcome in outcomes)
    doubtful = strict and (
        problems or any(outcome.issues or outcome.kind in ("empty", "foreign") for outcome in outcomes)
    )
    if not taken or failed or doubtful:
        raise typer.Exit(3)


@contextmanager
def _progress(total: int) -> Iterator[Progress | None]:
    """A bar on the terminal when there is enough to wait for."""
    if total < 20 or not pretty(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading launches"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("launches", total=total)
        yield lambda launches: bar.advance(task, launches)
