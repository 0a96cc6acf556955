"""Reads the catalogue's data files. Nothing else in the project lists vendor columns."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from opprof_db.catalog.model import (
    BASIC_INFO,
    Aggregate,
    Catalogue,
    Change,
    Chip,
    Core,
    DerivedMetric,
    Metric,
    Polarity,
    SqlType,
    sql_name,
)

DATA_FILES = ("metrics.toml", "derived.toml", "changes.toml", "chips.toml")


@cache
def load() -> Catalogue:
    """The catalogue, read once per process."""
    raw = {name: (files(__package__) / name).read_bytes() for name in DATA_FILES}
    digest = hashlib.sha256(b"\0".join(raw[name] for name in DATA_FILES)).hexdigest()[:16]
    parsed = {name: tomllib.loads(content.decode("utf-8")) for name, content in raw.items()}
    metrics = tuple(
        metric for entry in parsed["metrics.toml"]["metric"] for metric in _expanded(entry)
    )
    families = tuple(dict.fromkeys(m.family for m in metrics if m.family != BASIC_INFO))
    return Catalogue(
        families=families,
        metrics=metrics,
        derived=tuple(_derived(entry) for entry in parsed["derived.toml"]["derived"]),
        changes=tuple(_change(entry) for entry in parsed["changes.toml"]["change"]),
        chips=tuple(_chip(entry) for entry in parsed["chips.toml"]["chip"]),
        denominators=dict(parsed["metrics.toml"]["denominators"]),
        digest=digest,
    )


def _expanded(entry: dict[str, Any]) -> list[Metric]:
    """An entry with ``count = n`` stands for n columns, ``{n}`` in its texts counting from 0."""
    count = entry.get("count")
    if count is None:
        return [_metric(entry)]
    numbered = []
    for n in range(int(count)):
        filled = {
            key: value.replace("{n}", str(n)) if isinstance(value, str) else value
            for key, value in entry.items()
        }
        numbered.append(_metric(filled))
    return numbered


def _metric(entry: dict[str, Any]) -> Metric:
    vendor = entry["vendor"]
    return Metric(
        family=entry["family"],
        vendor=vendor,
        column=entry.get("column") or sql_name(vendor),
        type=SqlType(entry["type"].upper()),
        unit=entry["unit"],
        core=Core(entry["core"]),
        chips={chip: int(place) for chip, place in entry["chips"].items()},
        aggregate=Aggregate(entry["aggregate"]),
        polarity=Polarity(entry["better"]),
        meaning=entry["meaning"],
        source=entry["source"],
        aliases=tuple(entry.get("aliases", ())),
        unit_base=entry.get("unit_base"),
        denominator=entry.get("denominator"),
        metric_set=_per_chip(entry),
        pipe=entry.get("pipe"),
    )


def _per_chip(entry: dict[str, Any]) -> dict[str, str]:
    """``metric_set`` by header family; one text stands for every family that has the column."""
    metric_set: str | dict[str, str] | None = entry.get("metric_set")
    if metric_set is None:
        return {}
    if isinstance(metric_set, str):
        return dict.fromkeys(entry["chips"], metric_set)
    return dict(metric_set)


def _derived(entry: dict[str, Any]) -> DerivedMetric:
    return DerivedMetric(
        column=entry["column"],
        family=entry["family"],
        numerator=tuple(entry["numerator"]),
        denominator=tuple(entry["denominator"]),
        scale=float(entry.get("scale", 1.0)),
        statistic=entry.get("statistic", "sum"),
        unit=entry["unit"],
        core=Core(entry["core"]),
        chips=tuple(entry["chips"]),
        polarity=Polarity(entry["better"]),
        formula=entry["formula"],
        meaning=entry["meaning"],
        source=entry["source"],
        op_types=tuple(entry.get("op_types", ())),
    )


def _change(entry: dict[str, Any]) -> Change:
    return Change(
        date=entry["date"],
        chips=tuple(entry["chips"]),
        family=entry.get("family"),
        columns=tuple(entry["columns"]),
        effect=entry["effect"],
        source=entry["source"],
    )


def _chip(entry: dict[str, Any]) -> Chip:
    optional = {name: entry.get(name) for name in Chip.__dataclass_fields__ if name not in _CHIP_REQUIRED}
    return Chip(**{name: entry[name] for name in _CHIP_REQUIRED}, **optional)


_CHIP_REQUIRED = ("soc", "family", "header_family", "source")
