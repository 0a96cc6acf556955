"""Errors a user may see. Each becomes one line on stderr and an exit code; see ``cli/app.py``.

Exit codes: 0 ok, 1 finding or regression, 2 usage, 3 input unreadable, 4 database problem.
"""

from __future__ import annotations


class OpprofError(Exception):
    """Base of every error shown to the user: ``what`` happened (and where), ``hint`` says what to do."""

    exit_code = 1

    def __init__(self, what: str, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.what} ({self.hint})" if self.hint else self.what


class UsageError(OpprofError):
    """The command was asked for something that does not exist or does not fit together."""

    exit_code = 2


class InputError(OpprofError):
    """A path or file given as input cannot be read or holds nothing usable."""

    exit_code = 3


class DatabaseError(OpprofError):
    """The warehouse file cannot be opened, created, upgraded, read or written."""

    exit_code = 4
