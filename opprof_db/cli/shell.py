"""``opprof-db shell``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opprof_db.cli import common
from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption
from opprof_db.cli.output import Format, note

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    from opprof_db.cli.shell_core import Shell

EPILOG = """Examples:

  opprof-db shell

  opprof-db shell --db lab.db --format markdown

  echo "SELECT count(*) FROM kernels;" | opprof-db shell

Statements can only read. Tab completes tables, columns and queries; .help lists the commands. Lines are remembered in
$XDG_STATE_HOME/opprof-db/history (~/.local/state without it)."""

KEYWORDS = (
    "SELECT FROM WHERE GROUP BY ORDER LIMIT HAVING JOIN LEFT INNER ON USING AS AND OR NOT NULL IS IN LIKE GLOB BETWEEN "
    "CASE WHEN THEN ELSE END WITH RECURSIVE UNION ALL DISTINCT DESC ASC OVER PARTITION EXISTS CAST count sum min "
    "max avg round coalesce"
).split()
_WORD = re.compile(r"\w+")
_ALIASED = re.compile(r"(?:\bfrom|\bjoin|,)\s+(\w+)\s+(?:as\s+)?(\w+)")


def shell(
    db: DbOption = DEFAULT_DB,
    style: FormatOption = Format.TABLE,
    timeout: Annotated[float, typer.Option(min=0.01, metavar="SECONDS", help="Time limit of a statement.")] = 30.0,
) -> None:
    """Ask with SQL, line by line, with completion and history; reads a script where stdin is no terminal."""
    from opprof_db.cli.shell_core import Leave, Shell, statements

    with common.reading(db):
        pass  # an older file is upgraded before its views are asked
    held = Shell(db, style, seconds=timeout)
    try:
        if sys.stdin.isatty():
            converse(held, session(db))
            return
        for text in statements(lines()):
            held.do(text)
    except Leave:
        pass
    if held.exit_code and not sys.stdin.isatty():
        raise typer.Exit(held.exit_code)


def lines() -> Iterator[str]:
    """The lines of stdin.

    Raises:
        InputError: it is no UTF-8.
    """
    from opprof_db.errors import InputError

    for number, line in enumerate(iter(sys.stdin.buffer.readline, b""), 1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"stdin: line {number} is no UTF-8 text", "save the statements as UTF-8") from error


def converse(held: Shell, prompt: PromptSession[str]) -> None:
    """Read and carry out until the end of input.

    Raises:
        Leave: .quit was given.
    """
    note(f"{held.database}: statements end in ';', .help lists commands, Ctrl-D leaves")
    while True:
        try:
            held.do(prompt.prompt())
        except KeyboardInterrupt:
            continue  # the line is thrown away
        except EOFError:
            return


def session(db: Path, **options: Any) -> PromptSession[str]:
    """A prompt with history, completion and colours; ``options`` go to the library (tests give input and output)."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.history import FileHistory, InMemoryHistory
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent
    from prompt_toolkit.lexers import PygmentsLexer
    from pygments.lexers.sql import SqliteConsoleLexer

    from opprof_db.cli.shell_core import complete

    keys = KeyBindings()
    made: list[PromptSession[str]] = []
    whole = Condition(lambda: complete(made[0].default_buffer.text))

    @keys.add("enter", filter=whole)
    def _accept(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    history = _history_file()
    made.append(
        PromptSession(
            "opprof> ",
            history=FileHistory(str(history)) if history else InMemoryHistory(),
            lexer=PygmentsLexer(SqliteConsoleLexer),
            completer=completer(db),
            complete_while_typing=False,
            multiline=True,
            prompt_continuation=lambda width, *_: "...> ".rjust(width),
            key_bindings=keys,
            **options,
        )
    )
    return made[0]


def _history_file() -> Path | None:
    """Where lines are remembered; ``None`` where that cannot be written."""
    given = os.environ.get("XDG_STATE_HOME", "")
    try:
        # The standard wants a path that is absolute; any other is as good as none.
        base = Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
        folder = base / "opprof-db"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "history"
        path.touch(mode=0o600)
    except (OSError, RuntimeError):  # no home folder
        return None
    return path


def _aliases(text: str, known: Mapping[str, object]) -> dict[str, str]:
    """Names and aliases in a statement, in small letters -> the view or table as it is written."""
    tables = {name.lower(): name for name in known}
    found = {word: tables[word] for word in map(str.lower, _WORD.findall(text)) if word in tables}
    for name, alias in _ALIASED.findall(text.lower()):
        if name in tables and alias.upper() not in KEYWORDS:
            found[alias] = tables[name]
    return found


def completer(db: Path) -> Completer:
    """Completes commands, names, and columns: those of the tables in the statement first."""
    from prompt_toolkit.completion import Completer, Completion

    from opprof_db.cli.shell_core import Shell, columns
    from opprof_db.warehouse.queries import query_files

    known = columns(db)
    commands = list(Shell(db).commands)
    queries = {query.name: [f"{parameter.name}=" for parameter in query.parameters] for query in query_files()}

    class Names(Completer):
        """The completer itself."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
            """Names that begin with the word before the cursor."""
            del complete_event
            text = document.text_before_cursor
            match = re.search(r"[.\w]*$", text)
            word = match.group() if match else ""
            start = text.lstrip()
            if start.startswith("."):
                yield from self._command(start, word)
                return
            table, dot, prefix = word.rpartition(".")
            named = _aliases(document.text, known)
            if dot and table.lower() in named:
                yield from _matching(known[named[table.lower()]], prefix, "column")
                return
            used = list(dict.fromkeys(named.values()))
            shown: set[str] = set()
            for names, kind in (
                ([column for name in used for column in known[name]], "column"),
                (known, "table or view"),
                (KEYWORDS, "SQL"),
                ([column for held in known.values() for column in held] if not used else [], "column"),
            ):
                for completion in _matching(names, word, kind):
                    if completion.text.lower() not in shown:
                        shown.add(completion.text.lower())
                        yield completion

        def _command(self, start: str, word: str) -> Iterable[Completion]:
            if " " not in start:
                yield from _matching(commands, word, "command")
            elif start.startswith(".run ") and len(start.split()) + start.endswith(" ") > 2:
                yield from _matching(queries.get(start.split()[1], []), word, "parameter")
            elif start.startswith((".run ", ".queries ")):
                yield from _matching(queries, word, "query")
            elif start.startswith((".schema ", ".tables ")):
                yield from _matching([*known, *queries], word, "name")
            elif start.startswith(".format "):
                yield from _matching([style.value for style in Format], word, "format")

    def _matching(names: Iterable[str], word: str, kind: str) -> Iterable[Completion]:
        wanted = word.lower()
        for name in names:
            if name.lower().startswith(wanted):
                yield Completion(name, -len(word), display_meta=kind)

    return Names()
