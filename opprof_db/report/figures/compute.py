"""Conflicts and waits of the pipes, and which types the compute units worked on."""

from __future__ import annotations

import sqlite3

from opprof_db.report.figures.common import COLORS, KIND_COLORS, KIND_LABELS, axis, pipe_label, spec
from opprof_db.report.model import Column, Figure, Table
from opprof_db.report.numbers import percent

_TYPES = {
    "aiv": ("vec_fp32", "vec_fp16", "vec_int32", "vec_int16", "vec_misc"),
    "aic": ("cube_fp16", "cube_fp", "cube_int8", "cube_int"),
}
_CONFLICTS = {
    "wait": "waits",
    "total": "conflicts, all",
    "bankgroup": "bank group conflict",
    "bank": "bank conflict",
    "resc": "resource conflict",
    "mte": "conflict with MTE",
    "stu": "waits for stores",
    "ldu": "waits for loads",
    "sfu": "waits for special functions",
}


def conflicts(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Figure | None:
    """Shares of cycles lost to waits and conflicts, from the least to the most of the working cores."""
    rows = connection.execute(
        "SELECT core_kind, pipe, conflict, min_ratio, max_ratio, max_block_id, max_sub_block_id FROM resource_conflicts"
        " WHERE kernel_id = ? AND max_ratio IS NOT NULL ORDER BY max_ratio, core_kind, pipe, conflict",
        (kernel_id,),
    ).fetchall()
    held = [row for row in rows if row[4] > 0]
    if not held:
        return None
    names = [f"{KIND_LABELS.get(row[0], row[0])} {pipe_label(row[1])} {_CONFLICTS.get(row[2], row[2])}" for row in held]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "y": names,
            "x": [100 * row[4] for row in held],
            "text": [percent(row[4]) for row in held],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {"color": [KIND_COLORS.get(row[0]) for row in held]},
            "error_x": {
                "type": "data",
                "symmetric": False,
                "array": [0.0 for _ in held],
                "arrayminus": [100 * (row[4] - row[3]) for row in held],
                "thickness": 1.5,
                "width": 4,
            },
            "customdata": [[row[3], row[4], row[5], row[6]] for row in held],
            "hovertemplate": "%{y}<br>%{customdata[0]} to %{customdata[1]} of the cycles,"
            " most on block %{customdata[2]} %{customdata[3]}<extra></extra>",
        }
    ]
    top = held[-1]
    description = (
        f"Largest share of a core's cycles, with the spread down to the least of the working cores. Most: {names[-1]}, "
        f"{percent(top[3])} to {percent(top[4])}. A large wait names the pipe that waits, not the one to blame."
    )
    table = Table(
        f"{anchor}-conflicts-table",
        "Waits and conflicts",
        (
            Column("core_kind", "Cores"),
            Column("pipe", "Pipe"),
            Column("conflict", "What"),
            Column("min_ratio", "Least", "share"),
            Column("max_ratio", "Most", "share"),
            Column("where", "Most on"),
        ),
        tuple(
            (
                KIND_LABELS.get(kind, kind),
                pipe_label(pipe),
                _CONFLICTS.get(what, what),
                least,
                most,
                f"block {block} {sub}",
            )
            for kind, pipe, what, least, most, block, sub in reversed(rows)
        ),
    )
    figure = spec(
        data,
        xaxis=axis("share of the core's cycles, %", range=[0, max(10.0, 116 * top[4])]),
        yaxis=axis(""),
        showlegend=False,
    )
    return Figure(
        f"{anchor}-conflicts", "Waits and conflicts", description, figure, height=110 + 26 * len(held), table=table
    )


def mix(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Figure | None:
    """Share of the compute units' cycles by data type, cycles of the working cores added up."""
    names: list[str] = []
    totals: dict[tuple[str, str], float] = {}
    for kind, types in _TYPES.items():
        sums = ", ".join(
            f"sum(a.{kind}_{name}_ratio * a.{kind}_total_cycles), count(a.{kind}_{name}_ratio)" for name in types
        )
        # Columns come from the lines above.
        row = connection.execute(
            f"SELECT sum(a.{kind}_total_cycles), {sums} FROM arithmetic_utilization AS a JOIN kernel_cores AS c"
            " ON c.kernel_id = a.kernel_id AND c.block_id = a.block_id AND c.sub_block_id = a.sub_block_id"
            " WHERE a.kernel_id = ? AND c.core_kind = ? AND c.is_idle = 0",
            (kernel_id, kind),
        ).fetchone()
        cycles = row[0]
        if not cycles:
            continue
        for at, name in enumerate(types):
            busy, count = row[1 + 2 * at], row[2 + 2 * at]
            if count and busy:
                totals[kind, name] = busy / cycles
                if name not in names:
                    names.append(name)
    if not totals:
        return None
    kinds = list(dict.fromkeys(kind for kind, _ in totals))
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name.replace("_", " ").replace("vec", "vector"),
            "y": [KIND_LABELS[kind] for kind in kinds],
            "x": [100 * totals[kind, name] if (kind, name) in totals else None for kind in kinds],
            "text": [percent(totals[kind, name]) if (kind, name) in totals else "" for kind in kinds],
            "marker": {"color": COLORS[at % len(COLORS)]},
            "hovertemplate": "%{fullData.name}: %{x} % of cycles<extra>%{y}</extra>",
        }
        for at, name in enumerate(names)
    ]
    said = ", ".join(
        f"{KIND_LABELS[kind]} {name.replace('_', ' ').replace('vec', 'vector')} {percent(share)}"
        for (kind, name), share in sorted(totals.items(), key=lambda item: -item[1])
    )
    printed = connection.execute("SELECT op_type FROM kernel_overview WHERE kernel_id = ?", (kernel_id,)).fetchone()[0]
    note = " In mix kernels the tool prints these shares over the task duration." if printed == "mix" else ""
    return Figure(
        f"{anchor}-mix",
        "What was computed",
        f"Share of the working cores' cycles spent on each data type: {said}.{note}",
        spec(
            data,
            barmode="stack",
            xaxis=axis("share of cycles, %"),
            yaxis=axis(""),
            showlegend=True,
        ),
        height=150 + 50 * len(kinds),
        table=Table(
            f"{anchor}-mix-table",
            "Compute by data type",
            (Column("core_kind", "Cores"), Column("type", "Type"), Column("share", "Share of cycles", "share")),
            tuple((KIND_LABELS[kind], name, share) for (kind, name), share in totals.items()),
        ),
    )
