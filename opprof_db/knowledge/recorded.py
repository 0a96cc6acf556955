"""Cases that users recorded in the warehouse, as entries beside the others."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from opprof_db.knowledge.model import Entry, Figure, FrontMatter, Gain, Source
from opprof_db.knowledge.operators import kinds_of
from opprof_db.knowledge.reading import sections

ORIGIN = "recorded"
PREFIX = "recorded-"
_COLUMNS = (
    "id", "title", "note", "entry", "recorded_at", "before_kernel_id", "after_kernel_id", "before_name", "after_name",
    "operator", "op_type", "chip", "before_duration_us", "after_duration_us", "remarks",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """A before-after pair of the warehouse."""

    id: int
    title: str
    note: str | None
    entry: str | None
    recorded_at: str
    before_kernel_id: int | None
    after_kernel_id: int | None
    before_name: str
    after_name: str
    operator: str | None
    op_type: str | None
    chip: str | None
    before_duration_us: float
    after_duration_us: float
    remarks: str | None
    rules: tuple[str, ...]
    """Found before, the first finding first."""
    gone: tuple[str, ...]
    """Of these, what was no longer found after."""

    @property
    def entry_id(self) -> str:
        """Its identifier among the entries."""
        return f"{PREFIX}{self.id}"

    @property
    def speed_up(self) -> float:
        """So many times as fast after; below 1 it became slower."""
        return self.before_duration_us / self.after_duration_us


def recorded_cases(connection: sqlite3.Connection) -> list[RecordedCase]:
    """All of them, the oldest first."""
    rules: dict[int, list[str]] = {}
    gone: dict[int, list[str]] = {}
    for case_id, rule, went in connection.execute(
        "SELECT case_id, rule, gone FROM recorded_rules ORDER BY case_id, position"
    ):
        rules.setdefault(case_id, []).append(rule)
        if went:
            gone.setdefault(case_id, []).append(rule)
    rows = connection.execute(f"SELECT {', '.join(_COLUMNS)} FROM recorded_cases ORDER BY id")
    return [
        RecordedCase(
            **dict(zip(_COLUMNS, row, strict=True)),
            rules=tuple(rules.get(row[0], ())),
            gone=tuple(gone.get(row[0], ())),
        )
        for row in rows
    ]


def recorded_entries(connection: sqlite3.Connection) -> Iterator[Entry]:
    """Each as an entry of kind case."""
    for case in recorded_cases(connection):
        yield as_entry(connection, case)


def as_entry(connection: sqlite3.Connection, case: RecordedCase) -> Entry:
    """The entry a recorded case makes; all figures are those stored with it."""
    metrics = connection.execute(
        "SELECT metric, core_kind, statistic, unit, before_value, after_value FROM recorded_metrics"
        " WHERE case_id = ? ORDER BY metric, core_kind, statistic",
        (case.id,),
    ).fetchall()
    source = Source(
        "warehouse",
        f"Recorded in this warehouse on {case.recorded_at[:10]}: {case.before_name} and {case.after_name}",
        "measured",
        "capture",
    )
    speed = case.speed_up
    head = FrontMatter(
        id=case.entry_id,
        kind="case",
        title=case.title,
        summary=f"{case.operator or 'kernel'}: {case.before_duration_us:g} us before, {case.after_duration_us:g} us"
        f" after ({speed:.3g} times as fast), measured in this warehouse.",
        confidence="measured",
        sources=[source],
        op_types=[case.op_type] if case.op_type else [],
        operators=list(kinds_of(case.operator)),
        # What stayed after is not what it answers.
        rules=list(case.gone or case.rules),
        terms=[case.operator] if case.operator else [],
        gain=Gain("task duration", speed, speed, "x", source.id) if speed > 1 else None,
        before_after=[
            Figure("task duration", "us", case.before_duration_us, case.after_duration_us, source.id),
            *(
                Figure(f"{metric} ({core}, {statistic})", unit or "", before, after, source.id)
                for metric, core, statistic, unit, before, after in metrics
                if before is not None and after is not None
            ),
        ],
        related=[case.entry] if case.entry else [],
    )
    body = _body(case, metrics)
    content = json.dumps([case.title, case.note, case.entry, body, case.rules, case.gone], ensure_ascii=False)
    return Entry(head, (source,), sections(body), body, ORIGIN, hashlib.sha256(content.encode()).hexdigest())


def _body(case: RecordedCase, metrics: list[tuple[Any, ...]]) -> str:
    found = ", ".join(f"`{rule}`" for rule in case.rules) or "nothing"
    gone = f" No longer found: {', '.join(f'`{rule}`' for rule in case.gone)}." if case.gone else ""
    lines = [
        "## Problem",
        "",
        f"{case.before_name}: {case.before_duration_us:g} us.[^warehouse] The diagnosis found: {found}.",
        "",
        "## Solution",
        "",
        (case.note or "Not written down.") + (f" Followed: [[{case.entry}]]." if case.entry else ""),
        "",
        "## Result",
        "",
        f"{case.after_name}: {case.after_duration_us:g} us, {case.speed_up:.3g} times as fast.[^warehouse]{gone}",
    ]
    if metrics:
        lines += ["", "| metric | cores | of them | before | after | unit |", "|---|---|---|---|---|---|"]
        lines += [
            f"| {metric} | {core} | {statistic} | {_value(before)} | {_value(after)} | {unit or ''} |"
            for metric, core, statistic, unit, before, after in metrics
        ]
        lines += ["", "Figures as they stood in the warehouse when the case was recorded.[^warehouse]"]
    lines += ["", "## Lessons", "", "Recorded by a user of this warehouse; nothing was added."]
    lines += ["", "## When not to apply", "", case.remarks or "Not written down."]
    return "\n".join(lines) + "\n"


def _value(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value.is_integer() else f"{value!r}"
