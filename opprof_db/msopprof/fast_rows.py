"""The usual device CSV at C speed: rewritten as JSON, decoded in one call against the columns' types.

Anything unusual returns ``None`` and is read cell by cell instead, with the same result for what
both can read (a test compares them): JSON is stricter than ``float``, so nothing slips through.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from opprof_db.catalog import SqlType
from opprof_db.msopprof.headers import WHOLE_KERNEL_BLOCK, WHOLE_KERNEL_SUB_BLOCK, HeaderPlan, Row

_USUAL = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.,-/\n"
"""No blanks, nothing with a meaning in JSON, no sign that only ``float`` understands."""
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 16
"""So many digits may exceed what a double holds exactly."""
_SUB_BLOCKS = ("cube0", "vector0", "vector1")


def _is_usual(body: bytes) -> bool:
    return not (
        body.translate(None, _USUAL)
        or b",," in body
        or b"null" in body
        or _LONG_NUMBER in body.translate(_DIGITS_TO_ZERO)
    )


@lru_cache(maxsize=512)
def _decoder(plan: HeaderPlan) -> msgspec.json.Decoder[list[Any]] | None:
    """A decoder for rows of this header; ``None`` where the header itself is unusual."""
    if not plan.whole_kernel and (plan.block_at, plan.sub_block_at) != (0, 1):
        return None
    types: list[Any] = [] if plan.whole_kernel else [int, str]
    for _, metric in plan.known:
        types.append(int | None if metric.type is SqlType.INTEGER else float | None)
    return msgspec.json.Decoder(list[tuple[tuple(types)]])  # type: ignore[misc]


def read_fast(plan: HeaderPlan, body: str) -> list[Row] | None:
    """Rows (block, sub-block, values in the order of ``plan.known``), or ``None``: look closer.

    ``body`` is the text behind the header line; the plan must have no unknown columns.
    """
    decoder = _decoder(plan)
    body = body.rstrip("\n")
    if decoder is None or plan.trailing > 1 or not body:
        return None
    lines = body.count("\n") + 1
    ends = body.count(",\n") + body.endswith(",")
    if ends != (lines if plan.trailing else 0):
        return None
    if plan.trailing:
        body = body[:-1].replace(",\n", "\n")
    if not _is_usual(body.encode()):
        return None
    text = body.replace("N/A", "null") if "/" in body else body
    text = text.replace("NA", "null")
    if not plan.whole_kernel:
        for name in _SUB_BLOCKS:
            text = text.replace(f",{name},", f',"{name}",')
    try:
        rows: list[Row] = decoder.decode("[[" + text.replace("\n", "],[") + "]]")
    except msgspec.MsgspecError:
        return None
    if plan.whole_kernel:
        return [(WHOLE_KERNEL_BLOCK, WHOLE_KERNEL_SUB_BLOCK, *rows[0])] if lines == 1 else None
    keys = {row[:2] for row in rows}
    if len(keys) != lines or min(keys)[0] < 0:  # type: ignore[operator]
        return None
    return rows
