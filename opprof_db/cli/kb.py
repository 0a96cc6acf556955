"""``opprof-db kb``: the knowledge base."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, complete_run_or_kernel, writing
from opprof_db.cli.knowledge import KbOption, complete_entry, entry_index, find_entry
from opprof_db.cli.output import Format, note, print_object, print_rows

if TYPE_CHECKING:
    from opprof_db.knowledge.index import Filters, Hit

app = typer.Typer(
    help="The knowledge base: cases, recipes, patterns and tips, found by words, rules, operators and chips.",
    no_args_is_help=True,
)

SEARCH_EPILOG = """Examples:

  opprof-db kb search why is my gemm slow with small tiles

  opprof-db kb search 双缓冲                           Chinese and Japanese terms are understood

  opprof-db kb search transfers --kind recipe --chip 910B

  opprof-db kb search --rule bank_conflicts           what answers a rule of the diagnosis"""
SHOW_EPILOG = """Examples:

  opprof-db kb show pattern-small-transfers

  opprof-db kb show case-yolov8s -f json"""
LIST_EPILOG = """Examples:

  opprof-db kb list --kind case

  opprof-db kb list --operator matmul -f json"""
LINT_EPILOG = """Examples:

  opprof-db kb lint my-entries/

  opprof-db kb lint            the directories in force (--kb, OPPROF_KB, configuration), else the built-in entries

Exit code 1 when something is wrong. docs/knowledge.md says what an entry looks like."""
RECORD_EPILOG = """Examples:

  opprof-db kb record kernel:9 kernel:8 --title "tiles ten times as large" --entry recipe-tile-size

  opprof-db kb record OPPROF_A/add_custom OPPROF_B/add_custom --title "two buffers" --note "BUFFER_NUM 1 to 2"

The numbers come from the warehouse. Similar launches are shown the case by 'opprof-db recommend'."""

FORGET_EPILOG = """Example: opprof-db kb forget recorded-1"""


class Kind(StrEnum):
    """Kinds of entries."""

    PATTERN = "pattern"
    RECIPE = "recipe"
    CASE = "case"
    TIP = "tip"


class ShowFormat(StrEnum):
    """How an entry is printed."""

    TEXT = "text"
    JSON = "json"


Side = Annotated[
    str,
    typer.Argument(
        metavar="KERNEL",
        help="kernel:7 or RUN/NAME[/LAUNCH]; a run with one kernel.",
        autocompletion=complete_run_or_kernel,
    ),
]
KindOption = Annotated[Kind | None, typer.Option(help="Only entries of this kind.")]
ChipOption = Annotated[
    str | None, typer.Option(metavar="CHIP", help="Only entries that apply to this chip: 910B, 310P, Ascend910B4, …")
]
OperatorOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Only entries about this operator: matmul, MatMulV3, nms, …")
]
RuleOption = Annotated[str | None, typer.Option(metavar="RULE", help="Only entries that answer this rule.")]


@app.command("search", epilog=SEARCH_EPILOG)
def search(
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORDS…]", help="What to look for.")] = None,
    kind: KindOption = None,
    chip: ChipOption = None,
    operator: OperatorOption = None,
    rule: RuleOption = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 10,
    kb: KbOption = None,
    db: DbOption = DEFAULT_DB,
    style: FormatOption = Format.TABLE,
) -> None:
    """Search the entries by words, best first; field synonyms, Chinese and Japanese terms are understood."""
    from opprof_db.knowledge import index

    filters = _filters(kind, chip, operator, rule)
    if not words and filters == index.Filters():
        from opprof_db.errors import UsageError

        raise UsageError("nothing to look for", "give words, or --rule, --operator, --chip, --kind")
    with entry_index(db, kb) as connection:
        question = " ".join(words or [])
        found = index.search(connection, question, filters, limit) if words else index.listed(connection, filters)
    _print_hits(found[:limit], style)


@app.command("list", epilog=LIST_EPILOG)
def list_entries(
    kind: KindOption = None,
    chip: ChipOption = None,
    operator: OperatorOption = None,
    rule: RuleOption = None,
    kb: KbOption = None,
    db: DbOption = DEFAULT_DB,
    style: FormatOption = Format.TABLE,
) -> None:
    """List the entries: patterns, recipes, cases, tips."""
    from opprof_db.knowledge import index

    with entry_index(db, kb) as connection:
        found = index.listed(connection, _filters(kind, chip, operator, rule))
    _print_hits(found, style)


@app.command("show", epilog=SHOW_EPILOG)
def show(
    entry: Annotated[str, typer.Argument(metavar="ID", help="Id of the entry.", autocompletion=complete_entry)],
    kb: KbOption = None,
    db: DbOption = DEFAULT_DB,
    style: Annotated[ShowFormat, typer.Option("--format", "-f", help="How it is printed.")] = ShowFormat.TEXT,
) -> None:
    """Show one entry whole, with what should move and where its statements come from."""
    found = find_entry(entry, db, kb)
    if style is ShowFormat.JSON:
        from opprof_db.knowledge.showing import as_object

        print_object(as_object(found))
    else:
        from opprof_db.knowledge.showing import as_text

        print(as_text(found), end="")


@app.command("lint", epilog=LINT_EPILOG)
def lint(
    directories: Annotated[list[Path] | None, typer.Argument(metavar="[DIR…]", help="Directories to check.")] = None,
    kb: KbOption = None,
    style: FormatOption = Format.TABLE,
) -> None:
    """Check entries: schema, sources, rules, links, and that no figure stands without a source."""
    from opprof_db.knowledge.lint import lint as check
    from opprof_db.knowledge.places import places

    where = places([*(kb or []), *(directories or [])])
    named = {path.resolve() for path in directories or []}
    checked = [place for place in where if place.path in named] if named else list(where[1:]) or list(where)
    library, problems = check(where, checked)
    if style is Format.TABLE:
        for problem in problems:
            print(problem)
    else:
        columns = ["path", "line", "code", "message"]
        print_rows(columns, [(each.path, each.line, each.code, each.message) for each in problems], style)
    names = {place.name for place in checked}
    count = sum(each.origin in names for each in library.entries.values())
    note(f"{count} entries checked, {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    if problems:
        raise typer.Exit(1)


@app.command("record", epilog=RECORD_EPILOG)
def record(
    before: Side,
    after: Side,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="What was done, in a few words.")],
    note_text: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="What was done, at length.")] = None,
    entry: Annotated[
        str | None,
        typer.Option("--entry", metavar="ID", help="The entry that was followed.", autocompletion=complete_entry),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Record launches that should not be compared too.")] = False,
    kb: KbOption = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Make two launches, before and after a change, a case of your own; numbers come from the warehouse."""
    from opprof_db.analysis.record import record as store
    from opprof_db.warehouse.connection import transaction
    from opprof_db.warehouse.resolve import only_kernel

    followed = find_entry(entry, db, kb) if entry else None
    with writing(db) as connection:
        pair = only_kernel(connection, before), only_kernel(connection, after)
        with transaction(connection, db):
            case = store(connection, *pair, title, note=note_text, entry=followed, force=force)
    print(
        f"{case.entry_id}: {case.before_duration_us:g} us to {case.after_duration_us:g} us,"
        f" {case.speed_up:.3g} times as fast"
    )
    if case.remarks:
        note(case.remarks)


@app.command("forget", epilog=FORGET_EPILOG)
def forget(
    case: Annotated[str, typer.Argument(metavar="ID", help="Id of a recorded case: recorded-1.")],
    db: DbOption = DEFAULT_DB,
) -> None:
    """Take a recorded case out of the warehouse; its launches stay."""
    from opprof_db.analysis.record import forget as take_out
    from opprof_db.warehouse.connection import transaction

    with writing(db) as connection, transaction(connection, db):
        take_out(connection, case)
    print(f"{case}: forgotten")


def _filters(kind: Kind | None, chip: str | None, operator: str | None, rule: str | None) -> Filters:
    from opprof_db.errors import UsageError
    from opprof_db.knowledge.index import Filters
    from opprof_db.knowledge.model import RULES
    from opprof_db.knowledge.naming import chip_family, operator_kind
    from opprof_db.warehouse.resolve import did_you_mean

    if rule is not None and rule not in RULES:
        raise UsageError(f"no rule is called {rule!r}", did_you_mean(rule, RULES) or "`opprof-db kb list` names them")
    return Filters(
        str(kind) if kind else None,
        chip_family(chip) if chip else None,
        operator_kind(operator) if operator else None,
        rule,
    )


def _print_hits(found: list[Hit], style: Format) -> None:
    if style is Format.JSON:
        print_rows(
            ["entry", "kind", "title", "summary", "score"],
            [(hit.entry, hit.kind, hit.title, hit.summary, round(hit.score, 3)) for hit in found],
            style,
        )
        return
    rows: list[tuple[Any, ...]] = [(hit.entry, hit.kind, hit.title) for hit in found]
    print_rows(["entry", "kind", "title"], rows, style)
    if not found and style is Format.TABLE:
        note("no entry matches")
