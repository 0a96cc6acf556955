"""The warehouse from Python: ``opprof_db.open("opprof.db")``.

>>> import opprof_db
>>> with opprof_db.open("opprof.db") as wh:                                 # doctest: +SKIP
...     slowest = wh.query("SELECT * FROM top_kernels WHERE run_id = :run", run=1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from opprof_db.analysis.modes import Modes
    from opprof_db.analysis.similar import Similar
    from opprof_db.analysis.sweep import Sweep
    from opprof_db.analysis.trend import Trend

EXACT_AS_DOUBLE = 2**53


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one run that ``ingest`` found."""

    outcome: str
    """new, known, replaced, empty, foreign or failed."""
    run_id: int | None
    path: str
    kernels: int
    issues: int
    message: str


class Warehouse:
    """A warehouse file. Every call opens and closes it, so an object may be kept and shared between threads.

    Raises (all methods):
        opprof_db.errors.OpprofError: says what went wrong (``what``) and what to do (``hint``).
    """

    def __init__(self, path: str | PathLike[str], *, timeout_s: float = 30.0, max_rows: int | None = None) -> None:
        self.path = Path(path)
        self._timeout_s = timeout_s
        self._max_rows = max_rows

    def __repr__(self) -> str:
        return f"opprof_db.open({str(self.path)!r})"

    def __enter__(self) -> Warehouse:
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing stays open between calls."""

    def query(self, sql: str, /, **params: Any) -> pd.DataFrame:
        """The rows of one SELECT; ``:name`` in it is bound to the keyword ``name``.

        Whole numbers stay whole where there are NULLs too (dtype ``Int64``); a missing number is NaN, a missing
        text ``None``. The statement can only read; ``timeout_s`` and ``max_rows`` of ``open`` bound it, and where
        rows are left out ``frame.attrs["cut"]`` says so.
        """
        return self._frame(sql, params)

    def named(self, query: str, /, **params: Any) -> pd.DataFrame:
        """The rows of a named query (``opprof-db queries`` lists them); parameters not given take their default."""
        from opprof_db.warehouse.queries import named_query

        found = named_query(query)
        # Names and types are checked for what stands in for NULL too: 0 is of every type.
        bound = found.bind({name: "0" if value is None else str(_plain(value)) for name, value in params.items()})
        bound |= {name: None for name, value in params.items() if value is None}
        return self._frame(found.file.sql, bound)

    def runs(self) -> pd.DataFrame:
        """View ``run_overview``, the newest run first."""
        return self.query("SELECT * FROM run_overview ORDER BY started_at DESC, run_id DESC")

    def kernels(self, run: str | int | None = None) -> pd.DataFrame:
        """View ``kernel_overview``; of one run, by id, name, unique prefix or ``last``."""
        if run is None:
            return self.query("SELECT * FROM kernel_overview ORDER BY kernel_id")
        from opprof_db.warehouse import opening, resolve

        with opening.reading(self.path) as connection:
            run_id = resolve.run_id(connection, str(run))
        return self.query("SELECT * FROM kernel_overview WHERE run_id = :run_id ORDER BY kernel_id", run_id=run_id)

    def ingest(
        self,
        *paths: str | PathLike[str],
        labels: Mapping[str, str] | None = None,
        trace: str = "auto",
        **conditions: str,
    ) -> list[Ingested]:
        """Take in every run below the paths; creates the warehouse where there is none.

        ``conditions`` are what the data does not record: soc, cann_version, tool_version, git_commit, aic_metrics,
        kernel. ``trace``: full, summary, none, or auto.
        """
        from opprof_db.errors import UsageError
        from opprof_db.ingest.finding import find
        from opprof_db.ingest.options import CONDITIONS, TRACE_CHOICES, IngestOptions, parse_labels
        from opprof_db.ingest.service import ingest
        from opprof_db.warehouse import opening

        unknown = sorted(set(conditions) - set(CONDITIONS))
        if unknown:
            raise UsageError(f"ingest has no option {unknown[0]!r}", f"it has: {', '.join(CONDITIONS)}")
        if trace not in TRACE_CHOICES:
            raise UsageError(f"trace cannot be {trace!r}", f"one of: {', '.join(TRACE_CHOICES)}")
        found = find([Path(path) for path in paths])
        options = IngestOptions(
            labels=parse_labels([f"{key}={value}" for key, value in (labels or {}).items()]),
            conditions=conditions,
            trace=trace,
        )
        outcomes = list(found.outcomes)
        if found.runs:
            with opening.writing(self.path, create=True) as connection:
                outcomes += ingest(connection, self.path, found, options)
        return [Ingested(o.kind, o.run_id, str(o.path), o.kernels, o.issues, o.message) for o in outcomes]

    def trend(
        self,
        operator: str,
        *,
        labels: Mapping[str, str] | None = None,
        device: int | None = None,
        order_by: str | None = None,
        least_step: float = 0.01,
    ) -> Trend:
        """Durations of an operator over the runs, with step changes; ``operator`` may name a launch (``kernel:7``).

        ``least_step`` is a share: 0.01 takes changes of level below 1 % for none.
        """
        from opprof_db.analysis.trend import trend
        from opprof_db.warehouse import opening, resolve

        with opening.reading(self.path) as connection:
            name, kernel_id = resolve.operator_named(connection, operator)
            return trend(
                connection,
                name,
                kernel_id=kernel_id,
                labels=labels,
                device_id=device,
                order_by=order_by,
                least_step=least_step,
            )

    def sweep(
        self,
        operator: str,
        *,
        by: Sequence[str] = (),
        where: Mapping[str, str] | None = None,
        pareto: tuple[str, str] | None = None,
    ) -> Sweep:
        """The variants of an operator by labels or facts; ``pareto`` names two metrics."""
        from opprof_db.analysis.sweep import sweep
        from opprof_db.warehouse import opening, resolve

        with opening.reading(self.path) as connection:
            name, _ = resolve.operator_named(connection, operator)
            return sweep(connection, name, by=by, where=where, pareto=pareto)

    def similar(self, kernel: str, *, limit: int = 10, others: bool = False) -> Similar:
        """The launches whose counters look most like those of one; ``others``: only of other operators."""
        from opprof_db.analysis.similar import similar
        from opprof_db.warehouse import opening, resolve

        with opening.reading(self.path) as connection:
            identifier = resolve.only_kernel(connection, kernel)
            return similar(connection, identifier, limit=limit, other_operators=others)

    def modes(self, kernel: str, with_: str | None = None) -> Modes:
        """A launch measured on a device beside the same kernel simulated; ``with_`` names the counterpart."""
        from opprof_db.analysis.modes import modes
        from opprof_db.warehouse import opening, resolve

        with opening.reading(self.path) as connection:
            other = None if with_ is None else resolve.only_kernel(connection, with_)
            return modes(connection, resolve.only_kernel(connection, kernel), other)

    def _frame(self, sql: str, params: Mapping[str, Any]) -> pd.DataFrame:
        import pandas as pd

        from opprof_db.warehouse import opening, readonly

        with opening.reading(self.path):
            pass  # an older file is upgraded before its views are asked
        limits = readonly.Limits(rows=self._max_rows, seconds=self._timeout_s, result_bytes=None)
        result = readonly.run(self.path, sql, {name: _plain(value) for name, value in params.items()}, limits)
        columns = list(zip(*result.rows, strict=True)) or [()] * len(result.columns)
        frame = pd.DataFrame({at: _series(values) for at, values in enumerate(columns)})
        frame.columns = pd.Index(result.columns)
        frame.attrs["cut"] = result.cut
        return frame


def _plain(value: Any) -> Any:
    """A value out of a frame as Python has it: numpy's numbers, and None for a missing one."""
    import numpy as np
    import pandas as pd

    if isinstance(value, np.generic):
        value = value.item()
    return None if value is pd.NA or value is pd.NaT else value


def _series(values: Sequence[Any]) -> pd.Series[Any]:
    """A column without a changed value: the dtype follows what is in it, mixed ones stay Python objects."""
    import pandas as pd

    held = set(map(type, values)) - {type(None)}
    if held == {int}:
        return pd.Series(pd.array(list(values), dtype="Int64" if None in values else "int64"))
    exact = all(abs(value) <= EXACT_AS_DOUBLE for value in values if isinstance(value, int))
    if held and held <= {int, float} and exact:
        return pd.Series(values, dtype="float64")
    return pd.Series(values, dtype="object")


def open(  # noqa: A001 - called as opprof_db.open
    path: str | PathLike[str] = "opprof.db", *, timeout_s: float = 30.0, max_rows: int | None = None
) -> Warehouse:
    """A warehouse, which need not exist yet: ``ingest`` makes it.

    ``timeout_s`` bounds each query, in seconds; ``max_rows`` the rows of its result.
    """
    return Warehouse(path, timeout_s=timeout_s, max_rows=max_rows)
