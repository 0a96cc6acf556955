"""``opprof-db hotspots``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, FormatOption, KernelArgument, reading, select
from opprof_db.cli.output import Format, note, print_rows

EPILOG = """Examples:

  opprof-db hotspots last/add_custom                     instructions, costliest first

  opprof-db hotspots kernel:7 --by line --limit 10

  opprof-db hotspots kernel:7 --by pipe --core core0.veccore0

Cycles are what the simulator counted, summed over calls that may overlap; they are not the time that passes."""


class By(StrEnum):
    """What is ranked."""

    INSTRUCTION = "instruction"
    LINE = "line"
    PIPE = "pipe"


_ALL_CORES = {
    By.INSTRUCTION: "SELECT core_kind, pipe, instruction, address, cores, call_count, cycles, max_cycles,"
    " slowest_core, running_time_us, saturated_cores, detail FROM instruction_hotspots WHERE kernel_id = ?"
    " ORDER BY saturated_cores > 0 DESC, cycles DESC, address",
    By.LINE: "SELECT core_kind, code, cores, call_count, cycles, max_cycles, running_time_us, saturated_cores"
    " FROM line_hotspots WHERE kernel_id = ? ORDER BY saturated_cores > 0 DESC, cycles DESC, code",
    By.PIPE: "SELECT core_kind, pipe, count(*) AS cores, sum(call_count) AS call_count, sum(cycles) AS cycles,"
    " max(cycles) AS max_cycles, sum(wait_cycles) AS wait_cycles, sum(barrier_cycles) AS barrier_cycles,"
    " sum(saturated) AS saturated FROM simulated_pipes WHERE kernel_id = ? GROUP BY core_kind, pipe"
    " ORDER BY sum(saturated) > 0 DESC, cycles DESC, pipe",
}
_ONE_CORE = {
    By.INSTRUCTION: "SELECT pipe, instruction, address, call_count, cycles, running_time_us, saturated, detail"
    " FROM instruction_stats LEFT JOIN instruction_details ON id = detail_id WHERE kernel_id = ? AND core = ?"
    " ORDER BY saturated > 0 DESC, cycles DESC, address",
    By.LINE: "SELECT code, call_count, cycles, running_time_us, saturated FROM source_line_stats"
    " WHERE kernel_id = ? AND core = ? ORDER BY saturated > 0 DESC, cycles DESC, code",
    By.PIPE: "SELECT pipe, instructions, call_count, cycles, wait_cycles, barrier_cycles, saturated"
    " FROM simulated_pipes WHERE kernel_id = ? AND core = ? ORDER BY saturated > 0 DESC, cycles DESC, pipe",
}
_TABLE = {By.INSTRUCTION: "instruction_stats", By.LINE: "source_line_stats", By.PIPE: "instruction_stats"}


def hotspots(
    kernel: KernelArgument,
    db: DbOption = DEFAULT_DB,
    by: Annotated[By, typer.Option("--by", help="What is ranked.")] = By.INSTRUCTION,
    core: Annotated[str | None, typer.Option(help="Only this simulated core, such as core0.veccore1.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many; 0: all.")] = 20,
    style: FormatOption = Format.TABLE,
) -> None:
    """Show where a simulated kernel spends its cycles: instructions, source lines or pipes."""
    from opprof_db.errors import UsageError
    from opprof_db.warehouse.resolve import did_you_mean, only_kernel

    with reading(db) as connection:
        identifier = only_kernel(connection, kernel)
        known = [
            row[0]
            for row in connection.execute(
                f"SELECT DISTINCT core FROM {_TABLE[by]} WHERE kernel_id = ? ORDER BY core", (identifier,)
            )
        ]
        if not known:
            raise UsageError(
                f"kernel:{identifier} has no simulator statistics by {by}", _what_is_missing(connection, identifier, by)
            )
        if core is not None and core not in known:
            raise UsageError(f"kernel:{identifier} has no core {core!r}", did_you_mean(core, known))
        sql = _ALL_CORES[by] if core is None else _ONE_CORE[by]
        parameters: tuple[Any, ...] = (identifier,) if core is None else (identifier, core)
        columns, rows = select(connection, f"{sql} LIMIT ?", (*parameters, limit or -1))
        total = connection.execute(f"SELECT count(*) FROM ({sql})", parameters).fetchone()[0]
    print_rows(columns, rows, style)
    if total > len(rows) and style is Format.TABLE:
        note(f"{total - len(rows)} more; --limit 0 shows all")


def _what_is_missing(connection: Any, identifier: int, by: By) -> str:
    (mode,) = connection.execute("SELECT mode FROM kernels WHERE id = ?", (identifier,)).fetchone()
    if mode == "device":
        return "it is a device run; collect with `msprof op simulator`"
    if by is By.LINE:
        return "compile the operator with -g to get source lines"
    return "the run holds no *_instr_exe.csv"
