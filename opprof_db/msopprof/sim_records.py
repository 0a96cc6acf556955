"""Records of a simulator run's statistics, and the names of its cores."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CORE = re.compile(r"core(?P<core>\d{1,9})(?:\.(?P<kind>vec|cube)core(?P<sub>\d{1,9}))?")
_KINDS = {"vec": "aiv", "cube": "aic", None: "aicore"}


@dataclass(frozen=True, slots=True)
class CoreName:
    """A simulated core, as folders and files are named after it."""

    name: str
    """core0.veccore1, or core0 on chips with one kind of core."""
    kind: str
    """aic, aiv or aicore."""
    core: int
    sub_core: int | None


def core_of(name: str) -> CoreName | None:
    """The core that a folder or file name starts with; ``None`` where it starts with none.

    >>> core_of("core12.cubecore0_instr_exe_20240603022810284.csv").kind
    'aic'
    """
    found = _CORE.match(name)
    if found is None or not (name == found[0] or name[found.end()] == "_"):
        return None
    sub = found["sub"]
    return CoreName(found[0], _KINDS[found["kind"]], int(found["core"]), None if sub is None else int(sub))


@dataclass(frozen=True, slots=True)
class InstructionStat:
    """One program counter of one core. Cycles are primary; the time is rounded to 0.01 us."""

    line_number: int
    """In the file, the header being 1."""
    instruction: str | None
    address: int | None
    pipe: str | None
    call_count: int | None
    cycles: int | None
    """Sum over calls; overlapping calls count twice."""
    saturated: bool
    """The counter stood at its end: out of sums and shares."""
    running_time_us: float | None
    """Union of the calls' intervals; ``None`` where it is below resolution."""
    below_resolution: bool
    detail: str | None

    @property
    def pairs(self) -> tuple[tuple[str, str | None], ...]:
        """The detail taken apart."""
        return parse_detail(self.detail or "")


@dataclass(frozen=True, slots=True)
class SourceLineStat:
    """One source line of one core. Rows overlap (inlined callees): they add up to no total."""

    line_number: int
    code: str | None
    """The cell as printed."""
    file: str | None
    line: int | None
    call_count: int | None
    cycles: int | None
    saturated: bool
    running_time_us: float | None
    below_resolution: bool


def parse_detail(detail: str) -> tuple[tuple[str, str | None], ...]:
    """``key:value`` pairs of an instruction's detail, in order; keys may repeat.

    A piece without a colon belongs to the value before it (a comma inside a value); the first piece
    without one is a key without value.

    >>> parse_detail("Src:OUT,XD:X20=0x10000,id:10,")
    (('Src', 'OUT'), ('XD', 'X20=0x10000'), ('id', '10'))
    """
    pairs: list[tuple[str, str | None]] = []
    for piece in detail.split(","):
        key, colon, value = piece.partition(":")
        if colon:
            pairs.append((key.strip(), value.strip()))
        elif not piece.strip():
            continue
        elif pairs:
            last, held = pairs[-1]
            pairs[-1] = (last, piece.strip() if held is None else f"{held},{piece.strip()}")
        else:
            pairs.append((piece.strip(), None))
    return tuple(pairs)
