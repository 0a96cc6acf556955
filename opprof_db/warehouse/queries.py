"""Named queries: one file each under sql/queries/, their parameters bound, never pasted into the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from opprof_db.errors import UsageError
from opprof_db.warehouse.resolve import did_you_mean
from opprof_db.warehouse.sql_files import SqlFile, sql_files

_PARAMETER = re.compile(r"(?P<type>integer|real|text)(?:\s+=\s+(?P<default>\S+))?\s{2,}(?P<text>\S.*)")
_TYPES: dict[str, Callable[[str], Any]] = {"integer": int, "real": float, "text": str}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One bound value of a query."""

    name: str
    type: str
    """integer, real or text."""
    default: Any
    """``None`` where it has none (``required``) or where NULL is the default."""
    required: bool
    text: str

    def value(self, given: str) -> Any:
        """What was given, in the parameter's type.

        Raises:
            UsageError: it is no such value.
        """
        try:
            return _TYPES[self.type](given)
        except ValueError as error:
            kind = {"integer": "a whole number", "real": "a number"}[self.type]
            raise UsageError(f"parameter {self.name}: {given!r} is not {kind}", f"{self.name}: {self.text}") from error


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A documented, parametrised SELECT."""

    file: SqlFile
    parameters: tuple[Parameter, ...]

    @property
    def name(self) -> str:
        """Name of the file without ending."""
        return self.file.name

    def bind(self, given: Mapping[str, str]) -> dict[str, Any]:
        """A value for every parameter: as given, else its default.

        Raises:
            UsageError: an unknown or missing parameter, or a value of another type.
        """
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in given:
            if name not in known:
                listed = ", ".join(known) or "none"
                raise UsageError(
                    f"query {self.name} has no parameter {name!r}", did_you_mean(name, known) or f"it has: {listed}"
                )
        bound = {}
        for name, parameter in known.items():
            if name in given:
                bound[name] = parameter.value(given[name])
            elif parameter.required:
                raise UsageError(f"query {self.name} needs --param {name}=…", f"{name}: {parameter.text}")
            else:
                bound[name] = parameter.default
        return bound


@cache
def query_files() -> tuple[NamedQuery, ...]:
    """All named queries, by name."""
    return tuple(
        NamedQuery(file, tuple(_parameter(name, text) for name, text in file.parameters.items()))
        for file in sql_files("queries")
    )


def named_query(name: str) -> NamedQuery:
    """The query of that name.

    Raises:
        UsageError: there is none; the hint names a similar one.
    """
    known = {query.name: query for query in query_files()}
    if name not in known:
        raise UsageError(f"no query named {name!r}", did_you_mean(name, known) or "see `opprof-db queries`")
    return known[name]


def _parameter(name: str, text: str) -> Parameter:
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise ValueError(f"parameter {name}: {text!r} is not 'type [= default]  description'")
    default = match["default"]
    value = None if default in (None, "NULL") else _TYPES[match["type"]](default)
    return Parameter(name, match["type"], value, default is None, match["text"])
