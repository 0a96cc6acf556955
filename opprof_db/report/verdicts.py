"""One sentence for a kernel: how long it takes, what it spends that on, and what to look at first."""

from __future__ import annotations

from opprof_db.analysis.diagnose import weight
from opprof_db.analysis.findings import Diagnosis, Finding
from opprof_db.report.numbers import percent, readable, us_text

_KINDS = {"dominant_pipe_aic": "AIC", "dominant_pipe_aiv": "AIV", "dominant_pipe_aicore": "AI Core"}
_PIPES = {"vec": "the vector pipe", "cube": "the cube pipe", "scalar": "the scalar unit", "fixpipe": "fixpipe"}


def verdict(diagnosis: Diagnosis, shares: dict[str, tuple[str, float]]) -> str:
    """The sentence. ``shares`` holds per core kind its busiest pipe and that pipe's share of the core time (0..1)."""
    parts = [_takes(diagnosis)]
    leading = [
        f"{_PIPES.get(pipe, pipe.upper())} is busy for {percent(share)} of the {name} time"
        for fact, name in _KINDS.items()
        if any(held.name == fact for held in diagnosis.facts)
        for pipe, share in [shares.get(name.lower().replace(" ", ""), (None, None))]
        if pipe is not None and share is not None
    ]
    if leading:
        parts.append(" and ".join(leading))
    sentence = "; ".join(part for part in parts if part)
    first = first_finding(diagnosis)
    if first is None:
        looked = sum(1 for one in diagnosis.outcomes if one.outcome == "no_problem")
        blind = sum(1 for one in diagnosis.outcomes if one.outcome == "could_not_look")
        return f"{sentence}. No rule found a problem ({looked} looked, {blind} could not)."
    stake = ""
    if first.recoverable_us is not None and first.recoverable_us > 0:
        stake = f", up to {us_text(first.recoverable_us)} at stake"
    return f"{sentence}. First: {_lower(first.title)}{stake}."


def first_finding(diagnosis: Diagnosis) -> Finding | None:
    """The finding to begin with."""
    return max(diagnosis.findings, key=weight, default=None)


def _takes(diagnosis: Diagnosis) -> str:
    if diagnosis.duration_us is not None:
        return f"takes {us_text(diagnosis.duration_us)}"
    if diagnosis.mode == "simulator":
        cores = next((fact.value for fact in diagnosis.facts if fact.name == "simulated_cores"), None)
        if isinstance(cores, int):
            return f"is simulated on {readable(cores)} core{'' if cores == 1 else 's'}, which gives no task duration"
        return "is simulated, which gives no task duration"
    return "has no recorded task duration"


def _lower(title: str) -> str:
    """A title inside of a sentence: its first word in lower case unless it is a name such as MTE2 or L2."""
    head, _, rest = title.partition(" ")
    return title if head[1:] != head[1:].lower() or any(map(str.isdigit, head)) else f"{head.lower()} {rest}".strip()
