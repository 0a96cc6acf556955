"""Which chip a run comes from: said by the data, else told from the CSV headers, else unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from opprof_db.catalog import BASIC_INFO, load
from opprof_db.msopprof.headers import plan_header

SOC_KEY = "Run Soc Version"


@dataclass(frozen=True, slots=True)
class ChipFacts:
    """Chip of a run and where each part comes from."""

    soc: str | None = None
    soc_source: str | None = None
    family: str | None = None
    family_source: str | None = None
    conflict: str | None = None
    """What the user said, where the data says otherwise."""


def chip_of_run(
    dumps: Iterable[Mapping[str, str]], given_soc: str | None, headers: Iterable[tuple[str, str]]
) -> ChipFacts:
    """The data's own word first, then the user's, then what the headers leave possible."""
    recorded = [pairs[SOC_KEY] for pairs in dumps if pairs.get(SOC_KEY)]
    conflict = None
    soc = source = None
    if recorded:
        soc, source = recorded[0], "dump"
        if given_soc and _bare(given_soc) != _bare(soc):
            conflict = given_soc
    elif given_soc:
        soc, source = given_soc, "user"
    if soc is not None:
        family = family_of_soc(soc)
        if family is not None:
            return ChipFacts(soc, source, family, "soc", conflict)
    inferred = infer_family(headers)
    return ChipFacts(soc, source, inferred, "inferred" if inferred else None, conflict)


def _bare(soc: str) -> str:
    return soc.strip().lower().removeprefix("ascend")


def family_of_soc(soc: str) -> str | None:
    """Chip family of a SoC name; names outside the chip table by their beginning."""
    chip = load().chip(soc)
    if chip is not None:
        return chip.family
    for beginning, family in (
        ("910b", "910B"),
        ("910_93", "910_93"),
        ("310p", "310P"),
        ("310b", "310B"),
        ("95", "950"),
    ):
        if _bare(soc).startswith(beginning):
            return family
    return None


def infer_family(headers: Iterable[tuple[str, str]]) -> str | None:
    """The only chip family that has all the columns seen; ``None`` when several or none do.

    A file without block columns can only be of the 310P, one with them not.
    """
    possible = {"910B", "310P", "950"}
    seen_any = False
    for family, line in headers:
        plan = plan_header(family, line)
        if not plan.known:
            continue
        seen_any = True
        for _, metric in plan.known:
            possible &= set(metric.chips)
        if family == BASIC_INFO:
            named = {metric.column for _, metric in plan.known}
            possible &= {"910B", "950"} if "mix_block_dim" in named else possible
            continue
        possible &= {"310P"} if plan.block_at is None and plan.sub_block_at is None else {"910B", "950"}
    return possible.pop() if seen_any and len(possible) == 1 else None
