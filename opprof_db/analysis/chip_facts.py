"""What is known of the chip a kernel ran on: exact facts for a SoC, ranges where only the family is known."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ChipFacts:
    """Rows of ``chips`` that the run may have come from; one when the SoC is known."""

    candidates: tuple[dict[str, Any], ...]
    exact: bool
    note: str

    def least(self, column: str) -> float | None:
        """Smallest value among the candidates; ``None`` when none has one."""
        held = [row[column] for row in self.candidates if row[column] is not None]
        return min(held) if held else None

    def most(self, column: str) -> float | None:
        """Largest value among the candidates."""
        held = [row[column] for row in self.candidates if row[column] is not None]
        return max(held) if held else None

    def deciding(self, column: str) -> tuple[str | None, Any]:
        """The candidate that a statement rests on: the fewest cores, the highest peak."""
        held = [row for row in self.candidates if row[column] is not None]
        if not held:
            return None, None
        pick = min if column.endswith("_cores") else max
        row = pick(held, key=lambda one: one[column])
        return row["soc"], row[column]

    def cores(self, kind: str) -> tuple[int, int] | None:
        """Fewest and most cores of a kind the chip may have."""
        column = "aiv_cores" if kind == "aiv" else "aic_cores"
        low, high = self.least(column), self.most(column)
        return None if low is None or high is None else (int(low), int(high))


def chip_facts(
    connection: sqlite3.Connection, soc: str | None, family: str | None, rated_freq_mhz: float | None
) -> ChipFacts:
    """The candidates: the SoC; else those of the family whose clock is the rated frequency; else the whole family."""
    cursor = connection.execute("SELECT * FROM chips")
    columns = [column[0] for column in cursor.description]
    rows = [dict(zip(columns, row, strict=True)) for row in cursor]
    exact = [row for row in rows if soc and row["soc"].lower() in (soc.lower(), f"ascend{soc.lower()}")]
    if exact:
        return ChipFacts(tuple(exact), True, f"chip {exact[0]['soc']}")
    of_family = [row for row in rows if family and row["family"] == family]
    if not of_family:
        return ChipFacts((), False, "chip unknown")
    by_clock = [row for row in of_family if rated_freq_mhz and row["sim_clock_mhz"] == rated_freq_mhz]
    found = by_clock or of_family
    short = ", ".join(row["soc"].removeprefix("Ascend") for row in found[:4]) + (", …" if len(found) > 4 else "")
    why = f" by its rated frequency of {rated_freq_mhz:g} MHz" if by_clock else ""
    return ChipFacts(tuple(found), False, f"chip not recorded: {short}{why}")
