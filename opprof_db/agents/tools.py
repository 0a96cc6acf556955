"""What the MCP server offers, as plain functions: they know the warehouse, not the protocol.

Names and arguments of ``execute_sql`` and ``execute_sql_to_csv`` are those of msprof_mcp, the server
that the public skill ascend-profiler-db-explorer calls; ``db_path`` may be left out here. All SQL,
the agent's and the program's own, goes through ``warehouse.readonly``.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from opprof_db.agents import knowledge_tools
from opprof_db.agents.answers import Answer, Caps, plain, rows_answer, text_answer
from opprof_db.agents.files import AllowedFiles, new_file
from opprof_db.errors import DatabaseError, OpprofError, UsageError
from opprof_db.warehouse import migrate, readonly, resolve, schema_docs
from opprof_db.warehouse.queries import named_query, query_files
from opprof_db.warehouse.schema_docs import Kind

_SCHEMA_ORDER = {Kind.VIEW: 0, Kind.COMPAT: 1, Kind.TABLE: 2}


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools, over the files a person allowed."""

    files: AllowedFiles
    timeout_s: float = readonly.DEFAULT_TIMEOUT_S
    caps: Caps = field(default_factory=Caps)

    def list_tables(self, db_path: str | None = None) -> Answer:
        """Tables and views of a file with what they are for, the views people read first."""
        path = self.files.database(db_path)
        found = self._run(path, "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')", rows=None)
        known = {item.name: item for item in schema_docs.of_kind(Kind.VIEW, Kind.COMPAT, Kind.TABLE)}
        if not self._is_warehouse(path):
            known = {}
        rows = []
        for name, kind in found.rows:
            item = known.get(name)
            order = _SCHEMA_ORDER[item.kind] if item else len(_SCHEMA_ORDER)
            rows.append((order, name, str(item.kind) if item else kind, item.purpose if item else None))
        listed = [row[1:] for row in sorted(rows, key=lambda row: row[:2])]
        caps = Caps(len(listed), self.caps.size_bytes)
        allowed = [str(each) for each in self.files.databases]
        return rows_answer(
            ["name", "kind", "purpose"], listed, found.cut, caps, db_path=str(path), allowed_databases=allowed
        )

    def get_schema(self, table_name: str, db_path: str | None = None) -> Answer:
        """Documentation of a table, view or named query; of a table of another program its CREATE statement."""
        path = self.files.database(db_path)
        rest = "Ask for fewer names."
        if path.exists() and not self._is_warehouse(path):
            return text_answer("schema", self._created(path, table_name), self.caps, rest, table_names=[table_name])
        items = schema_docs.matching(table_name)
        names = sorted({item.name for item in items})
        return text_answer("schema", schema_docs.markdown(items), self.caps, rest, table_names=names[: self.caps.rows])

    def _created(self, path: Path, name: str) -> str:
        sql = "SELECT sql FROM sqlite_master WHERE lower(name) = lower(?) AND sql IS NOT NULL"
        rows = self._run(path, sql, (name,)).rows
        if not rows:
            raise UsageError(f"{path.name} has no table {name!r}", "list_tables shows what it has")
        return str(rows[0][0])

    def execute_sql(self, query: str, db_path: str | None = None) -> Answer:
        """Rows of one SELECT, within the limits of an answer."""
        return self._rows(self.files.database(db_path), query)

    def execute_sql_to_csv(self, query: str, output_csv_path: str, db_path: str | None = None) -> Answer:
        """Write all rows of one SELECT to a new CSV file: a header line, NULL as an empty cell."""
        path = self.files.database(db_path)
        target = self.files.csv_target(output_csv_path)
        limits = readonly.Limits(None, self.timeout_s, None)
        count = 0
        with readonly.stream(path, query, (), limits) as found, new_file(target) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(found.columns)
            for row in found.rows:
                writer.writerow(["" if value is None else plain(value) for value in row])
                count += 1
        saved = {"status": "success", "path": str(target), "saved_rows": count}
        return {"csv_export": saved, "columns": found.columns, "truncated": False, "note": None}

    def list_runs(self, limit: int = 20, db_path: str | None = None) -> Answer:
        """Runs, newest first."""
        path = self._warehouse(db_path)
        sql = (
            "SELECT run_id, run, mode, status, started_at, chip, kernels, operators, duration_us, issues, labels,"
            " missing FROM run_overview ORDER BY started_at IS NULL, started_at DESC, run_id DESC LIMIT ?"
        )
        return self._listed(path, sql, (), limit)

    def list_kernels(
        self, run: str | None = None, operator: str | None = None, limit: int = 20, db_path: str | None = None
    ) -> Answer:
        """Launches, slowest first: of a run (id, name, prefix, ``last``), or with a text in the operator's name."""
        path = self._warehouse(db_path)
        conditions: list[str] = []
        values: list[Any] = []
        if run is not None:
            conditions.append("run_id = ?")
            with closing(readonly.open_readonly(path)) as connection:
                values.append(resolve.run_id(connection, run))
        if operator is not None:
            conditions.append("instr(lower(operator), lower(?)) > 0")
            values.append(operator)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        sql = (
            "SELECT kernel_id, run_id, run, operator, op_type, mode, status, device_id, launch_index, duration_us,"
            " block_dim, mix_block_dim, cores, idle_cores, current_freq_mhz, chip, labels, missing"
            f" FROM kernel_overview{where} ORDER BY duration_us IS NULL, duration_us DESC, kernel_id LIMIT ?"
        )
        return self._listed(path, sql, tuple(values), limit)

    def named_query(
        self,
        name: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        db_path: str | None = None,
    ) -> Answer:
        """Rows of a named query; without a name the queries there are, with their parameters."""
        if not name:
            return self._query_list()
        path = self._warehouse(db_path)
        query = named_query(name)
        values = query.bind({key: str(value) for key, value in (parameters or {}).items() if value is not None})
        return self._rows(path, query.file.sql, values, query=query.name, columns_mean=query.file.columns)

    def trend(self, kernel: str, order_by: str | None = None, db_path: str | None = None) -> Answer:
        """Durations of an operator over the runs, with the steps found, newest runs last."""
        from opprof_db.analysis.tables import trend_table
        from opprof_db.analysis.trend import trend

        with closing(readonly.open_readonly(self._warehouse(db_path))) as connection:
            operator, kernel_id = resolve.operator_named(connection, kernel)
            found = trend(connection, operator, kernel_id=kernel_id, order_by=order_by)
        lines = [(number, series) for number, series in enumerate(found.series, 1)]
        told: dict[str, Any] = {
            "operator": operator,
            "series": [{"series": number, **asdict(series.shape)} for number, series in lines][: self.caps.rows],
            "stretches": [
                {
                    "series": number,
                    "stretch": part,
                    "noise_share": stretch.noise_share,
                    "not_comparable_with_the_runs_before": stretch.apart,
                    "cautions": stretch.cautions,
                }
                for number, series in lines
                for part, stretch in enumerate(series.stretches, 1)
            ][: self.caps.rows],
            "launches_without_duration": found.without_duration,
        }
        return rows_answer(*trend_table(found), None, self.caps, **told)

    def sweep(
        self,
        kernel: str,
        by: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        pareto: Sequence[str] | None = None,
        db_path: str | None = None,
    ) -> Answer:
        """The variants of an operator side by side."""
        from opprof_db.analysis.sweep import sweep
        from opprof_db.analysis.tables import sweep_table

        if pareto is not None and len(pareto) != 2:
            raise UsageError("pareto names two metrics", 'such as ["duration_us", "block_dim"]')
        with closing(readonly.open_readonly(self._warehouse(db_path))) as connection:
            operator, _ = resolve.operator_named(connection, kernel)
            conditions = {key: str(value) for key, value in (where or {}).items()}
            pair = (pareto[0], pareto[1]) if pareto else None
            found = sweep(connection, operator, by=tuple(by or ()), where=conditions, pareto=pair)
        told: dict[str, Any] = {
            "operator": operator,
            "by": found.by,
            "groups": [
                {"group": number, **group.conditions, "cautions": group.cautions}
                for number, group in enumerate(found.groups, 1)
            ][: self.caps.rows],
            "launches_without_these_labels": found.unlabelled,
        }
        return rows_answer(*sweep_table(found), None, self.caps, **told)

    def similar(self, kernel: str, limit: int = 10, others: bool = False, db_path: str | None = None) -> Answer:
        """The launches whose counters look most like those of one."""
        from opprof_db.analysis.similar import similar
        from opprof_db.analysis.tables import similar_table

        with closing(readonly.open_readonly(self._warehouse(db_path))) as connection:
            identifier = resolve.only_kernel(connection, kernel)
            found = similar(connection, identifier, limit=min(limit, self.caps.rows), other_operators=others)
        told: dict[str, Any] = {
            "kernel_id": found.kernel_id,
            "operator": found.operator,
            "figures": found.figures,
            "core_kinds": found.kinds,
            "launches_compared": found.compared,
            "launches_with_other_cores": found.other_kinds,
            "launches_with_too_few_figures": found.too_little,
        }
        return rows_answer(*similar_table(found), None, self.caps, **told)

    def compare_modes(self, kernel: str, with_kernel: str | None = None, db_path: str | None = None) -> Answer:
        """A launch on the device beside the same kernel in the simulator, pipe by pipe."""
        from opprof_db.analysis import modes

        with closing(readonly.open_readonly(self._warehouse(db_path))) as connection:
            other = None if with_kernel is None else resolve.only_kernel(connection, with_kernel)
            found = modes.modes(connection, resolve.only_kernel(connection, kernel), other)
        told = {key: value for key, value in asdict(found).items() if key != "pipes"}
        return rows_answer(*modes.table(found), None, self.caps, **told)

    def recommend(self, kernel: str, limit: int = 5, db_path: str | None = None) -> Answer:
        """The knowledge entries that fit a launch, and why."""
        with closing(readonly.open_readonly(self._warehouse(db_path))) as connection:
            return knowledge_tools.recommend(connection, kernel, limit, self.caps)

    def kb_search(
        self,
        question: str | None = None,
        kind: str | None = None,
        chip: str | None = None,
        operator: str | None = None,
        rule: str | None = None,
        limit: int = 10,
        db_path: str | None = None,
    ) -> Answer:
        """Knowledge entries by words and filters."""
        with closing(readonly.open_readonly(self._warehouse(db_path))) as connection:
            return knowledge_tools.search(connection, question, kind, chip, operator, rule, limit, self.caps)

    def kb_show(self, entry: str, db_path: str | None = None) -> Answer:
        """One knowledge entry whole."""
        with closing(readonly.open_readonly(self._warehouse(db_path))) as connection:
            return knowledge_tools.show(connection, entry, self.caps)

    def verify(self, before: str, after: str, entry: str, db_path: str | None = None) -> Answer:
        """Whether a fix moved the metrics as an entry promised."""
        with closing(readonly.open_readonly(self._warehouse(db_path))) as connection:
            return knowledge_tools.verify(connection, before, after, entry, self.caps)

    def _query_list(self) -> Answer:
        rows = [
            (
                query.name,
                query.file.purpose,
                {p.name: f"{p.type}{', required' if p.required else ''}: {p.text}" for p in query.parameters},
            )
            for query in query_files()
        ]
        return rows_answer(["name", "purpose", "parameters"], rows, None, Caps(len(rows), self.caps.size_bytes))

    def _listed(self, path: Path, sql: str, values: tuple[Any, ...], limit: int) -> Answer:
        """A list of the program's own, one row more than wanted to see whether there are more."""
        if limit < 1:
            raise UsageError(f"limit {limit} is not positive", f"give 1 to {self.caps.rows}")
        wanted = min(limit, self.caps.rows)
        result = self._run(path, sql, (*values, wanted + 1))
        return rows_answer(result.columns, result.rows, result.cut, Caps(wanted, self.caps.size_bytes))

    def _rows(self, path: Path, sql: str, values: Mapping[str, Any] | tuple[Any, ...] = (), **more: Any) -> Answer:
        result = self._run(path, sql, values, rows=self.caps.rows)
        return rows_answer(result.columns, result.rows, result.cut, self.caps, **more)

    def _run(
        self,
        path: Path,
        sql: str,
        values: Mapping[str, Any] | tuple[Any, ...] = (),
        rows: int | None = readonly.DEFAULT_ROW_LIMIT,
    ) -> readonly.Result:
        limits = readonly.Limits(rows, self.timeout_s, self.caps.size_bytes * 8)
        return readonly.run(path, sql, values, limits)

    def _warehouse(self, db_path: str | None) -> Path:
        """A file with the views of this program. It is not upgraded here: that would write.

        Raises:
            DatabaseError: another program's database, or another schema.
        """
        path = self.files.database(db_path)
        with closing(readonly.open_readonly(path)) as connection:
            found = migrate.state(connection)
        migrate.refuse_unusable(found, path)
        if found.kind != "current":
            raise DatabaseError(
                f"{path} has schema {found.revision or 'none'}, this program {found.head}",
                "the person runs `opprof-db db upgrade` (or `opprof-db ingest`) once; execute_sql works as it is",
            )
        return path

    def _is_warehouse(self, path: Path) -> bool:
        try:
            with closing(readonly.open_readonly(path)) as connection:
                return migrate.state(connection).kind in ("current", "older", "newer")
        except OpprofError:
            return False
