"""What holds a kernel back: the facts first, then every rule of a profile with one of its three outcomes.

Rules are data (``rules/rules.toml``), what they look at are named functions (``predicates``). Findings are ranked by
the time at stake, an upper bound from the counters, times how sure the rule is: what is likely and large comes first.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace

from opprof_db.analysis import work as works
from opprof_db.analysis.facts import facts_of
from opprof_db.analysis.findings import Confidence, Diagnosis, Finding, Movement, Severity
from opprof_db.analysis.measures import Measures, prefix
from opprof_db.analysis.predicates import PREDICATES, CouldNotLookError, Verdict
from opprof_db.analysis.rules import Rule, rule_set
from opprof_db.analysis.stored_findings import store
from opprof_db.analysis.work import Work
from opprof_db.catalog import load, table_name
from opprof_db.errors import UsageError

__all__ = ["at_stake", "diagnose", "diagnose_run", "representatives", "store", "weight"]

CERTAINTY: Mapping[Confidence, float] = {"high": 1.0, "medium": 0.5, "low": 0.25}
"""What an upper bound counts for in the ranking."""
GRADES: tuple[tuple[float, Severity], ...] = ((0.5, "critical"), (0.2, "high"), (0.05, "medium"))
"""Severity by the share of the duration at stake, certainty counted; below the last: low."""
_SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low", "info")
_OUTCOMES = ("finding", "could_not_look", "no_problem")


def diagnose(
    connection: sqlite3.Connection, kernel_id: int, *, profile: str = "default", work: Work | None = None
) -> Diagnosis:
    """Diagnose one launch; reads only. ``work`` wins over what is stored for its operator.

    Raises:
        UsageError: no such kernel or profile.
    """
    rules = rule_set().of_profile(profile)
    measures = Measures(connection, kernel_id)
    if connection.execute("SELECT 1 FROM kernels WHERE id = ?", (kernel_id,)).fetchone() is None:
        raise UsageError(f"there is no kernel:{kernel_id}", "`opprof-db kernels` lists them with their ids")
    kernel = measures.kernel
    measures.work = work or works.stored(connection, kernel["operator"])
    judged = [finding for rule in rules for finding in _judge(rule, measures, profile)]
    return Diagnosis(
        kernel_id,
        kernel["run_id"],
        kernel["operator"] or kernel["folder_name"],
        kernel["mode"],
        measures.duration_us,
        profile,
        rule_set().version,
        facts_of(measures),
        tuple(ranked(_yielding(judged))),
    )


def diagnose_run(
    connection: sqlite3.Connection, run_id: int, *, profile: str = "default", every_launch: bool = False
) -> tuple[Diagnosis, ...]:
    """Diagnose the launches of a run, the one with most time at stake first.

    Of launches of the same kernel (device, name, block dim) the one with the median duration stands for all, unless
    ``every_launch``.
    """
    chosen = representatives(connection, run_id)
    kernel_ids = [kernel for kernel, _ in chosen] if not every_launch else _all_launches(connection, run_id)
    made = [diagnose(connection, kernel_id, profile=profile) for kernel_id in kernel_ids]
    return tuple(sorted(made, key=lambda one: (-at_stake(one), -(one.duration_us or 0.0), one.kernel_id)))


def _all_launches(connection: sqlite3.Connection, run_id: int) -> list[int]:
    return [row[0] for row in connection.execute("SELECT id FROM kernels WHERE run_id = ? ORDER BY id", (run_id,))]


def representatives(connection: sqlite3.Connection, run_id: int) -> list[tuple[int, int]]:
    """(kernel id of the launch with the median duration, launches) of every kernel of a run."""
    groups: dict[tuple[object, ...], list[tuple[float, int]]] = {}
    for kernel_id, device, name, block_dim, duration, folder in connection.execute(
        "SELECT id, device_id, name, block_dim, duration_us, folder_name FROM kernels WHERE run_id = ? ORDER BY id",
        (run_id,),
    ):
        key = (device, name or folder, block_dim) if name or folder else (kernel_id,)
        groups.setdefault(key, []).append((duration or 0.0, kernel_id))
    return [(sorted(held)[(len(held) - 1) // 2][1], len(held)) for held in groups.values()]


def at_stake(diagnosis: Diagnosis) -> float:
    """Largest time at stake in a diagnosis, us, certainty counted."""
    return max((weight(finding) for finding in diagnosis.findings), default=0.0)


def weight(finding: Finding) -> float:
    """What a finding is ranked by: time at stake, us, times the rule's certainty."""
    return (finding.recoverable_us or 0.0) * CERTAINTY[finding.confidence]


def could_not_look(rule: Rule, measures: Measures, reason: CouldNotLookError) -> Finding:
    """The outcome of a rule that lacks something, with what to collect."""
    sets = metric_sets(reason.wants, measures.header_family)
    how = []
    if sets:
        how.append(f"--aic-metrics={sets}")
    if reason.how:
        how.append(reason.how)
    do = "; ".join(how) or "collect the run again"
    sentence = f"Could not look: {reason.what}; collect {do}." if sets else f"Could not look: {reason.what}; {do}."
    return Finding(
        rule.id,
        "could_not_look",
        measures.kernel_id,
        rule.title,
        sentence,
        confidence="high",
        measure_next=tuple(how),
        source=rule.source,
    )


def metric_sets(wants: Iterable[str], family: str) -> str:
    """Values of ``--aic-metrics`` that fill some columns on a chip family, joined by commas."""
    found: dict[str, None] = {}
    for want in wants:
        table, _, column = want.partition(".")
        for metric in load().metrics:
            if metric.column == column and table_name(metric.family) == table:
                for name in metric.metric_set_on(family).split(","):
                    found[name] = None
    return ",".join(found)


def _judge(rule: Rule, measures: Measures, profile: str) -> list[tuple[Rule, Finding, str | None]]:
    try:
        verdicts = PREDICATES[rule.predicate](measures, rule.limits_in(profile))
    except CouldNotLookError as reason:
        return [(rule, could_not_look(rule, measures, reason), None)]
    several = verdicts if isinstance(verdicts, tuple) else (verdicts,)
    found = [verdict for verdict in several if verdict.found]
    # One "no problem" is enough for a rule, however many kinds of core it looked at.
    if not found:
        return [(rule, _no_problem(rule, measures, several), None)]
    return [(rule, _finding(rule, measures, verdict), verdict.kind) for verdict in found]


def _no_problem(rule: Rule, measures: Measures, verdicts: tuple[Verdict, ...]) -> Finding:
    notes = [verdict.note for verdict in verdicts if verdict.note]
    sentence = "; ".join(notes) or "nothing to look at"
    return Finding(
        rule.id,
        "no_problem",
        measures.kernel_id,
        rule.title,
        f"{_capital(sentence)}.",
        confidence="high",
        evidence=tuple(item for verdict in verdicts for item in verdict.evidence),
        source=rule.source,
    )


def _finding(rule: Rule, measures: Measures, verdict: Verdict) -> Finding:
    sentence = rule.sentence.format(**verdict.values)
    share = None
    if verdict.recoverable_us is not None and measures.duration_us:
        share = verdict.recoverable_us / measures.duration_us
    kind = verdict.kind or next(iter(measures.kinds), "aiv")
    return Finding(
        rule.id,
        "finding",
        measures.kernel_id,
        rule.title,
        _capital(sentence),
        verdict.severity or _graded(share, verdict),
        verdict.confidence,
        verdict.core,
        verdict.evidence,
        verdict.recoverable_us,
        verdict.why,
        tuple(_filled(text, verdict.values) for text in rule.advice),
        rule.measure_next,
        tuple(_filled_in(movement, kind, verdict.values) for movement in rule.expected),
        rule.source,
    )


def _capital(sentence: str) -> str:
    """A sentence begins with a capital letter, names of cores and commands as they are."""
    return sentence if re.match(r"core\d|--", sentence) else sentence[:1].upper() + sentence[1:]


def _graded(share: float | None, verdict: Verdict) -> Severity:
    if share is None:
        return "low" if verdict.recoverable_us is None else "medium"
    counted = share * CERTAINTY[verdict.confidence]
    return next((grade for least, grade in GRADES if counted >= least), "low")


def _filled(text: str, values: Mapping[str, object]) -> str:
    """Advice may name figures; braces of code in it stay."""
    try:
        return text.format(**values)
    except (KeyError, IndexError, ValueError):
        return text


def _filled_in(movement: Movement, kind: str, values: Mapping[str, object]) -> Movement:
    """Columns may name the kind of core and what the predicate calls ``*_column``."""
    names = {name: value for name, value in values.items() if name.endswith("_column")}
    return replace(movement, column=movement.column.format(kind=prefix(kind), **names))


def _yielding(judged: list[tuple[Rule, Finding, str | None]]) -> list[tuple[Rule, Finding, str | None]]:
    """Where a rule that says the same with its cause found something, the general one is silent, and says so."""
    found = {(rule.id, kind) for rule, finding, kind in judged if finding.outcome == "finding"}
    kept = []
    for rule, finding, kind in judged:
        before = [name for name in rule.yields_to if finding.outcome == "finding" and _says_so(name, kind, found)]
        if before:
            silent = replace(
                finding,
                outcome="no_problem",
                sentence=f"{finding.sentence} (said by {before[0]})",
                severity="info",
                recoverable_us=None,
                recoverable_why=None,
                advice=(),
                measure_next=(),
                expected=(),
            )
            kept.append((rule, silent, kind))
        else:
            kept.append((rule, finding, kind))
    return kept


def _says_so(name: str, kind: str | None, found: set[tuple[str, str | None]]) -> bool:
    other, _, only = name.partition(":")
    if only and kind != only:
        return False
    kinds = {held for rule, held in found if rule == other}
    return bool(kinds) and (kind is None or None in kinds or kind in kinds or bool(only))


def ranked(judged: list[tuple[Rule, Finding, str | None]]) -> list[Finding]:
    """Findings by time at stake, then severity, then reading order; behind them what could not be looked at."""

    def key(item: tuple[Rule, Finding, str | None]) -> tuple[float, ...]:
        rule, finding, _ = item
        return (
            _OUTCOMES.index(finding.outcome),
            -weight(finding),
            _SEVERITIES.index(finding.severity),
            rule.place,
        )

    return [finding for _, finding, _ in sorted(judged, key=key)]
