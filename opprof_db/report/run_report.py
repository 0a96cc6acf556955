"""The run report: where the time goes, why, and what to try, then everything that was measured."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from opprof_db.analysis.diagnose import at_stake, diagnose, representatives, weight
from opprof_db.analysis.findings import Diagnosis
from opprof_db.errors import UsageError
from opprof_db.knowledge.library import library
from opprof_db.report import page, provenance
from opprof_db.report.conditions import conditions, warnings
from opprof_db.report.figures.launches import launches as launches_figure
from opprof_db.report.kernels import kernel
from opprof_db.report.model import Column, Section, Table
from opprof_db.report.numbers import percent, us_text
from opprof_db.report.page import Options

TEMPLATE = "run.html"
_FIRST = 3
"""Findings on the first screen."""
_KERNEL_COLUMNS = (
    Column("kernel", "Kernel", "link"),
    Column("type", "Type"),
    Column("duration_us", "Task duration", "number", "us"),
    Column("share", "Share of the run", "share", help="task duration x launches / total of all launches"),
    Column("launches", "Launches", "number", help="of the same kernel; the one with the median duration is shown"),
    Column("block_dim", "Block dim", "number"),
    Column("cores", "Cores", "number"),
    Column("idle_cores", "Idle cores", "number", help="busy for less than 1 % of the slowest of their kind"),
    Column("busiest", "Busiest pipe"),
    Column("finding", "First finding"),
    Column("severity", "Severity", "severity"),
    Column("stake_us", "At stake", "number", "us", help="upper bound of what the first finding could bring"),
)


def render(
    connection: sqlite3.Connection,
    run_id: int,
    options: Options | None = None,
    *,
    kernel_id: int | None = None,
    profile: str = "default",
) -> str:
    """The page of a run, or of one launch of it."""
    return page.render(TEMPLATE, context(connection, run_id, kernel_id=kernel_id, profile=profile), options)


def context(
    connection: sqlite3.Connection, run_id: int, *, kernel_id: int | None = None, profile: str = "default"
) -> dict[str, Any]:
    """Everything the templates get, as plain data (docs/report-context.md).

    Raises:
        UsageError: the run holds no kernel, or there is no such profile.
    """
    chosen = [(kernel_id, 1)] if kernel_id is not None else representatives(connection, run_id)
    if not chosen:
        raise UsageError(f"run {run_id} holds no kernel", "`opprof-db issues` says what kept it from being read")
    made = [(diagnose(connection, identifier, profile=profile), launches) for identifier, launches in chosen]
    made.sort(key=lambda item: (-(item[0].duration_us or 0.0) * item[1], -at_stake(item[0]), item[0].kernel_id))
    held = library()
    kernels = [kernel(connection, diagnosis, launches, held) for diagnosis, launches in made]
    row = _run(connection, run_id)
    total = _total(connection, run_id)
    sources = provenance.sections(connection, run_id, kernels)
    shown = _first_findings(made, kernels)
    return {
        "kind": "run",
        "title": f"{row['name']} · opprof-db",
        "profile": profile,
        "rules_version": made[0][0].rules_version,
        "run": row,
        "headline": _headline(made, kernels, total),
        "warnings": warnings(connection, run_id),
        "conditions": conditions(connection, run_id),
        "findings": shown,
        "finding_count": sum(len(one["findings"]) for one in kernels),
        "could_not_look_count": sum(len(one["could_not_look"]) for one in kernels),
        "total_us": total,
        "kernels": kernels,
        "kernel_table": _kernel_table(kernels, total),
        "run_sections": [section] if not (section := _over_time(connection, run_id, kernels)).empty else [],
        "provenance": sources,
        "contents": _contents(kernels, sources, repeated=_repeated(kernels, shown)),
        "findings_repeated": _repeated(kernels, shown),
    }


def _run(connection: sqlite3.Connection, run_id: int) -> dict[str, Any]:
    cursor = connection.execute(
        "SELECT r.run_id AS id, r.run AS name, r.mode, r.status, r.started_at, r.chip, r.kernels, r.operators,"
        " r.duration_us, r.labels, r.path, r.missing, runs.fingerprint, runs.ingested_at, runs.ingested_with,"
        " runs.tool_version FROM run_overview AS r JOIN runs ON runs.id = r.run_id WHERE r.run_id = ?",
        (run_id,),
    )
    names = [column[0] for column in cursor.description]
    return dict(zip(names, cursor.fetchone(), strict=True))


def _total(connection: sqlite3.Connection, run_id: int) -> float | None:
    total: float | None = connection.execute(
        "SELECT duration_us FROM run_overview WHERE run_id = ?", (run_id,)
    ).fetchone()[0]
    return total


def _repeated(kernels: list[dict[str, Any]], shown: list[dict[str, Any]]) -> bool:
    """Whether the kernels' own findings would only say again what stands on the first screen."""
    return len(kernels) == 1 and len(kernels[0]["findings"]) <= len(shown)


def _over_time(connection: sqlite3.Connection, run_id: int, kernels: list[dict[str, Any]]) -> Section:
    """Launches of all kernels in one figure; a run with one kernel has it with the kernel."""
    figure = launches_figure(connection, run_id, "run") if len(kernels) > 1 else None
    return Section("launches", "Launches over time", figures=(figure,) if figure else ())


def _headline(made: Sequence[tuple[Diagnosis, int]], kernels: list[dict[str, Any]], total: float | None) -> str:
    """One or two sentences about the run as a whole."""
    first, launches = made[0]
    name = first.operator or f"kernel:{first.kernel_id}"
    if len(made) == 1:
        times = f" There are {launches} launches of it." if launches > 1 else ""
        return f"{kernels[0]['short_name']} {kernels[0]['verdict']}{times}"
    if total is None or first.duration_us is None:
        return f"{len(made)} kernels, no task duration: cycles and simulated times tell where the time goes."
    share = first.duration_us * launches / total if total else 0.0
    return (
        f"{len(made)} kernels take {us_text(total)} together; {name} takes the most, {us_text(first.duration_us)}"
        + (f" x {launches} launches" if launches > 1 else "")
        + f", about {percent(min(share, 1.0))}."
    )


def _first_findings(made: Sequence[tuple[Diagnosis, int]], kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings with most at stake over all kernels, launches counted."""
    ranked = []
    for (diagnosis, launches), data in zip(made, kernels, strict=True):
        for place, (found, plain) in enumerate(zip(diagnosis.findings, data["findings"], strict=True)):
            ranked.append((-weight(found) * launches, place, diagnosis.kernel_id, plain, data))
    ranked.sort(key=lambda item: item[:3])
    return [
        {"finding": plain, "kernel": {"id": data["id"], "anchor": data["anchor"], "short_name": data["short_name"]}}
        for _, _, _, plain, data in ranked[:_FIRST]
    ]


def _kernel_table(kernels: list[dict[str, Any]], total: float | None) -> Table:
    rows = []
    for one in kernels:
        first = one["findings"][0] if one["findings"] else None
        busiest = ", ".join(f"{kind} {held['pipe']} {percent(held['share'])}" for kind, held in one["busiest"].items())
        duration = one["duration_us"]
        rows.append(
            (
                {"text": one["short_name"], "href": one["anchor"]},
                one["op_type"] or one["mode"],
                duration,
                duration * one["launches"] / total if total and duration is not None else None,
                one["launches"],
                one["block_dim"],
                one["cores"],
                one["idle_cores"],
                busiest or None,
                first["title"] if first else "none",
                first["severity"] if first else None,
                first["recoverable_us"] if first else None,
            )
        )
    # Columns in which nothing is recorded only take room (a simulator knows no durations).
    kept = [at for at in range(len(_KERNEL_COLUMNS)) if any(row[at] is not None for row in rows)]
    return Table(
        "kernel-table",
        "Kernels of the run, the longest first",
        tuple(_KERNEL_COLUMNS[at] for at in kept),
        tuple(tuple(row[at] for at in kept) for row in rows),
    )


def _contents(kernels: list[dict[str, Any]], sources: list[Section], *, repeated: bool) -> list[dict[str, Any]]:
    few = len(kernels) <= 8
    return [
        {"id": "summary", "title": "Summary", "entries": []},
        {"id": "kernels", "title": "Kernels", "entries": []},
        *(
            {
                "id": one["anchor"],
                "title": one["short_name"],
                "entries": [
                    {"id": f"{one['anchor']}-facts", "title": "Facts", "entries": []},
                    *(
                        [{"id": f"{one['anchor']}-findings", "title": "Findings", "entries": []}]
                        if one["findings"] and not repeated
                        else []
                    ),
                    *(
                        [{"id": f"{one['anchor']}-knowledge", "title": "What helped elsewhere", "entries": []}]
                        if one["recommendations"]
                        else []
                    ),
                    *({"id": section.id, "title": section.title, "entries": []} for section in one["sections"]),
                    {"id": f"{one['anchor']}-rules", "title": "Rules without a finding", "entries": []},
                ]
                if few
                else [],
            }
            for one in kernels
        ),
        {
            "id": "provenance",
            "title": "Provenance",
            "entries": [{"id": section.id, "title": section.title, "entries": []} for section in sources],
        },
    ]
