"""Prints a diagnosis for people: facts, then one block a finding; in colour on a terminal, plain elsewhere."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable

from opprof_db.analysis.findings import Diagnosis, Evidence, Finding
from opprof_db.analysis.recommend import Recommendation
from opprof_db.cli.output import pretty, shown

_COLOURS = {"critical": "1;31", "high": "31", "medium": "33", "low": "36", "info": "2", "title": "1", "dim": "2"}
_ARROWS = {"up": "↑", "down": "↓", "same": "="}
_WIDEST, _PLAIN_WIDTH, _INDENT, _LABEL = 110, 100, 5, 10
_EVIDENCE_SHOWN = 6


def print_full(diagnosis: Diagnosis, entries: Iterable[Recommendation] = (), *, everything: bool = False) -> None:
    """Everything about one kernel; ``entries`` of the knowledge base are named below the findings."""
    page = _Page()
    page.line(page.paint("title", _heading(diagnosis)))
    page.line()
    for fact in diagnosis.facts:
        page.wrapped(fact.sentence, "  · ", "    ")
    findings = diagnosis.findings
    page.line()
    if not findings:
        page.line("No rule found anything." if diagnosis.outcomes else "No rule looked.")
    for number, finding in enumerate(findings, 1):
        _finding(page, number, finding, diagnosis)
    _known(page, diagnosis, list(entries))
    _others(page, diagnosis, everything=everything)
    page.line(page.paint("dim", f"profile {diagnosis.profile}, rules {diagnosis.rules_version.partition('-')[0]}"))


def print_brief(diagnosis: Diagnosis) -> None:
    """One kernel of a run: its findings, a line or two each."""
    page = _Page()
    page.line(page.paint("title", _heading(diagnosis)))
    for number, finding in enumerate(diagnosis.findings, 1):
        _title(page, number, finding, diagnosis)
        page.wrapped(finding.sentence, " " * _INDENT, " " * _INDENT)
    if not diagnosis.findings:
        page.line("  no rule found anything")
    page.line()


def _heading(diagnosis: Diagnosis) -> str:
    took = f"{diagnosis.duration_us:,.2f} us" if diagnosis.duration_us is not None else "no duration"
    return shown(f"kernel:{diagnosis.kernel_id}  {diagnosis.operator or '(unnamed)'}  {took}  ({diagnosis.mode})")


class _Page:
    """Lines on stdout, as wide as fits."""

    def __init__(self) -> None:
        self._colour = pretty(sys.stdout)
        width = shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns if self._colour else _PLAIN_WIDTH
        self.width = max(40, min(width, _WIDEST))

    def paint(self, style: str, text: str) -> str:
        """A text in its colour, or as it is."""
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self._colour else text

    def line(self, text: str = "") -> None:
        """One line."""
        sys.stdout.write(text.rstrip() + "\n")

    def wrapped(self, text: str, first: str, rest: str) -> None:
        """A paragraph. Texts from files lose their control characters."""
        for line in textwrap.wrap(
            shown(text), self.width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
        ):
            self.line(line)

    def listed(self, label: str, texts: Iterable[str]) -> None:
        """Paragraphs behind a label."""
        for at, text in enumerate(texts):
            head = " " * _INDENT + (label if at == 0 else "").ljust(_LABEL)
            self.wrapped(text, head, " " * (_INDENT + _LABEL))


def _title(page: _Page, number: int, finding: Finding, diagnosis: Diagnosis) -> None:
    at_stake = ""
    if finding.recoverable_us is not None:
        share = f", {finding.recoverable_us / diagnosis.duration_us:.0%}" if diagnosis.duration_us else ""
        at_stake = f"  up to {finding.recoverable_us:,.1f} us{share}"
    severity = page.paint(finding.severity, finding.severity.upper().ljust(8))
    page.line(
        f"{number:>3}. {severity} {page.paint('title', finding.title)}{at_stake}  "
        + page.paint("dim", f"[{finding.rule}, {finding.confidence} confidence]")
    )


def _finding(page: _Page, number: int, finding: Finding, diagnosis: Diagnosis) -> None:
    _title(page, number, finding, diagnosis)
    page.wrapped(finding.sentence, " " * _INDENT, " " * _INDENT)
    if finding.recoverable_why:
        page.listed("at stake", [finding.recoverable_why])
    page.listed("try", finding.advice)
    page.listed("expect", [_movements(finding)] if finding.expected else [])
    page.listed("next", finding.measure_next)
    page.listed("evidence", [_evidence(item) for item in finding.evidence[:_EVIDENCE_SHOWN]])
    if len(finding.evidence) > _EVIDENCE_SHOWN:
        more = len(finding.evidence) - _EVIDENCE_SHOWN
        page.listed("", [f"{more} more: --format json shows all"])
    page.line()


def _movements(finding: Finding) -> str:
    parts = [
        f"{_ARROWS[move.direction]} {move.column}{f' ({move.why})' if move.why else ''}" for move in finding.expected
    ]
    return ", ".join(parts)


def _evidence(item: Evidence) -> str:
    keys = {key: value for key, value in item.row.items() if key not in ("kernel_id", "id", "family")}
    where = f" [{' '.join(str(value) for value in keys.values())}]" if keys else ""
    value = f"{item.value:,.6g}" if isinstance(item.value, float) else "NULL" if item.value is None else str(item.value)
    if isinstance(item.value, int):
        value = f"{item.value:,}"
    unit = f" {item.unit}" if item.unit else ""
    return f"{item.table}.{item.column}{where} = {value}{unit}{f': {item.note}' if item.note else ''}"


def _known(page: _Page, diagnosis: Diagnosis, entries: list[Recommendation]) -> None:
    """Entries of the knowledge base, a line each."""
    if not entries:
        return
    page.line(page.paint("title", f"Known about this (`opprof-db recommend kernel:{diagnosis.kernel_id}` says more)"))
    width = max(len(each.entry) for each in entries)
    for each in entries:
        here = f"; here {each.improved[0].speed_up:.3g} times as fast" if each.improved else ""
        page.wrapped(f"{each.entry.ljust(width)}  {each.title}{here}", "  > ", " " * (width + 6))
    page.line()


def _others(page: _Page, diagnosis: Diagnosis, *, everything: bool) -> None:
    """What was looked at without a finding, and what could not be looked at: two different things."""
    blind = [one for one in diagnosis.outcomes if one.outcome == "could_not_look"]
    clear = [one for one in diagnosis.outcomes if one.outcome == "no_problem"]
    if not everything:
        parts = []
        if clear:
            parts.append(f"{len(clear)} rules found no problem")
        if blind:
            parts.append(f"{len(blind)} could not look")
        if parts:
            page.line(f"{', '.join(parts)}; --all shows them.")
        return
    grouped: dict[str, list[str]] = {}
    for one in blind:
        grouped.setdefault(one.sentence, []).append(one.rule)
    if grouped:
        page.line(page.paint("title", "Could not look"))
        for sentence, rules in grouped.items():
            text = sentence.removeprefix("Could not look: ")
            page.wrapped(f"{', '.join(rules)}: {text}", "  ? ", "    ")
    if clear:
        page.line(page.paint("title", "No problem"))
        for one in clear:
            page.wrapped(f"{one.rule}: {one.sentence}", "  - ", "    ")
