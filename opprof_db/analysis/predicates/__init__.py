"""The small named predicates that rules refer to."""

from opprof_db.analysis.predicates import cores, memory, pipes, roofs, simulator, upstream
from opprof_db.analysis.predicates.base import PREDICATES, CouldNotLookError, Limits, Predicate, Verdict

__all__ = [
    "PREDICATES",
    "CouldNotLookError",
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
