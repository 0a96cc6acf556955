"""``opprof-db show``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from opprof_db.cli.common import (
    DEFAULT_DB,
    DbOption,
    FormatOption,
    complete_run_or_kernel,
    reading,
    select,
)
from opprof_db.cli.output import Format, print_object, print_rows

if TYPE_CHECKING:
    import sqlite3

EPILOG = """Examples:

  opprof-db show last                     the newest run: facts, conditions, files, kernels, issues

  opprof-db show kernel:7                 one launch: facts and the roll-up of every metric

  opprof-db show OPPROF_2026/MatMul/0 --family PipeUtilization

  opprof-db show 3 --format json"""

Section = tuple[str, list[str], list[tuple[Any, ...]]]


def show(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RUN|KERNEL",
            help="A run (id, name, prefix, 'last') or a launch (kernel:7, RUN/NAME[/LAUNCH]).",
            autocompletion=complete_run_or_kernel,
        ),
    ],
    db: DbOption = DEFAULT_DB,
    family: Annotated[str | None, typer.Option(help="Only metrics of this CSV family (launches).")] = None,
    style: FormatOption = Format.TABLE,
) -> None:
    """Show everything about a run or a launch."""
    from opprof_db.warehouse.labels import subject_named

    if family is not None:
        _check_family(family)
    with reading(db) as connection:
        subject = subject_named(connection, target)
        if subject.kind == "run":
            sections = _run_sections(connection, subject.id)
        else:
            sections = _kernel_sections(connection, subject.id, family)
    if style is Format.JSON:
        print_object([_as_object(sections)])
        return
    for number, (title, columns, rows) in enumerate(sections):
        if style is Format.MARKDOWN:
            print(f"{chr(10) if number else ''}### {title}\n")
        elif style is Format.TABLE:
            print(f"{chr(10) if number else ''}{title}")
        print_rows(columns, rows, style)


def _check_family(family: str) -> None:
    from opprof_db.catalog import load
    from opprof_db.errors import UsageError
    from opprof_db.warehouse.resolve import did_you_mean

    known = load().families
    if family.lower() not in map(str.lower, known):
        raise UsageError(f"no CSV family {family!r}", did_you_mean(family, known) or f"there are: {', '.join(known)}")


def _as_object(sections: list[Section]) -> dict[str, Any]:
    """Facts at the top level, everything else as arrays under its title."""
    result: dict[str, Any] = dict(sections[0][2])
    for title, columns, rows in sections[1:]:
        result[title.lower().replace(" ", "_")] = [dict(zip(columns, row, strict=True)) for row in rows]
    return result


def _facts(connection: sqlite3.Connection, title: str, sql: str, identifier: int) -> Section:
    columns, rows = select(connection, sql, (identifier,))
    return (
        title,
        ["fact", "value"],
        [pair for pair in zip(columns, rows[0], strict=True) if pair[1] is not None],
    )


def _listed(connection: sqlite3.Connection, title: str, sql: str, *parameters: Any) -> list[Section]:
    columns, rows = select(connection, sql, parameters)
    return [(title, columns, rows)] if rows else []


def _run_sections(connection: sqlite3.Connection, identifier: int) -> list[Section]:
    return [
        _facts(connection, "Run", "SELECT * FROM runs WHERE id = ?", identifier),
        *_listed(
            connection,
            "Conditions",
            "SELECT kind, key, value, source FROM run_conditions WHERE run_id = ? ORDER BY kind, key",
            identifier,
        ),
        *_listed(
            connection,
            "Locations",
            "SELECT path, content, first_seen_at, last_seen_at FROM run_locations WHERE run_id = ? ORDER BY path",
            identifier,
        ),
        *_listed(
            connection,
            "Kernels",
            "SELECT kernel_id, operator, op_type, device_id, launch_index, duration_us, block_dim, cores, idle_cores,"
            " status, labels, missing FROM kernel_overview WHERE run_id = ? ORDER BY kernel_id",
            identifier,
        ),
        *_listed(
            connection,
            "Files",
            "SELECT path, kind, status, size_bytes, rows, encoding FROM artifacts WHERE run_id = ? ORDER BY path",
            identifier,
        ),
        *_issue_section(connection, "run_id", identifier),
    ]


def _kernel_sections(connection: sqlite3.Connection, identifier: int, family: str | None) -> list[Section]:
    condition, parameters = ("", ()) if family is None else (" AND lower(family) = lower(?)", (family,))
    return [
        _facts(connection, "Kernel", "SELECT * FROM kernel_overview WHERE kernel_id = ?", identifier),
        *_listed(
            connection,
            "Idle cores",
            "SELECT block_id, sub_block_id, time_us, total_cycles FROM kernel_cores"
            " WHERE kernel_id = ? AND is_idle = 1 ORDER BY block_id, sub_block_id",
            identifier,
        ),
        *_listed(
            connection,
            "Metrics",
            "SELECT family, metric, unit, core_kind, n, min, mean, max, sum, max_block_id, max_sub_block_id, derived"
            f" FROM kernel_metric_values WHERE kernel_id = ?{condition} ORDER BY family, derived, metric, core_kind",
            identifier,
            *parameters,
        ),
        *_issue_section(connection, "kernel_id", identifier),
    ]


def _issue_section(connection: sqlite3.Connection, column: str, identifier: int) -> list[Section]:
    return _listed(
        connection,
        "Issues",
        "SELECT severity, code, path, line, column_name, raw_text, message, cells, count FROM issue_overview"
        f" WHERE {column} = ? ORDER BY issue_id LIMIT 200",
        identifier,
    )
