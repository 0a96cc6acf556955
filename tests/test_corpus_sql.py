"""Every view and named query on the real captures, with figures counted by other means."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from opprof_db.analysis.diagnose import diagnose_run, store
from opprof_db.warehouse import readonly, views
from opprof_db.warehouse.queries import NamedQuery, query_files
from opprof_db.warehouse.sql_files import SqlFile
from tests.conftest import Warehouse
from tests.shared import CORPUS, needs_shared

pytestmark = [needs_shared, pytest.mark.corpus]
EMPTY_VIEWS = {"line_hotspots", "roofline"}
"""No capture was compiled with -g under the simulator or has block 13."""
EMPTY_QUERIES = {
    "cold_launches",
    "hot_lines",
    "launch_variation",
    "reduced_frequency",
    "roofline",
    "sweep",
}
"""Captures of single launches, at rated or unknown frequency, without labels."""
GIVEN = {"text": "cummin", "operator": "Cummin_kernel", "metric": "aiv_mte2_ratio", "key": "x", "kernel_id": "8"}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    filled = Warehouse(tmp_path_factory.mktemp("corpus") / "corpus.db")
    filled.ingest(CORPUS)
    with closing(sqlite3.connect(filled.path)) as opened, opened:
        for (run,) in opened.execute("SELECT id FROM runs").fetchall():
            for one in diagnose_run(opened, run):
                store(opened, one)
    return filled


@pytest.fixture(scope="module")
def connection(corpus: Warehouse) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(corpus.path)) as opened:
        yield opened


@pytest.mark.parametrize("view", views.view_files(), ids=lambda view: view.name)
def test_a_view_has_rows_on_real_captures(connection: sqlite3.Connection, view: SqlFile) -> None:
    (count,) = connection.execute(f"SELECT count(*) FROM {view.name}").fetchone()
    assert (count > 0) == (view.name not in EMPTY_VIEWS)


@pytest.mark.parametrize("query", query_files(), ids=lambda query: query.name)
def test_a_query_answers_on_real_captures(corpus: Warehouse, query: NamedQuery) -> None:
    needed = {p.name: GIVEN[p.name] for p in query.parameters if p.required}
    result = readonly.run(corpus.path, query.file.sql, query.bind(needed))
    assert result.cut is None
    assert (len(result.rows) > 0) == (query.name not in EMPTY_QUERIES)


def test_balance_and_pipes_agree_with_a_count_over_the_cores(connection: sqlite3.Connection) -> None:
    checked = 0
    for kernel, kind, cores, idle, low, mean, high, std in connection.execute(
        "SELECT kernel_id, core_kind, cores, idle_cores, min_us, mean_us, max_us, std_us FROM core_balance"
    ).fetchall():
        prefix = "cube" if kind == "aic" else "vector"
        times = [
            row[0]
            for row in connection.execute(
                f"SELECT {kind}_time_us FROM pipe_utilization WHERE kernel_id = ? AND sub_block_id LIKE ?",
                (kernel, f"{prefix}%"),
            )
        ]
        if not times:  # collected without PipeUtilization: the times come from another family
            continue
        working = [time for time in times if time >= max(times) / 100]
        average = sum(working) / len(working)
        spread = (sum((time - average) ** 2 for time in working) / len(working)) ** 0.5
        assert (cores, idle) == (len(times), len(times) - len(working)), kernel
        assert (low, high) == (min(working), max(working))
        assert mean == pytest.approx(average)
        assert std == pytest.approx(spread, abs=1e-6)
        checked += 1
    assert checked >= 20


def test_hit_rates_agree_with_the_printed_ones_where_a_kernel_has_one_core(connection: sqlite3.Connection) -> None:
    """With one row there is nothing to sum: the rate is the printed one, but for misses without allocation."""
    compared = 0
    for printed, ours in connection.execute(
        "SELECT l.aiv_read_hit_rate_pct, h.hit_rate_pct FROM l2_hit_rates AS h"
        " INNER JOIN l2_cache AS l ON l.kernel_id = h.kernel_id"
        " INNER JOIN kernel_overview AS k ON k.kernel_id = h.kernel_id"
        " WHERE k.cores = 1 AND h.access = 'read' AND h.core_kind = 'aiv'"
    ):
        assert printed <= ours + 1e-4
        compared += 1
    assert compared >= 4


def test_bandwidths_agree_with_volume_and_duration(connection: sqlite3.Connection) -> None:
    compared = 0
    for volume, rate, duration in connection.execute(
        "SELECT t.volume_kib, t.kernel_bw_gib_s, k.duration_us FROM memory_traffic AS t"
        " INNER JOIN kernel_overview AS k ON k.kernel_id = t.kernel_id WHERE t.kernel_bw_gib_s IS NOT NULL"
    ):
        assert rate == pytest.approx(volume * 1024 / (duration * 1e-6) / 2**30)
        compared += 1
    assert compared > 50
