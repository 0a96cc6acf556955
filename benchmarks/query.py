"""Named queries on a large warehouse: for one run, over everything, and the latter beside DuckDB on the same rows.

Some hundred launches are taken in by the product, then multiplied by SQL under new ids into kernels of 72 cores each,
in runs of 50 launches and 20 operators; a few simulated kernels with traces stand beside them. Every named query runs
as `opprof-db query` would run it (read-only, guarded, all rows fetched). DuckDB gets the same tables, views and
statements; it is left out when it is not installed. Medians of the rounds after one that warms the cache.

    python benchmarks/query.py                          5,000 kernels, three rounds
    python benchmarks/query.py --kernels 200            a small one
    python benchmarks/query.py --db kept.db             keep the warehouse, or use it again
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import os
import platform
import random
import re
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from ingest_device import build_tree

from opprof_db.ingest.finding import find
from opprof_db.ingest.options import IngestOptions
from opprof_db.ingest.service import ingest
from opprof_db.warehouse import opening, readonly, views
from opprof_db.warehouse.queries import NamedQuery, query_files

LAUNCHES_PER_RUN = 50
OPERATORS = 20
SIMULATED, SIMULATED_CORES, INSTRUCTIONS = 10, 8, 300
NAMES = ("VADD", "MOV_OUT_TO_UB", "WAIT_FLAG", "SET_FLAG", "BAR")
GIVEN = {"text": "op_1", "operator": "op_1", "metric": "aiv_mte2_ratio", "key": "variant"}
"""Values of the parameters that have no default."""
ONE_RUN_MS, EVERYTHING_MS = 100, 2000
"""What the project promises."""
EVERY_ROW = readonly.Limits(rows=None)


def build(path: Path, kernels: int, seed_launches: int) -> None:
    """A warehouse of ``kernels`` device launches and some simulated ones."""
    seed_launches = min(kernels, max(LAUNCHES_PER_RUN, seed_launches // LAUNCHES_PER_RUN * LAUNCHES_PER_RUN))
    with tempfile.TemporaryDirectory() as name, opening.writing(path, create=True) as connection:
        build_tree(Path(name), seed_launches, max(1, seed_launches // LAUNCHES_PER_RUN))
        for _ in ingest(connection, path, find([Path(name)]), IngestOptions(conditions={"soc": "Ascend910B1"})):
            pass
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("BEGIN IMMEDIATE")
        multiply(connection, kernels)
        rename(connection)
        simulate(connection, random.Random(20260602))
        connection.execute("COMMIT")


def multiply(connection: sqlite3.Connection, kernels: int) -> None:
    """Copy every run with all it holds until there are enough kernels."""
    (runs,), (present,) = (
        connection.execute(f"SELECT max(id) FROM {table}").fetchone() for table in ("runs", "kernels")
    )
    tables = {
        name: columns_of(connection, name)
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall()
    }
    for copy in range(1, -(-kernels // present)):
        shift = {"run_id": copy * runs, "kernel_id": copy * present}
        for table, columns in tables.items():
            if "kernel_id" not in columns and "run_id" not in columns and table != "runs":
                continue
            shown = []
            for column in columns:
                by = shift.get(column)
                if column == "id":
                    by = shift["run_id" if table == "runs" else "kernel_id"] if table in ("runs", "kernels") else None
                    if by is None:
                        continue
                shown.append((column, f"{column} + {by}" if by else expression(table, column, copy)))
            limit = "run_id" if "run_id" in columns else "kernel_id" if "kernel_id" in columns else "id"
            top = present if limit == "kernel_id" else runs
            connection.execute(
                f"INSERT INTO {table} ({', '.join(column for column, _ in shown)})"
                f" SELECT {', '.join(text for _, text in shown)} FROM {table} WHERE {limit} <= {top}"
            )


def expression(table: str, column: str, copy: int) -> str:
    """What a copied column holds: the same, but for what must be unique or should differ."""
    changed = {
        ("runs", "fingerprint"): f"fingerprint || '-{copy}'",
        ("runs", "name"): f"name || '_{copy}'",
        ("runs", "started_at"): f"strftime('%Y-%m-%dT%H:%M:%S', started_at, '+{copy} days')",
        ("kernels", "duration_us"): f"duration_us * (1 + 0.001 * ((id * 7 + {copy}) % 100))",
        ("run_locations", "path"): f"path || '_{copy}'",
    }
    return changed.get((table, column), column)


def columns_of(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    """Column -> type."""
    return {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({table})")}


def rename(connection: sqlite3.Connection) -> None:
    """Several operators instead of one, and a label to sweep over."""
    connection.executemany(
        "INSERT INTO operators (id, name, op_type) VALUES (?, ?, 'mix')",
        [(1000 + number, f"op_{number}") for number in range(OPERATORS)],
    )
    connection.execute(
        f"UPDATE kernels SET operator_id = 1000 + id % {OPERATORS}, name = 'op_' || id % {OPERATORS} || '_mix_aic'"
    )
    connection.execute(
        "INSERT INTO kernel_labels (kernel_id, key, value, source) SELECT id, 'variant', id % 8, 'user' FROM kernels"
    )


def simulate(connection: sqlite3.Connection, draw: random.Random) -> None:
    """Simulated kernels: statistics, pipe activity and overlap, flows."""
    pipes = ("SCALAR", "VECTOR", "MTE2", "MTE3", "FLOWCTRL")
    (first,) = connection.execute("SELECT max(id) + 1 FROM kernels").fetchone()
    (run,) = connection.execute("SELECT max(id) + 1 FROM runs").fetchone()
    connection.execute(
        "INSERT INTO runs (id, name, mode, status, started_at, fingerprint, ingested_at, ingested_with, cells_read,"
        " cells_stored, cells_null, cells_lost) VALUES (?, 'simulated', 'simulator', 'complete', '2026-07-01T00:00:00',"
        " 'simulated', '2026-07-01T00:00:00', 'benchmark', 0, 0, 0, 0)",
        (run,),
    )
    for kernel in range(first, first + SIMULATED):
        connection.execute(
            "INSERT INTO kernels (id, run_id, operator_id, source_path, mode, status) VALUES (?, ?, ?, ?, ?, ?)",
            (kernel, run, 1000 + kernel % OPERATORS, str(kernel), "simulator", "complete"),
        )
        position = 0
        for number in range(SIMULATED_CORES):
            core = f"core{number}.veccore0"
            rows = [
                (kernel, core, line + 2, "aiv", draw.choice(NAMES), 0x1000 + 4 * line, pipes[line % len(pipes)],
                 draw.randrange(1, 100), draw.randrange(100000), 0, None, 1)
                for line in range(INSTRUCTIONS)
            ]  # fmt: skip
            insert(connection, "instruction_stats", rows, 12)
            lines = [
                (kernel, core, line + 2, "aiv", f"k.cpp:{line}", "k.cpp", line, 8, draw.randrange(100000), 0, None, 1)
                for line in range(100)
            ]
            insert(connection, "source_line_stats", lines, 12)
            for lane, pipe in enumerate(pipes):
                busy = draw.uniform(10, 90)
                figures = {
                    "kernel_id": kernel, "position": position, "core": core, "pipe": pipe, "work_events": 50,
                    "wait_events": 5, "set_events": 5, "barrier_events": 1, "cache_head_events": 0,
                    "ccu_head_events": 0, "other_events": 0, "impossible_events": 0, "busy_us": busy,
                    "first_us": 1.0, "last_us": 101.0, "span_us": 100.0, "busy_share": busy / 100, "gaps": 40,
                    "gap_max_us": draw.uniform(1, 9), "truncated": 0,
                }  # fmt: skip
                connection.execute(
                    f"INSERT INTO pipe_activity ({', '.join(figures)}) VALUES ({', '.join('?' * len(figures))})",
                    tuple(figures.values()),
                )
                connection.execute(
                    "INSERT INTO trace_lanes (kernel_id, trace_no, lane, process, thread, is_numeric, core, pipe)"
                    " VALUES (?, ?, ?, ?, ?, 0, ?, ?)",
                    (kernel, number, lane, core, pipe, core, pipe),
                )
                position += 1
            overlap = (kernel, number, core, "MTE2", "VECTOR", draw.uniform(0, 10), 100.0, 0.05)
            insert(connection, "pipe_overlap", [overlap], 8)
            flows = [
                (kernel, number, at, str(at), "MTE2ToVECTOR", 2, float(at), None, 1, at + draw.random(), None, 0)
                for at in range(200)
            ]
            insert(connection, "trace_flows", flows, 12)


def insert(connection: sqlite3.Connection, table: str, rows: list[tuple[Any, ...]], width: int) -> None:
    """All columns of a table, in order; a details column left out is the last."""
    names = list(columns_of(connection, table))[:width]
    connection.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * width)})", rows)


def parameters(query: NamedQuery, *, run: int | None, kernel: int) -> dict[str, str] | None:
    """Parameters for one run or launch, or for everything; ``None`` where the query cannot be asked so."""
    names = {parameter.name for parameter in query.parameters}
    given = {p.name: GIVEN[p.name] for p in query.parameters if p.required and p.name in GIVEN}
    needs_kernel = any(p.required and p.name == "kernel_id" for p in query.parameters)
    if run is None:
        return None if needs_kernel else given
    if needs_kernel:
        return given | {"kernel_id": str(kernel)}
    return given | {"run_id": str(run)} if "run_id" in names else None


def milliseconds(action: Callable[[], object], rounds: int) -> float:
    """Median of the rounds after one that is not counted."""
    action()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def measure(path: Path, rounds: int) -> dict[str, dict[str, float | int | str | None]]:
    """Every named query: rows over everything, milliseconds for one run, over everything, and with DuckDB."""
    with closing(sqlite3.connect(path)) as connection:
        run, kernel = connection.execute(
            "SELECT k.run_id, max(k.id) FROM kernels AS k WHERE k.mode = 'device'"
            " GROUP BY k.run_id ORDER BY k.run_id DESC LIMIT 1"
        ).fetchone()
    duck = duckdb_of(path) if importlib.util.find_spec("duckdb") else None
    result: dict[str, dict[str, float | int | str | None]] = {}
    for query in query_files():
        row: dict[str, float | int | str | None] = {"rows": None, "one_run": None, "everything": None, "duckdb": None}
        for key, given in (
            ("one_run", parameters(query, run=run, kernel=kernel)),
            ("everything", parameters(query, run=None, kernel=kernel)),
        ):
            if given is None:
                continue
            bound = query.bind(given)
            found = readonly.run(path, query.file.sql, bound, EVERY_ROW)
            row[key] = milliseconds(lambda q=query, b=bound: readonly.run(path, q.file.sql, b, EVERY_ROW), rounds)
            if key == "everything":
                row["rows"] = len(found.rows)
                if duck is not None:
                    row["duckdb"] = in_duckdb(duck, query, bound, len(found.rows), rounds)
        result[query.name] = row
    return result


def in_duckdb(duck: Any, query: NamedQuery, bound: dict[str, Any], rows: int, rounds: int) -> float | str:
    """Milliseconds, or in a word why not."""
    statement = re.sub(r"(?<!\w):([a-z_]+)", r"$\1", query.file.sql)
    try:
        found = duck.execute(statement, bound).fetchall()
    except Exception as error:
        return f"refused ({type(error).__name__})"
    if len(found) != rows:
        return f"other result ({len(found)} rows)"
    return milliseconds(lambda: duck.execute(statement, bound).fetchall(), rounds)


def duckdb_of(path: Path) -> Any:
    """The same tables and views in DuckDB, in memory; of the wide tables, which no view reads, the keys."""
    import duckdb

    duck = duckdb.connect()
    types = {"INTEGER": "BIGINT", "REAL": "DOUBLE", "TEXT": "VARCHAR"}
    with closing(sqlite3.connect(path)) as connection, tempfile.TemporaryDirectory() as folder:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in names:
            columns = columns_of(connection, table)
            keys = ("kernel_id", "block_id", "sub_block_id")
            if {*keys, "aiv_time_us"} <= columns.keys():
                columns = {key: columns[key] for key in keys}
            kept = {name: types.get(kind, "VARCHAR") for name, kind in columns.items() if kind != "BLOB"}
            quoted = ", ".join(f'"{name}"' for name in kept)
            duck.execute(f"CREATE TABLE {table} ({', '.join(f'{chr(34)}{n}{chr(34)} {k}' for n, k in kept.items())})")
            if not connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
                continue
            file = Path(folder) / f"{table}.csv"
            with file.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.writer(stream, lineterminator="\n")
                writer.writerows(written(connection.execute(f"SELECT {quoted} FROM {table}")))
            duck.execute(f"COPY {table} FROM '{file}' (FORMAT csv, HEADER false, NULLSTR '\\N')")
            file.unlink()
    pending = list(views.view_files())
    while pending:
        left = []
        for view in pending:
            try:
                duck.execute(f"CREATE VIEW {view.name} AS {view.sql}")
            except duckdb.Error:
                left.append(view)
        if len(left) == len(pending):
            break
        pending = left
    return duck


def written(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[Any]]:
    """NULL as a mark that no value is."""
    for row in rows:
        yield ["\\N" if value is None else value for value in row]


def shown(value: float | int | str | None) -> str:
    """A cell of the report."""
    return "" if value is None else f"{value:.1f}" if isinstance(value, float) else str(value)


def report(facts: dict[str, int], measured: dict[str, dict[str, float | int | str | None]]) -> str:
    """The figures as Markdown."""
    lines = [
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores;"
        f" {facts['kernels']:,} kernels in {facts['runs']:,} runs, {facts['cores']:,} cores,"
        f" {facts['kernel_metrics']:,} rolled-up metrics, {facts['megabytes']:,} MB",
        "",
        "| query | rows | one run, ms | everything, ms | DuckDB, ms |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {' | '.join(shown(row[key]) for key in ('rows', 'one_run', 'everything', 'duckdb'))} |"
        for name, row in measured.items()
    ]
    for key, title, limit in (("one_run", "one run", ONE_RUN_MS), ("everything", "everything", EVERYTHING_MS)):
        taken = {name: row[key] for name, row in measured.items() if isinstance(row[key], float)}
        slow = [name for name, value in taken.items() if value > limit]
        worst = max(taken, key=lambda name: taken[name])
        said = f"above {limit} ms: {', '.join(slow)}" if slow else f"all below {limit} ms"
        lines += ["", f"{title}: slowest {worst} with {taken[worst]:.1f} ms; {said}"]
    if not importlib.util.find_spec("duckdb"):
        lines += ["", "DuckDB is not installed: left out."]
    return "\n".join(lines)


def facts_of(path: Path) -> dict[str, int]:
    """How large the warehouse is."""
    tables = {"kernels": "kernels", "runs": "runs", "cores": "kernel_cores", "kernel_metrics": "kernel_metrics"}
    with closing(sqlite3.connect(path)) as connection:
        found = {k: int(connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0]) for k, t in tables.items()}
    return found | {"megabytes": path.stat().st_size // 10**6}


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=5000, help="device launches, 72 cores each")
    parser.add_argument("--launches", type=int, default=250, help="how many of them are really taken in")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--db", type=Path, help="keep the warehouse here, or use the one that is there")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = given.db or Path(name) / "large.db"
        if not path.exists():
            build(path, given.kernels, given.launches)
        opening.bring_up_to_date(path)
        facts, measured = facts_of(path), measure(path, given.rounds)
    print(report(facts, measured))
    if given.json:
        given.json.write_text(json.dumps({"facts": facts, "queries": measured}, indent=2) + "\n")


if __name__ == "__main__":
    main()
