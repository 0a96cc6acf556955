"""How busy each pipe was: share of the working cores' time, AIC and AIV apart."""

from __future__ import annotations

import sqlite3

from opprof_db.report.figures.common import KIND_COLORS, KIND_LABELS, axis, pipe_label, spec
from opprof_db.report.model import Column, Figure, Table
from opprof_db.report.numbers import percent, us_text

_COLUMNS = (
    Column("core_kind", "Cores"),
    Column("pipe", "Pipe"),
    Column("ratio", "Share of core time", "share", help="total busy time / total core time (view pipe_usage)"),
    Column("mean_time_us", "Mean busy", "number", "us"),
    Column("max_time_us", "Longest busy", "number", "us"),
    Column("where", "Longest on"),
    Column("cores", "Working cores", "number"),
)


def pipes(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Figure | None:
    """Pipe utilization of a device launch; ``None`` where it was not collected."""
    rows = connection.execute(
        "SELECT core_kind, pipe, ratio, mean_time_us, max_time_us, max_block_id, max_sub_block_id, cores"
        " FROM pipe_usage WHERE kernel_id = ? ORDER BY core_kind, ratio DESC, pipe",
        (kernel_id,),
    ).fetchall()
    held = [row for row in rows if row[2] is not None]
    if not held:
        return None
    order = list(dict.fromkeys(row[1] for row in sorted(held, key=lambda row: row[2])))
    data = []
    for kind in dict.fromkeys(row[0] for row in held):
        of_kind = [row for row in held if row[0] == kind]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": f"{KIND_LABELS.get(kind, kind)} ({of_kind[0][7]} working cores)",
                "y": [pipe_label(row[1]) for row in of_kind],
                "x": [100 * row[2] for row in of_kind],
                "text": [percent(row[2]) for row in of_kind],
                "textposition": "outside",
                "cliponaxis": False,
                "marker": {"color": KIND_COLORS.get(kind)},
                "customdata": [[row[3], row[4], row[5], row[6]] for row in of_kind],
                "hovertemplate": "%{y}: %{x} % of core time<br>mean %{customdata[0]} us, longest %{customdata[1]} us"
                " (block %{customdata[2]} %{customdata[3]})<extra>" + KIND_LABELS.get(kind, kind) + "</extra>",
            }
        )
    top = max(100.0, *(100 * row[2] for row in held))
    figure = spec(
        data,
        barmode="group",
        xaxis=axis("busy, % of the working cores' time", range=[0, top * 1.12]),
        yaxis=axis("pipe", categoryorder="array", categoryarray=[pipe_label(pipe) for pipe in order]),
        showlegend=True,
    )
    table = Table(
        f"{anchor}-pipes-table",
        "Pipe utilization",
        _COLUMNS,
        tuple(
            (KIND_LABELS.get(kind, kind), pipe_label(pipe), ratio, mean, most, f"block {block} {sub}", cores)
            for kind, pipe, ratio, mean, most, block, sub, cores in rows
        ),
    )
    return Figure(
        f"{anchor}-pipes", "Pipe utilization", _description(held), figure, height=120 + 34 * len(held), table=table
    )


def _description(rows: list[tuple[str, str, float, float, float, int, str, int]]) -> str:
    parts = []
    for kind in dict.fromkeys(row[0] for row in rows):
        ranked = sorted((row for row in rows if row[0] == kind), key=lambda row: -row[2])
        first = ranked[0]
        said = f"{KIND_LABELS.get(kind, kind)}: {pipe_label(first[1])} is busiest, {percent(first[2])} of the core time"
        said += f" ({us_text(first[3])} on average)"
        if len(ranked) > 1:
            said += f", then {pipe_label(ranked[1][1])} with {percent(ranked[1][2])}"
        parts.append(said)
    return ". ".join(parts) + ". Pipes work at the same time, so shares do not add up to 100 %."
