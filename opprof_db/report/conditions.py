"""Under what conditions a run was collected, and what to mind when reading its numbers."""

from __future__ import annotations

import sqlite3
from typing import Any

from opprof_db.catalog import load, table_name

Item = dict[str, Any]


def conditions(connection: sqlite3.Connection, run_id: int) -> list[Item]:
    """Name, value and note of every condition, unknown ones named as such."""
    row = _run(connection, run_id)
    clock = connection.execute(
        "SELECT group_concat(DISTINCT rated_freq_mhz), group_concat(DISTINCT current_freq_mhz),"
        " group_concat(DISTINCT clock_mhz) FROM frequency WHERE run_id = ?",
        (run_id,),
    ).fetchone()
    made = [
        _item("Mode", row["mode"]),
        _item("Collected", (row["started_at"] or "").replace("T", " ") or None, _started(row)),
        _item("Chip", row["soc"] or (f"({row['chip_family']})" if row["chip_family"] else None), _chip(row)),
    ]
    if row["mode"] != "simulator":
        made.append(_item("Rated frequency", _mhz(clock[0])))
        made.append(_item("Frequency in the run", _mhz(clock[1])))
    if clock[2]:
        made.append(_item("Simulator clock", _mhz(clock[2])))
    made.append(_item("Tool version", row["tool_version"]))
    made.append(_item("Metrics", metric_scope(connection, run_id, row["mode"])))
    kernels, launches = connection.execute(
        "SELECT count(DISTINCT coalesce(name, folder_name, id)), count(*) FROM kernels WHERE run_id = ?", (run_id,)
    ).fetchone()
    made.append(_item("Kernels", f"{kernels} ({launches} launch{'' if launches == 1 else 'es'})"))
    made.append(_item("Status", row["status"], row["missing"]))
    for kind, key, value, source in connection.execute(
        "SELECT kind, key, value, source FROM run_conditions WHERE run_id = ? AND key NOT IN ('tool_version', 'soc')"
        " ORDER BY kind, key",
        (run_id,),
    ):
        made.append(_item(f"label {key}" if kind == "label" else key, value, f"from {source}"))
    return made


def metric_scope(connection: sqlite3.Connection, run_id: int, mode: str) -> str:
    """Which CSV families and other parts the run holds."""
    held = [family for family in load().families if _any(connection, table_name(family), run_id)]
    names = [*held] if len(held) < len(load().families) else ["all seven families"]
    for table, what in (
        ("roofline_points", "Roofline"),
        ("core_occupancy", "Occupancy"),
        ("instruction_stats", "instruction statistics"),
        ("trace_files", "trace"),
        ("hot_instructions", "Source"),
    ):
        if _any(connection, table, run_id):
            names.append(what)
    return ", ".join(names) or f"none ({mode} run)"


def warnings(connection: sqlite3.Connection, run_id: int) -> list[str]:
    """What limits every statement of the report; empty when nothing does."""
    row = _run(connection, run_id)
    made = []
    if row["status"] != "complete":
        made.append(f"the run is {row['status']}: {row['missing'] or 'something is missing'}.")
    health = connection.execute(
        "SELECT errors, warnings, cells_lost, truncated_traces FROM ingest_health WHERE run_id = ?", (run_id,)
    ).fetchone()
    if health is not None:
        errors, doubtful, lost, cut = health
        if errors or doubtful:
            cells = f", {lost:,} cells were lost" if lost else ""
            made.append(f"{errors + doubtful} problems were met when the run was taken in{cells} (see Issues).")
        if cut:
            made.append("a trace is cut off: its spans, shares and first-to-last times are withheld.")
    slow = [
        name
        for (name,) in connection.execute(
            "SELECT operator FROM frequency WHERE run_id = ? AND reduced = 1 LIMIT 3", (run_id,)
        )
    ]
    if slow:
        made.append(f"the chip ran below its rated frequency ({', '.join(str(name) for name in slow)}).")
    return made


def _run(connection: sqlite3.Connection, run_id: int) -> dict[str, Any]:
    cursor = connection.execute("SELECT * FROM runs WHERE id = ?", (run_id,))
    names = [column[0] for column in cursor.description]
    return dict(zip(names, cursor.fetchone(), strict=True))


def _any(connection: sqlite3.Connection, table: str, run_id: int) -> bool:
    # The name of the table comes from the catalogue or from the lines above, never from outside.
    sql = f"SELECT 1 FROM {table} AS t JOIN kernels AS k ON k.id = t.kernel_id WHERE k.run_id = ? LIMIT 1"
    return connection.execute(sql, (run_id,)).fetchone() is not None


def _item(name: str, value: Any, note: str | None = None) -> Item:
    return {"name": name, "value": value if value is not None else "not recorded", "note": note}


def _mhz(values: str | None) -> str | None:
    return None if not values else ", ".join(f"{float(value):g}" for value in values.split(",")) + " MHz"


def _started(row: dict[str, Any]) -> str | None:
    return f"from the {row['started_at_source'].replace('_', ' ')}" if row["started_at_source"] else None


def _chip(row: dict[str, Any]) -> str | None:
    if row["soc"]:
        return f"from {row['soc_source']}" if row["soc_source"] else None
    return f"family by {row['chip_family_source'].replace('_', ' ')}" if row["chip_family_source"] else None
