"""``opprof-db query``."""

from __future__ import annotations

import math
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opprof_db.cli import common
from opprof_db.cli.common import DEFAULT_DB, DbOption
from opprof_db.cli.output import note

if TYPE_CHECKING:
    from opprof_db.warehouse.queries import NamedQuery

EPILOG = """Examples:

  opprof-db query "SELECT operator, run, duration_us FROM top_kernels LIMIT 5"

  opprof-db query "SELECT block_id, aiv_mte2_ratio FROM pipe_utilization WHERE kernel_id = :k" --param k=1 -f csv

  opprof-db query --name top_kernels --param limit=5

  opprof-db query --file balance.sql -f parquet -o balance.parquet

  echo "SELECT count(*) FROM kernels" | opprof-db query -

The database is opened read-only; a statement that takes too long or returns too much is cut off, and says so.

A parameter's value is a whole number, a number, NULL, or text; 'quoted' text is text whatever it looks like."""

SCREEN_ROWS = 10_000
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,18})")
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class QueryFormat(StrEnum):
    """How the rows of a query are printed or written."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    MARKDOWN = "markdown"
    PARQUET = "parquet"


STREAMED = (QueryFormat.JSONL, QueryFormat.CSV, QueryFormat.PARQUET)


def complete_query(incomplete: str) -> list[str]:
    """Shell completion for named queries."""
    from opprof_db.warehouse.queries import query_files

    return [query.name for query in query_files() if query.name.startswith(incomplete)]


def query(
    sql: Annotated[
        str | None, typer.Argument(metavar="[SQL]", help="One SELECT statement; - reads it from stdin.")
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Read the statement from a file.")] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", "-n", help="Run a named query; see opprof-db queries.", autocompletion=complete_query),
    ] = None,
    params: Annotated[
        list[str] | None, typer.Option("--param", "-p", metavar="NAME=VALUE", help="Value of :NAME; repeatable.")
    ] = None,
    db: DbOption = DEFAULT_DB,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            help=f"At most so many rows; 0: as many as there are. Default: {SCREEN_ROWS} for table, json and markdown, "
            "all for csv, jsonl and parquet.",
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0.01, metavar="SECONDS", help="Time limit.")] = 30.0,
    style: Annotated[QueryFormat, typer.Option("--format", "-f", help="How rows are written.")] = QueryFormat.TABLE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the rows to a new file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file given with -o.")] = False,
) -> None:
    """Run one reading SQL statement; nothing can be changed by it."""
    from opprof_db.cli import rows_out
    from opprof_db.warehouse import readonly

    statement, bound = _statement(sql, file, name, params or [])
    rows_out.check_target(output, style, force=force, db=db)
    with common.reading(db):
        pass  # an older file is upgraded before its views are asked
    streamed = style in STREAMED
    if limit is None:
        limit = 0 if streamed else SCREEN_ROWS
    limits = readonly.Limits(
        rows=limit or None,
        seconds=timeout,
        result_bytes=None if streamed else readonly.DEFAULT_RESULT_BYTES,
    )
    try:
        with readonly.stream(db, statement, bound, limits) as found:
            count = rows_out.write(found, style, output)
    except KeyboardInterrupt:
        note("interrupted" + (f"; {output} was not written" if output else ""))
        raise typer.Exit(130) from None
    if found.cut:
        note(f"{found.cut} (--limit changes how many)")
    if output is not None:
        note(f"{count:,} row{'' if count == 1 else 's'} written to {output}")


def _statement(sql: str | None, file: Path | None, name: str | None, params: list[str]) -> tuple[str, dict[str, Any]]:
    """The statement and its bound values."""
    from opprof_db.errors import UsageError

    given: dict[str, str] = {}
    for key, value in map(_pair, params):
        if key in given:
            raise UsageError(f"--param {key} is given twice", "give each parameter once")
        given[key] = value
    if sum(source is not None for source in (sql, file, name)) != 1:
        raise UsageError(
            "query needs one statement: SQL, --file FILE or --name QUERY",
            "for example: opprof-db query 'SELECT * FROM top_kernels'; opprof-db query --help has more",
        )
    if name is not None:
        from opprof_db.warehouse.queries import named_query

        found: NamedQuery = named_query(name)
        return found.file.sql, found.bind(given)
    text = sql if sql is not None and sql != "-" else _read(file)
    if not text.strip():
        raise UsageError("the statement is empty", "for example: opprof-db query 'SELECT * FROM top_kernels'")
    return text, {key: parameter_value(value) for key, value in given.items()}


def _pair(param: str) -> tuple[str, str]:
    from opprof_db.errors import UsageError

    key, equals, value = param.partition("=")
    if not equals or not key.isidentifier():
        raise UsageError(f"--param {param!r} is not NAME=VALUE", "for example: --param run_id=3")
    return key, value


def _read(file: Path | None) -> str:
    from opprof_db.errors import InputError

    try:
        data = sys.stdin.buffer.read() if file is None or str(file) == "-" else file.read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}", "give a file with one SELECT") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file or 'stdin'}: no UTF-8 text", "save the statement as UTF-8") from error


def parameter_value(text: str) -> int | float | str | None:
    """The value a parameter's text stands for: whole number, number, NULL, else text; quotes make it text.

    Text are also: numbers too large for SQLite and numbers with a leading zero. Labels and commits look like that
    (007, 12e4567), and a number made of one matches nothing.
    """
    if text in ("NULL", "null"):
        return None
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if _WHOLE.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    if not text.lstrip("+-").isdigit() and _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text
