"""What moved between the memories: a flow with volumes, bandwidths and usage; hit rates of L2."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from opprof_db.report.figures.common import BLUE, GREEN, GREY, KIND_LABELS, ORANGE, PURPLE, SKY, VERMILION, axis, spec
from opprof_db.report.model import Column, Figure, Table
from opprof_db.report.numbers import bytes_text, percent, readable

_KIB = 1024.0
_REQUEST_BYTES = 128
_PATHS = {
    "gm_to_ub": ("L2", "UB"),
    "gm_to_l1": ("L2", "L1"),
    "ub_to_gm": ("UB", "L2 (writes)"),
    "l1_to_gm": ("L1", "L2 (writes)"),
    "l0c_to_gm": ("L0C", "L2 (writes)"),
    "l0c_to_l1": ("L0C", "L1"),
}
_NODE_COLORS = {
    "global memory": ORANGE,
    "hits in L2": GREEN,
    "L2": SKY,
    "L2 (writes)": SKY,
    "scalar and instructions": GREY,
    "UB": BLUE,
    "L1": PURPLE,
    "L0C": VERMILION,
}
_SEE_THROUGH = "55"
"""Alpha of the links, hexadecimal."""


@dataclass(frozen=True)
class _Link:
    start: str
    end: str
    volume_bytes: float
    path: str
    bandwidth_gib_s: float | None
    usage_pct: float | None


def flow(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Figure | None:
    """Memory paths of a device launch; ``None`` where Memory was not collected or nothing moved."""
    rows = connection.execute(
        "SELECT core_kind, path, volume_kib, kernel_bw_gib_s, max_core_usage_pct, instructions, bytes_per_instruction,"
        " l2_limit_share FROM memory_traffic WHERE kernel_id = ? ORDER BY core_kind, volume_kib DESC, path",
        (kernel_id,),
    ).fetchall()
    if not rows:
        return None
    links = [*_paths(rows), *_scalar(rows), *_l2(connection, kernel_id, rows)]
    links = [link for link in links if link.volume_bytes > 0]
    table = Table(
        f"{anchor}-flow-table",
        "Traffic on each memory path",
        (
            Column("core_kind", "Cores"),
            Column("path", "Path", "code"),
            Column("volume_kib", "Volume", "number", "KiB"),
            Column("kernel_bw_gib_s", "Volume / task duration", "number", "GiB/s"),
            Column("max_core_usage_pct", "Busiest core's usage", "number", "% of one core's peak"),
            Column("instructions", "Instructions", "number"),
            Column("bytes_per_instruction", "Per instruction", "number", "B"),
            Column("l2_limit_share", "Of the L2 peak", "share"),
        ),
        tuple((KIND_LABELS.get(kind, kind), *rest) for kind, *rest in rows),
        note="Volumes count whole requests of 128 bytes, so smaller transfers are over-counted.",
    )
    if not links:
        return None
    nodes = list(dict.fromkeys(name for link in links for name in (link.start, link.end)))
    figure = spec(
        [
            {
                "type": "sankey",
                "arrangement": "snap",
                "node": {
                    "label": nodes,
                    "color": [_color(node) for node in nodes],
                    "pad": 22,
                    "thickness": 16,
                    "line": {"width": 0},
                    "customdata": [_through(node, links) for node in nodes],
                    "hovertemplate": "%{label}: %{customdata}<extra></extra>",
                },
                "link": {
                    "source": [nodes.index(link.start) for link in links],
                    "target": [nodes.index(link.end) for link in links],
                    "value": [link.volume_bytes / _KIB for link in links],
                    "color": [_color(link.start) + _SEE_THROUGH for link in links],
                    "customdata": [_told(link) for link in links],
                    "hovertemplate": "%{source.label} to %{target.label}<br>%{value} KiB%{customdata}<extra></extra>",
                },
            }
        ],
        margin={"l": 8, "r": 8, "t": 12, "b": 12},
    )
    return Figure(
        f"{anchor}-flow",
        "Memory traffic",
        _description(links),
        figure,
        height=max(260, 110 + 55 * len(nodes) // 2),
        wide=True,
        table=table,
    )


def _paths(
    rows: list[tuple[str, str, float, float | None, float | None, float | None, float | None, float | None]],
) -> list[_Link]:
    made = []
    for kind, path, volume, bandwidth, usage, *_ in rows:
        if path in _PATHS:
            start, end = _PATHS[path]
            made.append(
                _Link(start, end, (volume or 0.0) * _KIB, f"{KIND_LABELS.get(kind, kind)} {path}", bandwidth, usage)
            )
    return made


def _scalar(
    rows: list[tuple[str, str, float, float | None, float | None, float | None, float | None, float | None]],
) -> list[_Link]:
    """What cores read besides their transfers: reads through L2 less what the paths out of it carried."""
    read = sum(row[2] or 0.0 for row in rows if row[1] == "read_main_memory")
    carried = sum(row[2] or 0.0 for row in rows if row[1] in ("gm_to_ub", "gm_to_l1"))
    rest = (read - carried) * _KIB
    return [_Link("L2", "scalar and instructions", rest, "reads besides MTE2", None, None)] if rest > 0 else []


def _l2(
    connection: sqlite3.Connection,
    kernel_id: int,
    rows: list[tuple[str, str, float, float | None, float | None, float | None, float | None, float | None]],
) -> list[_Link]:
    """Where reads were answered; drawn only when the requests and the volume are of one size."""
    read = sum(row[2] or 0.0 for row in rows if row[1] == "read_main_memory") * _KIB
    hits, requests = connection.execute(
        "SELECT sum(hits), sum(requests) FROM l2_hit_rates WHERE kernel_id = ? AND access = 'read'", (kernel_id,)
    ).fetchone()
    if not requests or not read or hits is None:
        return []
    if not 0.9 < requests * _REQUEST_BYTES / read < 1.1:
        return []
    return [
        _Link("hits in L2", "L2", hits * _REQUEST_BYTES, "read hits x 128 B", None, None),
        _Link("global memory", "L2", (requests - hits) * _REQUEST_BYTES, "read misses x 128 B", None, None),
    ]


def _color(node: str) -> str:
    return _NODE_COLORS.get(node, GREY)


def _through(node: str, links: list[_Link]) -> str:
    into = sum(link.volume_bytes for link in links if link.end == node)
    out = sum(link.volume_bytes for link in links if link.start == node)
    return f"{bytes_text(into)} in, {bytes_text(out)} out"


def _told(link: _Link) -> str:
    parts = [f" ({bytes_text(link.volume_bytes)}), {link.path}"]
    if link.bandwidth_gib_s is not None:
        parts.append(f"<br>{link.bandwidth_gib_s} GiB/s over the task")
    if link.usage_pct is not None:
        parts.append(f"<br>busiest core: {link.usage_pct} % of one core's peak")
    return "".join(parts)


def _description(links: list[_Link]) -> str:
    """The paths in words, the largest first."""
    ranked = sorted((link for link in links if link.bandwidth_gib_s is not None), key=lambda link: -link.volume_bytes)
    said = []
    for link in ranked[:4]:
        text = f"{link.start} to {link.end.removesuffix(' (writes)')} ({link.path}) {bytes_text(link.volume_bytes)}"
        text += f" at {readable(link.bandwidth_gib_s)} GiB/s"
        if link.usage_pct is not None:
            text += f", the busiest core at {readable(link.usage_pct)} % of its peak"
        said.append(text)
    misses = next((link for link in links if link.start == "global memory"), None)
    if misses is not None:
        said.append(f"{bytes_text(misses.volume_bytes)} of the reads missed L2 and came from global memory")
    return "Volumes of all cores: " + "; ".join(said) + "."


def hit_rates(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Figure | None:
    """L2 hit rates by core kind and access."""
    rows = connection.execute(
        "SELECT core_kind, access, hits, requests, hit_rate_pct, state FROM l2_hit_rates WHERE kernel_id = ?"
        " ORDER BY core_kind, CASE access WHEN 'read' THEN 0 WHEN 'write' THEN 1 ELSE 2 END",
        (kernel_id,),
    ).fetchall()
    held = [row for row in rows if row[4] is not None]
    if not held:
        return None
    colors = {"read": BLUE, "write": ORANGE, "all": GREY}
    data = [
        {
            "type": "bar",
            "name": access if access != "all" else "both",
            "x": [KIND_LABELS.get(row[0], row[0]) for row in held if row[1] == access],
            "y": [row[4] for row in held if row[1] == access],
            "text": [f"{readable(row[4])} %" for row in held if row[1] == access],
            "textposition": "outside",
            "cliponaxis": False,
            "marker": {"color": colors.get(access)},
            "customdata": [[row[2], row[3]] for row in held if row[1] == access],
            "hovertemplate": "%{x}: %{y} %<br>%{customdata[0]} hits of %{customdata[1]} requests<extra></extra>",
        }
        for access in dict.fromkeys(row[1] for row in held)
    ]
    said = [
        f"{KIND_LABELS.get(row[0], row[0])} {row[1]} {readable(row[4])} %"
        + (f" of {readable(row[3])} requests" if row[3] is not None else "")
        for row in held
        if row[1] != "all"
    ] or [f"{KIND_LABELS.get(row[0], row[0])} {readable(row[4])} %" for row in held]
    return Figure(
        f"{anchor}-l2",
        "L2 hit rate",
        "Hits over requests, summed over the cores: " + ", ".join(said) + ". Warm-up launches may have filled L2.",
        spec(data, barmode="group", yaxis=axis("hit rate, %", range=[0, 112]), xaxis=axis("cores"), showlegend=True),
        height=300,
        table=Table(
            f"{anchor}-l2-table",
            "L2 hit rates",
            (
                Column("core_kind", "Cores"),
                Column("access", "Access"),
                Column("hits", "Hits", "number"),
                Column("requests", "Requests", "number"),
                Column("hit_rate_pct", "Hit rate", "number", "%"),
                Column("state", "State"),
            ),
            tuple((KIND_LABELS.get(row[0], row[0]), *row[1:]) for row in rows),
        ),
    )


def inner_paths(connection: sqlite3.Connection, kernel_id: int, anchor: str) -> Table | None:
    """Every path of the memory map in visualize_data.bin, requests of all cores added up."""
    rows = connection.execute(
        "SELECT coalesce(path, 'code ' || path_code), count(*), sum(request), max(bandwidth_gb_s), max(peak_pct),"
        " max(theoretical) FROM memory_paths WHERE kernel_id = ? GROUP BY path_code HAVING sum(request) > 0"
        " ORDER BY sum(request) DESC, path_code",
        (kernel_id,),
    ).fetchall()
    if not rows:
        return None
    return Table(
        f"{anchor}-paths-table",
        "All memory paths, from visualize_data.bin",
        (
            Column("path", "Path", "code"),
            Column("cores", "Cores", "number"),
            Column("request", "Requests", "number"),
            Column("max_bandwidth", "Fastest core", "number", "GiB/s"),
            Column("max_peak", "Its usage", "number", "% of one core's peak"),
            Column("origin", "Counted"),
        ),
        tuple((*row[:5], "derived by the tool" if row[5] else "yes") for row in rows),
        note="UB1 and vec1 are those of the second vector core. Paths without requests are left out.",
    )


def possible(connection: sqlite3.Connection, kernel_id: int) -> list[tuple[str, float, str, str]]:
    """(limit, share reached 0..1, value reached, limit's value) of L2 and global memory."""
    row = connection.execute(
        "SELECT bw_gib_s, l2_limit_share, gm_bw_gib_s, gm_limit_share, gm_limit_share_other FROM memory_limits"
        " WHERE kernel_id = ?",
        (kernel_id,),
    ).fetchone()
    made = []
    if row is not None:
        bandwidth, l2, gm, share, other = row
        if l2 is not None and bandwidth:
            made.append(("L2 bandwidth", l2, f"{readable(bandwidth)} GiB/s", f"{readable(bandwidth / l2)} GiB/s"))
        if share is not None and gm:
            range_text = (
                f"; {percent(other)} with the other HBM vendor's memory" if other is not None and other != share else ""
            )
            made.append(
                (
                    "Global memory bandwidth",
                    share,
                    f"{readable(gm)} GiB/s (L2 misses)",
                    f"{readable(gm / share)} GiB/s{range_text}",
                )
            )
    return made
