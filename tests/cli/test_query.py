"""The query command: where statements come from, how values are bound, what is written."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from opprof_db.cli.query import parameter_value
from tests import small
from tests.conftest import Cli

MIXED = """
    SELECT 1 AS whole, 0.1 AS number, 'a' AS text, NULL AS missing, 9007199254740993 AS large, 1 AS m, 1 AS t
    UNION ALL SELECT 2, 1e300, 'b', NULL, 0.5, 2.5, 'x'
    UNION ALL SELECT NULL, NULL, '', NULL, NULL, NULL, NULL
"""


@pytest.fixture
def filled(cli: Cli, tmp_path: Path) -> Cli:
    assert cli("ingest", small.run(tmp_path / "OPPROF_A")).returncode == 0
    return cli


def folder_of(tmp_path: Path) -> Path:
    return tmp_path / "cli"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7), ("-7", -7), ("007", "007"), ("12e4567", "12e4567"), ("0", 0), ("0.5", 0.5), ("-1e-3", -0.001),
        ("٣", "٣"), ("12345678901234567890123", "12345678901234567890123"), (" 7", " 7"), ("Null", "Null"),
        ("9223372036854775808", "9223372036854775808"), ("1.5", 1.5), ("1e3", 1000.0),
        (".5", 0.5), ("null", None), ("'7'", "7"), ("'it''s'", "it's"), ("x", "x"), ("", ""), ("1_0", "1_0"),
        ("nan", "nan"), ("0x10", "0x10"), ("'", "'"),
    ],
)  # fmt: skip
def test_a_parameters_value_is_what_its_text_looks_like(text: str, value: object) -> None:
    made = parameter_value(text)
    assert (made, type(made)) == (value, type(value))


def test_statements_come_from_arguments_files_and_stdin(filled: Cli, tmp_path: Path) -> None:
    path = tmp_path / "q.sql"
    path.write_text("-- two lines\nSELECT count(*) AS n\nFROM kernels;\n")
    expected = [{"n": 1}]
    assert json.loads(filled("query", "--file", path, "-f", "json").stdout) == expected
    assert json.loads(filled("query", "-", "-f", "json", input=path.read_text()).stdout) == expected
    assert json.loads(filled("query", "SELECT count(*) AS n\nFROM kernels;", "-f", "json").stdout) == expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "needs one statement"),
        (["SELECT 1", "--name", "top_kernels"], "needs one statement"),
        (["--name", "top_kernel"], "did you mean top_kernels"),
        (["--name", "top_kernels", "--param", "limit=x"], "not a whole number"),
        (["--name", "top_kernels", "--param", "limits=1"], "did you mean limit"),
        (["SELECT :a", "--param", "a"], "not NAME=VALUE"),
        (["SELECT :a"], "give it with --param"),
        (["SELECT :a", "-p", "a=1", "-p", "b=1"], "has no parameter :b"),
        (["SELECT :a", "-p", "a=1", "-p", "a=2"], "given twice"),
        (["-", "-f", "csv"], "the statement is empty"),
        (["SELECT 1", "-o", "opprof.db", "--force"], "belongs to the warehouse"),
        (["SELECT 1", "-o", "../cli/./opprof.db-wal", "--force"], "belongs to the warehouse"),
        (["SELECT 1", "-o", "/dev/null", "--force"], "no ordinary file"),
        (["SELECT 1", "-f", "parquet"], "add -o FILE"),
        (["SELECT 1", "-o", "no/such/folder/x.csv"], "no such folder"),
        (["SELECT 1", "-o", "."], "is a folder"),
    ],
)
def test_what_cannot_work_is_refused_with_a_remedy(filled: Cli, arguments: list[str], said: str) -> None:
    done = filled("query", *arguments, input="")
    assert done.returncode == 2
    assert said in done.stderr
    assert filled("db", "check").returncode == 0
    assert "Traceback" not in done.stderr


def test_a_missing_or_odd_file_is_one_line(filled: Cli, tmp_path: Path) -> None:
    odd = tmp_path / "odd.sql"
    odd.write_bytes(b"SELECT '\xff'")
    for path, said in ((tmp_path / "none.sql", "cannot be read"), (odd, "no UTF-8")):
        done = filled("query", "--file", path)
        assert done.returncode == 3
        assert said in done.stderr


def test_named_queries_and_parameters(filled: Cli) -> None:
    done = filled("query", "--name", "top_kernels", "-p", "limit=1", "-f", "json")
    assert len(json.loads(done.stdout)) == 1
    done = filled("query", "SELECT :a AS a, typeof(:b) AS b", "-p", "a=1.5", "-p", "b='1'", "-f", "json")
    assert json.loads(done.stdout) == [{"a": 1.5, "b": "text"}]


def test_formats_hold_the_same_values(filled: Cli) -> None:
    rows = json.loads(filled("query", MIXED, "-f", "json").stdout)
    lines = [json.loads(line) for line in filled("query", MIXED, "-f", "jsonl").stdout.splitlines()]
    assert rows == lines
    assert rows[0]["large"] == 9007199254740993
    table = list(csv.reader(io.StringIO(filled("query", MIXED, "-f", "csv").stdout)))
    assert table[1] == ["1", "0.1", "a", "", "9007199254740993", "1", "1"]
    assert json.loads(filled("query", "SELECT 1 WHERE 0", "-f", "json").stdout) == []


def test_parquet_keeps_every_value(filled: Cli, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    done = filled("query", MIXED, "-f", "parquet", "-o", "x.parquet")
    assert done.returncode == 0, done.stderr
    assert "column large holds numbers and whole numbers beyond 2^53: written as text, large_typeof" in done.stderr
    held = parquet.read_table(folder_of(tmp_path) / "x.parquet").to_pydict()
    assert held == {
        "whole": [1, 2, None],
        "number": [0.1, 1e300, None],
        "text": ["a", "b", ""],
        "missing": [None, None, None],
        "large": ["9007199254740993", "0.5", None],
        "large_typeof": ["integer", "real", "null"],
        "m": [1.0, 2.5, None],
        "t": ["1", "x", None],
        "t_typeof": ["integer", "text", "null"],
    }


def test_a_file_is_replaced_only_when_asked_and_never_half_written(filled: Cli, tmp_path: Path) -> None:
    target = folder_of(tmp_path) / "x.csv"
    assert filled("query", "SELECT 1 AS a", "-f", "csv", "-o", "x.csv").returncode == 0
    assert target.read_text() == "a\n1\n"
    refused = filled("query", "SELECT 2 AS a", "-f", "csv", "-o", "x.csv")
    assert refused.returncode == 2
    assert "exists already" in refused.stderr
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
    cut = filled("query", endless, "-f", "csv", "-o", "x.csv", "--force", "--timeout", "0.5")
    assert cut.returncode == 4
    assert "was stopped after" in cut.stderr
    assert target.read_text() == "a\n1\n"
    assert filled("query", "SELECT 2 AS a", "-f", "csv", "-o", "x.csv", "--force").returncode == 0
    assert target.read_text() == "a\n2\n"
    assert not [path for path in folder_of(tmp_path).iterdir() if "part" in path.name]


def test_what_is_cut_off_says_so_and_streams_are_whole(filled: Cli) -> None:
    many = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 12000) SELECT n FROM c"
    shown = filled("query", many)
    assert shown.returncode == 0
    assert "only the first 10000 rows are shown (--limit changes how many)" in shown.stderr
    whole = filled("query", many, "-f", "csv")
    assert len(whole.stdout.splitlines()) == 12_001
    assert whole.stderr == ""
    assert "only the first 5 rows" in filled("query", many, "-f", "csv", "--limit", "5").stderr


def test_ctrl_c_ends_a_long_statement(filled: Cli, tmp_path: Path) -> None:
    endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"
    running = subprocess.Popen(
        [sys.executable, "-m", "opprof_db", "query", endless, "-f", "csv", "-o", "x.csv"],
        cwd=folder_of(tmp_path),
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    deadline = time.monotonic() + 60
    while not list(folder_of(tmp_path).glob(".x.csv*")) and time.monotonic() < deadline:
        time.sleep(0.05)  # the unfinished file is there once rows come
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=20)
    assert running.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    assert [path.name for path in folder_of(tmp_path).iterdir() if "x.csv" in path.name] == []


def test_a_mixed_column_tells_its_values_apart_in_parquet(filled: Cli, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    sql = "SELECT 1 AS a, 9 AS a, 8 AS a_typeof UNION ALL SELECT '1', 9, 8 UNION ALL SELECT x'31', 9, 8"
    assert filled("query", sql, "-f", "parquet", "-o", "x.parquet").returncode == 0
    held = parquet.read_table(folder_of(tmp_path) / "x.parquet").to_pydict()
    assert list(held) == ["a", "a_typeof_2", "a_2", "a_typeof"], held
    assert held["a"] == ["1", "1", "x'31'"]
    assert held["a_typeof_2"] == ["integer", "text", "blob"]
    assert (held["a_2"], held["a_typeof"]) == ([9] * 3, [8] * 3)


def test_csv_tells_an_empty_text_from_null(filled: Cli) -> None:
    sql = "SELECT '' AS a, NULL AS b, 'x,\"y' AS c, 1.5 AS d UNION ALL SELECT NULL, '', x'00ff', 'two\nlines'"
    lines = filled("query", sql, "-f", "csv").stdout
    assert lines == 'a,b,c,d\n"",,"x,""y",1.5\n,"",00ff,"two\nlines"\n'


def test_a_dangling_link_counts_as_a_file(filled: Cli, tmp_path: Path) -> None:
    (folder_of(tmp_path) / "loop").symlink_to("loop")
    lost = filled("query", "SELECT 1", "-o", "loop", "--force")
    assert (lost.returncode, "leads nowhere" in lost.stderr) == (2, True)
    (folder_of(tmp_path) / "link").symlink_to("target.csv")
    assert filled("query", "SELECT 1", "-f", "csv", "-o", "link").returncode == 2
    assert filled("query", "SELECT 1 AS a", "-f", "csv", "-o", "link", "--force").returncode == 0
    assert (folder_of(tmp_path) / "link").is_symlink()
    assert (folder_of(tmp_path) / "target.csv").read_text() == "a\n1\n"


def peak_mib(folder: Path, *arguments: str) -> float:
    """Peak memory of one command in a process of its own."""
    program = (
        "import resource, sys\n"
        "from opprof_db.cli.app import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "query", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return int(done.stderr.split()[-1]) / 1024


@pytest.mark.parametrize("style", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("value", ["n", "printf('%200000d', n)"])
def test_memory_does_not_grow_with_the_result(filled: Cli, tmp_path: Path, style: str, value: str) -> None:
    if style == "parquet":
        pytest.importorskip("pyarrow")
    few = 2_000 if value == "n" else 20
    peaks = []
    for count in (few, 100 * few):
        if value != "n":
            count = min(count, 1_000)
        rows = f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT {count})"
        sql = f"{rows} SELECT {value} AS a FROM c"
        peaks.append(peak_mib(folder_of(tmp_path), sql, "-f", style, "-o", f"{count}.out"))
    assert peaks[1] - peaks[0] < 130, peaks
