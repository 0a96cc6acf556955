"""SQLite's functions whose time is the product of two lengths, or grows with a number in their arguments.

SQLite looks at the clock between some of its operations, never within one, and a statement may hold thousands of
calls before it looks again. So these functions look at the clock themselves and refuse what would take long. Their
results are SQLite's own.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

MAX_VALUE_BYTES = 512 * 1024
"""Longest text or blob, in a result or on the way to one."""
MAX_STEPS = 20_000_000
"""Most steps of one call, where they are the product of two lengths: about a tenth of a second."""

_SHORT = 20_000
"""Steps that are not worth a look at the clock."""
_CONVERSION = re.compile(r"%[-+ #0!,]*(\*|\d+)?(?:\.(\*|\d+)?)?")


class RefusedError(Exception):
    """A call would take too long, or cannot be computed."""


def install(connection: sqlite3.Connection, stopped: Callable[[], bool], refuse: Callable[[str], None]) -> None:
    """Put the careful functions in the place of SQLite's own.

    Args:
        connection: the connection to change.
        stopped: whether the statement shall end (deadline, Ctrl-C).
        refuse: is told why a call was refused; SQLite itself forgets the reason.
    """

    def careful(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any) -> Any:
            try:
                if stopped():
                    raise RefusedError("interrupted")
                return call(name, *arguments)
            except (RefusedError, sqlite3.Error) as error:
                refuse(f"{name}: {error}")
                raise

        return called

    for name, counts, call in (
        ("instr", (2,), _instr),
        ("replace", (3,), _replace),
        ("trim", (2,), _trim),
        ("ltrim", (2,), _trim),
        ("rtrim", (2,), _trim),
        ("like", (3,), _product),
        ("glob", (2,), _product),
        ("hex", (1,), _own),
        ("quote", (1,), _own),
        ("lower", (1,), _lower),
        ("upper", (1,), _upper),
        ("printf", (-1,), _printf),
        ("format", (-1,), _printf),
    ):
        for count in counts:
            connection.create_function(name, count, careful(name, call), deterministic=True)
    # The views ask LIKE of every instruction: short texts take a way of few steps.
    like = careful("like", _product)
    connection.create_function("like", 2, lambda pattern, text: _short_like(pattern, text, like), deterministic=True)


@cache
def _sqlite() -> sqlite3.Connection:
    """A connection to nothing, for SQLite's own functions."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000)
    return connection


def _own(name: str, *arguments: Any) -> Any:
    # Names come from install(), never from a statement.
    return _sqlite().execute(f"SELECT {name}({', '.join('?' * len(arguments))})", arguments).fetchone()[0]


def _product(name: str, *arguments: Any) -> Any:
    if _length(arguments[0]) * _length(arguments[1]) > MAX_STEPS:
        raise RefusedError("the texts are too long for it")
    return _own(name, *arguments)


def _short_like(pattern: Any, text: Any, otherwise: Callable[[Any, Any], Any]) -> Any:
    if type(text) is str and type(pattern) is str and len(text) * len(pattern) < _SHORT and "\0" not in text:
        matches = _matcher(pattern)
        if matches is not None:
            return matches(text) is not None
    return otherwise(pattern, text)


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> Callable[[str], re.Match[str] | None] | None:
    """``LIKE`` as a regular expression that never tries a piece between two ``%`` twice; ``None`` for odd patterns."""
    if "\0" in pattern:
        return None
    first, *rest = (
        "".join("." if char == "_" else re.escape(char) for char in piece) for piece in re.split("%+", pattern)
    )
    between = "".join(f"(?>.*?{piece})" for piece in rest[:-1])
    last = f".*{rest[-1]}" if rest else ""
    # SQLite folds the case of ASCII letters only.
    return re.compile(first + between + last, re.ASCII | re.IGNORECASE | re.DOTALL).fullmatch


def _lower(name: str, text: Any) -> Any:
    return text.lower() if isinstance(text, str) and text.isascii() else _own(name, text)


def _upper(name: str, text: Any) -> Any:
    return text.upper() if isinstance(text, str) and text.isascii() else _own(name, text)


def _instr(name: str, text: Any, part: Any) -> Any:
    if isinstance(text, str) and isinstance(part, str):
        return text.find(part) + 1
    return _product(name, text, part)


def _replace(name: str, text: Any, old: Any, new: Any) -> Any:
    if not (isinstance(text, str) and isinstance(old, str) and isinstance(new, str)):
        return _product(name, text, old, new)
    if not old:
        return text
    if len(new) > len(old) and len(text) + text.count(old) * (len(new) - len(old)) > MAX_VALUE_BYTES:
        raise RefusedError(f"the result has more than {MAX_VALUE_BYTES:,} bytes")
    return text.replace(old, new)


def _trim(name: str, text: Any, characters: Any) -> Any:
    if isinstance(characters, str) and len(characters) > 100:
        characters = "".join(sorted(set(characters)))
    return _product(name, text, characters)


def _printf(name: str, *arguments: Any) -> Any:
    """What takes time are widths and precisions: SQLite writes every digit before it looks at a limit."""
    if arguments and isinstance(arguments[0], str):
        widths = [width for found in _CONVERSION.findall(arguments[0]) for width in found if width]
        largest = max((abs(held) for held in arguments[1:] if isinstance(held, int)), default=0)
        # SQLite reads widths as 31 bits; longer ones are refused whatever becomes of them.
        if sum(largest if width == "*" else int(width[:12]) for width in widths) > MAX_VALUE_BYTES:
            raise RefusedError(f"widths of more than {MAX_VALUE_BYTES:,} characters")
    return _own(name, *arguments)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes) else 30
