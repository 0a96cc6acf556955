"""Sections about a simulated launch, and about what visualize_data.bin says of instructions and lines."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from opprof_db.report.figures import cycles, timeline
from opprof_db.report.model import Column, Figure, Section, Table

_CORES_DRAWN = 2
_INSTRUCTIONS, _LINES = 60, 60
_AROUND = 3
"""Lines of source shown around a hot one."""
_EXCERPT_LINES = 400
"""Source lines shown of one file at the most."""


def sections(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> list[Section]:
    """What statistics, traces and the bin show; empty sections are left out by the caller."""
    cores = timeline.busiest_cores(connection, kernel_id)
    drawn = cores[:_CORES_DRAWN]
    notes = _notes(connection, kernel_id, len(cores), len(drawn))
    instructions = [_instructions(connection, kernel_id, anchor), _bin_instructions(connection, kernel_id, anchor)]
    lines = [_lines(connection, kernel_id, anchor), _bin_lines(connection, kernel_id, anchor)]
    return [
        Section(
            f"{anchor}-cycles-section",
            "Cycles of the simulated cores",
            figures=_held(cycles.by_pipe(connection, kernel_id, anchor), cycles.by_core(connection, kernel_id, anchor)),
        ),
        Section(
            f"{anchor}-timelines",
            "Pipes over time",
            paragraphs=notes,
            figures=_held(
                *(timeline.timeline(connection, kernel_id, core, anchor) for core in drawn),
                *(timeline.overlap(connection, kernel_id, core, anchor) for core in drawn[:1]),
                *(timeline.gap_figure(connection, kernel_id, core, anchor) for core in drawn[:1]),
            ),
        ),
        Section(f"{anchor}-instructions", "Hot instructions", tables=tuple(one for one in instructions if one)),
        Section(
            f"{anchor}-lines",
            "Hot source lines",
            tables=tuple(one for one in lines if one),
            sources=tuple(_sources(connection, kernel_id)),
        ),
    ]


def _held(*figures: Figure | None) -> tuple[Figure, ...]:
    return tuple(figure for figure in figures if figure is not None)


def _notes(connection: sqlite3.Connection, kernel_id: int, cores: int, drawn: int) -> tuple[str, ...]:
    truncated, flags, kept, files = connection.execute(
        "SELECT max(truncated), max(has_flags), max(kept = 'full'), count(*) FROM trace_files WHERE kernel_id = ?",
        (kernel_id,),
    ).fetchone()
    if not files:
        return ()
    notes = []
    if cores > drawn:
        notes.append(
            f"The {drawn} busiest of {cores} cores with a trace are drawn; `opprof-db pipeline` shows any core."
        )
    if not kept:
        notes.append(
            "Events were not kept, so there is no picture over time (`opprof-db ingest --trace full` keeps them)."
        )
    if truncated:
        notes.append("The trace was cut off: its events are good, spans, shares and first-to-last times are withheld.")
    if not flags:
        notes.append("No SET or WAIT is in the trace: collect with --aic-metrics=ResourceConflictRatio to see waits.")
    return tuple(notes)


def _instructions(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Table | None:
    total = connection.execute(
        "SELECT count(*), sum(cycles) FROM instruction_hotspots WHERE kernel_id = ?", (kernel_id,)
    ).fetchone()
    if not total[0]:
        return None
    rows = connection.execute(
        "SELECT core_kind, instruction, pipe, address, cycles, call_count, max_cycles, slowest_core, cores,"
        " saturated_cores, detail FROM instruction_hotspots WHERE kernel_id = ? ORDER BY cycles DESC, address LIMIT ?",
        (kernel_id, _INSTRUCTIONS),
    ).fetchall()
    return Table(
        f"{anchor}-instruction-table",
        "Instructions by cycles, all cores of a kind together",
        (
            Column("core_kind", "Cores"),
            Column("instruction", "Instruction", "code"),
            Column("pipe", "Pipe"),
            Column("address", "Address", "code"),
            Column("cycles", "Cycles", "number"),
            Column("share", "Of all", "share", help="cycles / cycles of all instructions; pipes work at the same time"),
            Column("call_count", "Calls", "number"),
            Column("per_call", "Cycles a call", "number"),
            Column("max_cycles", "Most on one core", "number"),
            Column("slowest_core", "That core"),
            Column("cores", "On cores", "number"),
            Column("saturated", "Saturated", "number", help="cores whose counter stood at its end; not in the cycles"),
            Column("detail", "Operands", "code"),
        ),
        tuple(
            (
                (kind or "").upper(),
                name,
                pipe,
                None if address is None else f"0x{address:x}",
                spent,
                spent / total[1] if total[1] and spent is not None else None,
                calls,
                spent / calls if calls and spent is not None else None,
                most,
                core,
                cores,
                saturated,
                detail,
            )
            for kind, name, pipe, address, spent, calls, most, core, cores, saturated, detail in rows
        ),
        total=total[0],
        note="WAIT_FLAG, SET_FLAG and BAR hold the true cost of waiting and of barriers.",
    )


def _lines(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Table | None:
    total = connection.execute("SELECT count(*) FROM line_hotspots WHERE kernel_id = ?", (kernel_id,)).fetchone()[0]
    if not total:
        return None
    texts = _texts(connection, kernel_id)
    rows = connection.execute(
        "SELECT core_kind, file, line, cycles, call_count, max_cycles, cores FROM line_hotspots WHERE kernel_id = ?"
        " ORDER BY cycles DESC, code LIMIT ?",
        (kernel_id, _LINES),
    ).fetchall()
    return Table(
        f"{anchor}-line-table",
        "Source lines by cycles, all cores of a kind together",
        (
            Column("core_kind", "Cores"),
            Column("file", "File", "code"),
            Column("line", "Line", "number"),
            Column("cycles", "Cycles", "number"),
            Column("call_count", "Calls", "number"),
            Column("max_cycles", "Most on one core", "number"),
            Column("cores", "On cores", "number"),
            Column("text", "Source", "code"),
        ),
        tuple(
            ((kind or "").upper(), file, line, spent, calls, most, cores, _text_of(texts, file, line))
            for kind, file, line, spent, calls, most, cores in rows
        ),
        total=total,
        note="Lines overlap (inlined callees), so they add up to no total.",
    )


def _bin_instructions(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Table | None:
    rows = connection.execute(
        "SELECT i.pipe, i.address, i.source, i.code, sum(v.cycles), sum(v.executed), sum(v.ub_read_conflicts),"
        " sum(v.ub_write_conflicts), sum(v.real_stall_cycles), sum(v.icache_cycles), max(v.process_bytes),"
        " max(v.vector_utilization_pct) FROM hot_instructions AS i LEFT JOIN hot_instruction_values AS v"
        " ON v.kernel_id = i.kernel_id AND v.position = i.position WHERE i.kernel_id = ? GROUP BY i.position"
        " ORDER BY coalesce(sum(v.cycles), 0) DESC, coalesce(sum(v.executed), 0) DESC, i.position LIMIT ?",
        (kernel_id, _INSTRUCTIONS),
    ).fetchall()
    if not rows:
        return None
    total = connection.execute("SELECT count(*) FROM hot_instructions WHERE kernel_id = ?", (kernel_id,)).fetchone()[0]
    return Table(
        f"{anchor}-bin-instruction-table",
        "Instructions as visualize_data.bin lists them",
        (
            Column("pipe", "Pipe"),
            Column("address", "Address", "code"),
            Column("source", "Instruction", "code"),
            Column("code", "Source position", "code"),
            Column("cycles", "Cycles", "number"),
            Column("executed", "Executed", "number"),
            Column("ub_read_conflicts", "UB read conflicts", "number"),
            Column("ub_write_conflicts", "UB write conflicts", "number"),
            Column("real_stall_cycles", "Stalled", "number", "cycles"),
            Column("icache_cycles", "Waiting for code", "number", "cycles"),
            Column("process_bytes", "Bytes", "number"),
            Column("vector_utilization_pct", "Vector utilization", "number", "%"),
        ),
        tuple((pipe, None if address is None else f"0x{address:x}", *rest) for pipe, address, *rest in rows),
        total=total,
    )


def _bin_lines(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Table | None:
    rows = _line_values(connection, kernel_id)
    if not rows:
        return None
    texts = _texts(connection, kernel_id)
    return Table(
        f"{anchor}-bin-line-table",
        "Source lines as visualize_data.bin lists them",
        (
            Column("file", "File", "code"),
            Column("line", "Line", "number"),
            Column("cycles", "Cycles", "number"),
            Column("executed", "Instructions executed", "number"),
            Column("process_bytes", "Bytes", "number"),
            Column("text", "Source", "code"),
        ),
        tuple((*row, _text_of(texts, row[0], row[1])) for row in rows[:_LINES]),
        total=len(rows),
    )


def _line_values(connection: sqlite3.Connection, kernel_id: int) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT l.file, l.line, sum(v.cycles), sum(v.executed), max(v.process_bytes) FROM hot_lines AS l"
        " LEFT JOIN hot_line_values AS v ON v.kernel_id = l.kernel_id AND v.position = l.position WHERE l.kernel_id = ?"
        " GROUP BY l.position ORDER BY coalesce(sum(v.cycles), 0) DESC, coalesce(sum(v.executed), 0) DESC, l.position",
        (kernel_id,),
    ).fetchall()


def _texts(connection: sqlite3.Connection, kernel_id: int) -> dict[str, list[str]]:
    """Path -> lines of every source file of the launch."""
    return {
        path: re.split(r"\r\n|\r|\n", text)
        for path, text in connection.execute(
            "SELECT f.path, t.source FROM source_files AS f JOIN source_texts AS t ON t.sha256 = f.sha256"
            " WHERE f.kernel_id = ? ORDER BY f.path",
            (kernel_id,),
        )
    }


def _find(texts: Mapping[str, list[str]], file: str | None) -> str | None:
    """The file under the path it was compiled as; else the only one of that name."""
    if not file or file in texts:
        return file if file else None
    named = [path for path in texts if PurePosixPath(path).name == PurePosixPath(file).name]
    return named[0] if len(named) == 1 else None


def _text_of(texts: Mapping[str, list[str]], file: str | None, line: int | None) -> str | None:
    path = _find(texts, file)
    if path is None or line is None:
        return None
    held = texts.get(path, [])
    return held[line - 1].strip() if 0 < line <= len(held) else None


def _sources(connection: sqlite3.Connection, kernel_id: int) -> list[dict[str, Any]]:
    """Excerpts of the source files around their hot lines."""
    texts = _texts(connection, kernel_id)
    spent: dict[str, dict[int, int]] = {}
    statistics = connection.execute(
        "SELECT file, line, sum(cycles) FROM line_hotspots WHERE kernel_id = ? AND line IS NOT NULL"
        " GROUP BY file, line",
        (kernel_id,),
    ).fetchall()
    for file, line, cycles_spent in statistics or [row[:3] for row in _line_values(connection, kernel_id)]:
        path = _find(texts, file)
        if path is not None and path in texts and line and cycles_spent:
            lines = spent.setdefault(path, {})
            lines[line] = lines.get(line, 0) + cycles_spent
    most = max((value for lines in spent.values() for value in lines.values()), default=0)
    made = []
    for path, lines in sorted(spent.items(), key=lambda item: -max(item[1].values())):
        text = texts[path]
        wanted = sorted(
            {
                number
                for line in sorted(lines, key=lambda line: -lines[line])
                for number in range(line - _AROUND, line + _AROUND + 1)
                if 0 < number <= len(text)
            }
        )[:_EXCERPT_LINES]
        if not wanted:
            continue
        excerpt: list[dict[str, Any]] = []
        for before, number in zip([None, *wanted], wanted, strict=False):
            if before is not None and number > before + 1:
                excerpt.append({"number": "…", "text": "", "cycles": None, "share": None})
            excerpt.append(
                {
                    "number": number,
                    "text": text[number - 1][:2000],
                    "cycles": lines.get(number),
                    "share": lines[number] / most if number in lines and most else None,
                }
            )
        made.append({"title": path, "lines": excerpt})
    return made
