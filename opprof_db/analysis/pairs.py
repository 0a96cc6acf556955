"""Whether two launches may stand as before and after: what speaks against it refuses, what is not known is remarked."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from opprof_db.errors import UsageError

_ABOUT = (
    "SELECT k.kernel_id, k.run, k.operator, k.op_type, k.mode, k.chip, k.duration_us, r.chip_family,"
    " k.current_freq_mhz, k.launch_index, k.run_id"
    " FROM kernel_overview AS k INNER JOIN runs AS r ON r.id = k.run_id WHERE k.kernel_id = ?"
)
FREQUENCY_SHARE = 0.02
"""Current frequencies may differ by so much."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What is said of one side."""

    kernel_id: int
    run: str
    operator: str | None
    op_type: str | None
    mode: str
    chip: str | None
    duration_us: float | None
    chip_family: str | None
    current_freq_mhz: int | None
    launch_index: int | None
    run_id: int

    @property
    def name(self) -> str:
        """Run and operator."""
        return f"{self.run}/{self.operator or 'kernel'}"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two launches, before and after."""

    before: Launch
    after: Launch
    refusals: tuple[str, ...]
    """Known differences that make figures incomparable."""
    remarks: tuple[str, ...]
    """What is not known, or may matter."""


def pair(connection: sqlite3.Connection, before: int, after: int) -> Pair:
    """Look at two launches.

    Raises:
        UsageError: no such launch, or twice the same.
    """
    if before == after:
        raise UsageError(f"kernel:{before} is both before and after", "name two launches")
    one, other = _launch(connection, before), _launch(connection, after)
    refusals = [
        f"{what}: {mine} before, {theirs} after"
        for what, mine, theirs in (
            ("mode", one.mode, other.mode),
            ("chip family", one.chip_family, other.chip_family),
            ("frequency, MHz", one.current_freq_mhz, other.current_freq_mhz),
        )
        if mine is not None and theirs is not None and _differ(mine, theirs)
    ]
    remarks = [
        f"{what}: {mine or 'unknown'} before, {theirs or 'unknown'} after"
        for what, mine, theirs in (("operator", one.operator, other.operator), ("chip", one.chip, other.chip))
        if mine != theirs
    ]
    if one.current_freq_mhz is None or other.current_freq_mhz is None:
        remarks.append("the frequency was not recorded on both sides")
    return Pair(one, other, tuple(refusals), tuple(remarks))


def _differ(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, int) and isinstance(theirs, int):
        return abs(mine - theirs) > FREQUENCY_SHARE * max(mine, theirs)
    return bool(mine != theirs)


def _launch(connection: sqlite3.Connection, kernel_id: int) -> Launch:
    row = connection.execute(_ABOUT, (kernel_id,)).fetchone()
    if row is None:
        raise UsageError(f"there is no kernel:{kernel_id}", "`opprof-db kernels` lists them with their ids")
    return Launch(*row)
