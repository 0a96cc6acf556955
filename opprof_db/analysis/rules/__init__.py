"""The rule set: data in ``rules.toml``, read once and checked against the predicates."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from opprof_db.analysis.findings import Movement
from opprof_db.errors import UsageError


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as the file states it."""

    id: str
    title: str
    family: str
    predicate: str
    profiles: tuple[str, ...]
    sentence: str
    advice: tuple[str, ...]
    measure_next: tuple[str, ...]
    expected: tuple[Movement, ...]
    wants: tuple[str, ...]
    """Columns it looks at, ``table.column``."""
    yields_to: tuple[str, ...]
    """Rules that say the same with its cause; ``rule:kind`` for one kind of core."""
    limits: Mapping[str, float]
    strict: Mapping[str, float]
    source: str
    learned: str
    place: int
    """In reading order, from 0."""

    def limits_in(self, profile: str) -> Mapping[str, float]:
        """Thresholds under a profile."""
        return {**self.limits, **self.strict} if profile == "strict" else self.limits


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules in reading order."""

    rules: tuple[Rule, ...]
    profiles: Mapping[str, str]
    """Name -> what it is for."""
    version: str
    """Version in the file and the beginning of its hash: changes with every edit."""

    def of_profile(self, profile: str) -> tuple[Rule, ...]:
        """Rules of a profile.

        Raises:
            UsageError: no such profile.
        """
        if profile not in self.profiles:
            raise UsageError(f"no profile is called {profile!r}", f"one of: {', '.join(self.profiles)}")
        return tuple(rule for rule in self.rules if profile in rule.profiles)

    def find(self, name: str) -> Rule:
        """A rule by its id.

        Raises:
            UsageError: no such rule.
        """
        from opprof_db.warehouse.resolve import did_you_mean

        for rule in self.rules:
            if rule.id == name:
                return rule
        hint = did_you_mean(name, (rule.id for rule in self.rules)) or "`opprof-db rules` lists them"
        raise UsageError(f"no rule is called {name!r}", hint)


@cache
def rule_set() -> RuleSet:
    """The rules that ship with the program."""
    content = (files(__package__) / "rules.toml").read_bytes()
    parsed = tomllib.loads(content.decode("utf-8"))
    rules = tuple(_rule(entry, place) for place, entry in enumerate(parsed["rule"]))
    version = f"{parsed['meta']['version']}-{hashlib.sha256(content).hexdigest()[:8]}"
    return RuleSet(rules, parsed["profiles"], version)


_KEYS = frozenset(
    ("id", "title", "family", "predicate", "profiles", "sentence", "advice", "next", "expected", "wants", "yields_to")
) | {"limits", "strict", "source", "learned"}


def _rule(entry: dict[str, Any], place: int) -> Rule:
    if stray := entry.keys() - _KEYS:
        raise ValueError(f"unknown keys {sorted(stray)} in rule {entry.get('id')}")
    return Rule(
        entry["id"],
        entry["title"],
        entry["family"],
        entry["predicate"],
        tuple(entry["profiles"]),
        entry["sentence"],
        tuple(entry["advice"]),
        tuple(entry["next"]),
        tuple(Movement(one["column"], one["direction"], one.get("why")) for one in entry["expected"]),
        tuple(entry["wants"]),
        tuple(entry.get("yields_to", ())),
        entry.get("limits", {}),
        entry.get("strict", {}),
        entry["source"],
        entry.get("learned", ""),
        place,
    )
