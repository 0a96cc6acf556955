"""The launches of both sides as groups of the same kernel, and which groups belong together."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

_LAUNCHES = """
SELECT k.id, k.run_id, coalesce(o.name, k.folder_name), k.tiling_key, k.device_id, k.block_dim, k.mix_block_dim,
    k.launch_index, k.duration_us
FROM kernels AS k LEFT JOIN operators AS o ON o.id = k.operator_id WHERE k.id IN ({marks})"""
COLD_FACTOR = 1.1


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a side."""

    kernel_id: int
    run_id: int
    operator: str | None
    tiling_key: str | None
    device_id: int | None
    block_dim: int | None
    mix_block_dim: int | None
    launch_index: int | None
    duration_us: float | None


@dataclass(frozen=True, slots=True)
class Group:
    """Launches of one kernel on one side."""

    launches: tuple[Launch, ...]
    """In the order they ran; a cold first one is not among them."""
    cold: tuple[Launch, ...] = ()
    """First launches of a run that are slower than all later ones and by 10 % than their median: set aside."""

    @property
    def operator(self) -> str | None:
        """Name of the kernel without hash and tiling key."""
        return self.launches[0].operator

    @property
    def kernel_ids(self) -> tuple[int, ...]:
        """Launches, cold ones left out."""
        return tuple(launch.kernel_id for launch in self.launches)

    @property
    def durations_us(self) -> tuple[float, ...]:
        """Task durations that were recorded, us."""
        return tuple(launch.duration_us for launch in self.launches if launch.duration_us is not None)

    @property
    def median_us(self) -> float | None:
        """Median of the durations."""
        return median(self.durations_us) if self.durations_us else None

    @property
    def typical(self) -> int:
        """The launch whose duration is nearest the median, the first of them; without durations the first launch."""
        middle = self.median_us
        held = [one for one in self.launches if one.duration_us is not None]
        if middle is None:
            return min(self.kernel_ids)
        return min(held, key=lambda one: (abs((one.duration_us or 0.0) - middle), one.kernel_id)).kernel_id


def groups(connection: sqlite3.Connection, kernel_ids: Sequence[int]) -> list[Group]:
    """The launches by name, tiling key, device and blocks; launches of several runs come together."""
    launches: list[Launch] = []
    for start in range(0, len(kernel_ids), 500):
        part = list(kernel_ids[start : start + 500])
        sql = _LAUNCHES.format(marks=",".join("?" * len(part)))
        launches += [Launch(*row) for row in connection.execute(sql, part)]
    return _grouped(launches, _exact)


def pairs(
    before: Sequence[Group], after: Sequence[Group]
) -> tuple[list[tuple[Group, Group]], list[Group], list[Group]]:
    """Pairs of groups, and what is left on each side, in rounds from the same in every way to the same name only."""
    found: list[tuple[Group, Group]] = []
    old, new = list(before), list(after)
    rounds: tuple[tuple[Callable[[Launch], Hashable], bool], ...] = (
        (_exact, False),
        (lambda one: (one.operator, one.tiling_key, one.block_dim, one.mix_block_dim), True),
        (lambda one: (one.operator, one.tiling_key, one.device_id), False),
        (lambda one: (one.operator, one.tiling_key), False),
        (lambda one: one.operator, False),
    )
    for key, merging in rounds:
        mine, theirs = _by(old, key), _by(new, key)
        for name in [name for name in mine if name in theirs]:
            one, other = mine[name], theirs[name]
            if not merging and (len(one) > 1 or len(other) > 1):
                continue
            found.append((_merged(one), _merged(other)))
            old = [group for group in old if group not in one]
            new = [group for group in new if group not in other]
    if len(old) == 1 and len(new) == 1 and (old[0].operator is None or new[0].operator is None):
        found.append((old.pop(), new.pop()))
    return found, old, new


def _exact(one: Launch) -> Hashable:
    return one.operator, one.tiling_key, one.device_id, one.block_dim, one.mix_block_dim


def _by(held: Sequence[Group], key: Callable[[Launch], Hashable]) -> Mapping[Hashable, list[Group]]:
    found: dict[Hashable, list[Group]] = {}
    for group in held:
        found.setdefault(key(group.launches[0]), []).append(group)
    return found


def _merged(held: Sequence[Group]) -> Group:
    if len(held) == 1:
        return held[0]
    return Group(
        tuple(launch for group in held for launch in group.launches),
        tuple(launch for group in held for launch in group.cold),
    )


def _grouped(launches: Sequence[Launch], key: Callable[[Launch], Hashable]) -> list[Group]:
    ordered = sorted(launches, key=lambda one: (one.run_id, one.launch_index or 0, one.kernel_id))
    found: dict[Hashable, list[Launch]] = {}
    for launch in ordered:
        found.setdefault(key(launch), []).append(launch)
    made = []
    for held in found.values():
        cold = _cold(held)
        made.append(Group(tuple(one for one in held if one not in cold), tuple(cold)))
    return made


def _cold(held: Sequence[Launch]) -> list[Launch]:
    """The first launch of every run and device, where it was cold (as the view ``launch_statistics`` says)."""
    by_run: dict[tuple[int, int | None], list[Launch]] = {}
    for launch in held:
        if launch.duration_us is not None:
            by_run.setdefault((launch.run_id, launch.device_id), []).append(launch)
    cold = []
    for first, *later in by_run.values():
        times = [one.duration_us or 0.0 for one in later]
        slow = first.duration_us or 0.0
        if len(times) >= 2 and slow > max(times) and slow >= COLD_FACTOR * median(times):
            cold.append(first)
    return cold
