"""Ingest of a simulator trace against two baselines, in one run of this script.

An all-core trace of a million events (about 260 MB) in two variants, about 3,000 distinct operand texts as real
kernels have and all of them distinct (the worst case), is taken in by ``opprof-db ingest``, and in turn by

(a) ``json.load`` + ``sqlite3.executemany`` of every event into one table;
(b) Perfetto's trace_processor, where a binary is at hand (TRACE_PROCESSOR=path, or ``trace_processor_shell`` on PATH).

    python benchmarks/ingest_trace.py [--events 1000000] [--rounds 3] [--scale] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from _trace_gen import write_trace
from ingest_device import Figure, ratio, timed


def build(folder: Path, events: int, *, distinct: bool) -> Path:
    """A simulator run with an all-core trace."""
    run = folder / f"OPPROF_{'distinct' if distinct else 'usual'}_{events}"
    (run / "simulator").mkdir(parents=True)
    with (run / "simulator" / "trace.json").open("w", encoding="utf-8") as out:
        write_trace(out, events, distinct=distinct)
    return run


def opprof(run: Path, database: Path) -> list[str]:
    """The command that is measured; the archive is part of it."""
    return [sys.executable, "-m", "opprof_db", "ingest", str(run), "--db", str(database)]


def baseline_json(run: Path, database: Path) -> None:
    """(a) the whole file parsed at once, one row an event."""
    with (run / "simulator" / "trace.json").open(encoding="utf-8") as stream:
        events = json.load(stream)["traceEvents"]
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE events (name, ph, pid, tid, ts REAL, dur REAL, id, pc, code, detail)")
        connection.executemany(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    e.get("name"), e.get("ph"), str(e.get("pid")), str(e.get("tid")), e.get("ts"), e.get("dur"),
                    e.get("id"), *(e.get("args", {}).get(key) for key in ("pc_addr", "code", "detail")),
                )
                for e in events
            ),
        )  # fmt: skip
        connection.commit()


def trace_processor() -> str | None:
    """A trace_processor binary, or ``None``."""
    return os.environ.get("TRACE_PROCESSOR") or shutil.which("trace_processor_shell")


def measure(folder: Path, events: int, rounds: int, *, distinct: bool) -> dict[str, object]:
    """One variant, all in turn."""
    run = build(folder, events, distinct=distinct)
    size = (run / "simulator" / "trace.json").stat().st_size
    figures: dict[str, list[Figure]] = {"opprof-db": [], "json.load": []}
    shell = trace_processor()
    if shell:
        figures["trace_processor"] = []
    for turn in range(rounds):
        figures["opprof-db"].append(timed(opprof(run, folder / f"{turn}.db")))
        check(folder / f"{turn}.db", run)
        command = [sys.executable, __file__, "--baseline", str(run), str(folder / f"json{turn}.db")]
        figures["json.load"].append(timed(command))
        if shell:
            query = folder / "query.sql"
            query.write_text("SELECT count(*) FROM slice;\n")
            figures["trace_processor"].append(
                timed([shell, "--query-file", str(query), str(run / "simulator" / "trace.json")])
            )
        for path in folder.glob("*.db*"):
            path.unlink()
    shutil.rmtree(run)
    return {
        "events": events,
        "size_mb": size / 1e6,
        "seconds": {label: statistics.median(f.seconds for f in taken) for label, taken in figures.items()},
        "peak_mb": {label: max(f.peak_mb for f in taken) for label, taken in figures.items()},
        "ratios": {
            label: ratio(taken, figures["opprof-db"]) for label, taken in figures.items() if label != "opprof-db"
        },
    }


def check(database: Path, run: Path) -> None:
    """Every X event of the file is stored."""
    expected = subprocess.run(
        ["grep", "-o", '"ph":"X"', str(run / "simulator" / "trace.json")], capture_output=True, text=True, check=False
    ).stdout.count("\n")
    with closing(sqlite3.connect(database)) as connection:
        (stored,) = connection.execute("SELECT count(*) FROM trace_events WHERE phase = 'X'").fetchone()
    if stored != expected:
        raise SystemExit(f"{stored} of {expected} events were stored")


def report(results: dict[str, dict[str, object]]) -> str:
    """The figures as Markdown."""
    lines = [f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores"]
    for name, result in results.items():
        lines += ["", f"{name}: {result['events']:,} events, {result['size_mb']:.0f} MB", "",
                  "| | seconds | peak MB | times opprof-db's |", "|---|---|---|---|"]  # fmt: skip
        for label, seconds in result["seconds"].items():  # type: ignore[attr-defined]
            times = result["ratios"].get(label, 1.0)  # type: ignore[attr-defined]
            lines.append(f"| {label} | {seconds:.2f} | {result['peak_mb'][label]:.0f} | {times:.2f} |")  # type: ignore[index]
    if trace_processor() is None:
        lines += ["", "trace_processor: skipped, no binary at hand (set TRACE_PROCESSOR to one)"]
    return "\n".join(lines)


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", action="store_true", help="a tenth of the events and all of them: time and memory")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--baseline", nargs=2, metavar=("RUN", "DB"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.baseline:
        baseline_json(Path(given.baseline[0]), Path(given.baseline[1]))
        return
    results: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.scale:
            for events in (given.events // 10, given.events):
                results[f"scale {events}"] = measure(folder, events, 1, distinct=False)
        else:
            results["usual"] = measure(folder, given.events, given.rounds, distinct=False)
            results["all distinct"] = measure(folder, given.events, given.rounds, distinct=True)
    print(report(results))
    if given.json:
        given.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
