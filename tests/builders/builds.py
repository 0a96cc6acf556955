"""Builds of msopprof that print other columns than today's (source: history of msopprof metric_csv_header.h).

Only the differences are written down here: the columns themselves come from the catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from opprof_db.catalog import load

DBI_COLUMNS = ("aiv_ub_to_gm_bw(*", "UB_to_GM_*", "aiv_mte3_active_bw(*", "aiv_ub_read_bw_gm(*")
"""Columns of the 950 that need the binary to be instrumented, which only MemoryDetail asks for."""


@dataclass(frozen=True)
class Build:
    """How one build of the tool prints."""

    not_applicable: str = "NA"
    without: tuple[str, ...] = ()
    """Shell patterns over headers: columns this build did not have."""
    placed: tuple[tuple[str, str, str], ...] = ()
    """(family, column, column it follows; empty: the end): other places, and columns gone since."""
    memory_detail: bool = False
    """Whether the run asked for MemoryDetail too."""

    def header(self, family: str, chip: str) -> list[str]:
        """Header of a family, without the last comma."""
        columns = [name for name in load().header(family, chip) if not any(fnmatchcase(name, p) for p in self.without)]
        for where, column, previous in self.placed:
            if where != family:
                continue
            if column in columns:
                columns.remove(column)
            columns.insert(columns.index(previous) + 1 if previous else len(columns), column)
        return columns


PIPES = "PipeUtilization"
NO_SCALAR_DETAIL = ("*_scalar_*_time(us)",)
SCALAR_BEHIND_COMPUTE = (
    (PIPES, "aic_scalar_time(us)", "aic_cube_ratio"),
    (PIPES, "aic_scalar_ratio", "aic_scalar_time(us)"),
    (PIPES, "aiv_scalar_time(us)", "aiv_vec_ratio"),
    (PIPES, "aiv_scalar_ratio", "aiv_scalar_time(us)"),
)
MTE1_WAIT = ("ResourceConflictRatio", "aiv_mte1_wait_ratio", "aiv_vec_wait_ratio")
ACTIVE_BANDWIDTH_LAST = (
    (PIPES, "aic_mte1_active_bw(GB/s)", ""),
    (PIPES, "aic_mte2_active_bw(GB/s)", ""),
)

TODAY = Build()
MEMORY_DETAIL = Build(placed=ACTIVE_BANDWIDTH_LAST, memory_detail=True)
"""50 columns of PipeUtilization on 910B; on 950 the columns of UB_to_GM hold figures."""
CANN_8_5 = Build(without=NO_SCALAR_DETAIL, placed=(*SCALAR_BEHIND_COMPUTE, *ACTIVE_BANDWIDTH_LAST, MTE1_WAIT))
"""34 columns of PipeUtilization on 910B."""
CANN_8_0 = Build("N/A", (*NO_SCALAR_DETAIL, "*_active_bw(*"), (*SCALAR_BEHIND_COMPUTE, MTE1_WAIT))
"""28 columns of PipeUtilization on 910B, ``N/A`` everywhere."""
