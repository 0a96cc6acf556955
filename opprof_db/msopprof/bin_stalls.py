"""Why warps of a 950 SIMT kernel did not issue: block 15, and the samples inside blocks 3 and 4.

Source: msopprof hotspot_function_generator.cpp. Percentages there are fractions of all samples of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opprof_db.msopprof.bin_values import Node
from opprof_db.msopprof.values import Number

SAMPLING_KEYS = {"Stall Sampling(All Samples)": "all_samples", "Stall Sampling(Not Issue)": "not_issue"}
"""Key upstream -> scope: all samples hold the reason Active too."""


@dataclass(frozen=True, slots=True)
class StallSample:
    """Samples of one reason, or (``reason`` is ``None``) the share of the owner in the kernel's samples."""

    owner: str
    """``kernel`` (block 15), ``line`` or ``instruction``."""
    position: int | None
    """Position of the owner's record."""
    scope: str
    """``top``, ``all_samples`` or ``not_issue``."""
    reason: str | None
    samples: int | None
    share: Number = None
    """Fraction 0..1 of the kernel's samples of this scope."""


def read_top_stalls(root: Node) -> list[StallSample]:
    """Records of block 15."""
    root.known("top_stall_reason_table")
    return [
        StallSample("kernel", None, "top", reason, count.whole())
        for reason, count in root.get("top_stall_reason_table").members()
    ]


def read_sampling(item: Node, owner: str, position: int) -> Iterator[StallSample]:
    """Samples at a line or an instruction, none where they were not collected."""
    for key, scope in SAMPLING_KEYS.items():
        sampling = item.get(key)
        if sampling.value is None:
            continue
        sampling.known("Percent", "Details")
        yield StallSample(owner, position, scope, None, None, sampling.get("Percent").number())
        for reason, count in sampling.get("Details").members():
            yield StallSample(owner, position, scope, reason, count.whole())
