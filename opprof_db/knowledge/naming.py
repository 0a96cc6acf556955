"""What people write for chips and operators, as entries name them."""

from __future__ import annotations

from opprof_db.catalog import load
from opprof_db.errors import UsageError
from opprof_db.knowledge.operators import kinds, kinds_of


def chip_family(text: str) -> str:
    """Family of a chip: ``910B`` of ``Ascend910B4``, ``910b4`` or ``(910B)``.

    Raises:
        UsageError: no such chip.
    """
    from opprof_db.warehouse.resolve import did_you_mean

    wanted = text.strip("()").lower().removeprefix("ascend")
    families = {chip.family.lower(): chip.family for chip in load().chips}
    by_soc = {chip.soc.lower().removeprefix("ascend"): chip.family for chip in load().chips}
    found = families.get(wanted) or by_soc.get(wanted)
    if found is None:
        found = next((name for key, name in sorted(families.items(), reverse=True) if wanted.startswith(key)), None)
    if found is None:
        raise UsageError(
            f"{text!r} is no chip",
            did_you_mean(text, [*families.values(), *(chip.soc for chip in load().chips)])
            or f"families: {', '.join(sorted(families.values()))}",
        )
    return found


def operator_kind(text: str) -> str:
    """Kind of an operator, by its own name or that of an operator.

    Raises:
        UsageError: nothing of that name.
    """
    from opprof_db.warehouse.resolve import did_you_mean

    wanted = text.lower().replace("-", "_")
    if wanted in kinds():
        return wanted
    found = kinds_of(text)
    if not found:
        raise UsageError(
            f"{text!r} is no kind of operator known here",
            did_you_mean(wanted, kinds()) or f"kinds: {', '.join(sorted(kinds()))}",
        )
    return found[0]
