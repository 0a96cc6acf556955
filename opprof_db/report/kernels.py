"""What a report says about one launch: verdict, facts, findings, and the sections of figures and tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from opprof_db.analysis.findings import Diagnosis, Evidence, Finding
from opprof_db.analysis.recommend import Recommendation, recommend
from opprof_db.knowledge.library import Library
from opprof_db.report import device_sections, simulator_sections
from opprof_db.report.model import Section
from opprof_db.report.texts import shortened
from opprof_db.report.verdicts import first_finding, verdict

NAME_LENGTH = 70
"""Longer names lose their middle where they stand in headings and tables."""


def kernel(connection: sqlite3.Connection, diagnosis: Diagnosis, launches: int, library: Library) -> dict[str, Any]:
    """The data of one launch, as docs/report-context.md describes it."""
    row = overview(connection, diagnosis.kernel_id)
    anchor = f"k{diagnosis.kernel_id}"
    first = first_finding(diagnosis)
    shares = _busiest(connection, diagnosis.kernel_id)
    advised = recommend(connection, diagnosis.kernel_id, library=library, diagnosis=diagnosis)
    name = row["operator"] or row["name"] or f"kernel:{diagnosis.kernel_id}"
    return {
        "id": diagnosis.kernel_id,
        "anchor": anchor,
        "short_name": shortened(name, NAME_LENGTH),
        "operator": row["operator"],
        "full_name": row["name"],
        "op_type": row["op_type"],
        "mode": row["mode"],
        "status": row["status"],
        "device_id": row["device_id"],
        "duration_us": row["duration_us"],
        "block_dim": row["block_dim"],
        "mix_block_dim": row["mix_block_dim"],
        "cores": row["cores"],
        "idle_cores": row["idle_cores"],
        "launches": launches,
        "chip": row["chip"],
        "labels": row["labels"],
        "missing": row["missing"],
        "verdict": verdict(diagnosis, shares),
        "severity": first.severity if first else "info",
        "busiest": {kind: {"pipe": pipe, "share": share} for kind, (pipe, share) in shares.items()},
        "facts": [asdict(fact) for fact in diagnosis.facts if fact.name != "vendor_advice"],
        "vendor_advice": [asdict(fact) for fact in diagnosis.facts if fact.name == "vendor_advice"],
        "findings": [finding(one, diagnosis.duration_us, advised) for one in diagnosis.findings],
        "recommendations": [_recommendation(one, anchor) for one in advised],
        "no_problem": [finding(one, None, ()) for one in diagnosis.outcomes if one.outcome == "no_problem"],
        "could_not_look": [finding(one, None, ()) for one in diagnosis.outcomes if one.outcome == "could_not_look"],
        "sections": [section for section in sections(connection, diagnosis, anchor) if not section.empty],
    }


def sections(connection: sqlite3.Connection, diagnosis: Diagnosis, anchor: str) -> list[Section]:
    """Figures and tables of a launch, in the order of the page."""
    return [
        *device_sections.sections(connection, diagnosis.kernel_id, anchor),
        *simulator_sections.sections(connection, diagnosis.kernel_id, anchor),
    ]


def overview(connection: sqlite3.Connection, kernel_id: int) -> dict[str, Any]:
    """The row of ``kernel_overview``."""
    cursor = connection.execute("SELECT * FROM kernel_overview WHERE kernel_id = ?", (kernel_id,))
    names = [column[0] for column in cursor.description]
    return dict(zip(names, cursor.fetchone(), strict=True))


def finding(found: Finding, duration_us: float | None, advised: Sequence[Recommendation]) -> dict[str, Any]:
    """A finding as plain data, with its share of the duration, readable evidence, and the entries that answer it."""
    data = asdict(found)
    share = None
    if found.recoverable_us is not None and duration_us:
        share = found.recoverable_us / duration_us
    data["recoverable_share"] = share
    anchor = f"k{found.kernel_id}"
    data["entries"] = [_recommendation(one, anchor) for one in advised if found.rule in one.rules[:1]]
    data["evidence"] = [{**asdict(item), "where": where(item)} for item in found.evidence]
    return data


def _recommendation(found: Recommendation, anchor: str) -> dict[str, Any]:
    return {**asdict(found), "anchor": f"{anchor}-kb-{found.entry}"}


def where(item: Evidence) -> str:
    """Where a number stands, in one line: ``pipe_utilization.aiv_vec_time_us [block_id 0, vector0]``."""
    row: Mapping[str, Any] = item.row
    picked = [f"{key}={value}" for key, value in row.items() if key != "kernel_id" and value is not None]
    return f"{item.table}.{item.column}" + (f" [{', '.join(picked)}]" if picked else "")


def _busiest(connection: sqlite3.Connection, kernel_id: int) -> dict[str, tuple[str, float]]:
    return {
        kind: (pipe, ratio)
        for kind, pipe, ratio in connection.execute(
            "SELECT core_kind, pipe, ratio FROM dominant_pipe WHERE kernel_id = ? AND ratio IS NOT NULL", (kernel_id,)
        )
    }
