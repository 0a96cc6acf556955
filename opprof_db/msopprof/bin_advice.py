"""Advice texts in visualize_data.bin, each with how far it can be trusted.

Source: msopprof basic_op_and_pmu.cpp, storage_access.cpp, occupancy.cpp, roofline.cpp. Advice is data, not
truth: it is never counted as agreement with a diagnosis.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from opprof_db.msopprof.bin_values import Node

_LOW_ACTIVE_BANDWIDTH = re.compile(r"bandwidth utilization lower than \d+% when active")
_NUMBERED = re.compile(r"\s*\d+\)\s*")


class Reliability(StrEnum):
    """How far an advice can be trusted."""

    AS_PRINTED = "as_printed"
    UNRELIABLE = "unreliable"
    """Compares a fraction with a percentage upstream and so fires on nearly every active pipe."""
    MAYBE_OTHER_KERNEL = "maybe_other_kernel"
    """The state behind it is not reset: from the second kernel of one collection on it may be an earlier one's."""


@dataclass(frozen=True, slots=True)
class VendorAdvice:
    """One text, and where it stood."""

    block: str
    """Name of the block it stood in."""
    position: int | None
    """Which core or block of the list it stood at; ``None`` where it is about the kernel."""
    block_id: int | None
    order: int
    """Place among the texts of that block of the file."""
    text: str
    reliability: Reliability


def read_advice(root: Node, block: str) -> list[VendorAdvice]:
    """Every advice of one block: a list of texts, or one text with numbered lines."""
    found: list[VendorAdvice] = []
    _collect(root.get("advice"), block, None, None, found)
    for list_key, id_key in (("core_memory_map", "core_no"), ("table_per_block", "block_id")):
        held = root.get(list_key)
        if isinstance(held.value, list):
            for position, item in enumerate(held.items()):
                # The readers of these blocks have complained about a bad id already.
                identity = item.get(id_key).value
                block_id = int(identity) if isinstance(identity, str) and _small(identity) else None
                _collect(item.get("advice"), block, position, block_id, found)
    return found


def _small(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _collect(advice: Node, block: str, position: int | None, block_id: int | None, found: list[VendorAdvice]) -> None:
    """Append the texts at one place."""
    if advice.value is None:
        return
    if isinstance(advice.value, str):
        lines = (advice.text() or "").split("\n")
        texts = [_NUMBERED.sub("", line, count=1).strip() for line in lines]
    else:
        texts = [item.text() or "" for item in advice.items()]
    for text in texts:
        if text:
            found.append(VendorAdvice(block, position, block_id, len(found), text, _reliability(block, text)))


def _reliability(block: str, text: str) -> Reliability:
    if _LOW_ACTIVE_BANDWIDTH.search(text):
        return Reliability.UNRELIABLE
    if block == "roofline":
        return Reliability.MAYBE_OTHER_KERNEL
    return Reliability.AS_PRINTED
