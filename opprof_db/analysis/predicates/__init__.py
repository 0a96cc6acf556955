"""The small named predicates that rules refer to."""

from opprof_db.analysis.predicates import cores, memory, pipes, roofs, simulator, upstream
from opprof_db.analysis.predicates.base import PREDICATES, CouldNotLook, Limits, Predicate, Verdict

__all__ = [
    "PREDICATES",
    "CouldNotLook",
    "Limits",
    "Predicate",
    "Verdict",
    "cores",
    "memory",
    "pipes",
    "roofs",
    "simulator",
    "upstream",
]
