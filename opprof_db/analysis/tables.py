"""Trends, sweeps and neighbours as rows, exact figures: what CSV, Markdown, DataFrames and agents get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opprof_db.analysis.history import Point
    from opprof_db.analysis.similar import Figure, Neighbour, Similar
    from opprof_db.analysis.sweep import Pipe, Sweep
    from opprof_db.analysis.trend import Stretch, Trend

Row = tuple[Any, ...]
TREND = (
    "run_id",
    "run",
    "started_at",
    "device_id",
    "launches",
    "median_us",
    "change_us",
    "change_share",
    "level_us",
    "mark",
    "labels",
)
SIMILAR = (
    "kernel_id",
    "run_id",
    "run",
    "operator",
    "op_type",
    "chip",
    "block_dim",
    "duration_us",
    "launches",
    "distance",
    "shared",
    "in_common",
    "differ",
)


def trend_table(found: Trend) -> tuple[tuple[str, ...], list[Row]]:
    """A row a run; runs without a place in the line have no stretch."""
    rows: list[Row] = []
    for number, series in enumerate(found.series, 1):
        for part, stretch in enumerate(series.stretches, 1):
            rows += [(number, part, *row) for row in stretch_rows(stretch)]
        nowhere = (None, None, None, "no place in the line")
        rows += [(number, None, *_point(point), *nowhere, _labels(point)) for point in series.undated]
    return ("series", "stretch", *TREND), rows


def stretch_rows(stretch: Stretch) -> list[Row]:
    """The runs of a stretch under the columns ``TREND``."""
    steps = {step.after.kernel_ids: step for step in stretch.steps}
    rows = []
    for place in stretch.places:
        point, step = place.point, steps.get(place.point.kernel_ids)
        marks = [f"step {step.change_share:+.1%}"] if step else []
        marks += ["outlier"] if place.outlier else []
        marks += ["cold first launch"] if point.cold_first else []
        figures = (place.change_us, place.change_share, place.level_us, ", ".join(marks) or None)
        rows.append((*_point(point), *figures, _labels(point)))
    return rows


def _point(point: Point) -> Row:
    return point.run_id, point.run, point.started_at, point.device_id, len(point.kernel_ids), point.median_us


def _labels(point: Point) -> str | None:
    labels = [f"{key}={value}" for key, value in sorted(point.labels.items())]
    if "git_commit" in point.conditions:
        labels.append(f"commit {point.conditions['git_commit']}")
    return " ".join(labels) or None


def sweep_table(found: Sweep) -> tuple[list[str], list[Row]]:
    """A row a variant."""
    columns = [
        "group",
        *found.by,
        "kernel_id",
        "runs",
        "launches",
        "median_us",
        "min_us",
        "max_us",
        "behind_share",
        "dominant_pipe",
        "worst_wait",
        "limit",
        "limit_low_share",
        "limit_high_share",
        *(str(choice) for choice in found.pareto),
        "best",
        "pareto",
    ]
    rows = [
        (
            number,
            *variant.key,
            variant.kernel_id,
            variant.runs,
            len(variant.kernel_ids),
            variant.median_us,
            variant.min_us,
            variant.max_us,
            variant.behind_share,
            pipes(variant.dominant),
            pipes(variant.waits),
            variant.limit.name if variant.limit else None,
            variant.limit.low_share if variant.limit else None,
            variant.limit.high_share if variant.limit else None,
            *variant.chosen,
            int(variant.best),
            int(variant.on_front) if found.pareto else None,
        )
        for number, group in enumerate(found.groups, 1)
        for variant in group.variants
    ]
    return columns, rows


def pipes(held: tuple[Pipe, ...]) -> str | None:
    """Kinds of cores with their pipe and its share."""
    return ", ".join(f"{pipe.core_kind} {pipe.pipe} {pipe.share:.2f}" for pipe in held) or None


def similar_table(found: Similar) -> tuple[tuple[str, ...], list[Row]]:
    """A row a neighbour."""
    return SIMILAR, [neighbour_row(one) for one in found.neighbours]


def neighbour_row(one: Neighbour) -> Row:
    """Under the columns ``SIMILAR``."""
    return (
        one.kernel_id,
        one.run_id,
        one.run,
        one.operator,
        one.op_type,
        one.chip,
        one.block_dim,
        one.duration_us,
        one.launches,
        one.distance,
        one.shared,
        "; ".join(map(figure, one.in_common)) or None,
        "; ".join(map(figure, one.differ)) or None,
    )


def figure(one: Figure) -> str:
    """Both values of a figure, the launch's own first."""
    unit = "" if one.unit == "ratio" else f" {one.unit}"
    core = "" if one.name.startswith(f"{one.core_kind}_") else f"{one.core_kind} "
    return f"{core}{one.name} {one.value:.4g}{unit} / {one.other:.4g}{unit}"
