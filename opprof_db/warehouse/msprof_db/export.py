"""Fills a new file in msprof's shape from the views of that shape, row by row, and puts it in place when it is whole.

Ids of launches are those of the warehouse; texts are numbered from 0 as they are met, N/A first. The same runs of
the same warehouse give the same bytes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from opprof_db import __version__
from opprof_db.errors import DatabaseError, InputError, UsageError
from opprof_db.scratch import put_in_place
from opprof_db.warehouse.connection import explain
from opprof_db.warehouse.msprof_db.shape import ENUMS, SchemaVersion, Table, tables
from opprof_db.warehouse.views import compat_files

LAUNCHES_AT_A_TIME = 500
"""Launches whose metrics are read in one statement: what has to be sorted stays small."""
NOT_AVAILABLE = "N/A"

_CHOSEN = "(SELECT value FROM json_each(:runs))"
_ROWS = {
    # table -> (statement over the views, places of columns that hold texts)
    "TASK": (
        "SELECT t.startNs, t.endNs, t.deviceId, t.connectionId, t.globalTaskId, t.globalPid, l.task_type, t.contextId,"
        " t.streamId, t.taskId, t.modelId FROM TASK t JOIN msprof_launches l ON l.kernel_id = t.globalTaskId"
        f" WHERE l.run_id IN {_CHOSEN} ORDER BY t.globalTaskId",
        (6,),
    ),
    "COMPUTE_TASK_INFO": (
        "SELECT l.name, l.kernel_id, c.blockDim, c.mixBlockDim, l.task_type, l.operator"
        " FROM COMPUTE_TASK_INFO c JOIN msprof_launches l ON l.kernel_id = c.globalTaskId"
        f" WHERE l.run_id IN {_CHOSEN} ORDER BY l.kernel_id",
        (0, 4, 5),
    ),
    "NPU_INFO": (
        "SELECT device_id, group_concat(chip, '/') FROM (SELECT DISTINCT device_id, chip FROM msprof_launches"
        f" WHERE run_id IN {_CHOSEN} ORDER BY device_id, chip) GROUP BY device_id ORDER BY device_id",
        (),
    ),
    "RANK_DEVICE_MAP": (
        f"SELECT DISTINCT -1, device_id FROM msprof_launches WHERE run_id IN {_CHOSEN} ORDER BY device_id",
        (),
    ),
    "SESSION_TIME_INFO": (
        f"SELECT min(start_ns), max(coalesce(end_ns, start_ns)) FROM msprof_launches WHERE run_id IN {_CHOSEN}",
        (),
    ),
    "AICORE_FREQ": (
        "SELECT device_id, start_ns, freq_mhz FROM msprof_launches"
        f" WHERE freq_mhz > 0 AND run_id IN {_CHOSEN} ORDER BY start_ns, device_id, kernel_id",
        (),
    ),
    "task_summary": (f"SELECT * FROM task_summary WHERE step_id IN {_CHOSEN} ORDER BY task_id", ()),
}
_METRICS = (
    "SELECT p.globalTaskId, s.value, p.value FROM TASK_PMU_INFO p JOIN STRING_IDS s ON s.id = p.name"
    " WHERE p.globalTaskId BETWEEN :first AND :last AND p.globalTaskId IN (SELECT value FROM json_each(:launches))"
    " ORDER BY p.globalTaskId, p.name"
)
_SUMMARIES = ("op_summary", "model_summary", "step_summary")


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds."""

    runs: int
    launches: int
    """Rows of COMPUTE_TASK_INFO."""
    tasks: int
    """Rows of TASK: launches with a recorded duration."""
    metric_values: int
    strings: int
    left_out: int
    """Launches of the chosen runs that ran on no device."""


def export(
    connection: sqlite3.Connection,
    target: Path,
    runs: Sequence[int] | None = None,
    version: SchemaVersion = SchemaVersion.BLOCK_DIM,
) -> Exported:
    """Write the runs (all of them when ``None``) to a new file; it appears when it is whole, or not at all.

    Raises:
        UsageError: the file exists, or the runs hold no launch on a device.
        InputError: the folder cannot be written to.
        DatabaseError: SQLite failed while writing.
    """
    if target.exists() or target.is_symlink():
        raise _exists(target)
    if runs is None:
        runs = [row[0] for row in connection.execute("SELECT id FROM runs")]
    chosen = json.dumps(sorted(set(runs)))
    launches = [
        row[0]
        for row in connection.execute(
            f"SELECT kernel_id FROM msprof_launches WHERE run_id IN {_CHOSEN} ORDER BY kernel_id", {"runs": chosen}
        )
    ]
    if not launches:
        raise UsageError(
            "the chosen runs hold no launch on a device, so there is nothing to export",
            "simulator runs have no tasks; `opprof-db runs` says which run is which",
        )
    with _new_file(target) as path:
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as made:
                return _Writer(connection, made, version, chosen).write(launches)
        except sqlite3.Error as error:
            raise explain(error, target) from error


def _exists(target: Path) -> UsageError:
    return UsageError(f"{target} exists already", "give another name; nothing was overwritten")


@contextmanager
def _new_file(target: Path) -> Iterator[Path]:
    """A name beside the target to write to; it becomes the target when all went well, and is gone otherwise."""
    part = target.with_name(f".{target.name}.{uuid4().hex[:8]}.part")
    try:
        part.open("xb").close()
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}", "the folder must exist") from error
    try:
        yield part
        try:
            put_in_place(part, target)
        except FileExistsError:  # it has appeared meanwhile
            raise _exists(target) from None
        except OSError as error:
            raise DatabaseError(f"{target}: cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


class _Strings:
    """Texts and their ids, in the order in which they are met."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        return self.ids.setdefault(text, len(self.ids))


@dataclass(slots=True)
class _Writer:
    source: sqlite3.Connection
    made: sqlite3.Connection
    version: SchemaVersion
    chosen: str
    """The runs' ids as a JSON array."""

    def write(self, launches: Sequence[int]) -> Exported:
        """Everything, in one transaction."""
        shape = tables(self.version)
        strings = _Strings()
        unknown = strings(NOT_AVAILABLE)
        # A file nobody knows of yet needs no journal of its own.
        self.made.execute("PRAGMA journal_mode = OFF")
        self.made.execute("BEGIN")
        for table in shape.values():
            self.made.execute(table.statements()[0])
        for name, (sql, texts) in _ROWS.items():
            padding = _padding(shape[name], name, unknown)
            rows = self.source.execute(sql, {"runs": self.chosen})
            self.made.executemany(shape[name].insert, _interned(rows, texts, strings, padding))
        self.made.executemany(shape["TASK_PMU_INFO"].insert, _interned(self._metrics(launches), (1,), strings))
        self.made.execute(shape["HOST_INFO"].insert, (NOT_AVAILABLE, NOT_AVAILABLE))
        self.made.executemany(shape["META_DATA"].insert, self._facts())
        for name, members in ENUMS.items():
            self.made.executemany(shape[name].insert, sorted(members.items()))
        self._summaries()
        self.made.executemany(shape["STRING_IDS"].insert, ((number, text) for text, number in strings.ids.items()))
        for table in shape.values():
            for statement in table.statements()[1:]:
                self.made.execute(statement)
        self.made.execute("COMMIT")
        return self._counted(launches)

    def _metrics(self, launches: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(launches), LAUNCHES_AT_A_TIME):
            some = launches[start : start + LAUNCHES_AT_A_TIME]
            yield from self.source.execute(_METRICS, {"first": some[0], "last": some[-1], "launches": json.dumps(some)})

    def _facts(self) -> Iterator[tuple[str, str]]:
        """META_DATA, its version being the declared one."""
        major, minor, micro = self.version.split(".")
        declared = {
            "SCHEMA_VERSION": self.version.value,
            "SCHEMA_VERSION_MAJOR": major,
            "SCHEMA_VERSION_MINOR": minor,
            "SCHEMA_VERSION_MICRO": micro,
        }
        for name, value in self.source.execute("SELECT name, value FROM META_DATA"):
            yield name, declared.get(name, value)
        yield "OPPROF_EXPORTED_WITH", f"opprof-db {__version__}"

    def _summaries(self) -> None:
        """The summaries of the chosen runs: the views' own statements, over the new file's task_summary."""
        sql = {view.name: view.sql for view in compat_files()}
        for name in _SUMMARIES:
            self.made.execute(f"INSERT INTO {name} {sql[name]} ORDER BY 1")

    def _counted(self, launches: Sequence[int]) -> Exported:
        def here(table: str) -> int:
            return int(self.made.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

        def chosen(what: str) -> int:
            return int(
                self.source.execute(f"SELECT {what} WHERE run_id IN {_CHOSEN}", {"runs": self.chosen}).fetchone()[0]
            )

        return Exported(
            runs=chosen("count(DISTINCT run_id) FROM msprof_launches"),
            launches=len(launches),
            tasks=here("TASK"),
            metric_values=here("TASK_PMU_INFO"),
            strings=here("STRING_IDS"),
            left_out=chosen("count(*) FROM kernels") - len(launches),
        )


def _padding(table: Table, name: str, unknown: int) -> tuple[Any, ...]:
    """Values of the columns that msopprof records nothing for, behind those of the statement."""
    if name == "COMPUTE_TASK_INFO":
        return (unknown,) * (len(table.columns) - 6)
    if name == "AICORE_FREQ":
        return (-1,) * (len(table.columns) - 3)
    return ()


def _interned(
    rows: Iterator[tuple[Any, ...]] | sqlite3.Cursor,
    texts: tuple[int, ...],
    strings: _Strings,
    padding: tuple[Any, ...] = (),
) -> Iterator[tuple[Any, ...]]:
    """Rows with ids in place of texts."""
    for row in rows:
        if texts:
            values = list(row)
            for place in texts:
                values[place] = strings(values[place])
            row = tuple(values)
        yield row + padding
