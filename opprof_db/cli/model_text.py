"""Prints which migration cases a model resembles, and what is known of its operators."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from opprof_db.cli.output import Format, note, print_object, print_rows, shown
from opprof_db.knowledge.library import Library
from opprof_db.knowledge.models import from_names, from_onnx
from opprof_db.knowledge.similarity import CaseMatch, advice, nearest_cases


def recommend_model(entries: Library, path: Path | None, operators: str | None, style: Format, limit: int) -> None:
    """Match a model against the cases, and print it."""
    model = from_onnx(path) if path is not None else from_names(operators or "")
    matches = nearest_cases(model, entries.entries.values())[: limit or None]
    known = advice(model, entries.entries.values())
    if style is Format.JSON:
        print_object(
            {
                "model": asdict(model),
                "cases": [asdict(each) for each in matches],
                "operators": [asdict(k) for k in known],
            }
        )
        return
    print_rows(
        ["case", "architecture", "distance", "shared", "only_here", "title"],
        [
            (
                each.entry,
                each.architecture,
                f"{each.distance:.3f}",
                _shared(each),
                " ".join(each.only_model),
                each.title,
            )
            for each in matches
        ],
        style,
    )
    if style is Format.TABLE:
        print()
        rows = [
            (each.kind, each.count if model.counted else None, "yes" if each.hard else None, " ".join(each.entries))
            for each in known
        ]
        print_rows(["operator", "count", "often_off_the_ai_core", "entries"], rows)
    if model.unknown:
        names = ", ".join(f"{shown(name)} ({count})" for name, count in model.unknown.items())
        note(f"operators of no known kind: {names}")
    note("0 is the same mixture of operators, 1 nothing in common; `opprof-db kb show ID` shows an entry whole")


def _shared(match: CaseMatch) -> str:
    return " ".join(each.kind for each in match.shared)
