"""One sentence that says what happened, from rules kept as data (sentences.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from opprof_db.analysis.durations import DurationChange
from opprof_db.analysis.figures import Move


@dataclass(frozen=True, slots=True)
class Seen:
    """A figure on both sides, as the rules look at it."""

    before: float
    after: float


class _Shown:
    """How a figure stands in a sentence."""

    def __init__(self, seen: Seen) -> None:
        self.before, self.after = _short(seen.before), _short(seen.after)
        large, small = max(seen.before, seen.after), min(seen.before, seen.after)
        self.factor = _factor(large / small) if small > 0 else "many "


def sentence(name: str, change: DurationChange | None, moves: Sequence[Move], facts: Mapping[str, Seen]) -> str:
    """What happened to a kernel; ``facts`` hold block_dim and cycles where both sides know them."""
    seen: dict[str, Seen] = dict(facts)
    for move in moves:
        one = Seen(move.before.high, move.after.high)
        seen.setdefault(move.metric, one)
        seen[f"{move.metric}@{move.core_kind}"] = one
    lead = _lead(name, change)
    if change is not None:
        seen["duration"] = Seen(change.before_us, change.after_us)
        if change.direction == "same" or change.shown is False:
            return lead
    because = _because(seen)
    if because is None:
        top = next((move for move in moves if move.unit == "us" and move.importance > 0.02), None)
        if top is None:
            because = "no collected metric says why"
        else:
            because = f"most moved {top.metric} ({_short(top.before.high)} to {_short(top.after.high)} us)"
    return f"{lead}: {because}"


def _lead(name: str, change: DurationChange | None) -> str:
    if change is None:
        return f"{name}: no duration to compare"
    times = f"{change.before_us:.2f} to {change.after_us:.2f} us, {change.change_share:+.1%}"
    if change.direction == "same":
        return f"{name} is unchanged ({times})"
    if change.shown is False:
        return f"{name}: no change that noise does not explain ({times})"
    return f"{name} is {change.direction} ({times})"


def _because(seen: Mapping[str, Seen]) -> str | None:
    for rule in _rules():
        for core in ("aiv", "aic"):
            held = {}
            for condition in rule["when"]:
                figure = seen.get(condition["metric"].replace("{core}", core))
                if figure is None or not _holds(condition, figure):
                    break
                held[condition["as"]] = _Shown(figure)
            else:
                return str(rule["text"]).format(**held)
    return None


def _holds(condition: Mapping[str, Any], seen: Seen) -> bool:
    old, new = seen.before, seen.after
    if condition["moves"] == "same":
        return bool(abs(new - old) <= condition.get("by", 0.05) * max(abs(old), abs(new)))
    if "least" in condition:
        return bool((new - old if condition["moves"] == "up" else old - new) >= condition["least"])
    if old <= 0 or new <= 0:
        return False
    factor = {"up": new / old, "down": old / new, "change": max(new / old, old / new)}[condition["moves"]]
    return bool(factor >= condition.get("by", 1.1))


def _short(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ") if abs(value) >= 1000 else f"{value:.3g}"


def _factor(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 or abs(value - round(value)) < 0.05 else f"{value:.1f}"


@cache
def _rules() -> list[dict[str, Any]]:
    text = files("opprof_db.analysis").joinpath("sentences.toml").read_text(encoding="utf-8")
    rules: list[dict[str, Any]] = tomllib.loads(text)["sentence"]
    return rules
