"""Names that msopprof and the frameworks above it put together, taken apart again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

RUN_NAME = re.compile(r"OPPROF_(?P<stamp>\d{14}(?:\d{3})?)_[A-Za-z]{16}")
"""Folder name as msopprof gives it: start of the program in local time, 16 random letters."""
LOOSE_RUN_NAME = re.compile(r"OPPROF(?:_.*)?")
"""What is left of it after people renamed the folder."""

_MIX = re.compile(r"_mix_ai[cv]$")
_HASH_AND_TILING = re.compile(r"_(?P<hash>(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{16,64})(?:_(?P<tiling>\d+))?$")
_KIND_OF_HEAD = {"cube": "aic", "vector": "aiv"}


@dataclass(frozen=True, slots=True)
class KernelName:
    """A kernel's full name in its parts."""

    full: str
    operator: str
    """The name with ``_mix_aic``/``_mix_aiv``, hash and tiling key taken off: the same over rebuilds."""
    tiling_key: str | None
    mix: bool


def split_kernel_name(full: str) -> KernelName:
    """Take the endings off that frameworks append.

    A number counts as a tiling key only behind a hash, so that ``matmul_128`` stays itself.

    >>> split_kernel_name("MatMul_1e04ee05ab491cc5ae9c3d5c9ee8950b_100_mix_aic").operator
    'MatMul'
    """
    bare = _MIX.sub("", full)
    mix = bare != full
    tiling_key = None
    found = _HASH_AND_TILING.search(bare)
    if found and found.start() > 0:
        tiling_key = found["tiling"]
        bare = bare[: found.start()]
        without_inner_mix = _MIX.sub("", bare)
        mix = mix or without_inner_mix != bare
        bare = without_inner_mix
    return KernelName(full, bare or full, tiling_key, mix)


def core_kind(sub_block_id: str) -> str | None:
    """``aic`` for cube rows, ``aiv`` for vector rows, ``aicore`` for a 310P row, ``None`` otherwise."""
    if sub_block_id == "all":
        return "aicore"
    for head, kind in _KIND_OF_HEAD.items():
        if sub_block_id.startswith(head) and sub_block_id[len(head) :].isdigit():
            return kind
    return None


def parse_stamp(digits: str) -> str | None:
    """``YYYYMMDDhhmmss[mmm]`` as ISO text in the local time msopprof wrote it in; ``None`` if impossible.

    >>> parse_stamp("20240603022810284")
    '2024-06-03T02:28:10.284'
    """
    try:
        moment = datetime.strptime(digits[:14], "%Y%m%d%H%M%S")
    except ValueError:
        return None
    milliseconds = digits[14:17]
    return moment.isoformat() + (f".{milliseconds}" if milliseconds else "")
