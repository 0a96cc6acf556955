"""The rules of a gate: how much slower is too slow, for all kernels and for single ones; from options and TOML.

max_regression = "5%"        # of all kernels without an entry of their own
min_effect_us = 0.5          # changes up to this are none, whatever their share
noise_floor = "1%"           # nor are changes up to this share
inconclusive = "fail"        # fail | pass | compare
vanished = "report"          # report | fail
limits = ["task_duration_us<120"]

[kernels."MatMul*"]          # exact name, or a pattern with * and ?; the first that fits counts
max_regression = "2%"
limits = ["aiv_mte2_ratio@aiv<0.9"]

[kernels.warm_up]
ignore = true
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

from opprof_db.analysis.limits import Limit, parse_limit
from opprof_db.errors import InputError, UsageError
from opprof_db.warehouse.resolve import did_you_mean

Inconclusive = Literal["fail", "pass", "compare"]
Vanished = Literal["report", "fail"]
MAX_REGRESSION = 0.05
_COMMON = ("max_regression", "min_effect_us", "noise_floor", "limits")
_TOP = (*_COMMON, "inconclusive", "vanished", "kernels")
_KERNEL = (*_COMMON, "ignore")


@dataclass(frozen=True, slots=True)
class KernelRules:
    """What an entry of the file says about the kernels whose operator fits; ``None``: as for all."""

    pattern: str
    max_regression: float | None = None
    min_effect_us: float | None = None
    noise_floor: float | None = None
    limits: tuple[Limit, ...] = ()
    ignore: bool = False

    def fits(self, operator: str) -> bool:
        """Whether the entry is about an operator: its exact name, or a pattern with ``*`` and ``?``."""
        return operator == self.pattern or fnmatchcase(operator, self.pattern)


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything a gate is judged by. Shares are fractions: 0.05 is 5 %."""

    max_regression: float = MAX_REGRESSION
    """Slower by more than this share fails."""
    min_effect_us: float = 0.0
    """Changes up to this many us are none."""
    noise_floor: float = 0.0
    """Changes up to this share are none."""
    inconclusive: Inconclusive = "fail"
    """What becomes of a change that may be noise: ``compare`` takes the medians as they are."""
    vanished: Vanished = "report"
    limits: tuple[Limit, ...] = ()
    kernels: tuple[KernelRules, ...] = ()
    source: str | None = None
    """The file they come from."""

    def of(self, operator: str | None) -> KernelRules:
        """The rules of an operator, nothing left open: those of the first entry that fits, else of all.

        Limits of the entry come on top of the common ones.
        """
        own = next((one for one in self.kernels if operator is not None and one.fits(operator)), KernelRules("*"))
        return KernelRules(
            own.pattern,
            self.max_regression if own.max_regression is None else own.max_regression,
            self.min_effect_us if own.min_effect_us is None else own.min_effect_us,
            self.noise_floor if own.noise_floor is None else own.noise_floor,
            (*self.limits, *own.limits),
            own.ignore,
        )

    def unused(self, operators: Sequence[str]) -> tuple[str, ...]:
        """Patterns of entries that fit none of the operators: likely misspelt."""
        return tuple(one.pattern for one in self.kernels if not any(one.fits(name) for name in operators))


def share(value: Any, what: str) -> float:
    """A share as people write it: ``5%`` or ``0.05``.

    Raises:
        UsageError: no number, negative, or a whole number without a per cent sign, which could mean both.
    """
    text = str(value).strip()
    percent = text.endswith("%")
    try:
        number = float(text.rstrip("%").strip())
    except ValueError:
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number) or number < 0:
        raise UsageError(f"{what} cannot be {text!r}", "write a share such as 5% or 0.05")
    if percent:
        return number / 100
    if number >= 1:
        raise UsageError(f"{what} {text} is ambiguous", f"write {text}% or {number / 100:g}")
    return number


def micros(value: Any, what: str) -> float:
    """A time in us: ``0.5`` or ``0.5us``.

    Raises:
        UsageError: no such time.
    """
    text = str(value).strip().removesuffix("us").strip()
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number) or number < 0:
        raise UsageError(f"{what} cannot be {value!r}", "write a time in us, such as 0.5")
    return number


def rules(
    file: Path | None = None,
    *,
    max_regression: str | float | None = None,
    min_effect_us: str | float | None = None,
    noise_floor: str | float | None = None,
    inconclusive: str | None = None,
    vanished: str | None = None,
    limits: Sequence[str] = (),
) -> Rules:
    """The rules of a file with options over them; limits of both hold. Entries for single kernels stay the file's.

    Raises:
        InputError: the file cannot be read or is no TOML.
        UsageError: it, or an option, says something that is no rule.
    """
    made = Rules() if file is None else from_toml(file)
    changes: dict[str, Any] = {}
    if max_regression is not None:
        changes["max_regression"] = share(max_regression, "--max-regression")
    if min_effect_us is not None:
        changes["min_effect_us"] = micros(min_effect_us, "--min-effect")
    if noise_floor is not None:
        changes["noise_floor"] = share(noise_floor, "--noise-floor")
    if inconclusive is not None:
        changes["inconclusive"] = _one_of(inconclusive, Inconclusive, "--inconclusive")
    if vanished is not None:
        changes["vanished"] = _one_of(vanished, Vanished, "--vanished")
    if limits:
        changes["limits"] = (*made.limits, *map(parse_limit, limits))
    return replace(made, **changes)


def from_toml(path: Path) -> Rules:
    """The rules in a file; see the head of this module.

    Raises:
        InputError: the file cannot be read or is no TOML.
        UsageError: it says something that is no rule.
    """
    try:
        held = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}", "name a readable TOML file of rules") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no TOML: {error}", "docs/gate.md shows a file") from None
    try:
        return _from_table(held, str(path))
    except UsageError as error:
        raise UsageError(f"{path}: {error.what}", error.hint) from None


def _from_table(held: Mapping[str, Any], source: str) -> Rules:
    _known(held, _TOP, "")
    entries = held.get("kernels", {})
    if not isinstance(entries, dict):
        raise UsageError("kernels is no table", 'write [kernels."NAME"]')
    kernels = []
    for pattern, entry in entries.items():
        if not isinstance(entry, dict):
            raise UsageError(f"kernels.{pattern} is no table", f'write [kernels."{pattern}"]')
        _known(entry, _KERNEL, f"kernels.{pattern}: ")
        ignore = entry.get("ignore", False)
        if not isinstance(ignore, bool):
            raise UsageError(f"kernels.{pattern}: ignore is {ignore!r}", "write true or false")
        kernels.append(KernelRules(pattern, **_common(entry, f"kernels.{pattern}: "), ignore=ignore))
    common = {key: value for key, value in _common(held, "").items() if value is not None}
    more: dict[str, Any] = {}
    if "inconclusive" in held:
        more["inconclusive"] = _one_of(held["inconclusive"], Inconclusive, "inconclusive")
    if "vanished" in held:
        more["vanished"] = _one_of(held["vanished"], Vanished, "vanished")
    return Rules(**common, **more, kernels=tuple(kernels), source=source)


def _common(held: Mapping[str, Any], where: str) -> dict[str, Any]:
    limits = held.get("limits", [])
    if not isinstance(limits, list) or not all(isinstance(one, str) for one in limits):
        raise UsageError(f"{where}limits is no list of texts", 'write limits = ["task_duration_us<120"]')
    regression, effect, floor = (held.get(key) for key in _COMMON[:3])
    return {
        "max_regression": None if regression is None else share(regression, f"{where}max_regression"),
        "min_effect_us": None if effect is None else micros(effect, f"{where}min_effect_us"),
        "noise_floor": None if floor is None else share(floor, f"{where}noise_floor"),
        "limits": tuple(map(parse_limit, limits)),
    }


def _known(held: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in held:
        if name not in names:
            raise UsageError(
                f"{where}there is no rule {name!r}", did_you_mean(name, names) or f"one of: {', '.join(names)}"
            )


def _one_of(value: Any, kind: Any, what: str) -> Any:
    if value not in get_args(kind):
        raise UsageError(f"{what} cannot be {value!r}", f"one of: {', '.join(get_args(kind))}")
    return value
