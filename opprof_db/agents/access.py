"""What an agent may ask for: which files, within which bounds, and answers of a bounded size."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from opprof_db.errors import DatabaseError, OpprofError, UsageError
from opprof_db.scratch import new_file
from opprof_db.warehouse import migrate, readonly, schema_docs
from opprof_db.warehouse.queries import named_query

ANSWER_BYTES = 100_000
"""Longest answer, counted as it is sent."""
ANSWER_ROWS = 500
MORE = "aggregate, add ORDER BY … LIMIT, or write all rows to a file with execute_sql_to_csv"


class Access:
    """The calls behind the tools; each returns plain data.

    Raises (all methods):
        OpprofError: says what went wrong and what to do.
    """

    def __init__(
        self,
        databases: Sequence[Path],
        folders: Sequence[Path] = (),
        output: Path | None = None,
        seconds: float = readonly.DEFAULT_TIMEOUT_S,
    ) -> None:
        self._databases = [path.resolve() for path in databases]
        self._folders = [path.resolve() for path in folders]
        self._output = None if output is None else output.resolve()
        self._seconds = seconds

    def tables(self, db_path: str | None = None) -> dict[str, Any]:
        """Views first, then tables, with what they are for."""
        self._database(db_path)
        return {
            "objects": [
                {"name": one.name, "kind": one.kind, "purpose": one.purpose}
                for one in schema_docs.described()
                if one.kind != "query"
            ],
            "hint": "ask views first; get_schema(name) gives columns with units",
        }

    def schema(self, name: str) -> str:
        """Documentation as Markdown."""
        return schema_docs.markdown(schema_docs.find(name))

    def sql(self, db_path: str | None, query: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The rows of one statement, as many as an answer holds."""
        path = self._database(db_path)
        limits = readonly.Limits(rows=ANSWER_ROWS, seconds=self._seconds, result_bytes=4 * ANSWER_BYTES)
        with readonly.stream(path, query, parameters or {}, limits) as found:
            rows: list[list[Any]] = []
            size = 0
            cut = None
            for row in found.rows:
                values = [_plain(value) for value in row]
                size += len(json.dumps(values, ensure_ascii=False).encode()) + 2
                if size > ANSWER_BYTES:
                    cut = f"only the first {len(rows)} rows fit into an answer"
                    break
                rows.append(values)
            answer: dict[str, Any] = {"columns": found.columns, "rows": rows, "row_count": len(rows)}
            if cut or found.cut:
                answer |= {"truncated": True, "cut": cut or found.cut, "hint": MORE}
        return answer

    def sql_to_csv(self, db_path: str | None, query: str, target: str) -> dict[str, Any]:
        """All rows to a new CSV file in the output folder."""
        path = self._database(db_path)
        out = self._target(target)
        limits = readonly.Limits(rows=None, seconds=self._seconds, result_bytes=None)
        with readonly.stream(path, query, {}, limits) as found, new_file(out) as part:
            count = _write_csv(part, found.columns, found.rows)
        return {"output_csv_path": str(out), "row_count": count, "columns": found.columns}

    def named(self, db_path: str | None, name: str, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        """The rows of a named query."""
        query = named_query(name)
        bound = query.bind({key: str(value) for key, value in (parameters or {}).items() if value is not None})
        return self.sql(db_path, query.file.sql, bound)

    def _database(self, given: str | None) -> Path:
        """An allowed, current warehouse."""
        path = self._databases[0] if given is None else Path(given).resolve()
        if path not in self._databases and not any(path.is_relative_to(folder) for folder in self._folders):
            allowed = ", ".join(map(str, [*self._databases, *self._folders]))
            raise UsageError(f"{given}: not a database this server may read", f"allowed: {allowed}")
        connection = readonly.open_readonly(path)
        try:
            found = migrate.state(connection)
        finally:
            connection.close()
        migrate.refuse_unusable(found, path)
        if found.kind != "current":
            raise DatabaseError(f"{path} has an older schema", f"a person runs: opprof-db db upgrade --db {path}")
        return path

    def _target(self, given: str) -> Path:
        if self._output is None:
            raise UsageError("this server may not write files", "a person starts it with --output-dir DIR")
        path = Path(given)
        path = path if path.is_absolute() else self._output / path
        if "\0" in given or not path.resolve().is_relative_to(self._output) or path.resolve() == self._output:
            raise UsageError(f"{given}: outside of the folder for output", f"give a name below {self._output}")
        if path.is_symlink() or path.exists():
            raise UsageError(f"{given} exists already", "give another name")
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent}: no such folder", f"give a name directly below {self._output}")
        return path.resolve()


def answer(call: Any, *arguments: Any) -> str:
    """The result of a call as JSON text; a problem as an object with ``error`` and ``hint``."""
    try:
        made = call(*arguments)
    except OpprofError as error:
        made = {"error": error.what, "hint": error.hint}
    except (ValueError, OSError) as error:
        made = {"error": f"the call cannot be carried out: {error}", "hint": None}
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            writer.writerow(["" if value is None else _plain(value) for value in row])
            count += 1
    return count
