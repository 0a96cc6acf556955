"""All checks of a request, in the order in which they help."""

from __future__ import annotations

from opprof_db.collect.combinations import check_combinations
from opprof_db.collect.places import check_places
from opprof_db.collect.request import Remark, Request, Surroundings
from opprof_db.collect.tools import NotFound
from opprof_db.collect.values import check_values


def check(request: Request, around: Surroundings) -> list[Remark]:
    """What is to be said about a request: refusals first."""
    found = [*check_combinations(request), *check_values(request, around), *check_places(request, around)]
    return sorted(dict.fromkeys(found), key=lambda remark: not remark.refuses)


def missing_tool(found: NotFound, *, doubt: bool) -> Remark:
    """A tool that is nowhere; a doubt where the command line is only shown."""
    return Remark(found.what, found.remedy, refuses=not doubt)
