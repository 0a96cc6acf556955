"""What msopprof's command line takes: ``options.toml``, read once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

DEVICE, SIMULATOR = "device", "simulator"
MODES = (DEVICE, SIMULATOR)
SIMULATOR_DEFAULT = "PipeUtilization,ResourceConflictRatio"
DEVICE_DEFAULT = "Default"
"""Metric sets that msopprof collects when none is named."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of msopprof."""

    name: str
    """Without dashes."""
    modes: tuple[str, ...]
    kind: str
    """file, folder, integer, switch, choice, names, list, metrics or simulator."""
    value: str
    """How the value is named in help texts."""
    meaning: str
    min: int | None = None
    max: int | None = None
    max_length: int | None = None
    """Characters."""
    characters: str | None = None
    """Regular expression of one name."""
    choices: tuple[str, ...] = ()
    suffix: str | None = None
    default: str | None = None


@dataclass(frozen=True, slots=True)
class MetricSet:
    """A value of ``--aic-metrics``."""

    name: str
    modes: tuple[str, ...]
    meaning: str
    chips: Mapping[str, list[str]] = field(default_factory=dict)
    """Mode -> chip families; a mode that is absent: all."""
    alone: bool = True
    """Whether it writes a metric CSV without Default."""
    implies: tuple[str, ...] = ()

    def on(self, mode: str, family: str) -> bool:
        """Whether a chip family has it."""
        return family in self.chips.get(mode, [family])


@dataclass(frozen=True, slots=True)
class Goal:
    """A question, and the metric sets that answer it."""

    name: str
    question: str
    device: str
    simulator: str
    why: str
    next: str
    refuse: str = ""
    fallback: Mapping[str, str] = field(default_factory=dict)
    """Chip family -> sets, where the usual ones do not exist."""

    def sets(self, mode: str, family: str | None) -> str:
        """``--aic-metrics`` for a mode; empty where the mode cannot answer."""
        if mode == SIMULATOR:
            return self.simulator
        return self.fallback.get(family or "", self.device)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything in the file, by name."""

    options: Mapping[str, Option]
    metrics: Mapping[str, MetricSet]
    """By lower-case name: msopprof takes any spelling."""
    goals: Mapping[str, Goal]


@cache
def catalogue() -> Catalogue:
    """The options, metric sets and goals."""
    parsed = tomllib.loads((files(__package__) / "options.toml").read_text(encoding="utf-8"))
    options = [Option(**_tuples(entry)) for entry in parsed["option"]]
    metrics = [MetricSet(**_tuples(entry)) for entry in parsed["metric"]]
    goals = [Goal(**entry) for entry in parsed["goal"]]
    return Catalogue(
        {one.name: one for one in options},
        {one.name.lower(): one for one in metrics},
        {one.name: one for one in goals},
    )


def _tuples(entry: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}


def split_sets(text: str) -> list[str]:
    """Names in ``--aic-metrics``, in msopprof's spelling where they are known."""
    known = catalogue().metrics
    names = [part.strip() for part in text.split(",") if part.strip()]
    return [known[name.lower()].name if name.lower() in known else name for name in names]
