"""Before-after pairs that users recorded in this warehouse, seen from a launch: who improved, and how alike it was."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from opprof_db.analysis.similar import distances
from opprof_db.knowledge.operators import kinds_of
from opprof_db.knowledge.recorded import recorded_cases


@dataclass(frozen=True, slots=True)
class Improved:
    """A launch of this warehouse that became faster, as its user recorded it."""

    entry_id: str
    """Id of the recorded case among the entries."""
    title: str
    operator: str | None
    before_kernel_id: int | None
    """``None`` when it was forgotten since."""
    after_kernel_id: int | None
    before_duration_us: float
    after_duration_us: float
    speed_up: float
    """So many times as fast after, measured."""
    distance: float | None
    """Between the counters of the launch asked about and those before: 0 alike, 1 as different as can be; ``None``
    where they cannot be compared."""
    followed: str | None
    """Entry that its user followed."""
    gone: tuple[str, ...]
    """Findings before that were gone after."""


def improved(connection: sqlite3.Connection, kernel_id: int, operator: str | None) -> tuple[Improved, ...]:
    """Every recorded improvement: of the same operator first, then of the same kind, then the most alike.

    A launch that is itself the result of a pair is not told of it.
    """
    cases = [case for case in recorded_cases(connection) if case.speed_up > 1 and case.after_kernel_id != kernel_id]
    if not cases:
        return ()
    near = distances(connection, kernel_id, [case.before_kernel_id for case in cases if case.before_kernel_id])
    own = set(kinds_of(operator))
    found = [
        (
            case.operator != operator,
            not own & set(kinds_of(case.operator)),
            Improved(
                case.entry_id,
                case.title,
                case.operator,
                case.before_kernel_id,
                case.after_kernel_id,
                case.before_duration_us,
                case.after_duration_us,
                case.speed_up,
                near.get(case.before_kernel_id) if case.before_kernel_id else None,
                case.entry,
                case.gone,
            ),
        )
        for case in cases
    ]
    found.sort(key=lambda each: (each[0], each[1], 2.0 if each[2].distance is None else each[2].distance))
    return tuple(each for _, _, each in found)
