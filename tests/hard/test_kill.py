"""Commands that are killed leave whole runs only, and can be repeated (full size: ``python -m tests.hard.kill``)."""

from __future__ import annotations

import random
from pathlib import Path

from tests.hard.kill import EXAMPLES, FIXTURES, Campaign

ROUNDS = 20


def test_killed_commands_leave_whole_runs_and_complete_when_repeated(tmp_path: Path) -> None:
    oldest = sorted(FIXTURES.glob("*.db"))[:1]
    campaign = Campaign(tmp_path / "campaign", EXAMPLES, fixtures=oldest)
    campaign.run(ROUNDS, seed=random.SystemRandom().randrange(1 << 32))
    assert campaign.killed.total() == ROUNDS
    assert len(campaign.killed) >= 4, campaign.killed
