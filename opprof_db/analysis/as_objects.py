"""Diagnoses as plain values for JSON: the shape that ``diagnose --format json`` and agents get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from opprof_db.analysis.findings import Diagnosis, Evidence, Fact, Finding

if TYPE_CHECKING:
    from opprof_db.analysis.recommend import Recommendation


def diagnosis_object(
    diagnoses: Sequence[Diagnosis],
    *,
    everything: bool = False,
    entries: Mapping[int, Sequence[Recommendation]] | None = None,
) -> dict[str, Any]:
    """``{"facts": […], "findings": […]}``, the most important finding first, whichever kernel it is about.

    With ``entries`` of the knowledge base, by kernel, also ``"recommendations": […]``.

    ``everything``: outcomes without a finding follow the findings; ``outcome`` tells them apart.
    """
    from opprof_db.analysis.diagnose import weight

    outcomes = [
        (finding, diagnosis)
        for diagnosis in diagnoses
        for finding in (diagnosis.outcomes if everything else diagnosis.findings)
    ]
    if len(diagnoses) > 1:
        outcomes.sort(key=lambda pair: (pair[0].outcome != "finding", -weight(pair[0])))
    made: dict[str, Any] = {
        "facts": [fact_object(fact, diagnosis) for diagnosis in diagnoses for fact in diagnosis.facts],
        "findings": [finding_object(finding, diagnosis) for finding, diagnosis in outcomes],
    }
    if entries is not None:
        made["recommendations"] = [
            recommendation_object(kernel_id, each) for kernel_id, found in entries.items() for each in found
        ]
    return made


def recommendation_object(kernel_id: int, each: Recommendation) -> dict[str, Any]:
    """One entry of the knowledge base that fits a launch, with why."""
    return {"kernel_id": kernel_id, **asdict(each)}


def fact_object(fact: Fact, diagnosis: Diagnosis) -> dict[str, Any]:
    """One fact."""
    return {
        "kernel_id": diagnosis.kernel_id,
        "name": fact.name,
        "value": fact.value,
        "unit": fact.unit,
        "sentence": fact.sentence,
        "evidence": [evidence_object(item) for item in fact.evidence],
    }


def finding_object(finding: Finding, diagnosis: Diagnosis) -> dict[str, Any]:
    """One outcome of a rule."""
    share = None
    if finding.recoverable_us is not None and diagnosis.duration_us:
        share = finding.recoverable_us / diagnosis.duration_us
    return {
        "rule": finding.rule,
        "outcome": finding.outcome,
        "kernel_id": finding.kernel_id,
        "operator": diagnosis.operator,
        "severity": finding.severity,
        "confidence": finding.confidence,
        "title": finding.title,
        "sentence": finding.sentence,
        "core": finding.core,
        "evidence": [evidence_object(item) for item in finding.evidence],
        "recoverable_us": finding.recoverable_us,
        "recoverable_share": share,
        "recoverable_why": finding.recoverable_why,
        "advice": list(finding.advice),
        "measure_next": list(finding.measure_next),
        "expected": [{"column": m.column, "direction": m.direction, "why": m.why} for m in finding.expected],
        "source": finding.source,
        "profile": diagnosis.profile,
        "rules_version": diagnosis.rules_version,
    }


def evidence_object(item: Evidence) -> dict[str, Any]:
    """One number and where it stands."""
    return {
        "table": item.table,
        "column": item.column,
        "row": dict(item.row),
        "value": item.value,
        "unit": item.unit,
        "note": item.note,
    }
