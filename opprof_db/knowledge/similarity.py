"""Which case's architecture a model resembles, by the histogram of its kinds of operators.

The distance is Hellinger's: with p and q the shares of each kind in model and case,

    distance = sqrt(1 - sum over kinds of sqrt(p q))

0 for the same mixture, 1 where nothing is shared. The root lets rare kinds count (one NMS beside 64 convolutions): they
are what a migration stumbles over. Operators of no known kind count as kinds that no case has. Kinds that move no data
(reshape) and batch normalisation, which is folded into the convolution before it, are left out on both sides. Where
only names are given, every kind counts once on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from opprof_db.errors import UsageError
from opprof_db.knowledge.model import Entry
from opprof_db.knowledge.models import FOLDED, Model
from opprof_db.knowledge.operators import kinds
from opprof_db.knowledge.showing import gain_text


@dataclass(frozen=True, slots=True)
class Shared:
    """A kind of operator in model and case."""

    kind: str
    model: int
    case: int


@dataclass(frozen=True, slots=True)
class CaseMatch:
    """A case and how near its architecture is."""

    entry: str
    title: str
    summary: str
    architecture: str
    distance: float
    shared: tuple[Shared, ...]
    """Kinds both have, those that are often off the AI Core first, then the most frequent in the model."""
    only_model: tuple[str, ...]
    only_case: tuple[str, ...]
    gain: str | None
    confidence: str


@dataclass(frozen=True, slots=True)
class OperatorAdvice:
    """What the knowledge base has about a kind of operator of the model."""

    kind: str
    title: str
    count: int
    hard: bool
    """Often ends up off the AI Core, or costs conversions."""
    entries: tuple[str, ...]


def distance(model: Mapping[str, float], case: Mapping[str, float]) -> float:
    """Hellinger distance of two histograms; 1 where one of them is empty."""
    mine, theirs = sum(model.values()), sum(case.values())
    if not mine or not theirs:
        return 1.0
    overlap = sum(math.sqrt(model[kind] / mine * case[kind] / theirs) for kind in model.keys() & case.keys())
    return math.sqrt(max(0.0, 1.0 - overlap))


def nearest_cases(model: Model, entries: Iterable[Entry]) -> tuple[CaseMatch, ...]:
    """Every case with an architecture, the nearest first.

    Raises:
        UsageError: nothing in the model can be compared.
    """
    mine = {kind: count for kind, count in model.operators.items() if kind not in FOLDED}
    if not mine:
        raise UsageError(f"{model.name}: no operator of a kind that could be compared", "see `kb list --kind recipe`")
    whole = {**mine, **{f"unknown {name}": count for name, count in model.unknown.items()}}
    found = []
    for entry in entries:
        built = entry.head.architecture
        if entry.head.kind != "case" or built is None:
            continue
        theirs = {kind: n for kind, n in built.operators.items() if kind not in FOLDED and not kinds()[kind].free}
        both = sorted(mine.keys() & theirs.keys(), key=lambda kind: (not kinds()[kind].hard, -mine[kind], kind))
        pair = (whole, theirs) if model.counted else (dict.fromkeys(whole, 1), dict.fromkeys(theirs, 1))
        found.append(
            CaseMatch(
                entry.id,
                entry.head.title,
                entry.head.summary,
                built.name,
                distance(*pair),
                tuple(Shared(kind, mine[kind], theirs[kind]) for kind in both),
                tuple(sorted(mine.keys() - theirs.keys())),
                tuple(sorted(theirs.keys() - mine.keys())),
                gain_text(entry.head.gain),
                entry.head.confidence,
            )
        )
    return tuple(sorted(found, key=lambda match: (match.distance, match.entry)))


def advice(model: Model, entries: Iterable[Entry]) -> tuple[OperatorAdvice, ...]:
    """Recipes, patterns and tips about the model's operators; kinds that are often off the AI Core first."""
    order = {"recipe": 0, "pattern": 1, "tip": 2}
    about = sorted((e for e in entries if e.head.kind in order), key=lambda e: (order[e.head.kind], e.id))
    found = [
        OperatorAdvice(
            kind,
            kinds()[kind].title,
            count,
            kinds()[kind].hard,
            tuple(entry.id for entry in about if kind in entry.head.operators),
        )
        for kind, count in model.operators.items()
    ]
    return tuple(sorted(found, key=lambda each: (not each.hard, -each.count, each.kind)))
