"""From what a launch shows to what helps: findings, kind of operator and counters lead to knowledge entries.

How entries are ranked, all of it:

- An entry that answers a finding's rule counts 1 / (1 + place of the finding); findings of severity info count a
  seventh of that, and lead only to entries mainly about them. Times how well it fits: 1 where a pattern is named after
  the rule, 0.9 where the rule is the main one of another entry, 0.7 of another pattern, 0.5 elsewhere. Times its kind:
  pattern 1, recipe 0.95, a case recorded in this warehouse 0.75, another case 0.55, tip 0.4.
- A recipe or case about the launch's kind of operator counts a tenth more. Without any finding it counts 0.3 (recipe)
  or 0.15 (case, tip).
- Thresholds of the entry on counters: all met, a twentieth more; one missed, a fifth less.
- An entry for other chips or other kinds of kernel is left out, a recipe for another operator too; a case about another
  operator counts 0.6 of its value.
"""

from __future__ import annotations

import operator as operators
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opprof_db.analysis.diagnose import at_stake, diagnose, representatives
from opprof_db.analysis.entry_metrics import CORE, EntryMetrics
from opprof_db.analysis.findings import Diagnosis, Finding, Movement
from opprof_db.analysis.improved import Improved, improved
from opprof_db.knowledge.library import Library
from opprof_db.knowledge.library import library as in_force
from opprof_db.knowledge.model import Entry
from opprof_db.knowledge.operators import kinds, kinds_of
from opprof_db.knowledge.recorded import ORIGIN, recorded_entries
from opprof_db.knowledge.showing import gain_text

DEFAULT_LIMIT = 5
INFO_WEIGHT = 1 / 7
NAMED_AFTER, MAIN_RULE, MAIN_RULE_OF_PATTERN, OTHER_RULE = 1.0, 0.9, 0.7, 0.5
KIND_WEIGHT: Mapping[str, float] = {"pattern": 1.0, "recipe": 0.95, "case": 0.55, "tip": 0.4}
RECORDED_WEIGHT = 0.75
SAME_OPERATOR, OTHER_OPERATOR = 1.1, 0.6
OPERATOR_ALONE: Mapping[str, float] = {"recipe": 0.3, "case": 0.15, "tip": 0.15}
CONDITIONS_MET, CONDITION_MISSED = 1.05, 0.8
METRIC_SETS = "tip-metric-sets"
"""What is shown where many rules could not look."""
BLIND_RULES, BLIND_SCORE = 5, 0.2
_TESTS = {"<": operators.lt, "<=": operators.le, ">": operators.gt, ">=": operators.ge}
_CITATION = re.compile(r"\[\^[^\]\s]+\]")
_LINK = re.compile(r"\[\[([^\]]+)\]\]")


@dataclass(frozen=True, slots=True)
class Recommendation:
    """An entry that fits a launch, and why."""

    entry: str
    """Id: ``opprof-db kb show ID`` shows it whole."""
    kind: str
    """pattern, recipe, case or tip."""
    title: str
    summary: str
    reason: str
    """Why it is shown, with the figures of the launch."""
    rules: tuple[str, ...]
    """Findings of the launch that it answers, the first one first; none where only the operator led here."""
    score: float
    """See the module; only its order means something."""
    expected: tuple[Movement, ...]
    """Which metric should move which way."""
    verify: str
    """How to see that it worked, as the entry says."""
    verify_command: str | None
    """The command that compares the two launches with the promise; ``None`` where the entry promises no movement."""
    gain: str | None
    """What it brought elsewhere, never a promise; ``None`` where no source gives a figure."""
    confidence: str
    """measured, reported or inferred."""
    improved: tuple[Improved, ...] = ()
    """Launches of this warehouse that improved in this way, the most alike first."""


@dataclass(slots=True)
class _Fit:
    entry: Entry
    score: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)


def recommend(
    connection: sqlite3.Connection,
    kernel_id: int,
    *,
    library: Library | None = None,
    limit: int = DEFAULT_LIMIT,
    diagnosis: Diagnosis | None = None,
    profile: str = "default",
) -> tuple[Recommendation, ...]:
    """The entries that fit a launch best; reads only.

    Args:
        connection: a warehouse; its recorded cases are entries too.
        kernel_id: the launch.
        library: the entries; ``None``: those in force (built-in, configuration file, ``OPPROF_KB``).
        limit: at most so many; 0: all.
        diagnosis: that of the launch, where it was made already.
        profile: of the rule set, where ``diagnosis`` is not given.

    Raises:
        UsageError: no such launch.
    """
    made = diagnosis or diagnose(connection, kernel_id, profile=profile)
    op_type, chip, name = connection.execute(
        "SELECT k.op_type, r.chip_family, coalesce(o.name, k.name) FROM kernels AS k INNER JOIN runs AS r"
        " ON r.id = k.run_id LEFT JOIN operators AS o ON o.id = k.operator_id WHERE k.id = ?",
        (kernel_id,),
    ).fetchone()
    entries = dict((library or in_force()).entries)
    for entry in recorded_entries(connection):
        entries.setdefault(entry.id, entry)
    metrics = EntryMetrics(connection, kernel_id)
    about = set(kinds_of(name))
    fits = [
        fit
        for entry in entries.values()
        if _applies(entry, op_type, chip, about) and (fit := _fit(entry, made, about, metrics)).score > 0
    ]
    fits.sort(key=lambda fit: (-fit.score, fit.entry.id))
    chosen = fits[: limit or None]
    cases = improved(connection, kernel_id, name)
    return tuple(_recommendation(fit, kernel_id, metrics, cases) for fit in chosen)


def answers(connection: sqlite3.Connection, diagnosis: Diagnosis, limit: int = 3) -> tuple[Recommendation, ...]:
    """The entries in force that answer a diagnosis' findings, for a short mention beside them."""
    found = recommend(connection, diagnosis.kernel_id, limit=0, diagnosis=diagnosis)
    return tuple(each for each in found if each.rules)[:limit]


def recommend_run(
    connection: sqlite3.Connection, run_id: int, *, library: Library | None = None, limit: int = DEFAULT_LIMIT
) -> tuple[tuple[Diagnosis, tuple[Recommendation, ...]], ...]:
    """Diagnosis and recommendations of a run's kernels (their median launches), most time at stake first."""
    made = [diagnose(connection, kernel_id) for kernel_id, _ in representatives(connection, run_id)]
    made.sort(key=lambda one: (-at_stake(one), -(one.duration_us or 0.0), one.kernel_id))
    entries = library or in_force()
    return tuple(
        (one, recommend(connection, one.kernel_id, library=entries, limit=limit, diagnosis=one)) for one in made
    )


def _applies(entry: Entry, op_type: str | None, chip: str | None, about: set[str]) -> bool:
    head = entry.head
    if head.op_types and op_type is not None and op_type not in head.op_types:
        return False
    if head.chips and chip is not None and chip not in head.chips and head.kind != "case":
        return False
    return head.kind != "recipe" or not head.operators or bool(about & set(head.operators))


def _fit(entry: Entry, diagnosis: Diagnosis, about: set[str], metrics: EntryMetrics) -> _Fit:
    head = entry.head
    fit = _Fit(entry)
    same = sorted(about & set(head.operators))
    for place, finding in enumerate(diagnosis.findings):
        info = finding.severity == "info"
        if finding.rule not in (head.rules[:1] if info else head.rules):
            continue
        weight = (INFO_WEIGHT if info else 1.0) / (1 + place)
        fit.score = max(fit.score, weight * _closeness(entry, finding.rule) * _kind_weight(entry))
        fit.findings.append(finding)
    if fit.findings:
        fit.reasons.append(fit.findings[0].sentence)
        fit.score *= _conditions(entry, metrics, fit)
        if head.kind in OPERATOR_ALONE and head.operators:
            fit.score *= SAME_OPERATOR if same else OTHER_OPERATOR
    elif same:
        fit.score = OPERATOR_ALONE.get(head.kind, 0.0)
    elif entry.id == METRIC_SETS:
        blind = [
            one
            for one in diagnosis.outcomes
            if one.outcome == "could_not_look" and any("--aic-metrics" in each for each in one.measure_next)
        ]
        if len(blind) >= BLIND_RULES:
            fit.score = BLIND_SCORE
            fit.reasons.append(f"{len(blind)} rules lack counters, among them {blind[0].rule}. {blind[0].sentence}")
    if same:
        titles = " and ".join(kinds()[kind].title.lower() for kind in same)
        fit.reasons.append(f"The operator's name says {titles}.")
    return fit


def _closeness(entry: Entry, rule: str) -> float:
    if entry.id == f"pattern-{rule.replace('_', '-')}":
        return NAMED_AFTER
    if entry.head.rules[0] != rule:
        return OTHER_RULE
    return MAIN_RULE_OF_PATTERN if entry.head.kind == "pattern" else MAIN_RULE


def _kind_weight(entry: Entry) -> float:
    return RECORDED_WEIGHT if entry.origin == ORIGIN else KIND_WEIGHT[entry.head.kind]


def _conditions(entry: Entry, metrics: EntryMetrics, fit: _Fit) -> float:
    """What the entry's thresholds make of the score; those met are said."""
    met: list[str] = []
    for condition in entry.head.conditions:
        held = metrics.of(condition.metric)
        if not held:
            continue
        hits = [value for value in held if _TESTS[condition.test](value.value, condition.value)]
        if not hits:
            return CONDITION_MISSED
        met.append(f"{hits[0].text()} ({condition.test} {condition.value:g})")
    if not met:
        return 1.0
    fit.reasons.append(f"Counters: {', '.join(met)}.")
    return CONDITIONS_MET


def _recommendation(fit: _Fit, kernel_id: int, metrics: EntryMetrics, cases: Sequence[Improved]) -> Recommendation:
    head = fit.entry.head
    rules = tuple(dict.fromkeys(finding.rule for finding in fit.findings))
    core = core_of(fit.findings, metrics)
    expected = tuple(Movement(each.metric.replace(CORE, core), each.direction, each.why) for each in head.expected)
    if not expected and fit.findings:
        expected = fit.findings[0].expected
    return Recommendation(
        head.id,
        head.kind,
        head.title,
        head.summary,
        " ".join(fit.reasons),
        rules,
        fit.score,
        expected,
        plain(fit.entry.section("Verify")),
        f"opprof-db verify kernel:{kernel_id} AFTER --entry {head.id}" if head.expected else None,
        gain_text(head.gain),
        head.confidence,
        tuple(case for case in cases if _shows(case, fit.entry, rules)),
    )


def _shows(case: Improved, entry: Entry, rules: Iterable[str]) -> bool:
    """Whether a recorded improvement is one of this entry: it was followed, or it made the same finding go."""
    if entry.origin == ORIGIN:
        return case.entry_id == entry.id
    if case.followed == entry.id:
        return True
    near = case.followed is None or case.followed in entry.head.related
    return near and bool(set(case.gone) & set(rules))


def core_of(findings: Sequence[Finding], metrics: EntryMetrics) -> str:
    """Which kind of core ``{core}`` means: the one the first finding rests on, else the one that takes longest."""
    for finding in findings:
        for item in finding.evidence:
            if item.column.startswith(("aic_", "aiv_")):
                return item.column[:3]
    times = {core: metrics.of(f"{core}_time_us") for core in ("aiv", "aic")}
    return max(times, key=lambda core: max((value.value for value in times[core]), default=0.0))


def plain(text: str) -> str:
    """Markdown of an entry as one paragraph: without citations, links as names."""
    text = _LINK.sub(r"\1", _CITATION.sub("", text))
    return " ".join(text.split())
