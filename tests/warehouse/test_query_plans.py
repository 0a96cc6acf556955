"""Asked about one run or one launch, the named queries read by key or index, never a fact table from end to end."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from opprof_db.warehouse import migrate
from opprof_db.warehouse.queries import NamedQuery, query_files
from opprof_db.warehouse.tables import metadata

SMALL = {"metrics", "chips", "metric_changes", "operators", "runs"}
"""Tables that do not grow with the kernels' cores and figures; all others must not be scanned."""
GIVEN = {"text": "x", "operator": "x", "metric": "aiv_time_us", "key": "x"}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("plans") / "new.db"
    migrate.upgrade(path, create=True)
    with closing(sqlite3.connect(path)) as opened:
        yield opened


def scanned(connection: sqlite3.Connection, sql: str, bound: dict[str, object]) -> set[str]:
    """Tables and indexes that the compiled statement reads from the first row on (source: SQLite's EXPLAIN).

    EXPLAIN QUERY PLAN names aliases, which several views share; the program names the b-tree itself.
    """
    tables = dict(connection.execute("SELECT rootpage, tbl_name FROM sqlite_master WHERE rootpage > 0"))
    cursors: dict[int, str] = {}
    found = set()
    for _, opcode, first, second, *_ in connection.execute(f"EXPLAIN {sql}", bound):
        if opcode in ("OpenRead", "ReopenIdx"):
            cursors[first] = tables.get(second, "")
        elif opcode in ("OpenEphemeral", "OpenAutoindex", "OpenPseudo", "SorterOpen"):
            cursors.pop(first, None)
        elif opcode in ("Rewind", "Last") and first in cursors:
            found.add(cursors[first])
    return found


def single(query: NamedQuery) -> list[dict[str, object]]:
    """Parameters that ask about one run and about one launch, where the query has them."""
    names = {parameter.name for parameter in query.parameters}
    needed = {p.name: GIVEN[p.name] for p in query.parameters if p.required and p.name in GIVEN}
    return [query.bind({**needed, name: "1"}) for name in ("run_id", "kernel_id") if name in names]


CASES = [
    pytest.param(query, bound, id=f"{query.name}-{at}")
    for query in query_files()
    for at, bound in enumerate(single(query))
]


@pytest.mark.parametrize(("query", "bound"), CASES)
def test_a_query_about_one_run_or_launch_scans_no_fact_table(
    connection: sqlite3.Connection, query: NamedQuery, bound: dict[str, object]
) -> None:
    assert scanned(connection, query.file.sql, bound) - SMALL == set()
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query.file.sql}", bound)]
    assert any(re.match(r"SEARCH \S+ USING .*(INDEX|PRIMARY KEY)", line) for line in plan), plan


def test_most_queries_can_be_asked_about_one_run_or_launch() -> None:
    assert len({case.values[0].name for case in CASES}) >= 22  # type: ignore[attr-defined]


@pytest.mark.parametrize("table", ["kernel_metrics", "kernel_cores", "instruction_stats", "kernels"])
def test_a_scan_would_be_noticed(connection: sqlite3.Connection, table: str) -> None:
    assert table in metadata.tables
    assert scanned(
        connection, f"SELECT count(*), max(c.kernel_id) FROM (SELECT *, 1 AS kernel_id FROM {table}) AS c", {}
    ) == {table}
    assert (
        scanned(connection, f"SELECT * FROM {table} WHERE {'id' if table == 'kernels' else 'kernel_id'} = 1", {})
        == set()
    )


@pytest.mark.parametrize("view", ["pipe_usage", "core_balance", "core_times", "memory_traffic", "memory_limits",
                                  "l2_hit_rates", "resource_conflicts", "instruction_hotspots", "line_hotspots",
                                  "simulated_pipes", "trace_waits", "pipe_dependencies", "device_and_simulator",
                                  "dominant_pipe", "frequency", "roofline", "physical_core_times", "top_kernels",
                                  "trace_event_list", "kernel_metric_values", "kernel_overview"])  # fmt: skip
@pytest.mark.parametrize("column", ["kernel_id", "run_id"])
def test_plain_filters_on_a_view_reach_the_tables(connection: sqlite3.Connection, view: str, column: str) -> None:
    assert scanned(connection, f"SELECT * FROM {view} WHERE {column} = 1", {}) - SMALL == set()
