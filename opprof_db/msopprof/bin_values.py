"""A JSON payload walked with its problems: exact numbers, unknown keys, wrong types.

msopprof's writer (nlohmann JSON) prints many numbers as text, "NA", "N/A", "" or "-" where there is
none, and null for NaN. A value that cannot be kept leaves an issue that names its place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

from opprof_db.msopprof.cells import MAX_INTEGER, BadCellError
from opprof_db.msopprof.issues import IssueLog, Severity
from opprof_db.msopprof.values import Number, exact_number, parse_address, visible


@dataclass(frozen=True, slots=True)
class Oversized:
    """A JSON number that no Python int or float should be made of: its text."""

    text: str


class PayloadError(ValueError):
    """The payload is no JSON object."""


@dataclass(frozen=True, slots=True)
class Place:
    """A payload being read: where its issues go, and the offset of its block."""

    issues: IssueLog
    offset: int
    block: str

    def report(self, code: str, severity: Severity, message: str, where: str, raw: object) -> None:
        """Leave an issue about a value inside the payload."""
        text = visible(raw if isinstance(raw, str) else _as_text(raw))
        column = visible(f"{self.block}{where}")
        self.issues.add(code, severity, visible(message), column=column, raw=text, offset=self.offset)


def parse_payload(data: bytes, place: Place) -> Node:
    """The JSON object of a payload.

    Raises:
        PayloadError: not UTF-8 JSON, nested too deep, or no object.
    """

    def pairs(found: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(found)
        if len(made) != len(found):
            message = "an object names a key twice; the last value is kept"
            place.report("duplicate_key", Severity.WARNING, message, "", [key for key, _ in found])
        return made

    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
        place.report("bad_encoding", Severity.WARNING, "not valid UTF-8; bad bytes were replaced", "", "")
    try:
        value = json.loads(
            text, parse_int=_parse_int, parse_float=_parse_float, parse_constant=Oversized, object_pairs_hook=pairs
        )
    except (ValueError, RecursionError) as error:
        raise PayloadError(f"no readable JSON: {error}") from error
    if not isinstance(value, dict):
        raise PayloadError("the payload is not a JSON object")
    return Node(value, "", place)


def _parse_int(text: str) -> int | Oversized:
    return int(text) if len(text) <= 20 else Oversized(text)


def _parse_float(text: str) -> float | Oversized:
    value = float(text) if len(text) <= 400 else math.inf
    return value if math.isfinite(value) else Oversized(text)


def _as_text(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=lambda held: getattr(held, "text", str(held)))
    except (ValueError, RecursionError):
        return str(type(value))


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value and its place in the payload."""

    value: object
    where: str
    place: Place

    def get(self, key: str) -> Node:
        """A member; a node of ``None`` where it is missing or this is no object."""
        held = self.value.get(key) if isinstance(self.value, dict) else None
        return Node(held, f"{self.where}.{key}", self.place)

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def items(self) -> Iterator[Node]:
        """The elements of a list; none, and an issue, where it is something else."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            self.complain("wrong_type", "a list was expected here")
            return
        for at, held in enumerate(self.value):
            yield Node(held, f"{self.where}[{at}]", self.place)

    def members(self) -> Iterator[tuple[str, Node]]:
        """The members of an object; none, and an issue, where it is something else."""
        if self.value is None:
            return
        if not isinstance(self.value, dict):
            self.complain("wrong_type", "an object was expected here")
            return
        for key in self.value:
            yield key, self.get(key)

    def known(self, *names: str) -> None:
        """Report members beyond the named ones: what is new upstream must not vanish in silence."""
        if self.value is None:
            return
        if not isinstance(self.value, dict):
            self.complain("wrong_type", "an object was expected here")
            return
        for key in self.value.keys() - set(names):
            message = f"unknown key {key!r} in {self.place.block}; its value is only kept here"
            where = f"{self.where}.{key}"
            self.place.report("unknown_key", Severity.INFO, message, where, self.value[key])

    def number(self) -> Number:
        """The number here, exactly; ``None`` where there is none or, with an issue, where it cannot be kept."""
        held = self.value
        if held is None or (isinstance(held, float) and math.isfinite(held)):
            return held
        if isinstance(held, int) and not isinstance(held, bool):
            if abs(held) <= MAX_INTEGER:
                return held
            self.complain("integer_too_large", "an integer beyond 2^63-1 does not fit")
            return None
        text = held.text if isinstance(held, Oversized) else held
        if not isinstance(text, str):
            self.complain("not_a_number", "a number was expected here")
            return None
        try:
            return exact_number(text)
        except BadCellError as bad:
            self.complain(bad.code, bad.message)
            return None

    def whole(self) -> int | None:
        """The number here where it is a whole one; anything else leaves an issue."""
        value = self.number()
        if isinstance(value, float):
            if value.is_integer() and abs(value) <= MAX_INTEGER:
                return int(value)
            self.complain("fraction_in_count", "a whole number was expected here")
            return None
        return value

    def text(self) -> str | None:
        """The text here; numbers as they print. NUL characters are made visible."""
        held = self.value
        if held is None:
            return None
        if isinstance(held, str):
            if "\x00" in held:
                self.complain("nul_in_text", "a NUL character, kept as \\x00")
            return visible(held)
        if isinstance(held, int | float) and not isinstance(held, bool):
            return str(held)
        self.complain("wrong_type", "text was expected here")
        return None

    def address(self) -> int | None:
        """The address here, from hexadecimal or decimal text or a number."""
        if isinstance(self.value, str):
            try:
                return parse_address(self.value)
            except BadCellError as bad:
                self.complain(bad.code, bad.message)
                return None
        return self.whole()

    def as_json(self) -> str | None:
        """The value as JSON text, for structures that are kept whole."""
        return None if self.value is None else _as_text(self.value)

    def complain(self, code: str, message: str, severity: Severity = Severity.WARNING) -> None:
        """Leave an issue about this value."""
        self.place.report(code, severity, message, self.where, self.value)
