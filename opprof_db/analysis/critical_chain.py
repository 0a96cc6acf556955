"""The chain of work and waits that makes the critical path of a simulated core.

Walked back from the last work: before each piece of work came either the piece before it on its own pipe, or, where a
flag was waited for, the work of the setting pipe that ended last before the flag was set. Whichever ended later was
what held the piece up; work of another pipe that ended just when the piece began counts as well. Time between the two
is a hole that neither explains (issue, scalar work, latency).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass

Work = tuple[int, str, float, float]
"""(ordinal, pipe, start, end), us."""
Flow = tuple[str, float, str, float]
"""(setting pipe, when, waiting pipe, when), us."""
_SLACK_US = 0.005
"""Times are 32-bit floats in us: equal cycles may differ by this."""


@dataclass(frozen=True)
class Chain:
    """Where the time of the critical path goes."""

    on_pipe_us: dict[str, float]
    holes_us: float
    """Between links: no work of the chain."""
    links: int
    hand_overs: dict[tuple[str, str], int]
    """(from pipe, to pipe) -> how often the path changed pipes."""
    first: Work
    last: Work

    @property
    def total_us(self) -> float:
        """From the start of the first link to the end of the last."""
        return self.last[3] - self.first[2]


def critical_chain(events: list[Work], flows: list[Flow]) -> Chain | None:
    """The chain of a core's events; ``None`` without any."""
    if not events:
        return None
    by_pipe: dict[str, list[Work]] = defaultdict(list)
    for event in events:
        by_pipe[event[1]].append(event)
    for held in by_pipe.values():
        held.sort(key=lambda one: (one[3], one[0]))
    ends = {pipe: [one[3] for one in held] for pipe, held in by_pipe.items()}
    waits: dict[str, list[Flow]] = defaultdict(list)
    for flow in flows:
        waits[flow[2]].append(flow)
    for each in waits.values():
        each.sort(key=lambda one: one[3])
    wait_times = {pipe: [one[3] for one in held] for pipe, held in waits.items()}

    def before(pipe: str, until: float, than: int | None = None) -> Work | None:
        place = bisect_right(ends.get(pipe, []), until + _SLACK_US)
        while place:
            place -= 1
            found = by_pipe[pipe][place]
            if found[0] != than:
                return found
        return None

    on_pipe: dict[str, float] = defaultdict(float)
    hand_overs: dict[tuple[str, str], int] = defaultdict(int)
    holes, links = 0.0, 0
    link = last = max(events, key=lambda one: (one[3], one[0]))
    until = link[3]
    while True:
        links += 1
        on_pipe[link[1]] += max(0.0, min(until, link[3]) - link[2])
        own = before(link[1], link[2], link[0])
        candidates = [own] if own else []
        # Flags that this pipe waited for since its work before, at the latest when the link started.
        times = wait_times.get(link[1], [])
        low = bisect_left(times, (own[3] if own else float("-inf")) - _SLACK_US)
        high = bisect_right(times, link[2] + _SLACK_US)
        for flow in waits.get(link[1], [])[low:high]:
            found = before(flow[0], flow[1], link[0])
            if found and found[3] <= link[2] + _SLACK_US:
                candidates.append(found)
        # Without a flag: work of another pipe that ended just when this began.
        for pipe in by_pipe:
            found = before(pipe, link[2], link[0])
            if found and found[3] >= link[2] - _SLACK_US:
                candidates.append(found)
        earlier = [one for one in candidates if one[2] < link[2]]
        if not earlier:
            break
        held_up = max(earlier, key=lambda one: (one[3], one[0]))
        holes += max(0.0, link[2] - held_up[3])
        if held_up[1] != link[1]:
            hand_overs[held_up[1], link[1]] += 1
        until = link[2]
        link = held_up
    return Chain(dict(on_pipe), holes, links, dict(hand_overs), link, last)
