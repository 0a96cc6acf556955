"""Sections about a launch on a device."""

from __future__ import annotations

import sqlite3

from opprof_db.analysis import work as works
from opprof_db.analysis.measures import Measures
from opprof_db.analysis.roofline import of_measures
from opprof_db.report.figures import compute, cores, launches, memory, possible
from opprof_db.report.figures import roofline as roofs
from opprof_db.report.figures.pipes import pipes
from opprof_db.report.model import Figure, Section


def sections(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> list[Section]:
    """What the CSVs and the bin of a device launch show; empty sections are left out by the caller."""
    m = Measures(connection, kernel_id)
    m.work = works.stored(connection, m.kernel["operator"])
    roofline = of_measures(m)
    missing = roofline.missing
    return [
        Section(
            f"{anchor}-time",
            "Pipes and limits",
            figures=_held(pipes(connection, kernel_id, anchor), possible.figure(m, roofline, anchor)),
        ),
        Section(
            f"{anchor}-cores",
            "Cores",
            figures=_held(
                cores.core_times(connection, kernel_id, anchor),
                *(cores.heat_map(connection, kernel_id, anchor, kind) for kind in m.kinds),
            ),
        ),
        Section(
            f"{anchor}-memory",
            "Memory",
            figures=_held(memory.flow(connection, kernel_id, anchor), memory.hit_rates(connection, kernel_id, anchor)),
            tables=tuple(one for one in (memory.inner_paths(connection, kernel_id, anchor),) if one is not None),
        ),
        Section(
            f"{anchor}-compute",
            "Compute, waits and conflicts",
            figures=_held(compute.mix(connection, kernel_id, anchor), compute.conflicts(connection, kernel_id, anchor)),
        ),
        Section(
            f"{anchor}-roof",
            "Roofline",
            paragraphs=(f"No roofline: missing {', '.join(missing)}.",) if missing and m.on_device else (),
            figures=_held(roofs.figure(roofline, anchor)),
        ),
        Section(
            f"{anchor}-over-time",
            "Launches",
            figures=_held(launches.launches(connection, m.kernel["run_id"], anchor, kernel_id)),
        ),
    ]


def _held(*figures: Figure | None) -> tuple[Figure, ...]:
    return tuple(figure for figure in figures if figure is not None)
