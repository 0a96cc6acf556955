"""``opprof-db recommend``."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, complete_run_or_kernel, reading
from opprof_db.cli.knowledge import KbOption, usable
from opprof_db.cli.output import Format, note, print_object, print_rows, shown

if TYPE_CHECKING:
    from opprof_db.analysis.findings import Diagnosis
    from opprof_db.analysis.recommend import Recommendation

EPILOG = """Examples:

  opprof-db recommend kernel:7

  opprof-db recommend last                     of every kernel of the newest run, most time at stake first

  opprof-db recommend kernel:7 --limit 3 -f json

  opprof-db recommend --model yolo.onnx        which migration cases is the model like? (needs opprof-db[onnx])

  opprof-db recommend --operators conv2d:64,silu:57,concat:21,nms:1

Entries come from findings, the kind of operator and counters; each says why, what should move and how to verify it.
'opprof-db kb show ID' shows an entry whole. docs/knowledge.md says how they are ranked."""
_WIDTH = 100
_ARROWS = {"up": "↑", "down": "↓", "same": "="}


def recommend(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[KERNEL|RUN]",
            help="kernel:7, RUN/NAME[/LAUNCH], or a run: id, name, unique prefix or 'last'.",
            autocompletion=complete_run_or_kernel,
        ),
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", metavar="FILE.onnx", help="Match a model against migration cases.")
    ] = None,
    operators: Annotated[
        str | None,
        typer.Option("--operators", metavar="NAMES", help="The same with names: conv2d,nms or conv2d:64,nms:1."),
    ] = None,
    db: DbOption = DEFAULT_DB,
    limit: Annotated[int, typer.Option(min=0, help="At most so many entries a kernel; 0: all.")] = 5,
    top: Annotated[int, typer.Option(min=0, help="Of a run, at most so many kernels; 0: all.")] = 5,
    kb: KbOption = None,
    style: FormatOption = Format.TABLE,
) -> None:
    """Name the knowledge entries that fit a kernel, and why; or the cases that a model is like."""
    from opprof_db.analysis.diagnose import diagnose
    from opprof_db.analysis.recommend import recommend as entries_for
    from opprof_db.analysis.recommend import recommend_run
    from opprof_db.errors import UsageError
    from opprof_db.knowledge.library import library
    from opprof_db.warehouse import resolve

    if sum(each is not None for each in (target, model, operators)) != 1:
        raise UsageError("name one thing: a kernel or run, --model, or --operators", "opprof-db recommend --help")
    entries = usable(library(kb or []))
    if target is None:
        from opprof_db.cli.model_text import recommend_model

        recommend_model(entries, model, operators, style, limit)
        return
    with reading(db) as connection:
        if resolve.looks_like_kernel(target):
            diagnosis = diagnose(connection, resolve.kernel_id(connection, target))
            found = entries_for(connection, diagnosis.kernel_id, library=entries, limit=limit, diagnosis=diagnosis)
            made: list[tuple[Diagnosis, tuple[Recommendation, ...]]] = [(diagnosis, found)]
        else:
            run = resolve.run_id(connection, target)
            made = list(recommend_run(connection, run, library=entries, limit=limit))
    _print(made, style, top)


def _print(made: list[tuple[Diagnosis, tuple[Recommendation, ...]]], style: Format, top: int) -> None:
    from opprof_db.analysis.as_objects import recommendation_object

    if style is Format.JSON:
        print_object([recommendation_object(one.kernel_id, each) for one, found in made for each in found])
        return
    if style is not Format.TABLE:
        columns = ["kernel_id", "operator", "entry", "kind", "title", "rules", "reason"]
        rows = [
            (one.kernel_id, one.operator, each.entry, each.kind, each.title, " ".join(each.rules), each.reason)
            for one, found in made
            for each in found
        ]
        print_rows(columns, rows, style)
        return
    chosen = made[: top or None]
    for diagnosis, found in chosen:
        took = f"{diagnosis.duration_us:,.2f} us" if diagnosis.duration_us is not None else "no duration"
        print(shown(f"kernel:{diagnosis.kernel_id}  {diagnosis.operator or '(unnamed)'}  {took}  ({diagnosis.mode})"))
        for number, each in enumerate(found, 1):
            _print_one(number, each)
        if not found:
            print("  no entry fits")
        print()
    if len(made) > len(chosen):
        note(f"{len(made) - len(chosen)} more kernels with less at stake; --top 0 shows all")
    if any(found for _, found in chosen):
        note("`opprof-db kb show ID` shows an entry whole")


def _print_one(number: int, each: Recommendation) -> None:
    print(f"\n{number:>3}. {each.title}  [{each.entry}, {each.confidence}]")
    _wrapped("why", each.reason)
    _wrapped("what", each.summary)
    if each.expected:
        _wrapped("expect", ", ".join(f"{_ARROWS[move.direction]} {move.column}" for move in each.expected))
    if each.gain:
        _wrapped("elsewhere", each.gain)
    if each.verify:
        _wrapped("verify", each.verify)
    for case in each.improved[:3]:
        alike = "" if case.distance is None else f", distance {case.distance:.3f}"
        _wrapped(
            "here",
            f"{case.entry_id} {case.operator or 'kernel'}: {case.before_duration_us:g} to"
            f" {case.after_duration_us:g} us, {case.speed_up:.3g} times as fast ({case.title}{alike})",
        )
    if each.verify_command:
        _wrapped("then", each.verify_command)


def _wrapped(label: str, text: str) -> None:
    head = " " * 5 + label.ljust(10)
    for line in textwrap.wrap(
        shown(text), _WIDTH, initial_indent=head, subsequent_indent=" " * 15, break_on_hyphens=False
    ):
        print(line)
