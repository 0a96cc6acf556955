"""Makes a before-after pair that the user marks a case of their own; every number is taken from the warehouse."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from opprof_db.analysis.diagnose import diagnose
from opprof_db.analysis.entry_metrics import EntryMetrics, MetricValue
from opprof_db.analysis.findings import Diagnosis
from opprof_db.analysis.pairs import Pair, pair
from opprof_db.analysis.verify import outcome_of
from opprof_db.errors import UsageError
from opprof_db.knowledge.model import Entry
from opprof_db.knowledge.recorded import PREFIX, RecordedCase, as_entry, recorded_cases
from opprof_db.knowledge.store import add, remove

PROFILE_ENDS = ("_kernel_ratio", "_kb_per_instruction", "_vec_wait_ratio")
"""Metrics every case keeps beside those that its findings and its entry speak of."""
ALWAYS = ("block_dim", "idle_cores")
LONGEST_TEXT = 2000


def record(
    connection: sqlite3.Connection,
    before: int,
    after: int,
    title: str,
    *,
    note: str | None = None,
    entry: Entry | None = None,
    force: bool = False,
) -> RecordedCase:
    """Store a pair as a case, and its entry beside the others. Call inside a transaction.

    ``force`` stores pairs that do not belong together, with what speaks against them.

    Raises:
        UsageError: no such launch, twice the same, no durations, recorded already, or the two cannot be compared.
    """
    both = pair(connection, before, after)
    if both.before.duration_us is None or both.after.duration_us is None:
        missing = both.before if both.before.duration_us is None else both.after
        raise UsageError(f"kernel:{missing.kernel_id} records no task duration", "a case needs two measured launches")
    if both.refusals and not force:
        raise UsageError(
            f"kernel:{before} and kernel:{after} cannot be compared: {'; '.join(both.refusals)}",
            "--force records them anyway, and says so in the case",
        )
    for case in recorded_cases(connection):
        if (case.before_kernel_id, case.after_kernel_id) == (before, after):
            raise UsageError(f"this pair is recorded already as {case.entry_id}", "`opprof-db kb forget` takes it out")
    for name, text in (("title", title), ("note", note or "")):
        if len(text) > LONGEST_TEXT:
            raise UsageError(f"the {name} has {len(text)} characters", f"{LONGEST_TEXT} at most")
    if not title.strip():
        raise UsageError("the title is empty", "say in a few words what was done")
    old, new = diagnose(connection, before), diagnose(connection, after)
    case_id = _insert(connection, both, " ".join(title.split()), note, entry)
    _insert_rules(connection, case_id, old, new)
    _insert_metrics(connection, case_id, old, both, entry)
    case = next(each for each in recorded_cases(connection) if each.id == case_id)
    _replace_entry(connection, as_entry(connection, case))
    return case


def forget(connection: sqlite3.Connection, identifier: str) -> None:
    """Take a recorded case out. Call inside a transaction.

    Raises:
        UsageError: there is no such case.
    """
    found = next((case for case in recorded_cases(connection) if case.entry_id == identifier), None)
    if found is None:
        raise UsageError(
            f"no recorded case is called {identifier!r}",
            f"they are called {PREFIX}1, {PREFIX}2, …: `kb list --kind case`",
        )
    connection.execute("DELETE FROM recorded_cases WHERE id = ?", (found.id,))
    _remove_entry(connection, identifier)


def _insert(connection: sqlite3.Connection, both: Pair, title: str, note: str | None, entry: Entry | None) -> int:
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    one, other = both.before, both.after
    case_id = connection.execute(
        "INSERT INTO recorded_cases (title, note, entry, recorded_at, before_kernel_id, after_kernel_id, before_name,"
        " after_name, operator, op_type, chip, before_duration_us, after_duration_us, remarks)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            title, note or None, entry.id if entry else None, now, one.kernel_id, other.kernel_id, one.name, other.name,
            one.operator, one.op_type, one.chip, one.duration_us, other.duration_us,
            "; ".join([*both.refusals, *both.remarks]) or None,
        ),
    ).lastrowid  # fmt: skip
    assert case_id is not None
    return case_id


def _insert_rules(connection: sqlite3.Connection, case_id: int, old: Diagnosis, new: Diagnosis) -> None:
    gone = {"finding": 0, "no_problem": 1, "could_not_look": None}
    rules = dict.fromkeys(one.rule for one in old.findings if one.severity != "info")
    connection.executemany(
        "INSERT INTO recorded_rules (case_id, rule, position, gone) VALUES (?, ?, ?, ?)",
        [(case_id, rule, at, gone[outcome_of(new, rule)]) for at, rule in enumerate(rules)],
    )


def _insert_metrics(
    connection: sqlite3.Connection, case_id: int, old: Diagnosis, both: Pair, entry: Entry | None
) -> None:
    before, after = (EntryMetrics(connection, each.kernel_id) for each in (both.before, both.after))
    wanted = {move.column for one in old.findings for move in one.expected} | set(ALWAYS)
    wanted |= {promise.metric for promise in (entry.head.expected if entry else ())}
    wanted |= {name for name in (*before.names(), *after.names()) if name.endswith(PROFILE_ENDS)}
    found: dict[tuple[str, str, str], list[MetricValue | None]] = {}
    for side, metrics in enumerate((before, after)):
        for name in wanted - {"duration_us"}:
            for value in metrics.of(name):
                key = (value.metric, value.core_kind, value.statistic)
                found.setdefault(key, [None, None])[side] = value
    rows = []
    for key, (one, other) in sorted(found.items(), key=lambda item: item[0]):
        known = one or other
        assert known is not None
        values = [None if each is None else each.value for each in (one, other)]
        rows.append((case_id, *key, known.unit, *values))
    connection.executemany(
        "INSERT INTO recorded_metrics (case_id, metric, core_kind, statistic, unit, before_value, after_value)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def _replace_entry(connection: sqlite3.Connection, entry: Entry) -> None:
    _remove_entry(connection, entry.id)
    add(connection, entry, datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"))


def _remove_entry(connection: sqlite3.Connection, identifier: str) -> None:
    row = connection.execute("SELECT id FROM knowledge_entries WHERE entry = ?", (identifier,)).fetchone()
    if row:
        remove(connection, row[0])
