"""``opprof-db diagnose``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, complete_run_or_kernel, reading
from opprof_db.cli.output import Format, note, print_object, print_rows

if TYPE_CHECKING:
    import sqlite3

    from opprof_db.analysis.findings import Diagnosis
    from opprof_db.analysis.recommend import Recommendation
    from opprof_db.analysis.work import Work

EPILOG = """Examples:

  opprof-db diagnose last                      every kernel of the newest run, most time at stake first

  opprof-db diagnose kernel:7 --all            also the rules that found nothing, or could not look

  opprof-db diagnose kernel:7 --shape 4096x4096x4096 --dtype float16

  opprof-db diagnose last --format json        {"facts": …, "findings": […]}, the most important finding first

  opprof-db diagnose last --profile upstream   msopprof's own rules, literally

Facts come first, then findings by the time at stake (an upper bound, times how sure the rule is). Each cites the
table, column and row of its numbers. 'opprof-db rules' lists the rules. Results are stored in the table findings."""

ShapeOption = Annotated[
    str | None, typer.Option("--shape", metavar="MxKxN|in=…,out=…", help="Sizes the operator's work follows from.")
]
DtypeOption = Annotated[str | None, typer.Option("--dtype", help="Data type of the shape, such as float16.")]
FlopsOption = Annotated[str | None, typer.Option("--flops", help="Operations of one launch: 2.5e9, 12G.")]
BytesOption = Annotated[str | None, typer.Option("--bytes", help="Bytes it must read and write: 64MiB.")]


def complete_profile(incomplete: str) -> list[str]:
    """Shell completion for profiles."""
    return [name for name in ("default", "strict", "upstream") if name.startswith(incomplete)]


def complete_rule(incomplete: str) -> list[str]:
    """Shell completion for rules."""
    from opprof_db.analysis.rules import rule_set

    return [rule.id for rule in rule_set().rules if rule.id.startswith(incomplete)]


def diagnose(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RUN|KERNEL",
            help="Run: id, name, unique prefix or 'last'; or kernel:7, RUN/NAME[/LAUNCH].",
            autocompletion=complete_run_or_kernel,
        ),
    ],
    db: DbOption = DEFAULT_DB,
    profile: Annotated[
        str,
        typer.Option(
            "--profile", help="Which rules: default, strict, or upstream (msopprof's).", autocompletion=complete_profile
        ),
    ] = "default",
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="RULE", help="Only this rule; repeatable.", autocompletion=complete_rule),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also the rules that found no problem or could not look.")
    ] = False,
    flops: FlopsOption = None,
    bytes_moved: BytesOption = None,
    shape: ShapeOption = None,
    dtype: DtypeOption = None,
    work: Annotated[
        Path | None, typer.Option("--work", metavar="FILE", help="TOML file with the work of operators.")
    ] = None,
    every_launch: Annotated[
        bool, typer.Option("--every-launch", help="Not only the median launch of each kernel of a run.")
    ] = False,
    top: Annotated[int, typer.Option(min=0, help="Of a run, show at most so many kernels; 0: all.")] = 10,
    save: Annotated[bool, typer.Option("--store/--no-store", help="Keep the findings in the warehouse.")] = True,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 when there is a finding above info.")
    ] = False,
    style: FormatOption = Format.TABLE,
) -> None:
    """Say what holds a kernel back: facts, then findings with evidence, time at stake and advice."""
    from opprof_db.analysis import work as works
    from opprof_db.analysis.rules import rule_set
    from opprof_db.errors import UsageError

    rules = rule_set()
    in_profile = {one.id for one in rules.of_profile(profile)}
    wanted = {rules.find(name).id for name in rule or []}
    if wanted - in_profile:
        raise UsageError(f"profile {profile} has no rule {', '.join(sorted(wanted - in_profile))}", "try --profile")
    stated = works.stated(flops, bytes_moved, shape, dtype)
    table = works.from_toml(work) if work is not None else {}
    with reading(db) as connection:
        made, of_run = _diagnoses(connection, target, profile, stated, table, every_launch=every_launch)
        said = [] if style in (Format.CSV, Format.MARKDOWN) else made[: top or None]
        entries = _entries(connection, said if style is Format.JSON or not of_run else [])
    if save and stated is None and not table:
        _store(db, made)
    shown = [_only(diagnosis, wanted) for diagnosis in made]
    _print(shown, of_run, style, entries, everything=everything or bool(wanted), top=top)
    if exit_code and any(one.severity != "info" for diagnosis in shown for one in diagnosis.findings):
        raise typer.Exit(1)


def _diagnoses(
    connection: sqlite3.Connection,
    target: str,
    profile: str,
    stated: Work | None,
    table: dict[str, Work],
    *,
    every_launch: bool,
) -> tuple[list[Diagnosis], bool]:
    """What was made, and whether it is about a run with several kernels."""
    from opprof_db.analysis.diagnose import at_stake, diagnose, representatives
    from opprof_db.errors import UsageError
    from opprof_db.warehouse import resolve

    def work_of(kernel_id: int) -> Work | None:
        row = connection.execute(
            "SELECT o.name FROM kernels k JOIN operators o ON o.id = k.operator_id WHERE k.id = ?", (kernel_id,)
        ).fetchone()
        return stated or (table.get(row[0]) if row else None)

    if resolve.looks_like_kernel(target):
        ids = [resolve.kernel_id(connection, target)]
    else:
        run = resolve.run_id(connection, target)
        if every_launch:
            ids = [row[0] for row in connection.execute("SELECT id FROM kernels WHERE run_id = ? ORDER BY id", (run,))]
        else:
            ids = [kernel_id for kernel_id, _ in representatives(connection, run)]
        if not ids:
            raise UsageError(f"run {target!r} holds no kernel", "`opprof-db kernels` lists them")
        if stated is not None and len(ids) > 1:
            raise UsageError(
                f"run {target!r} has {len(ids)} kernels, the work is that of one", "name one as kernel:7, or use --work"
            )
    made = [diagnose(connection, kernel_id, profile=profile, work=work_of(kernel_id)) for kernel_id in ids]
    made.sort(key=lambda one: (-at_stake(one), -(one.duration_us or 0.0), one.kernel_id))
    return made, len(made) > 1


def _entries(connection: sqlite3.Connection, made: list[Diagnosis]) -> dict[int, tuple[Recommendation, ...]]:
    """Knowledge entries that answer the findings; directories that cannot be read are no reason to fail."""
    from opprof_db.analysis.recommend import answers
    from opprof_db.errors import OpprofError

    try:
        return {one.kernel_id: answers(connection, one) for one in made if one.findings}
    except OpprofError as error:
        note(f"no knowledge entries: {error.what}")
        return {}


def _store(db: Path, made: list[Diagnosis]) -> None:
    """Keep what was found; a file that cannot be written is no reason to fail."""
    from opprof_db.analysis.diagnose import store
    from opprof_db.errors import DatabaseError
    from opprof_db.warehouse.connection import connect, transaction

    try:
        connection = connect(db)
        try:
            with transaction(connection, db, wait_s=2.0):
                for diagnosis in made:
                    store(connection, diagnosis)
        finally:
            connection.close()
    except DatabaseError as error:
        note(f"the findings were not stored: {error.what}")


def _only(diagnosis: Diagnosis, wanted: set[str]) -> Diagnosis:
    from dataclasses import replace

    if not wanted:
        return diagnosis
    return replace(diagnosis, outcomes=tuple(one for one in diagnosis.outcomes if one.rule in wanted))


_COLUMNS = ("kernel_id", "operator", "rule", "outcome", "severity", "confidence", "recoverable_us", "sentence")


def _print(
    made: list[Diagnosis],
    of_run: bool,
    style: Format,
    entries: dict[int, tuple[Recommendation, ...]],
    *,
    everything: bool,
    top: int,
) -> None:
    from opprof_db.analysis.as_objects import diagnosis_object
    from opprof_db.cli.diagnosis_text import print_brief, print_full

    if style is Format.JSON:
        print_object(diagnosis_object(made, everything=everything, entries=entries))
        return
    if style is not Format.TABLE:
        print_rows(_COLUMNS, _rows(made, everything), style)
        return
    if not of_run:
        print_full(made[0], entries.get(made[0].kernel_id, ()), everything=everything)
        return
    shown = made[: top or None]
    for diagnosis in shown:
        print_brief(diagnosis)
    if len(made) > len(shown):
        note(f"{len(made) - len(shown)} more kernels with less at stake; --top 0 shows all")
    note("`opprof-db diagnose kernel:N` shows facts, evidence and advice of one")


def _rows(made: list[Diagnosis], everything: bool) -> list[tuple[Any, ...]]:
    return [
        (
            one.kernel_id,
            diagnosis.operator,
            one.rule,
            one.outcome,
            one.severity,
            one.confidence,
            one.recoverable_us,
            one.sentence,
        )
        for diagnosis in made
        for one in (diagnosis.outcomes if everything else diagnosis.findings)
    ]
