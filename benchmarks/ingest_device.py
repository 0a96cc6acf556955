"""Ingest of device runs against two baselines, in one run of this script.

A tree of launches (8 CSVs, 72 cores each) is taken in by ``opprof-db ingest``, and in turn by

(a) ``pandas.read_csv`` + ``DataFrame.to_sql(append)`` per file, over SQLAlchemy (as pandas documents it) and over
    a plain sqlite3 connection (which pandas supports too, and which is faster);
(b) the floor: ``csv.reader`` + ``sqlite3.executemany`` into the same tables, with no checks, no
    roll-up, no hashes and no archive.

Each is a process of its own; the rounds alternate, medians are quoted. Figures: seconds of the
whole process, the ratio to the baselines pair by pair, peak memory (of the largest process).

    python benchmarks/ingest_device.py                 1,000 launches, three rounds
    python benchmarks/ingest_device.py --scale         1x and 10x the launches: time and memory
    python benchmarks/ingest_device.py --json out.json
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opprof_db.catalog import BASIC_INFO, load, table_name

CORES = [(block, sub) for block in range(24) for sub in ("cube0", "vector0", "vector1")]


@dataclass(frozen=True)
class Figure:
    """One process: wall seconds and peak resident memory in MB."""

    seconds: float
    peak_mb: float


def build_tree(root: Path, launches: int, runs: int) -> None:
    """Write ``runs`` runs of mix kernels; every launch differs from every other in some cells."""
    draw = random.Random(20260601)
    templates = {family: template(family, draw) for family in load().families}
    basic = ",".join(load().header(BASIC_INFO, "910B")) + ",\n"
    for run in range(runs):
        letters = "".join(draw.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(16))
        folder = root / f"OPPROF_20260601{run // 3600:02d}{run // 60 % 60:02d}{run % 60:02d}_{letters}"
        for launch in range(launches // runs):
            stamp = f"20260601{run:06d}{launch % 1000:03d}"
            kernel = folder / "MatMulBias" / str(launch)
            kernel.mkdir(parents=True)
            for family, lines in templates.items():
                text = list(lines)
                for at in draw.sample(range(1, len(text)), 6):
                    text[at] = re.sub(r"\d+\.\d{6}", lambda _: f"{draw.uniform(0, 1):f}", text[at], count=4)
                (kernel / f"{family}_{stamp}.csv").write_text("\n".join(text) + "\n")
            duration = draw.uniform(100, 300)
            name = "MatMulBias_1e04ee05ab491cc5ae9c3d5c9ee8950b_10001_mix_aic"
            (kernel / f"{BASIC_INFO}_{stamp}.csv").write_text(f"{basic}{name},mix,{duration:f},24,48,0,77,1800,1800,\n")


def template(family: str, draw: random.Random) -> list[str]:
    """Header and 72 rows of a family with figures of the usual length."""
    header = load().header(family, "910B")
    lines = [",".join(header) + ","]
    for block, sub in CORES:
        kind = "aic" if sub == "cube0" else "aiv"
        lines.append(",".join(figure(family, name, kind, block, sub, draw) for name in header) + ",")
    return lines


def figure(family: str, name: str, kind: str, block: int, sub: str, draw: random.Random) -> str:
    """One cell as msopprof prints it."""
    metric = load().find(family, name)
    assert metric is not None
    if metric.is_key:
        return str(block) if name == "block_id" else sub
    if metric.core != "both" and metric.core != kind:
        return "NA"
    if metric.type == "INTEGER":
        return str(draw.randrange(10**6))
    top = {"ratio": 1.0, "%": 99.0}.get(metric.unit, 300.0)
    return f"{draw.uniform(0, top):f}"


def timed(command: list[str]) -> Figure:
    """Run a process to its end and ask the operating system what it took."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.stderr.close()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} failed: {errors.decode()}")
    return Figure(seconds, usage.ru_maxrss / 1024)


def opprof(tree: Path, database: Path) -> list[str]:
    """The command that is measured."""
    return [sys.executable, "-m", "opprof_db", "ingest", str(tree), "--db", str(database)]


def baseline_pandas_engine(tree: Path, database: Path) -> None:
    """(a) pandas per file over an SQLAlchemy engine."""
    from sqlalchemy import create_engine

    engine = create_engine(f"sqlite:///{database}")
    append_frames(tree, engine)
    engine.dispose()


def baseline_pandas_sqlite3(tree: Path, database: Path) -> None:
    """(a) pandas per file over a sqlite3 connection."""
    with closing(sqlite3.connect(database)) as connection:
        append_frames(tree, connection)
        connection.commit()


def append_frames(tree: Path, connection: Any) -> None:
    """Every file read and appended to one table per family."""
    import pandas

    for kernel, folder in enumerate(kernel_folders(tree)):
        for path in sorted(folder.iterdir()):
            frame = pandas.read_csv(path, na_values=["NA", "N/A"], index_col=False)
            frame = frame.loc[:, ~frame.columns.str.startswith("Unnamed")]
            frame.insert(0, "kernel_id", kernel)
            frame.to_sql(path.name.partition("_")[0], connection, if_exists="append", index=False)


def baseline_floor(tree: Path, database: Path) -> None:
    """(b) csv.reader and executemany into the same tables, one transaction per run."""
    columns = {(metric.family, metric.vendor): metric.column for metric in load().metrics}
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        kernel = 0
        for run in sorted(tree.iterdir()):
            connection.execute("BEGIN IMMEDIATE")
            for folder in kernel_folders(run):
                kernel += 1
                for path in sorted(folder.iterdir()):
                    floor_file(connection, path, kernel, columns)
            connection.execute("COMMIT")


def floor_file(connection: sqlite3.Connection, path: Path, kernel: int, columns: dict[tuple[str, str], str]) -> None:
    """One file of the floor."""
    family = path.name.partition("_")[0]
    with path.open(newline="") as stream:
        lines = csv.reader(stream)
        header = [name for name in next(lines) if name]
        width = len(header)
        if family == BASIC_INFO:
            names = ["source_path", "mode", "status", "run_id", "id", *(columns[family, name] for name in header)]
            extra: list[object] = [str(kernel), "device", "complete", 1, kernel]
            table = "kernels"
        else:
            names = ["kernel_id", *(columns[family, name] for name in header)]
            extra = [kernel]
            table = table_name(family)
        rows = [extra + [None if cell in ("NA", "N/A") else cell for cell in row[:width]] for row in lines]
    marks = ", ".join("?" * len(names))
    connection.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", rows)


def kernel_folders(root: Path) -> list[Path]:
    """Launch folders below a run or a tree."""
    return sorted({path.parent for path in root.rglob(f"{BASIC_INFO}_*.csv")})


BASELINES = {
    "pandas-engine": baseline_pandas_engine,
    "pandas-sqlite3": baseline_pandas_sqlite3,
    "floor": baseline_floor,
}


def empty_warehouse(path: Path) -> None:
    """The same tables, empty."""
    from opprof_db.warehouse import migrate

    migrate.upgrade(path, create=True)


def compare(launches: int, runs: int, rounds: int) -> dict[str, object]:
    """All three in turn, ``rounds`` times."""
    figures: dict[str, list[Figure]] = {label: [] for label in ("opprof-db", *BASELINES)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_tree(folder / "tree", launches, runs)
        for turn in range(rounds):
            figures["opprof-db"].append(timed(opprof(folder / "tree", folder / f"opprof{turn}.db")))
            empty_warehouse(folder / f"floor{turn}.db")
            for label in BASELINES:
                command = [sys.executable, __file__, "--baseline", label, str(folder / "tree")]
                figures[label].append(timed([*command, str(folder / f"{label}{turn}.db")]))
            check_same_cells(folder / f"opprof{turn}.db", folder / f"floor{turn}.db")
            for path in folder.glob("*.db*"):
                path.unlink()
    return {
        "launches": launches,
        "runs": runs,
        "rounds": rounds,
        "seconds": {label: statistics.median(f.seconds for f in taken) for label, taken in figures.items()},
        "peak_mb": {label: max(f.peak_mb for f in taken) for label, taken in figures.items()},
        "times_faster_than_pandas": {
            label: ratio(figures[label], figures["opprof-db"]) for label in BASELINES if label != "floor"
        },
        "times_the_floor": ratio(figures["opprof-db"], figures["floor"]),
    }


def check_same_cells(ours: Path, floor: Path) -> None:
    """A benchmark of something else than the same content would prove nothing."""
    with closing(sqlite3.connect(ours)) as mine, closing(sqlite3.connect(floor)) as theirs:
        for family in load().families:
            totals = ", ".join(
                f"count({m.column}), round(total({m.column}), 3)" for m in load().of_family(family) if not m.is_key
            )
            statement = f"SELECT {totals} FROM {table_name(family)}"
            if mine.execute(statement).fetchone() != theirs.execute(statement).fetchone():
                raise SystemExit(f"{family}: the floor and opprof-db did not store the same cells")


def ratio(above: list[Figure], below: list[Figure]) -> float:
    """Median of the ratios, pair by pair."""
    return statistics.median(a.seconds / b.seconds for a, b in zip(above, below, strict=True))


def scale(launches: int, runs: int) -> dict[str, object]:
    """Ten times the launches: ten times the time, the same memory?"""
    taken = []
    for factor in (1, 10):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            build_tree(folder / "tree", launches * factor, runs * factor)
            taken.append(timed(opprof(folder / "tree", folder / "opprof.db")))
    return {
        "launches": [launches, launches * 10],
        "seconds": [figure.seconds for figure in taken],
        "time_ratio": taken[1].seconds / taken[0].seconds,
        "peak_mb": [figure.peak_mb for figure in taken],
    }


def start_up() -> dict[str, float]:
    """Seconds of the two commands people type most, median of seven."""
    with tempfile.TemporaryDirectory() as name:
        database = Path(name) / "opprof.db"
        build_tree(Path(name) / "tree", 20, 20)
        timed(opprof(Path(name) / "tree", database))
        python = [sys.executable, "-m", "opprof_db"]
        return {
            title: statistics.median(timed([*python, *rest]).seconds for _ in range(7))
            for title, rest in (("--help", ["--help"]), ("runs", ["runs", "--db", str(database)]))
        }


def report(result: dict[str, object]) -> str:
    """The figures as Markdown."""
    lines = [f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores", ""]
    compared = result.get("compare")
    if isinstance(compared, dict):
        lines += [
            f"{compared['launches']} launches in {compared['runs']} runs, median of {compared['rounds']} rounds",
            "",
            "| | seconds | peak MB |",
            "|---|---|---|",
        ]
        lines += [f"| {label} | {compared['seconds'][label]:.2f} | {compared['peak_mb'][label]:.0f} |"
                  for label in ("opprof-db", *BASELINES)]  # fmt: skip
        lines += [
            "",
            *(
                f"{times:.2f} times faster than {label} (a)"
                for label, times in compared["times_faster_than_pandas"].items()
            ),
            f"{compared['times_the_floor']:.2f} times the floor (b)",
        ]
    scaled = result.get("scale")
    if isinstance(scaled, dict):
        lines += [
            f"scale: {scaled['launches'][0]} and {scaled['launches'][1]} launches take"
            f" {scaled['seconds'][0]:.1f} and {scaled['seconds'][1]:.1f} s (ratio {scaled['time_ratio']:.2f}),"
            f" peak {scaled['peak_mb'][0]:.0f} and {scaled['peak_mb'][1]:.0f} MB",
        ]
    started = result.get("start_up")
    if isinstance(started, dict):
        lines += [f"start-up: `--help` {started['--help']:.2f} s, `runs` {started['runs']:.2f} s"]
    return "\n".join(lines)


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", action="store_true", help="1x and 10x the launches instead of the baselines")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--baseline", nargs=3, metavar=("NAME", "TREE", "DB"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.baseline:
        name, tree, database = given.baseline
        BASELINES[name](Path(tree), Path(database))
        return
    result: dict[str, object] = {"start_up": start_up()}
    if given.scale:
        result["scale"] = scale(given.launches, given.runs)
    else:
        result["compare"] = compare(given.launches, given.runs, given.rounds)
    print(report(result))
    if given.json:
        given.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
