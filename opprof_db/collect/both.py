"""One request for both modes: each gets the options and metric sets that it has."""

from __future__ import annotations

from dataclasses import replace

from opprof_db.collect.catalogue import SIMULATOR, catalogue, split_sets
from opprof_db.collect.request import Request


def in_mode(request: Request, mode: str) -> Request:
    """The request as one of the two modes takes it."""
    held = catalogue()
    values = {
        name: text
        for name, text in request.values.items()
        if name not in held.options or mode in held.options[name].modes
    }
    if "aic-metrics" in values:
        known = held.metrics
        sets = [
            one
            for one in split_sets(values["aic-metrics"])
            if one.lower() not in known or mode in known[one.lower()].modes
        ]
        values["aic-metrics"] = ",".join(sets)
        if not sets:
            del values["aic-metrics"]
    goal = held.goals.get(request.goal or "")
    if mode == SIMULATOR and request.chip and "config" not in values:
        values.setdefault("soc-version", request.chip)
    keep = goal is None or bool(goal.sets(mode, request.family))
    return replace(request, mode=mode, values=values, goal=request.goal if keep else None)
