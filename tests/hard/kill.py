"""Kills commands at random instants and looks at what they leave behind.

    python -m tests.hard.kill --rounds 200                     the real captures where they are, else the examples
    python -m tests.hard.kill --rounds 20 --tree examples/out --seed 7

Every round takes a fresh copy of a warehouse, starts one command (ingest, an ingest of runs that have grown, upgrade,
compact, forget, backup), sends SIGKILL after a random part of the time the command usually takes, and then asserts:

* SQLite's integrity check and the foreign keys are fine, no archived file is without an owner;
* every run is there whole (all its rows as in an undisturbed warehouse) or not at all;
* the same command, given again, completes;
* the warehouse then equals an undisturbed one row for row, moments (``ingested_at``, …) aside.

A round counts only when the kill met the command alive.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from opprof_db.warehouse import migrate
from tests.hard import commands
from tests.hard.content import Content, connect, content, differences, of_runs, rows_of_shared, runs_in, unsound
from tests.shared import CORPUS, ROOT

FIXTURES = ROOT / "tests" / "fixtures" / "databases"
EXAMPLES = ROOT / "examples" / "out"

_DONE = {"backup": ("exists already",), "forget": ("no run has the id",)}
"""What the repeat of a command says when the kill came after its work, before its end."""


@dataclass
class Scenario:
    """A command to be killed, from which state, and what it leads to undisturbed."""

    name: str
    before: Path | None
    """The warehouse it starts from; ``None``: there is none yet."""
    arguments: list[object]
    database: Path
    """Where the command finds its warehouse."""
    check: Callable[[Scenario], None]
    """Asserts on what the kill left, before the repeat."""
    start: Content = field(default_factory=dict)
    end: Content = field(default_factory=dict)
    undisturbed: Path | None = None
    usual_s: float = 0.0

    def prepare(self) -> None:
        """Put the starting state in place."""
        for path in self.database.parent.glob(f"*{self.database.name}*"):
            path.unlink()
        if self.before is not None:
            shutil.copy(self.before, self.database)

    def measure(self, keep: Path, log: Path) -> None:
        """Run it undisturbed, once to warm up and once for its time; the result is what kills must lead to."""
        for _ in range(2):
            self.prepare()
            self.usual_s = commands.run(log, *self.arguments)
        self.start = content(self.before) if self.before is not None else {}
        self.end = content(self.database)
        self.undisturbed = keep
        with closing(connect(self.database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(self.database, keep)


def _whole_or_absent(scenario: Scenario) -> None:
    """Runs are as before the command or as after it; shared rows are some of those at the end."""
    if not scenario.database.exists() or scenario.database.stat().st_size == 0:
        assert scenario.before is None
        return
    found = content(scenario.database)
    ours, before, after = of_runs(found), of_runs(scenario.start), of_runs(scenario.end)
    for run in runs_in(found):
        mine = {key: value for key, value in ours.items() if key[1] == run}
        wanted = [{key: value for key, value in state.items() if key[1] == run} for state in (before, after)]
        assert mine in wanted, f"run {run} is neither as before nor as after: {differences(mine, wanted[1])}"
    assert {run for _, run in ours} <= runs_in(found), "rows of a run that is not there"
    gone = runs_in(scenario.start) - runs_in(found)
    assert gone <= runs_in(scenario.start) - runs_in(scenario.end), f"runs {gone} are lost"
    if scenario.undisturbed is not None and found:
        for table in ("contents", "operators"):
            allowed = rows_of_shared(scenario.undisturbed, table)
            if scenario.before is not None:
                allowed |= rows_of_shared(scenario.before, table)
            assert rows_of_shared(scenario.database, table) <= allowed, f"{table} has rows that nobody brought"


def _as_before_or_after(scenario: Scenario) -> None:
    """The whole file is in one of the two states; copies beside it are whole."""
    found = content(scenario.database)
    assert found in (scenario.start, scenario.end), differences(found, scenario.end)
    _copies_are_whole(scenario)


def _copies_are_whole(scenario: Scenario) -> None:
    for copy in scenario.database.parent.glob(f"{scenario.database.name}*.bak"):
        assert unsound(copy) == []
        assert content(copy) == scenario.start, f"{copy.name} is not a whole copy"


def _backup_is_whole_or_absent(scenario: Scenario) -> None:
    assert content(scenario.database) == scenario.start
    _copies_are_whole(scenario)


class Campaign:
    """Scenarios over one tree of runs, in a folder of their own."""

    def __init__(self, folder: Path, tree: Path, *, fixtures: list[Path] | None = None) -> None:
        self._folder = folder
        self._log = folder / "said.txt"
        self.killed: Counter[str] = Counter()
        self.survived: Counter[str] = Counter()
        work = folder / "work"
        work.mkdir(parents=True)
        database = work / "warehouse.db"
        full = folder / "full.db"
        commands.run(self._log, "ingest", tree, "--db", full, "--jobs", 0)
        _flush(full)
        grown, part = self._grown(tree, folder)
        forgotten = self._forgettable(full)
        ingest = ["ingest", tree, "--db", database, "--jobs"]
        self.scenarios = [
            Scenario("ingest", None, [*ingest, 0], database, _whole_or_absent),
            Scenario("ingest with a reading process", None, [*ingest, 1], database, _whole_or_absent),
            Scenario("ingest of grown runs", part, ["ingest", grown, "--db", database], database, _whole_or_absent),
            Scenario("forget", full, ["forget", *forgotten, "--yes", "--db", database], database, _whole_or_absent),
            Scenario("compact", self._holey(full, forgotten), ["db", "compact", "--db", database], database,
                     _as_before_or_after),
            Scenario("backup", full, ["db", "backup", f"{database}.copy.bak", "--db", database], database,
                     _backup_is_whole_or_absent),
        ]  # fmt: skip
        for fixture in _older(fixtures):
            upgrade = ["db", "upgrade", "--db", database]
            name = f"upgrade from {fixture.stem.removeprefix('schema_')}"
            self.scenarios.append(Scenario(name, fixture, upgrade, database, _as_before_or_after))
        for number, scenario in enumerate(self.scenarios):
            scenario.measure(folder / f"undisturbed{number}.db", self._log)

    def _grown(self, tree: Path, folder: Path) -> tuple[Path, Path]:
        """A copy of the tree, and a warehouse from when its runs were smaller."""
        grown, part = folder / "grown", folder / "part.db"
        shutil.copytree(tree, grown, symlinks=True, ignore=shutil.ignore_patterns("README*"))
        late = [path for name in ("Memory*.csv", "L2Cache*.csv") for path in sorted(grown.rglob(name))]
        kept = folder / "late"
        for path in late:
            target = kept / path.relative_to(grown)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
        commands.run(self._log, "ingest", grown, "--db", part)
        for path in late:
            (kept / path.relative_to(grown)).rename(path)
        _flush(part)
        return grown, part

    def _forgettable(self, full: Path) -> list[int]:
        with closing(connect(full)) as connection:
            runs = [row[0] for row in connection.execute("SELECT id FROM runs ORDER BY id")]
        return runs[1::2]

    def _holey(self, full: Path, forgotten: list[int]) -> Path:
        holey = self._folder / "holey.db"
        shutil.copy(full, holey)
        commands.run(self._log, "forget", *forgotten, "--yes", "--db", holey)
        _flush(holey)
        return holey

    def round(self, scenario: Scenario, draw: random.Random) -> bool:
        """One kill, its checks, the repeat; returns whether the kill met the command alive."""
        scenario.prepare()
        delay = draw.uniform(0, scenario.usual_s)
        command = commands.start(self._log, *scenario.arguments)
        time.sleep(delay)
        command.kill()
        alive = command.code == -9
        where = f"{scenario.name}, killed after {delay:.3f} of {scenario.usual_s:.3f} s"
        try:
            if scenario.database.exists():
                assert unsound(scenario.database) == []
            scenario.check(scenario)
            again = commands.start(self._log, *scenario.arguments)
            code = again.wait()
            if any(words in again.text() for words in _DONE.get(scenario.name, ())):
                code = 0  # the command had done its work before the kill
            assert code == 0, f"the repeat failed: {again.text()}"
            scenario.check(scenario)
            assert unsound(scenario.database) == []
            found = content(scenario.database)
            assert found == scenario.end, differences(found, scenario.end)
            parts = [path.name for path in scenario.database.parent.glob("*.part*")]
            assert parts == [], f"left behind: {parts}"
        except AssertionError as error:
            raise AssertionError(f"{where}: {error}") from error
        (self.killed if alive else self.survived)[scenario.name] += 1
        return alive

    def run(self, rounds: int, seed: int, say: Callable[[str], None] = lambda _: None) -> None:
        """Kill until ``rounds`` kills have met a living command, the scenarios in turn."""
        draw = random.Random(seed)
        number = 0
        while self.killed.total() < rounds:
            scenario = self.scenarios[number % len(self.scenarios)]
            alive = self.round(scenario, draw)
            number += 1
            say(f"{self.killed.total():4} of {rounds}  {scenario.name}{'' if alive else ' (had ended)'}")


def _flush(path: Path) -> None:
    """Everything into the main file, so that copying it copies everything."""
    with closing(connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _older(fixtures: list[Path] | None) -> list[Path]:
    if fixtures is not None:
        return fixtures
    head = migrate.revisions()[-1]
    return [path for path in sorted(FIXTURES.glob("*.db")) if not path.stem.endswith(head)]


def main() -> None:
    """Parse the command line, kill, say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=20260601)
    parser.add_argument("--tree", type=Path, default=CORPUS if CORPUS.is_dir() else EXAMPLES)
    parser.add_argument("--json", type=Path, help="write the figures here too")
    given = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="opprof-kill-") as name:
        campaign = Campaign(Path(name) / "campaign", given.tree.resolve())
        campaign.run(given.rounds, given.seed, lambda line: print(line, file=sys.stderr, flush=True))
    result = {
        "rounds": campaign.killed.total(),
        "killed": dict(campaign.killed),
        "had ended before the kill": dict(campaign.survived),
        "usual seconds": {scenario.name: round(scenario.usual_s, 3) for scenario in campaign.scenarios},
        "seed": given.seed,
        "minutes": round((time.monotonic() - begun) / 60, 1),
    }
    print(json.dumps(result, indent=2))
    if given.json:
        given.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
