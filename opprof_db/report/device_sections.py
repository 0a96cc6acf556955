"""Sections about a launch on a device."""

from __future__ import annotations

import sqlite3

from opprof_db.report.figures.pipes import pipes
from opprof_db.report.model import Figure, Section


def sections(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> list[Section]:
    """What the CSVs and the bin of a device launch show; empty sections are left out by the caller."""
    return [
        Section(f"{anchor}-time", "Pipes", figures=_held(pipes(connection, kernel_id, anchor))),
    ]


def _held(*figures: Figure | None) -> tuple[Figure, ...]:
    return tuple(figure for figure in figures if figure is not None)
