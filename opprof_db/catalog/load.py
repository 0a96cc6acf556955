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


def _raw() -> dict[str, bytes]:
    return {name: (files(__package__) / name).read_bytes() for name in DATA_FILES}


def digest() -> str:
    """Changes when any entry of the catalogue does; quick, as nothing is parsed."""
    return hashlib.sha256(b"\0".join(_raw().values())).hexdigest()[:16]


@cache
def load() -> Catalogue:
    """The catalogue, read once per process."""
    parsed = {name: tomllib.loads(content.decode("utf-8")) for name, content in _raw().items()}
    metrics = tuple(metric for entry in parsed["metrics.toml"]["metric"] for metric in _expanded(entry))
    families = tuple(dict.fromkeys(m.family for m in metrics if m.family != BASIC_INFO))
    return Catalogue(
        families=families,
        metrics=metrics,
        derived=tuple(_derived(entry) for entry in parsed["derived.toml"]["derived"]),
        changes=tuple(_change(entry) for entry in parsed["changes.toml"]["change"]),
        chips=tuple(_chip(entry) for entry in parsed["chips.toml"]["chip"]),
        denominators=dict(parsed["metrics.toml"]["denominators"]),
        digest=digest(),
    )


def _expanded(entry: dict[str, Any]) -> list[Metric]:
    """An entry with ``count = n`` stands for n columns, ``{n}`` in its texts counting from 0."""
    count = entry.get("count")
    if count is None:
        return [_metric(entry)]
    numbered = []
    for n in range(int(count)):
        filled = {
            key: value.replace("{n}", str(n)) if isinstance(value, str) else value for key, value in entry.items()
        }
        numbered.append(_metric(filled))
    return numbered


def _metric(entry: dict[str, Any]) -> Metric:
    _no_stray_keys(entry, _METRIC_KEYS)
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


def _per_chip(entry: dict[str, Any]) -> dict[str, str] | None:
    """``metric_set`` by chip family; one text stands for every family that has the column."""
    metric_set: str | dict[str, str] | None = entry.get("metric_set")
    return dict.fromkeys(entry["chips"], metric_set) if isinstance(metric_set, str) else metric_set


def _derived(entry: dict[str, Any]) -> DerivedMetric:
    _no_stray_keys(entry, _DERIVED_KEYS)
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
    _no_stray_keys(entry, _CHANGE_KEYS)
    return Change(
        date=entry["date"],
        chips=tuple(entry["chips"]),
        family=entry.get("family"),
        columns=tuple(entry["columns"]),
        effect=entry["effect"],
        source=entry["source"],
    )


def _chip(entry: dict[str, Any]) -> Chip:
    _no_stray_keys(entry, _CHIP_KEYS)
    fields: dict[str, Any] = {name: entry.get(name) for name in Chip.__dataclass_fields__}
    return Chip(**fields)


def _no_stray_keys(entry: dict[str, Any], known: frozenset[str]) -> None:
    """A misspelt optional key would otherwise be lost without a word."""
    if stray := entry.keys() - known:
        raise ValueError(f"unknown keys {sorted(stray)} in the catalogue entry {entry}")


_METRIC_KEYS = frozenset(Metric.__dataclass_fields__) - {"polarity"} | {"better", "count"}
_DERIVED_KEYS = frozenset(DerivedMetric.__dataclass_fields__) - {"polarity"} | {"better"}
_CHANGE_KEYS = frozenset(Change.__dataclass_fields__)
_CHIP_KEYS = frozenset(Chip.__dataclass_fields__)
