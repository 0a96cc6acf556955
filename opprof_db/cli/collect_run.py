"""Runs what ``opprof-db collect`` has checked, takes the result in and says what it shows."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import typer

from opprof_db.cli.common import reading, writing
from opprof_db.cli.output import note, print_rows, shown
from opprof_db.collect import command, running
from opprof_db.collect.conditions import conditions
from opprof_db.collect.places import output_path
from opprof_db.collect.request import Request, Surroundings
from opprof_db.collect.settings import Settings
from opprof_db.errors import InputError


def collect_all(db: Path, requests: list[Request], settings: Settings, around: Surroundings, *, take_in: bool) -> None:
    """Run each request as often as wanted; one that leaves nothing ends it."""
    from opprof_db.ingest.options import parse_labels

    labels = parse_labels(list(settings.labels))
    stored: list[list[int]] = []
    for request in requests:
        ids: list[int] = []
        for number in range(settings.repeat):
            if settings.repeat > 1:
                note(f"run {number + 1} of {settings.repeat}")
            ids += _one(db, request, settings, around, labels, take_in=take_in)
        stored.append(ids)
        if settings.repeat > 1 and ids:
            _statistics(db, ids)
    if len(requests) > 1 and all(stored):
        _side_by_side(db, stored[0][-1], stored[1][-1])


def _one(
    db: Path, request: Request, settings: Settings, around: Surroundings, labels: dict[str, str], *, take_in: bool
) -> list[int]:
    assert request.output is not None
    assert around.tool is not None
    output = output_path(request.output, around.folder)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{output}: cannot be made ({error.strerror})", "name another --output folder") from error
    built = command.build(request, around, around.tool)
    note(built.line)
    log = output / f"collect_{time.strftime('%Y%m%d_%H%M%S')}_{time.time_ns() % 10**6:06d}.log"
    ran = running.run(built, output, around.folder, log=log, limit_s=settings.time_limit_s, say=note)
    _judge(ran, output)
    if not take_in:
        for folder in ran.folders:
            print(folder)
        return []
    facts = conditions(request, around, built, ran, settings.cann_version)
    return take(db, list(ran.folders), labels, facts)


def _judge(ran: running.Ran, output: Path) -> None:
    """Stop where there is nothing to take in; the exit code alone says nothing."""
    kept = f"; its output is kept in {ran.log}" if ran.log else ""
    there = f"{ran.folders[0]} is there, unfinished: `opprof-db ingest` takes what is complete" if ran.folders else None
    if ran.ended == running.STOPPED:
        note(f"stopped after {ran.seconds:.0f} s, nothing was taken in; {there or 'no folder was left'}")
        raise typer.Exit(130)
    if ran.ended == running.KILLED:
        raise InputError(
            f"msopprof did not end within the time limit and was stopped{kept}", there or "raise --time-limit"
        )
    if not ran.folders:
        last = f"; it last said: {ran.last_lines[-1]}" if ran.last_lines else ""
        raise InputError(
            f"msopprof left no folder in {output} (exit code {ran.exit_code}){last}",
            f"read its messages above{kept}; is the folder writable, is there space?",
        )
    if ran.exit_code != 0:
        note(f"exit code {ran.exit_code}: not believed, the folder decides")


def take(db: Path, folders: list[Path], labels: dict[str, str], facts: dict[str, str]) -> list[int]:
    """Take folders in and diagnose them; returns the runs.

    Raises:
        InputError: nothing in them could be taken.
    """
    from opprof_db.ingest.finding import find
    from opprof_db.ingest.options import IngestOptions
    from opprof_db.ingest.service import ingest

    found = find(folders)
    outcomes = list(found.outcomes)
    if found.runs:
        with writing(db, create=True) as connection:
            outcomes += ingest(connection, db, found, IngestOptions(labels=labels, conditions=facts))
    ids = [outcome.run_id for outcome in outcomes if outcome.run_id is not None]
    for outcome in outcomes:
        run = f"run {outcome.run_id}" if outcome.run_id is not None else "-"
        print(
            shown(
                f"{outcome.kind:<8}  {run:<8}  {outcome.path.name}: {outcome.message or f'{outcome.kernels} launches'}"
            )
        )
    if not ids:
        raise InputError(
            f"{folders[0]}: nothing to take in: {outcomes[0].message if outcomes else 'no results'}",
            "the messages of msopprof above say why parsing failed",
        )
    for run_id in ids:
        _diagnosis(db, run_id)
    return ids


def _diagnosis(db: Path, run_id: int) -> None:
    from opprof_db.analysis.diagnose import diagnose, representatives
    from opprof_db.cli.diagnosis_text import print_brief

    with reading(db) as connection:
        for kernel_id, _ in representatives(connection, run_id)[:5]:
            print_brief(diagnose(connection, kernel_id, profile="default"))


def _statistics(db: Path, ids: list[int]) -> None:
    marks = ", ".join("?" * len(ids))
    with reading(db) as connection:
        rows = connection.execute(
            "SELECT operator, duration_us FROM kernel_overview"
            f" WHERE run_id IN ({marks}) AND duration_us IS NOT NULL ORDER BY operator",
            ids,
        ).fetchall()
    durations: dict[str, list[float]] = {}
    for operator, duration in rows:
        durations.setdefault(operator, []).append(duration)
    table = [
        (
            operator,
            len(held),
            min(held),
            statistics.median(held),
            max(held),
            round(100 * statistics.stdev(held) / statistics.mean(held), 2) if len(held) > 1 else None,
        )
        for operator, held in durations.items()
    ]
    print_rows(("operator", "launches", "min_us", "median_us", "max_us", "std_pct"), table)


def _side_by_side(db: Path, device_run: int, simulator_run: int) -> None:
    from opprof_db.analysis.diagnose import representatives
    from opprof_db.cli.modes import show_modes
    from opprof_db.cli.output import Format

    with reading(db) as connection:
        first, second = (representatives(connection, run) for run in (device_run, simulator_run))
    if len(first) == len(second) == 1:
        show_modes(db, f"kernel:{first[0][0]}", f"kernel:{second[0][0]}", Format.TABLE)
    else:
        note("several kernels: set two side by side with `opprof-db compare kernel:A --modes --with kernel:B`")
