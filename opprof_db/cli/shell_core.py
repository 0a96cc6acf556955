"""What the shell does with a line, whoever typed it: statements through the guard, a few dot commands."""

from __future__ import annotations

import shlex
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from opprof_db.cli.output import Format, note, print_rows
from opprof_db.errors import OpprofError, UsageError
from opprof_db.warehouse import readonly

ROWS = 1_000
HELP = """Statements end in ';' and may go over several lines; they can only read. Ctrl-C stops one, Ctrl-D leaves.

.tables [PATTERN]      views, then tables
.schema NAME           columns with units and meaning
.queries [PATTERN]     named queries
.run NAME [K=V …]      run a named query
.format [FORMAT]       table, json, csv or markdown
.limit [N]             rows shown at most; 0: all
.timeout [SECONDS]     time limit of a statement
.help                  this text
.quit                  leave"""


class Leave(Exception):  # noqa: N818 - no error
    """The user wants to go."""


@dataclass(slots=True)
class Shell:
    """State of a session."""

    database: Path
    style: Format = Format.TABLE
    rows: int = ROWS
    seconds: float = readonly.DEFAULT_TIMEOUT_S
    exit_code: int = 0
    """Of the first thing that failed."""
    commands: dict[str, Callable[[list[str]], None]] = field(init=False)

    def __post_init__(self) -> None:
        self.commands = {
            ".tables": self._tables,
            ".schema": self._schema,
            ".queries": self._queries,
            ".run": self._run,
            ".format": self._format,
            ".limit": self._limit,
            ".timeout": self._timeout,
            ".help": lambda _: print(HELP),
            ".quit": self._quit,
            ".exit": self._quit,
        }

    def do(self, text: str) -> bool:
        """Carry out a statement or dot command; ``False`` where it failed, which was said.

        Raises:
            Leave: .quit was given.
        """
        text = text.strip()
        if not text or text == ";":
            return True
        try:
            if text.startswith("."):
                self._command(text)
            else:
                for statement in split(text):
                    self._statement(statement, {})
        except OpprofError as error:
            sys.stdout.flush()
            note(f"{error.what}" + (f"\n  {error.hint}" if error.hint else ""))
            self.exit_code = self.exit_code or error.exit_code
            return False
        except KeyboardInterrupt:
            note("interrupted")
            self.exit_code = self.exit_code or 130
            return False
        return True

    def _command(self, text: str) -> None:
        try:
            name, *arguments = shlex.split(text)
        except ValueError as error:
            raise UsageError(f"{text}: {error}", "close the quotes") from error
        if name not in self.commands:
            from opprof_db.warehouse.resolve import did_you_mean

            raise UsageError(f"no command {name}", did_you_mean(name, self.commands) or ".help lists them")
        self.commands[name](arguments)

    def _statement(self, sql: str, bound: dict[str, object]) -> None:
        limits = readonly.Limits(rows=self.rows or None, seconds=self.seconds)
        with readonly.stream(self.database, sql, bound, limits) as found:
            print_rows(found.columns, found.rows, self.style)
        if found.cut:
            note(f"{found.cut} (.limit changes how many)")

    def _tables(self, arguments: list[str]) -> None:
        names = objects(self.database)
        found = [(name, kind) for name, kind in names if not arguments or arguments[0].lower() in name.lower()]
        print_rows(["name", "kind"], found, self.style)

    def _schema(self, arguments: list[str]) -> None:
        from opprof_db.warehouse import schema_docs

        if not arguments:
            raise UsageError(".schema needs a name", "for example: .schema kernel_overview")
        for one in schema_docs.matching(arguments[0]):
            print(f"{one.name}: {one.purpose}" + (f" Grain: {one.grain}" if one.grain else ""))
            print_rows(["column", "type", "meaning"], [(f.name, f.type, f.meaning) for f in one.fields], self.style)

    def _queries(self, arguments: list[str]) -> None:
        from opprof_db.cli.queries import queries

        queries(arguments[0] if arguments else None, False, self.style)

    def _run(self, arguments: list[str]) -> None:
        from opprof_db.warehouse.queries import named_query

        if not arguments:
            raise UsageError(".run needs the name of a query", ".queries lists them")
        query = named_query(arguments[0])
        for pair in arguments[1:]:
            if "=" not in pair:
                raise UsageError(f"{pair!r} is not NAME=VALUE", f"for example: .run {query.name} limit=5")
        given = dict(pair.partition("=")[::2] for pair in arguments[1:])
        self._statement(query.file.sql, query.bind(given))

    def _format(self, arguments: list[str]) -> None:
        if arguments:
            names = [style.value for style in Format]
            if arguments[0] not in names:
                raise UsageError(f"no format {arguments[0]}", f"one of: {', '.join(names)}")
            self.style = Format(arguments[0])
        note(f"format {self.style.value}")

    def _limit(self, arguments: list[str]) -> None:
        if arguments:
            if not (arguments[0].isascii() and arguments[0].isdigit() and len(arguments[0]) < 10):
                raise UsageError(f"{arguments[0]} is no number of rows", ".limit 100; 0 for all")
            self.rows = int(arguments[0])
        note(f"limit {self.rows or 'none'}")

    def _timeout(self, arguments: list[str]) -> None:
        if arguments:
            try:
                seconds = float(arguments[0])
            except ValueError:
                seconds = 0.0
            if not 0 < seconds < 1e9:
                raise UsageError(f"{arguments[0]} is no number of seconds", ".timeout 60")
            self.seconds = seconds
        note(f"timeout {self.seconds:g} s")

    def _quit(self, arguments: list[str]) -> None:
        del arguments
        raise Leave


_CLOSING = {"'": "'", '"': '"', "`": "`", "[": "]"}


def split(text: str) -> list[str]:
    """The statements of a text, what follows the last ``;`` too; quotes and comments hide semicolons."""
    found: list[str] = []
    start = at = 0
    content = False
    while at < len(text):
        closing = "\n" if text.startswith("--", at) else "*/" if text.startswith("/*", at) else None
        quoted = None if closing else _CLOSING.get(text[at])
        if closing or quoted:
            end = text.find(closing or quoted or "", at + (2 if closing else 1))
            at = len(text) if end < 0 else end + len(closing or quoted or "")
            content = content or quoted is not None
            continue
        if text[at] == ";":
            if content:
                found.append(text[start:at].strip())
            start, content = at + 1, False
        else:
            content = content or not text[at].isspace()
        at += 1
    return [*found, text[start:].strip()] if content else found


def complete(text: str) -> bool:
    """Whether a text is a whole statement or command."""
    stripped = text.strip()
    return not stripped or stripped.startswith(".") or sqlite3.complete_statement(stripped)


def statements(lines: Iterator[str]) -> Iterator[str]:
    """Whole statements and commands of a script; what is left over at its end counts as one."""
    held = ""
    for line in lines:
        if not held and not line.strip():
            continue
        held += line
        if complete(held):
            yield held
            held = ""
    if held.strip():
        yield held


def objects(database: Path) -> list[tuple[str, str]]:
    """Views and tables of the file, (name, kind), views first."""
    connection = readonly.open_readonly(database)
    try:
        return connection.execute(
            "SELECT name, type FROM sqlite_master WHERE type IN ('view', 'table') AND name NOT LIKE 'sqlite_%'"
            " ORDER BY type DESC, name"
        ).fetchall()
    finally:
        connection.close()


def columns(database: Path) -> dict[str, list[str]]:
    """Columns of every view and table of the file."""
    connection = readonly.open_readonly(database)
    try:
        return {
            name: [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))]
            for name, _ in objects(database)
        }
    finally:
        connection.close()
