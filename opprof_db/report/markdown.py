"""The Markdown report: four fixed sections, at most five rows each, as the profiling workflow's acceptance asks for.

The workflow counts lines with two ``#``: there are exactly the four headings. ``cell`` keeps texts from adding one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined

from opprof_db.analysis.diagnose import diagnose, representatives, weight
from opprof_db.analysis.findings import Diagnosis, Evidence, Finding
from opprof_db.analysis.recommend import answers
from opprof_db.errors import UsageError
from opprof_db.report.key_data import KeyFigure, Launch, key_figures
from opprof_db.report.markdown_text import cell, figure
from opprof_db.report.model import CONTEXT_VERSION
from opprof_db.report.numbers import exact, percent
from opprof_db.report.page import Options
from opprof_db.report.texts import everywhere, without_paths

TEMPLATE = "report.md"
_TOP = 5
_EVIDENCE_SHOWN = 4
_CONDITIONS_SHOWN = 20
_FACTS: Mapping[str, str] = {
    "cores_aic": "AIC Cores",
    "cores_aiv": "AIV Cores",
    "cores": "Cores",
    "simulated_cores": "Simulated Cores",
    "traced_cores": "Traced Cores",
    "clock": "Clock",
    "frequency": "Frequency",
    "collected": "Collected",
    "limits": "Limits",
}
"""Facts of the diagnosis that stand in the first table, and what they are called there."""

_HEADS = ("AIC: ", "AIV: ", "Frequency: ", "Collected: ", "What limits this: ", "Simulator clock ")


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A finding among those of all kernels of a run."""

    finding: Finding
    diagnosis: Diagnosis
    name: str
    """What the tables call it: unique in the report."""


def render(
    connection: sqlite3.Connection,
    run_id: int,
    options: Options | None = None,
    *,
    kernel_id: int | None = None,
    profile: str = "default",
) -> str:
    """The Markdown report of a run, or of one launch of it; reads only.

    Raises:
        UsageError: an unknown profile, or a template folder that is none.
    """
    chosen = options or Options()
    context = report_context(connection, run_id, kernel_id=kernel_id, profile=profile)
    if not chosen.show_paths:
        context = everywhere(context, without_paths)
    loader: Any = PackageLoader("opprof_db.report", "templates")
    if chosen.template_dir is not None:
        if not chosen.template_dir.is_dir():
            raise UsageError(f"{chosen.template_dir} is not a folder", "--template takes a folder with Jinja templates")
        loader = ChoiceLoader([FileSystemLoader(chosen.template_dir), loader])
    # Not HTML: whatever a template prints is made a cell by ``finalize`` instead, in templates of users too.
    environment = Environment(
        loader=loader,
        autoescape=False,
        undefined=StrictUndefined,
        finalize=cell,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(TEMPLATE).render(context)


def report_context(
    connection: sqlite3.Connection, run_id: int, *, kernel_id: int | None = None, profile: str = "default"
) -> dict[str, Any]:
    """What the template gets, plain data: see docs/reports.md."""
    chosen = [(kernel_id, 1)] if kernel_id is not None else representatives(connection, run_id)
    counts = dict(chosen)
    made = [diagnose(connection, each, profile=profile) for each in counts]
    launches = [Launch(one.kernel_id, one.operator, one.duration_us, counts[one.kernel_id]) for one in made]
    ranked = _ranked(made)
    shown = ranked[:_TOP]
    key = key_figures(connection, launches, _TOP)
    suggestions = _suggestions(connection, shown)
    return {
        "context_version": CONTEXT_VERSION,
        "basics": _basics(connection, run_id, made, counts, profile),
        "key_data": [
            {"name": row.name or f"kernel:{row.kernel_id}", "metric": row.metric, "value": row.value} for row in key
        ],
        "key_data_note": _key_note(key),
        "bottlenecks": [
            {"name": one.name, "conclusion": _conclusion(one), "evidence": _evidence(one.finding)} for one in shown
        ],
        "bottlenecks_note": _bottleneck_note(ranked, made),
        "suggestions": suggestions,
        "suggestions_note": _suggestion_note(suggestions, ranked),
    }


def _basics(
    connection: sqlite3.Connection, run_id: int, made: Sequence[Diagnosis], counts: Mapping[int, int], profile: str
) -> list[dict[str, Any]]:
    """Rows of the first table; facts that were not recorded have none."""
    run, mode, status, missing, started, chip = connection.execute(
        "SELECT run, mode, status, missing, started_at, chip FROM run_overview WHERE run_id = ?", (run_id,)
    ).fetchone()
    one = made[0] if len(made) == 1 else None
    rows: list[tuple[str, Any]] = [("Mode", one.mode if one else mode), ("Run", run), ("Started", started)]
    if one:
        rows += _kernel_basics(connection, one, counts[one.kernel_id])
    else:
        names = list(dict.fromkeys(each.operator or f"kernel:{each.kernel_id}" for each in made))
        rows.append(("Kernels", f"{len(made)}, {sum(counts.values())} launches: {_listed(names)}"))
        total = [each.duration_us * counts[each.kernel_id] for each in made if each.duration_us is not None]
        if total:
            rows.append(("Task Duration", f"about {figure(sum(total))} us of all launches (medians times launches)"))
    rows.append(("Chip", chip or "not recorded"))
    if one:
        rows += [(_FACTS[fact.name], _without_head(fact.sentence)) for fact in one.facts if fact.name in _FACTS]
    for kind, key, value in connection.execute(
        "SELECT kind, key, value FROM run_conditions WHERE run_id = ? ORDER BY kind, key LIMIT ?",
        (run_id, _CONDITIONS_SHOWN),
    ):
        rows.append((f"{'Label' if kind == 'label' else 'Condition'} {key}", value))
    rows.append(("Status", f"{status}{f': {missing}' if missing else ''}"))
    problems = connection.execute("SELECT issues FROM run_overview WHERE run_id = ?", (run_id,)).fetchone()[0]
    if problems:
        rows.append(("Problems", f"{problems} met when the files were read; 'opprof-db issues {run_id}' lists them"))
    rules = made[0].rules_version.partition("-")[0] if made else None
    rows.append(("Rules", f"profile {profile}, version {rules}" if rules else None))
    return [{"field": field, "content": content} for field, content in rows if content is not None]


def _without_head(sentence: str) -> str:
    """The field names it already: "Frequency: rated …" is "rated …"."""
    for head in _HEADS:
        sentence = sentence.removeprefix(head)
    return sentence.rstrip(".")


def _kernel_basics(connection: sqlite3.Connection, one: Diagnosis, launches: int) -> list[tuple[str, Any]]:
    name, op_type, device, block_dim, mix_block_dim = connection.execute(
        "SELECT name, op_type, device_id, block_dim, mix_block_dim FROM kernel_overview WHERE kernel_id = ?",
        (one.kernel_id,),
    ).fetchone()
    blocks = None if block_dim is None else f"{block_dim:,}"
    if blocks is not None and mix_block_dim is not None:
        blocks += f" (mix block dim {mix_block_dim:,})"
    duration = "not recorded" if one.duration_us is None else f"{exact(one.duration_us)} us"
    if launches > 1:
        duration += f" (median of {launches} launches)"
    return [
        ("Operator", one.operator or "not recorded"),
        ("Kernel", name),
        ("Type", op_type),
        ("Device", device),
        ("Task Duration", duration),
        ("Block Dim", blocks),
    ]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_TOP]) + (", …" if len(names) > _TOP else "")


def _ranked(made: Sequence[Diagnosis]) -> list[_Ranked]:
    """Findings of all kernels, the most time at stake first; names are unique."""
    held = [(finding, diagnosis) for diagnosis in made for finding in diagnosis.findings]
    # Stable: within a kernel the diagnosis has ranked them already.
    held.sort(key=lambda pair: -weight(pair[0]))
    found: list[_Ranked] = []
    used: dict[str, int] = {}
    for finding, diagnosis in held:
        name = finding.title
        if len(made) > 1:
            name += f" ({diagnosis.operator or f'kernel:{diagnosis.kernel_id}'})"
        used[name] = used.get(name, 0) + 1
        found.append(_Ranked(finding, diagnosis, name if used[name] == 1 else f"{name} ({used[name]})"))
    return found


def _conclusion(one: _Ranked) -> str:
    finding = one.finding
    text = f"{finding.sentence} Severity {finding.severity}, {finding.confidence} confidence"
    if finding.recoverable_us is not None:
        text += f"; up to {figure(finding.recoverable_us)} us at stake"
        if one.diagnosis.duration_us:
            text += f", {percent(finding.recoverable_us / one.diagnosis.duration_us)} of the task duration"
    return f"{text}."


def _evidence(finding: Finding) -> str:
    parts = [cited(item) for item in finding.evidence[:_EVIDENCE_SHOWN]]
    if len(finding.evidence) > _EVIDENCE_SHOWN:
        more = len(finding.evidence) - _EVIDENCE_SHOWN
        parts.append(f"{more} more figure{'s' if more > 1 else ''}")
    return "; ".join(parts) or "no single figure"


def cited(item: Evidence) -> str:
    """A figure and the table, column and row it stands in."""
    keys = [str(value) for key, value in item.row.items() if key not in ("kernel_id", "id", "family")]
    where = f" ({' '.join(keys)})" if keys else ""
    value = item.value
    number = figure(value) if isinstance(value, int | float) else "NULL" if value is None else str(value)
    unit = f" {item.unit}" if item.unit else ""
    return f"{item.table}.{item.column}{where} = {number}{unit}"


def _suggestions(connection: sqlite3.Connection, shown: Sequence[_Ranked]) -> list[dict[str, str]]:
    """One for each bottleneck in turn, then a second one for the first: the rule's own advice, then known entries."""
    queues = [_advice(one) for one in shown]
    entries: dict[int, dict[str, list[str]]] = {}
    for one in shown:
        kernel = one.diagnosis.kernel_id
        if kernel not in entries:
            entries[kernel] = _entries(connection, one.diagnosis)
        queues[shown.index(one)] += entries[kernel].pop(one.finding.rule, [])
    found: list[dict[str, str]] = []
    seen: set[str] = set()
    for turn in range(max(map(len, queues), default=0)):
        for one, queue in zip(shown, queues, strict=True):
            if turn < len(queue) and queue[turn] not in seen and len(found) < _TOP:
                seen.add(queue[turn])
                found.append({"name": f"S{len(found) + 1}", "suggestion": queue[turn], "bottleneck": one.name})
    return found


def _advice(one: _Ranked) -> list[str]:
    expected = ", ".join(f"{move.column} {move.direction}" for move in one.finding.expected)
    behind = f" Expect: {expected}." if expected else ""
    return [f"{_plain(text)}{behind}" for text in one.finding.advice]


def _plain(text: str) -> str:
    """A sentence of a rule or entry without marks for code, which a cell would show as they are."""
    return text.replace("`", "'")


def _entries(connection: sqlite3.Connection, diagnosis: Diagnosis) -> dict[str, list[str]]:
    """Knowledge entries by the first finding they answer."""
    found: dict[str, list[str]] = {}
    for entry in answers(connection, diagnosis, limit=_TOP):
        gain = f" Elsewhere: {entry.gain}." if entry.gain else ""
        text = _plain(f"{entry.title}: {entry.summary}{gain} (`opprof-db kb show {entry.entry}`)")
        found.setdefault(entry.rules[0], []).append(text)
    return found


def _key_note(key: Sequence[KeyFigure]) -> str | None:
    if len(key) >= _TOP:
        return None
    return f"{_only(len(key))}: the run records no further figures of this kind."


def _bottleneck_note(ranked: Sequence[_Ranked], made: Sequence[Diagnosis]) -> str | None:
    if len(ranked) > _TOP:
        return f"{len(ranked) - _TOP} more findings with less at stake are not shown."
    if len(ranked) == _TOP:
        return None
    blind = [one for diagnosis in made for one in diagnosis.outcomes if one.outcome == "could_not_look"]
    reason = f"{_only(len(ranked))}: no other rule found a problem"
    if not blind:
        return f"{reason}."
    # Most rules lack the same thing; the reasons most of them give say what to collect.
    told: dict[str, int] = {}
    for one in blind:
        text = _plain(one.sentence).removeprefix("Could not look: ").rstrip(".")
        told[text] = told.get(text, 0) + 1
    often = sorted(told, key=lambda text: -told[text])[:2]
    of = "" if len(made) == 1 else f" in {len(made)} kernels"
    return f"{reason}, and {len(blind)}{of} could not look ({'; '.join(often)}{'; …' if len(told) > 2 else ''})."


def _suggestion_note(suggestions: Sequence[object], ranked: Sequence[object]) -> str | None:
    if len(suggestions) >= _TOP:
        return None
    if not ranked:
        return "None: no bottleneck was found that a suggestion could answer."
    return f"{_only(len(suggestions))}: the bottlenecks found lead to no further advice."


def _only(count: int) -> str:
    return "None" if count == 0 else f"Only {count}"
