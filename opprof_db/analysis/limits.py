"""Absolute limits of a gate, such as ``task_duration_us<120`` or ``aiv_mte2_ratio@aiv<=0.9``."""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from opprof_db.analysis.work import Work
from opprof_db.errors import UsageError

_LIMIT = re.compile(
    r"\s*(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:@(?P<core>[a-z]+))?\s*(?P<sign><=|>=|<|>)\s*(?P<number>\S+?)\s*(?P<percent>%?)\s*"
)
_ALIASES = {"task_duration_us": "duration_us"}
ACHIEVED = {
    "achieved_tflops": ("tflops", "TFLOPS"),
    "achieved_gb_s": ("gb_s", "10^9 B/s"),
    "peak_flops_share": ("flops_share", "ratio"),
    "peak_bytes_share": ("bytes_share", "ratio"),
    "excess_traffic": ("excess", "ratio"),
}
"""Limits on achieved against possible -> attribute of ``achieved.Achieved`` and unit; need stated work."""
State = Literal["kept", "exceeded", "not collected", "does not apply"]


@dataclass(frozen=True, slots=True)
class Limit:
    """What a metric may be at the most (or least)."""

    text: str
    name: str
    core: str | None
    sign: Literal["<", "<=", ">", ">="]
    bound: float

    def kept(self, value: float) -> bool:
        """Whether a value is within the limit."""
        if self.sign == "<":
            return value < self.bound
        if self.sign == "<=":
            return value <= self.bound
        return value > self.bound if self.sign == ">" else value >= self.bound


@dataclass(frozen=True, slots=True)
class Checked:
    """A limit held against the launches of one kernel."""

    limit: Limit
    state: State
    value: float | None
    """Median over the launches; of figures that must not be put together, of the worst core of each."""
    unit: str | None
    metric: str
    """What exactly was looked at."""
    reason: str | None = None


def parse_limit(text: str) -> Limit:
    """``NAME[@CORE]<NUMBER``, with ``<``, ``<=``, ``>`` or ``>=``; ``90%`` is 0.9.

    Raises:
        UsageError: it says no limit.
    """
    match = _LIMIT.fullmatch(text)
    try:
        bound = float(match["number"]) if match else math.nan
    except ValueError:
        bound = math.nan
    if match is None or not math.isfinite(bound):
        raise UsageError(f"{text!r} is no limit", "write NAME[@CORE]<NUMBER, such as task_duration_us<120")
    sign: Literal["<", "<=", ">", ">="] = match["sign"]  # type: ignore[assignment]
    name = _ALIASES.get(match["name"], match["name"])
    return Limit(text.strip(), name, match["core"], sign, bound / 100 if match["percent"] else bound)


def check(connection: sqlite3.Connection, limit: Limit, kernel_ids: Sequence[int], work: Work | None = None) -> Checked:
    """Hold a limit against launches of one kernel. ``work`` wins over what is stored for its operator.

    Raises:
        UsageError: there is no such metric, or it stands on both kinds of core and none was named.
    """
    if limit.name in ACHIEVED:
        return _achieved(connection, limit, kernel_ids, work)
    from opprof_db.analysis.choice import chosen, values

    better = "lower" if limit.sign[0] == "<" else "higher"
    core = f"@{limit.core}" if limit.core else ""
    choice = chosen(connection, f"{limit.name}{core}:{better}")
    if choice.family is not None and choice.core_kind is None and limit.name[:4] in ("aic_", "aiv_"):
        # On 310P the columns of cube cores hold those of its only kind of core.
        kinds = _kinds(connection, kernel_ids)
        kind = "aicore" if kinds == {"aicore"} else limit.name[:3]
        choice = replace(choice, core_kind=kind)
        if kind not in kinds and kinds:
            return Checked(limit, "does not apply", None, choice.unit, str(choice), f"no {kind} core took part")
    choice, found = values(connection, choice, kernel_ids)
    return _judged(limit, [value for value in found.values() if value is not None], choice.unit, str(choice))


def _judged(limit: Limit, held: list[float], unit: str | None, metric: str, missing: str | None = None) -> Checked:
    if not held:
        return Checked(limit, "not collected", None, unit, metric, missing or "not collected")
    value = median(held)
    return Checked(limit, "kept" if limit.kept(value) else "exceeded", value, unit, metric)


def _achieved(connection: sqlite3.Connection, limit: Limit, kernel_ids: Sequence[int], work: Work | None) -> Checked:
    from opprof_db.analysis.achieved import achieved

    attribute, unit = ACHIEVED[limit.name]
    reached = [one for one in (achieved(connection, kernel, work) for kernel in kernel_ids) if one is not None]
    held = [getattr(one, attribute) for one in reached if getattr(one, attribute) is not None]
    missing = "; ".join(dict.fromkeys(text for one in reached for text in one.missing))
    why = missing or "the work of the operator is not stated: `opprof-db work set`"
    return _judged(limit, held, unit, limit.name, why)


def _kinds(connection: sqlite3.Connection, kernel_ids: Sequence[int]) -> set[str]:
    """Kinds of core with rows."""
    sql = "SELECT DISTINCT core_kind FROM core_times WHERE kernel_id = ? AND core_kind IS NOT NULL"
    return {str(row[0]) for kernel in kernel_ids for row in connection.execute(sql, (kernel,))}
