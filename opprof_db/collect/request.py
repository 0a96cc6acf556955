"""What shall be collected, and what was found to say against it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from opprof_db.collect.catalogue import DEVICE, DEVICE_DEFAULT, SIMULATOR, SIMULATOR_DEFAULT, catalogue, split_sets
from opprof_db.ingest.chip import family_of_soc

if TYPE_CHECKING:
    from opprof_db.collect.tools import Tool


@dataclass(frozen=True, slots=True)
class Request:
    """One collection as asked for: on the command line, over a profile."""

    mode: str | None
    """device or simulator."""
    output: Path | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    """Options of msopprof by name without dashes, as texts."""
    application: tuple[str, ...] = ()
    goal: str | None = None
    chip: str | None = None
    """Chip on which it runs, as the user says: Ascend910B3."""
    tool_version: str | None = None
    """Version or build date (YYYY-MM-DD) of msopprof, as the user says."""
    extra: tuple[str, ...] = ()
    """``NAME=VALUE`` for options this program does not know; passed on unchecked."""

    @property
    def family(self) -> str | None:
        """Chip family, where it is known: the simulated one, else the one the user named."""
        soc = self.values.get("soc-version") if self.mode == SIMULATOR else None
        named = soc or self.chip
        return family_of_soc(named) if named else None

    @property
    def asked_sets(self) -> list[str]:
        """Metric sets that go on the command line; empty: msopprof's own default."""
        if "aic-metrics" in self.values:
            return split_sets(self.values["aic-metrics"])
        goal = catalogue().goals.get(self.goal or "")
        return split_sets(goal.sets(self.mode or DEVICE, self.family)) if goal else []

    @property
    def effective_sets(self) -> list[str]:
        """Metric sets that will be collected."""
        return self.asked_sets or split_sets(SIMULATOR_DEFAULT if self.mode == SIMULATOR else DEVICE_DEFAULT)

    def has_set(self, name: str) -> bool:
        """Whether a metric set will be collected, asked for or implied."""
        known = catalogue().metrics
        sets = {one.lower() for one in self.effective_sets}
        for one in list(sets):
            sets.update(implied.lower() for implied in known[one].implies) if one in known else None
        return name.lower() in sets


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The machine as far as it matters: environment, current folder, tool."""

    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    folder: Path = field(default_factory=Path.cwd)
    tool: Tool | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """Something to say before the run starts."""

    what: str
    """What is the matter, with its reason."""
    remedy: str
    refuses: bool = True
    """Whether it keeps the run from starting; else a warning."""


def refusal(what: str, remedy: str) -> Remark:
    """What cannot work."""
    return Remark(what, remedy)


def warning(what: str, remedy: str) -> Remark:
    """What may work, but should be known."""
    return Remark(what, remedy, refuses=False)
