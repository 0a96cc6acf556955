"""Puts the command line over a profile: one request and how to run it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opprof_db.collect.catalogue import catalogue
from opprof_db.collect.profiles import Profile
from opprof_db.collect.request import Request
from opprof_db.errors import UsageError


@dataclass(frozen=True, slots=True)
class Settings:
    """A request, and what is not msopprof's business."""

    request: Request
    tool: str | None
    time_limit_s: float | None
    """Seconds, for the whole of one run."""
    repeat: int
    labels: tuple[str, ...]
    cann_version: str | None


def settle(given: Mapping[str, str | None], lists: Mapping[str, Sequence[str]], profile: Profile) -> Settings:
    """Options as given (None: not), lists (application, label, extra), and the profile below them.

    Raises:
        UsageError: a time limit or a number of repeats that is none.
    """
    texts = {key: value for key, value in profile.items() if isinstance(value, str)}
    # A goal or metric sets on the command line replace whichever of the two the profile has.
    if given.get("goal") or given.get("aic-metrics"):
        texts = {key: value for key, value in texts.items() if key not in ("goal", "aic-metrics")}
    texts |= {key: value for key, value in given.items() if value is not None}
    options = catalogue().options
    application = tuple(lists.get("application") or _listed(profile, "application"))
    request = Request(
        mode=texts.get("mode"),
        output=Path(texts["output"]) if texts.get("output") else None,
        values={key: value for key, value in texts.items() if key in options},
        application=application,
        goal=texts.get("goal"),
        chip=texts.get("chip"),
        tool_version=texts.get("tool-version"),
        extra=(*_listed(profile, "extra"), *lists.get("extra", ())),
    )
    own = {pair.partition("=")[0] for pair in lists.get("label", ())}
    labels = [pair for pair in _listed(profile, "label") if pair.partition("=")[0] not in own]
    return Settings(
        request=request,
        tool=texts.get("tool"),
        time_limit_s=parse_duration(texts["time-limit"]) if "time-limit" in texts else None,
        repeat=_repeat(texts.get("repeat", "1")),
        labels=(*labels, *lists.get("label", ())),
        cann_version=texts.get("cann-version"),
    )


def _listed(profile: Profile, key: str) -> list[str]:
    value = profile.get(key, [])
    return value if isinstance(value, list) else [value]


def _repeat(text: str) -> int:
    if not re.fullmatch(r"\d{1,4}", text, re.ASCII) or not 1 <= int(text) <= 1000:
        raise UsageError(f"--repeat {text}: not a whole number from 1 to 1000", "write for example --repeat 5")
    return int(text)


def parse_duration(text: str) -> float:
    """``90s``, ``10m``, ``1.5h`` or plain seconds to seconds.

    Raises:
        UsageError: not a duration above zero.
    """
    found = re.fullmatch(r"(\d{1,7}(?:\.\d{1,3})?)\s*(s|m|min|h)?", text.strip())
    seconds = float(found[1]) * {"m": 60, "min": 60, "h": 3600}.get(found[2] or "s", 1) if found else 0.0
    if seconds <= 0:
        raise UsageError(f"{text!r} is no duration", "write for example 90s, 10m or 2h")
    return seconds
