"""Decodes one event with care: keeps what can be kept, and leaves an issue for whatever cannot.

Used only for the few events that a typed decoder refuses or in which it would lose something.
"""

from __future__ import annotations

import json
import math
from typing import TypeVar

from msgspec import UNSET, UnsetType

from opprof_db.msopprof.issues import IssueLog, Severity, clip
from opprof_db.msopprof.trace_decode import Numbers
from opprof_db.msopprof.trace_events import THROUGHPUT, Flag, MendedEvent, RawArgs, RawEvent
from opprof_db.msopprof.values import visible

_MAX_DIGITS = 400


class _Oversized:
    """A number in the text that no Python number should be made of."""

    def __init__(self, text: str) -> None:
        self.text = text


def _whole(text: str) -> int | _Oversized:
    return int(text) if len(text) <= 20 else _Oversized(text)


def _real(text: str) -> float | _Oversized:
    value = float(text) if len(text) <= _MAX_DIGITS else math.inf
    return value if math.isfinite(value) else _Oversized(text)


def as_json(value: object) -> str:
    """Compact JSON text of a decoded value, fit for a database."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=lambda held: held.text)
    except (ValueError, RecursionError):
        return clip(repr(type(value)))
    return visible(text)


class _Loader:
    """JSON text to values, remembering which keys stood twice. Made once: decoders are costly to make."""

    def __init__(self) -> None:
        self.twice: list[tuple[str, int]] = []
        """Keys that stood twice in one object, with how many members that lost."""
        self._strict, self._lenient = (
            json.JSONDecoder(
                strict=strict,
                parse_int=_whole,
                parse_float=_real,
                parse_constant=_Oversized,
                object_pairs_hook=self._pairs,
            )
            for strict in (True, False)
        )

    def load(self, text: str) -> tuple[object, bool]:
        """The value, and whether it holds raw control characters.

        Raises:
            ValueError: no JSON.
            RecursionError: nested too deep.
        """
        self.twice.clear()
        try:
            return self._strict.decode(text), False
        except ValueError as error:
            if "control character" not in str(error):
                raise
        self.twice.clear()
        return self._lenient.decode(text), True

    def _pairs(self, found: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(found)
        if len(made) != len(found):
            keys = [key for key, _ in found]
            twice = next(key for at, key in enumerate(keys) if key in keys[:at])
            self.twice.append((twice, len(found) - len(made)))
        return made


class Mender:
    """Decodes single events; see ``EventText``."""

    def __init__(self, issues: IssueLog, numbers: Numbers) -> None:
        self._issues = issues
        self._numbers = numbers
        self._loader = _Loader()
        self.legacy = 0
        """Elements in the style of msopgen, the older tool: ``addr`` in place of ``pc_addr``, or no phase at all."""

    def __call__(self, data: bytes, offset: int, ordinal: int) -> tuple[MendedEvent | None, bool]:
        """The event, and whether it was no JSON at all."""
        care = _Care(self._issues, self._numbers, data, offset, ordinal)
        members = care.members(self._loader)
        if members is None:
            return None, True
        args = members.get("args", members)
        if isinstance(args, dict) and "addr" in args and "pc_addr" not in args:
            self.legacy += 1
        return care.event(members), False


class _Care:
    """One event being mended."""

    def __init__(self, issues: IssueLog, numbers: Numbers, data: bytes, offset: int, ordinal: int) -> None:
        self._issues = issues
        self._numbers = numbers
        self._data = data
        self._offset = offset
        self._ordinal = ordinal
        self._raw: str | None = None
        self.flags = Flag.NONE

    def report(self, code: str, message: str, column: str | None = None, cells: int = 1) -> None:
        """Leave an issue with the event's place and raw text."""
        if self._raw is None:
            self._raw = self._data[:2_000].decode("utf-8", "replace")
        self._issues.add(
            code,
            Severity.WARNING if cells else Severity.INFO,
            f"event {self._ordinal}: {message}",
            column=column,
            raw=self._raw,
            offset=self._offset,
            cells=cells,
        )
        if cells:
            self.flags |= Flag.MENDED

    def members(self, loader: _Loader) -> dict[str, object] | None:
        """The members of the event; ``None`` where it is no JSON."""
        try:
            text = self._data.decode("utf-8")
        except UnicodeDecodeError:
            text = self._data.decode("utf-8", "replace")
            self.report("bad_encoding", "not valid UTF-8; bad bytes were replaced")
        try:
            value, control = loader.load(text)
        except (ValueError, RecursionError) as error:
            self.report("unreadable_event", f"no JSON: {clip(str(error), 100)}")
            return None
        if control:
            self.report("control_character", "a raw control character inside a text; kept", cells=0)
        for key, lost in loader.twice:
            message = f"{key[:100]} stands twice; the last value is kept"
            self.report("duplicate_key", message, column=visible(key), cells=lost)
        return value if isinstance(value, dict) else None

    def event(self, members: dict[str, object]) -> MendedEvent | None:
        """What of the members makes an event; ``None``, with an issue, where they make none."""
        phase = members.pop("ph", None)
        if not isinstance(phase, str) or not phase:
            self.report("no_phase", "an element without ph is no event")
            return None
        args = members.pop("args", None)
        if not isinstance(args, dict | None):
            self.report("wrong_type", "args is no object; kept as text", "args", cells=0)
            members["args"] = args
            args = None
        times = phase != "M"
        event = RawEvent(
            name=self.text(members, "name") or "",
            ph=visible(phase)[:20],
            pid=self.label(members, "pid"),
            tid=self.label(members, "tid"),
            ts=self.time(members, "ts", wanted=times),
            dur=self.time(members, "dur", wanted=phase == "X"),
            cname=_or_unset(self.text(members, "cname")),
            id=_or_unset(self.label(members, "id") if "id" in members else None),
            cat=_or_unset(self.text(members, "cat")),
            group_id=_or_unset(self.text(members, "group_id")),
            args=UNSET if args is None else self.args(args),
        )
        other = {**(args or {}), **{f"event.{key}": value for key, value in members.items()}}
        return MendedEvent(event, as_json(other) if other else None, int(self.flags))

    def args(self, args: dict[str, object]) -> RawArgs:
        """The known arguments, taken out of ``args``."""
        return RawArgs(
            pc_addr=_or_unset(self.whole(args, "pc_addr")),
            code=_or_unset(self.text(args, "code")),
            detail=_or_unset(self.text(args, "detail")),
            process_bytes=_or_unset(self.whole(args, "process_bytes")),
            name=_or_unset(self.text(args, "name")),
            sort_index=_or_unset(self.whole(args, "sort_index")),
            throughput=self.time(args, THROUGHPUT, wanted=False),
        )

    def text(self, members: dict[str, object], key: str) -> str | None:
        """A text; numbers as they print."""
        value = members.pop(key, None)
        if value is None:
            return None
        if isinstance(value, str):
            if "\x00" in value:
                self.report("nul_in_text", "a NUL character, kept as \\x00", key, cells=0)
            return visible(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        self.report("wrong_type", f"{key} is no text", key)
        return None

    def label(self, members: dict[str, object], key: str) -> str | int:
        """A process, lane or flow id: a text or a whole number; empty where there is none."""
        value = members.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return int(members.pop(key))  # type: ignore[call-overload,no-any-return]
        return self.text(members, key) or ""

    def time(self, members: dict[str, object], key: str, *, wanted: bool) -> float | UnsetType:
        """A finite number of microseconds (or MB/s); text and booleans are none, whatever they spell."""
        if key not in members:
            if wanted:
                self.report(f"missing_{key}", f"{key} is missing", key)
                self.flags |= Flag.NO_TIME
            return UNSET
        value = members.pop(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        oversized = isinstance(value, _Oversized)
        code, what = ("non_finite", "is no finite double") if oversized else ("wrong_type", "is no number")
        self.report(code, f"{key} {what}", key)
        if wanted or key in ("ts", "dur"):
            self.flags |= Flag.NO_TIME
        return UNSET

    def whole(self, members: dict[str, object], key: str) -> int | None:
        """A whole number of at least 0, also from decimal or hexadecimal text."""
        value = members.pop(key, None)
        if value is None:
            return None
        if isinstance(value, str | int) and not isinstance(value, bool):
            try:
                return self._numbers[value]
            except ValueError:
                pass
        self.report("not_a_number", f"{key} is no whole number that fits", key)
        return None


T = TypeVar("T")


def _or_unset(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value
