"""Writes a SQLite file in the shape of the msprof database, for tools and agents that know that shape only.

The content is that of the views under sql/compat; here the texts are interned and the tables are real ones.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from opprof_db.errors import DatabaseError
from opprof_db.warehouse.connection import explain
from opprof_db.warehouse.msprof_tables import BLOCK_COLUMNS, ENUMERATIONS, INDEXES, TABLES

LATEST = "1.2.0"
_TEXT_COLUMNS = (
    "name", "taskType", "opType", "inputFormats", "inputDataTypes", "inputShapes", "outputFormats",
    "outputDataTypes", "outputShapes", "attrInfo", "opState", "hf32Eligible",
)  # fmt: skip


def export(source: Path, target: Path, runs: Sequence[int] | None = None, schema: str = "1.1.0") -> dict[str, int]:
    """Write the launches of the runs (``None``: all) to a file; returns the rows of each table.

    ``target`` is written in place: the caller gives a new name and renames it when all went well.

    Raises:
        DatabaseError: source or target cannot be read or written.
    """
    try:
        with closing(sqlite3.connect(target, isolation_level=None, uri=True)) as out:
            out.execute("PRAGMA journal_mode = OFF")
            out.execute("PRAGMA synchronous = OFF")
            out.execute("ATTACH DATABASE ? AS warehouse", (f"{source.resolve().as_uri()}?mode=ro",))
            out.execute("BEGIN")
            _create(out, schema)
            _choose(out, runs)
            _fill(out, schema)
            for statement in INDEXES:
                out.execute(statement)
            out.execute("DROP TABLE temp.chosen")
            out.execute("DROP TABLE temp.texts")
            out.execute("COMMIT")
            return {
                table: out.execute(f'SELECT count(*) FROM main."{table}"').fetchone()[0]
                for table in (*TABLES, *ENUMERATIONS)
            }
    except sqlite3.Error as error:
        if "unable to open" in str(error) or "disk" in str(error) or "readonly" in str(error):
            raise DatabaseError(f"{target.parent}: the export failed ({error})", "check folder and space") from error
        raise explain(error, source) from error


def _create(out: sqlite3.Connection, schema: str) -> None:
    blocks, mix_blocks = BLOCK_COLUMNS[schema]
    for table, columns in TABLES.items():
        out.execute(f"CREATE TABLE {table} ({columns.format(blocks=blocks, mix_blocks=mix_blocks)})")
    for table, values in ENUMERATIONS.items():
        out.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT)")
        out.executemany(f"INSERT INTO {table} VALUES (?, ?)", values.items())


def _choose(out: sqlite3.Connection, runs: Sequence[int] | None) -> None:
    """The launches to export, and their texts, each once."""
    out.execute("CREATE TEMP TABLE chosen (id INTEGER PRIMARY KEY, run_id INTEGER)")
    out.execute(
        "INSERT INTO temp.chosen SELECT k.id, k.run_id FROM warehouse.kernels AS k"
        " INNER JOIN warehouse.TASK AS t ON t.globalTaskId = k.id"
    )
    if runs is not None:
        out.execute("CREATE TEMP TABLE wanted (run_id INTEGER PRIMARY KEY)")
        out.executemany("INSERT OR IGNORE INTO temp.wanted VALUES (?)", [(run,) for run in runs])
        out.execute("DELETE FROM temp.chosen WHERE run_id NOT IN (SELECT run_id FROM temp.wanted)")
        out.execute("DROP TABLE temp.wanted")
    out.execute("CREATE TEMP TABLE texts (old INTEGER PRIMARY KEY, new INTEGER)")
    out.execute("CREATE TEMP TABLE known (old INTEGER PRIMARY KEY, value TEXT)")
    out.execute("INSERT INTO temp.known SELECT id, value FROM warehouse.STRING_IDS")
    used = " UNION ".join(
        [f"SELECT {column} FROM temp.info" for column in _TEXT_COLUMNS] + ["SELECT name FROM temp.pmu", "SELECT 0"]
    )
    out.execute(
        "CREATE TEMP TABLE info AS SELECT c.* FROM warehouse.COMPUTE_TASK_INFO AS c"
        " INNER JOIN temp.chosen AS k ON k.id = c.globalTaskId ORDER BY c.globalTaskId"
    )
    out.execute(
        "CREATE TEMP TABLE pmu AS SELECT p.* FROM warehouse.TASK_PMU_INFO AS p"
        " WHERE p.globalTaskId IN (SELECT id FROM temp.chosen) ORDER BY p.globalTaskId, p.name"
    )
    out.execute(
        "INSERT INTO main.STRING_IDS (value) SELECT value FROM temp.known"
        f" WHERE old IN ({used}) GROUP BY value ORDER BY min(old)"
    )
    out.execute(
        "INSERT INTO temp.texts SELECT k.old, s.id FROM temp.known AS k"
        " INNER JOIN (SELECT id, value FROM main.STRING_IDS) AS s ON s.value = k.value"
    )
    out.execute("DROP TABLE temp.known")


def _fill(out: sqlite3.Connection, schema: str) -> None:
    blocks, mix_blocks = BLOCK_COLUMNS[schema]
    texts = {column: f"(SELECT new FROM temp.texts WHERE old = c.{column})" for column in _TEXT_COLUMNS}
    out.execute(
        f"INSERT INTO main.COMPUTE_TASK_INFO (globalTaskId, {blocks}, {mix_blocks}, {', '.join(texts)})"
        f" SELECT c.globalTaskId, c.blockDim, c.mixBlockDim, {', '.join(texts.values())} FROM temp.info AS c"
    )
    out.execute(
        "INSERT INTO main.TASK SELECT c.startNs, c.endNs, c.deviceId, c.connectionId, c.globalTaskId, c.globalPid,"
        f" {texts['taskType']}, c.contextId, c.streamId, c.taskId, c.modelId FROM warehouse.TASK AS c"
        " INNER JOIN temp.chosen AS k ON k.id = c.globalTaskId ORDER BY c.startNs, c.globalTaskId"
    )
    out.execute(f"INSERT INTO main.TASK_PMU_INFO SELECT c.globalTaskId, {texts['name']}, c.value FROM temp.pmu AS c")
    out.execute("DROP TABLE temp.info")
    out.execute("DROP TABLE temp.pmu")
    out.execute(
        "INSERT INTO main.NPU_INFO SELECT DISTINCT w.device_id, coalesce(r.soc, 'N/A') FROM temp.chosen AS k"
        " INNER JOIN warehouse.kernels AS w ON w.id = k.id INNER JOIN warehouse.runs AS r ON r.id = w.run_id"
        " WHERE w.device_id IS NOT NULL ORDER BY 1, 2"
    )
    out.execute(
        "INSERT INTO main.AICORE_FREQ SELECT t.deviceId, t.startNs, w.current_freq_mhz FROM main.TASK AS t"
        " INNER JOIN warehouse.kernels AS w ON w.id = t.globalTaskId WHERE w.current_freq_mhz > 0"
    )
    out.execute("INSERT INTO main.SESSION_TIME_INFO SELECT min(startNs), max(endNs) FROM main.TASK")
    out.execute("INSERT INTO main.HOST_INFO VALUES ('0', 'N/A')")
    out.execute("INSERT INTO main.META_DATA SELECT name, value FROM warehouse.META_DATA")
    for part, name in zip(
        (schema, *schema.split(".")),
        ("SCHEMA_VERSION", "SCHEMA_VERSION_MAJOR", "SCHEMA_VERSION_MINOR", "SCHEMA_VERSION_MICRO"),
        strict=True,
    ):
        out.execute("UPDATE main.META_DATA SET value = ? WHERE name = ?", (part, name))
    out.execute(
        "INSERT INTO main.task_summary SELECT s.* FROM warehouse.task_summary AS s"
        " INNER JOIN temp.chosen AS k ON k.id = s.task_id ORDER BY s.task_id"
    )
    out.execute(
        "INSERT INTO main.op_summary SELECT op_name, op_type, sum(task_time), count(*), min(task_id), min(model_id)"
        " FROM main.task_summary GROUP BY op_name, op_type ORDER BY 3 DESC, 1"
    )
    for table, key in (("model_summary", "run_id"), ("step_summary", "step_id")):
        out.execute(
            f"INSERT INTO main.{table} SELECT * FROM warehouse.{table}"
            f" WHERE {key} IN (SELECT run_id FROM temp.chosen) ORDER BY {key}"
        )
