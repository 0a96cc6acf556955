"""Everything the rules look at of one kernel, read once, and the citations that lead back to the stored cells.

Times are us, volumes bytes unless a name says otherwise. AIC and AIV are never mixed: every figure is about one kind
of core. Cores that did nothing are removed first (see ``Core.idle``). ``None`` is "not recorded", never zero.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from opprof_db.analysis.chip_facts import ChipFacts, chip_facts
from opprof_db.analysis.findings import Evidence
from opprof_db.catalog import load, table_name

KIB = 1024.0
GIB_PER_S = 2.0**30
"""Bytes per second of one printed GB/s (which is GiB/s)."""
IDLE_SHARE = 0.01
"""A core busy for less than this share of the slowest of its kind is idle (kernel_cores.is_idle)."""
NEARLY_IDLE_SHARE = 0.05
"""So is one busy for less than this share whose pipes, the scalar unit apart, did next to nothing."""
COMPUTE = {"aic": "cube", "aiv": "vec", "aicore": "vec"}
PIPES = {
    "aic": ("cube", "mte1", "mte2", "mte3", "fixpipe", "scalar"),
    "aiv": ("vec", "mte2", "mte3", "scalar"),
    "aicore": ("cube", "vec", "mte1", "mte2", "mte3", "scalar"),
}
TRANSFER_PIPES = ("mte2", "mte3")
FACT_TABLES = frozenset(table_name(family) for family in load().families)


@dataclass(frozen=True)
class Core:
    """One row of the device CSVs: a core of a kernel."""

    block_id: int
    sub_block_id: str
    kind: str
    time_us: float
    idle: bool

    @property
    def name(self) -> str:
        """As people write it: ``block 3 vector0``."""
        return "all blocks" if self.block_id < 0 else f"block {self.block_id} {self.sub_block_id}"


Rows = Mapping[tuple[int, str], Mapping[str, Any]]


@dataclass
class Measures:
    """The stored figures of one kernel; each group is read when a rule first asks for it."""

    connection: sqlite3.Connection
    kernel_id: int
    work: Any = None
    """``analysis.work.Work`` of the operator, where somebody stated it."""
    _tables: dict[str, Rows] = field(default_factory=dict)

    # ---------------------------------------------------------------- the kernel

    @cached_property
    def kernel(self) -> Mapping[str, Any]:
        """Columns of ``kernels``, and of its run: run, soc, chip_family."""
        cursor = self.connection.execute(
            "SELECT k.*, r.name AS run, r.soc, r.chip_family, r.started_at, o.name AS operator"
            " FROM kernels k JOIN runs r ON r.id = k.run_id LEFT JOIN operators o ON o.id = k.operator_id"
            " WHERE k.id = ?",
            (self.kernel_id,),
        )
        row = cursor.fetchone()
        return dict(zip((column[0] for column in cursor.description), row, strict=True))

    @property
    def duration_us(self) -> float | None:
        """Task duration."""
        value = self.kernel["duration_us"]
        return float(value) if value else None

    @property
    def on_device(self) -> bool:
        """Whether the launch has device figures."""
        return self.kernel["mode"] in ("device", "mixed")

    @property
    def mix(self) -> bool:
        """Whether both kinds of core take part."""
        return {"aic", "aiv"} <= set(self.kinds)

    @cached_property
    def chip(self) -> ChipFacts:
        """What is known of the chip, as ranges where only its family is."""
        return chip_facts(
            self.connection, self.kernel["soc"], self.kernel["chip_family"], self.kernel["rated_freq_mhz"]
        )

    @property
    def header_family(self) -> str:
        """Chip family as the catalogue's ``metric_set`` is keyed: 910B, 310P or 950."""
        family = self.kernel["chip_family"] or "910B"
        return {"910_93": "910B", "310B": "910B"}.get(family, family)

    # ---------------------------------------------------------------- cores

    @cached_property
    def all_cores(self) -> tuple[Core, ...]:
        """Cores with a time, idle ones marked."""
        rows = self.connection.execute(
            "SELECT block_id, sub_block_id, core_kind, time_us, is_idle FROM kernel_cores"
            " WHERE kernel_id = ? AND time_us IS NOT NULL AND core_kind IS NOT NULL ORDER BY block_id, sub_block_id",
            (self.kernel_id,),
        ).fetchall()
        slowest: dict[str, float] = {}
        for _, _, kind, time_us, _ in rows:
            slowest[kind] = max(slowest.get(kind, 0.0), time_us)
        return tuple(
            Core(block, sub, kind, time_us, bool(idle) or self._did_nothing(block, sub, kind, time_us, slowest[kind]))
            for block, sub, kind, time_us, idle in rows
        )

    def _did_nothing(self, block: int, sub: str, kind: str, time_us: float, slowest: float) -> bool:
        """Just above the 1 % line, yet none of its pipes worked: cores that only looked whether there is work."""
        if time_us >= NEARLY_IDLE_SHARE * slowest:
            return False
        row = self.rows("pipe_utilization").get((block, sub), {})
        busy = [row.get(f"{prefix(kind)}_{pipe}_time_us") for pipe in PIPES[kind] if pipe != "scalar"]
        return any(value is not None for value in busy) and max(value or 0.0 for value in busy) < 0.002 * slowest

    def cores(self, kind: str) -> tuple[Core, ...]:
        """Cores of a kind, idle ones included."""
        return tuple(core for core in self.all_cores if core.kind == kind)

    def working(self, kind: str) -> tuple[Core, ...]:
        """Cores of a kind that worked."""
        return tuple(core for core in self.all_cores if core.kind == kind and not core.idle)

    def idle(self, kind: str) -> tuple[Core, ...]:
        """Cores of a kind that did nothing."""
        return tuple(core for core in self.all_cores if core.kind == kind and core.idle)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of core with rows: aic, aiv, aicore (310P)."""
        return tuple(sorted({core.kind for core in self.all_cores}))

    def slowest(self, kind: str) -> Core:
        """The working core with the longest time."""
        return max(self.working(kind), key=lambda core: core.time_us)

    def mean_us(self, kind: str) -> float:
        """Mean time of the working cores."""
        times = [core.time_us for core in self.working(kind)]
        return sum(times) / len(times)

    def longest_kind(self) -> str | None:
        """The kind whose slowest core takes longest."""
        return max(self.kinds, key=lambda kind: self.slowest(kind).time_us, default=None)

    @cached_property
    def unused(self) -> frozenset[str]:
        """Kinds of a mix kernel whose compute unit and transfers did nothing beside the other kind's."""
        if not self.mix:
            return frozenset()
        return frozenset(kind for kind in self.kinds if self._half_unused(kind))

    def _half_unused(self, kind: str) -> bool:
        other = self.slowest("aiv" if kind == "aic" else "aic").time_us
        busy = [self.mean_busy(kind, pipe) for pipe in PIPES[kind] if pipe != "scalar"]
        if any(value is None for value in busy[:2]):
            return False
        floor = max(0.002 * max(other, self.slowest(kind).time_us), 0.02)
        compute = self.mean_busy(kind, COMPUTE[kind]) or 0.0
        return compute <= 0.001 * other and max(value or 0.0 for value in busy) <= floor

    def relevant(self) -> tuple[str, ...]:
        """Kinds that decide the duration: at least half as long as the longest one, and not unused."""
        longest = max((self.slowest(kind).time_us for kind in self.kinds), default=0.0)
        return tuple(
            kind for kind in self.kinds if kind not in self.unused and self.slowest(kind).time_us >= 0.5 * longest
        )

    # ---------------------------------------------------------------- cells of the wide tables

    def rows(self, table: str) -> Rows:
        """A family's rows by (block, sub-block)."""
        if table not in FACT_TABLES:
            raise ValueError(f"{table} is no table of a CSV family")
        if table not in self._tables:
            cursor = self.connection.execute(f"SELECT * FROM {table} WHERE kernel_id = ?", (self.kernel_id,))
            names = [column[0] for column in cursor.description]
            made = (dict(zip(names, row, strict=True)) for row in cursor)
            self._tables[table] = {(row["block_id"], row["sub_block_id"]): row for row in made}
        return self._tables[table]

    def value(self, table: str, column: str, core: Core) -> Any:
        """One cell; ``None`` where it is NULL or the family was not collected."""
        return self.rows(table).get((core.block_id, core.sub_block_id), {}).get(column)

    def values(self, table: str, column: str, kind: str) -> dict[Core, float]:
        """The cells of the working cores that hold a number."""
        found = {core: self.value(table, column, core) for core in self.working(kind)}
        return {core: float(value) for core, value in found.items() if value is not None}

    def total(self, table: str, column: str, kind: str) -> float | None:
        """Sum over all cores of a kind (volumes, counts, cycles only); ``None`` when no core has a figure."""
        held = [self.value(table, column, core) for core in self.cores(kind)]
        numbers = [float(value) for value in held if value is not None]
        return sum(numbers) if numbers else None

    def has(self, table: str, column: str, kind: str) -> bool:
        """Whether any working core has a figure in that column."""
        return bool(self.values(table, column, kind))

    # ---------------------------------------------------------------- pipes

    def busy(self, core: Core, pipe: str) -> float | None:
        """Busy time of a pipe of a core, us."""
        value = self.value("pipe_utilization", f"{prefix(core.kind)}_{pipe}_time_us", core)
        return None if value is None else float(value)

    def mean_busy(self, kind: str, pipe: str) -> float | None:
        """Mean busy time of a pipe over the working cores, us."""
        held = self.values("pipe_utilization", f"{prefix(kind)}_{pipe}_time_us", kind)
        return sum(held.values()) / len(held) if held else None

    def share(self, kind: str, pipe: str) -> float | None:
        """Total busy time of a pipe / total time of the working cores of its kind.

        Not the printed ratio: in mix kernels that is over the task duration.
        """
        held = self.values("pipe_utilization", f"{prefix(kind)}_{pipe}_time_us", kind)
        whole = sum(core.time_us for core in held)
        return sum(held.values()) / whole if whole else None

    def shares(self, kind: str) -> dict[str, float]:
        """Pipe -> share, for the pipes that have a figure."""
        found = {pipe: self.share(kind, pipe) for pipe in PIPES[kind]}
        return {pipe: share for pipe, share in found.items() if share is not None}

    def others_busy(self, core: Core, *pipes: str) -> float:
        """Longest busy time of the core's other pipes: no shorter can the core get by what is done to ``pipes``."""
        held = [self.busy(core, pipe) or 0.0 for pipe in PIPES[core.kind] if pipe not in pipes]
        return max(held, default=0.0)

    # ---------------------------------------------------------------- memory

    def traffic_bytes(self, *, reads: bool = True, writes: bool = True) -> float | None:
        """Bytes between all cores and L2, both kinds together (volumes may be added)."""
        columns = ["read_main_memory_datas_kb"] * reads + ["write_main_memory_datas_kb"] * writes
        held = [self.total("memory", column, kind) for column in columns for kind in self.kinds]
        numbers = [value for value in held if value is not None]
        return KIB * sum(numbers) if numbers else None

    @cached_property
    def l2_hits(self) -> tuple[float, float] | None:
        """(hits, requests) of the L2 cache over all cores, or ``None`` when not counted."""
        row = self.connection.execute(
            "SELECT sum(hits), sum(requests) FROM l2_hit_rates WHERE kernel_id = ? AND access = 'all'",
            (self.kernel_id,),
        ).fetchone()
        return (float(row[0]), float(row[1])) if row[1] else None

    def single(self, sql: str, *more: Any) -> Any:
        """First column of the first row of a statement about this kernel (its first parameter); ``None`` without."""
        row = self.connection.execute(sql, (self.kernel_id, *more)).fetchone()
        return None if row is None else row[0]

    # ---------------------------------------------------------------- citations

    def cite(self, table: str, column: str, core: Core, note: str | None = None) -> Evidence:
        """A cell of a family's table."""
        row: dict[str, int | str | None] = {
            "kernel_id": self.kernel_id,
            "block_id": core.block_id,
            "sub_block_id": core.sub_block_id,
        }
        return Evidence(table, column, row, self.value(table, column, core), _unit(table, column), note)

    def cite_time(self, core: Core, note: str | None = None) -> Evidence:
        """The time of a core."""
        row: dict[str, int | str | None] = {
            "kernel_id": self.kernel_id,
            "block_id": core.block_id,
            "sub_block_id": core.sub_block_id,
        }
        return Evidence("kernel_cores", "time_us", row, core.time_us, "us", note)

    def cite_extreme(
        self, table: str, column: str, kind: str, pick: Callable[..., Core] = max, note: str | None = None
    ) -> Evidence:
        """The cell of the core with the largest (``min``: smallest) value, with the range over the working cores."""
        held = self.values(table, column, kind)
        core = pick(held, key=lambda one: held[one])
        name = "largest" if pick is max else "smallest"
        spread = f"{name} of {len(held)} cores ({min(held.values()):g}..{max(held.values()):g})"
        return self.cite(table, column, core, f"{note}; {spread}" if note else spread)

    def cite_total(self, family: str, column: str, kind: str, note: str | None = None) -> Evidence:
        """The sum over the cores of a kind, as the roll-up stores it."""
        row: dict[str, int | str | None] = {
            "kernel_id": self.kernel_id,
            "family": family,
            "metric": column,
            "core_kind": kind,
        }
        value = self.single(
            "SELECT sum FROM kernel_metric_values WHERE kernel_id = ? AND family = ? AND metric = ? AND core_kind = ?",
            family,
            column,
            kind,
        )
        return Evidence("kernel_metric_values", "sum", row, value, _unit(table_name(family), column), note)

    def cite_kernel(self, column: str, note: str | None = None) -> Evidence:
        """A column of ``kernels``."""
        unit = {"duration_us": "us", "current_freq_mhz": "MHz", "rated_freq_mhz": "MHz"}.get(column)
        return Evidence("kernels", column, {"id": self.kernel_id}, self.kernel[column], unit, note)

    def cite_chip(self, column: str, note: str | None = None) -> tuple[Evidence, ...]:
        """A fact of the chip, where exactly known or of the candidate that decides."""
        soc, value = self.chip.deciding(column)
        if soc is None:
            return ()
        unit = "TB/s" if column.endswith("tb_s") else "GB/s" if column.endswith("gib_s") else None
        return (Evidence("chips", column, {"soc": soc}, value, unit, note or self.chip.note),)


def prefix(kind: str) -> str:
    """Column prefix of a kind of core: the 310P prints its cores under aic."""
    return "aiv" if kind == "aiv" else "aic"


def _unit(table: str, column: str) -> str | None:
    for metric in load().metrics:
        if metric.column == column and table_name(metric.family) == table:
            return metric.unit or None
    return None


def names(cores: Iterable[Core], at_most: int = 4) -> str:
    """Some cores by name, the rest as a number."""
    listed = [core.name for core in cores]
    shown = ", ".join(listed[:at_most])
    return f"{shown} and {len(listed) - at_most} more" if len(listed) > at_most else shown
