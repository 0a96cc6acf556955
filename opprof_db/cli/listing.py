"""Commands that list: runs, kernels, issues, metrics."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Any

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, Rows, complete_run, reading, select
from opprof_db.cli.output import Format, note, print_rows

RUNS_EPILOG = """Examples:

  opprof-db runs

  opprof-db runs --label branch=main --format json"""
KERNELS_EPILOG = """Examples:

  opprof-db kernels                       every launch, slowest first

  opprof-db kernels last                  launches of the newest run

  opprof-db kernels OPPROF_2026 --op matmul

A run is named by its id, its name, the unique beginning of its name, or 'last'."""
ISSUES_EPILOG = """Examples:

  opprof-db issues

  opprof-db issues last --severity info   remarks too

  opprof-db issues --code not_a_number --format csv"""
METRICS_EPILOG = """Examples:

  opprof-db metrics                       all of them

  opprof-db metrics mte2                  those with mte2 in their name

  opprof-db metrics 'L2Cache/*hit*' --format json"""

RunArgument = Annotated[
    str | None,
    typer.Argument(metavar="[RUN]", help="Run: id, name, unique prefix or 'last'.", autocompletion=complete_run),
]


def runs(
    db: DbOption = DEFAULT_DB,
    label: Annotated[
        list[str] | None,
        typer.Option("--label", "-l", metavar="KEY=VALUE", help="Only runs with this label."),
    ] = None,
    style: FormatOption = Format.TABLE,
) -> None:
    """List the runs, newest first."""
    conditions, parameters = _label_conditions(label or [])
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    sql = f"SELECT * FROM run_overview{where} ORDER BY started_at IS NULL, started_at DESC, run_id DESC"
    with reading(db) as connection:
        columns, rows = select(connection, sql, parameters)
    _print(columns, rows, style, wide=("operators", "cells", "missing", "path"))


def _label_conditions(pairs: list[str]) -> tuple[list[str], tuple[str, ...]]:
    if not pairs:
        return [], ()
    from opprof_db.ingest.options import parse_labels

    labels = parse_labels(pairs)
    condition = "run_id IN (SELECT run_id FROM run_conditions WHERE kind = 'label' AND key = ? AND value = ?)"
    return [condition] * len(labels), tuple(text for pair in labels.items() for text in pair)


def kernels(
    run: RunArgument = None,
    db: DbOption = DEFAULT_DB,
    op: Annotated[
        str | None, typer.Option("--op", metavar="TEXT", help="Only operators with this in the name.")
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many; 0: all.")] = 0,
    style: FormatOption = Format.TABLE,
) -> None:
    """List launches of kernels, slowest first."""
    from opprof_db.warehouse.resolve import run_id

    conditions: list[str] = []
    parameters: list[Any] = []
    with reading(db) as connection:
        if run is not None:
            conditions.append("run_id = ?")
            parameters.append(run_id(connection, run))
        if op is not None:
            conditions.append("instr(lower(operator), lower(?)) > 0")
            parameters.append(op)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        sql = f"SELECT * FROM kernel_overview{where} ORDER BY duration_us IS NULL, duration_us DESC, kernel_id LIMIT ?"
        columns, rows = select(connection, sql, (*parameters, limit or -1))
    _print(
        columns,
        rows,
        style,
        wide=(
            "name",
            "run_id",
            "started_at",
            "mode",
            "mix_block_dim",
            "rated_freq_mhz",
            "tiling_key",
            "missing",
        ),
    )


def issues(
    run: RunArgument = None,
    db: DbOption = DEFAULT_DB,
    severity: Annotated[str, typer.Option(metavar="error|warning|info", help="Least severity shown.")] = "warning",
    code: Annotated[str | None, typer.Option(help="Only this kind of issue.")] = None,
    style: FormatOption = Format.TABLE,
) -> None:
    """List problems met at ingest: what was lost or flagged, in which file, line and column."""
    from opprof_db.errors import UsageError
    from opprof_db.warehouse.resolve import run_id

    order = ("error", "warning", "info")
    if severity not in order:
        raise UsageError(f"--severity {severity!r} is not known", "use error, warning or info")
    levels = order[: order.index(severity) + 1]
    conditions = [f"severity IN ({', '.join('?' * len(levels))})"]
    parameters: list[Any] = list(levels)
    with reading(db) as connection:
        if run is not None:
            conditions.append("run_id = ?")
            parameters.append(run_id(connection, run))
        if code is not None:
            conditions.append("code = ?")
            parameters.append(code)
        columns, rows = select(
            connection,
            f"SELECT * FROM issue_overview WHERE {' AND '.join(conditions)} ORDER BY run_id, issue_id",
            tuple(parameters),
        )
        hidden = 0
        if levels != order and code is None:
            hidden = connection.execute("SELECT count(*) FROM ingest_issues WHERE severity = 'info'").fetchone()[0]
    _print(columns, rows, style, wide=("issue_id", "run_id", "cells"))
    if style is Format.TABLE and not rows:
        note("no problems" + (" of this kind" if code or run else ""))
    if hidden and style is Format.TABLE:
        note(f"{hidden} remarks are not shown; see them with --severity info")


def metrics(
    pattern: Annotated[
        str | None, typer.Argument(metavar="[PATTERN]", help="Part of a name, or a pattern with * and ?.")
    ] = None,
    db: DbOption = DEFAULT_DB,
    style: FormatOption = Format.TABLE,
) -> None:
    """List the metrics: unit, how cores may be put together, and what each number means.

    Reads the catalogue that comes with the program; columns that it does not know and that the
    warehouse has met are listed behind.
    """
    from opprof_db.catalog import load
    from opprof_db.errors import UsageError
    from opprof_db.warehouse.resolve import did_you_mean

    columns = [
        "family", "column_name", "vendor_name", "unit", "unit_base", "core_kind", "aggregate", "polarity", "chips",
        "known", "formula", "meaning", "source",
    ]  # fmt: skip
    catalogue = load()
    rows: Rows = [
        (m.family, m.column, m.vendor, m.unit or None, m.unit_base, str(m.core), str(m.aggregate), str(m.polarity),
         ",".join(m.chips), 1, None, m.meaning, m.source)
        for m in catalogue.metrics
    ]  # fmt: skip
    rows += [
        (d.family, d.column, None, d.unit or None, None, str(d.core), "never", str(d.polarity), ",".join(d.chips), 1,
         d.formula, d.meaning, d.source)
        for d in catalogue.derived
    ]  # fmt: skip
    if db.exists():
        with reading(db) as connection:
            unknown = connection.execute(
                "SELECT family, vendor_name FROM metrics WHERE known = 0 ORDER BY family, vendor_name"
            ).fetchall()
        rows += [
            (family, None, vendor, None, None, None, None, None, None, 0, None,
             "Not in the catalogue; values stand in extra_metric_values.", "met in a file")
            for family, vendor in unknown
        ]  # fmt: skip
    if pattern is not None:
        everything = rows
        rows = [row for row in rows if _matches(pattern, row)]
        if not rows:
            names = {str(name) for row in everything for name in row[1:3] if name}
            raise UsageError(f"no metric matches {pattern!r}", did_you_mean(pattern, names))
    _print(
        columns,
        rows,
        style,
        wide=("vendor_name", "unit_base", "polarity", "known", "formula", "source", "chips"),
    )


def _matches(pattern: str, row: tuple[Any, ...]) -> bool:
    wanted = pattern.lower()
    names = [str(name).lower() for name in row[1:3] if name]
    names += [f"{str(row[0]).lower()}/{name}" for name in names]
    if any(char in wanted for char in "*?["):
        return any(fnmatchcase(name, wanted) for name in names)
    return any(wanted in name for name in names)


def _print(columns: list[str], rows: Rows, style: Format, wide: tuple[str, ...]) -> None:
    """A table leaves out the columns that make it too wide; the other formats have them all."""
    if style is Format.TABLE:
        kept = [at for at, column in enumerate(columns) if column not in wide]
        columns = [columns[at] for at in kept]
        rows = [tuple(row[at] for at in kept) for row in rows]
    print_rows(columns, rows, style)
