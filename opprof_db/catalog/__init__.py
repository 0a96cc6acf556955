"""The metric catalogue: what every vendor column means, its unit and how it may be aggregated."""

from opprof_db.catalog.load import digest, load
from opprof_db.catalog.model import (
    BASIC_INFO,
    BLOCK_ID,
    SUB_BLOCK_ID,
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
    table_name,
)

__all__ = [
    "BASIC_INFO",
    "BLOCK_ID",
    "SUB_BLOCK_ID",
    "Aggregate",
    "Catalogue",
    "Change",
    "Chip",
    "Core",
    "DerivedMetric",
    "Metric",
    "Polarity",
    "SqlType",
    "digest",
    "load",
    "sql_name",
    "table_name",
]
