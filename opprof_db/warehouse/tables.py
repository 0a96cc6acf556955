"""Tables of the warehouse. Fact tables come from the catalogue, column by column.

Every table and column carries a comment: docs/reference/schema.md is generated from them, and a
test fails when one is missing. All tables are STRICT; NULL means "not applicable or not recorded".
"""

from __future__ import annotations

from sqlalchemy import MetaData

from opprof_db.catalog import Catalogue, load
from opprof_db.warehouse.schema.baselines import add_baselines
from opprof_db.warehouse.schema.bins import add_bins
from opprof_db.warehouse.schema.facts import add_facts, add_rollup
from opprof_db.warehouse.schema.findings import add_findings
from opprof_db.warehouse.schema.kernels import add_kernels
from opprof_db.warehouse.schema.knowledge import add_knowledge
from opprof_db.warehouse.schema.provenance import add_provenance
from opprof_db.warehouse.schema.reference import add_reference
from opprof_db.warehouse.schema.runs import add_runs
from opprof_db.warehouse.schema.simulator import add_simulator
from opprof_db.warehouse.schema.traces import add_traces

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


def build(catalogue: Catalogue) -> MetaData:
    """All tables for a catalogue."""
    metadata = MetaData(naming_convention=NAMING)
    add_reference(metadata)
    add_runs(metadata)
    add_kernels(metadata)
    add_facts(metadata, catalogue)
    add_rollup(metadata)
    add_provenance(metadata)
    add_simulator(metadata)
    add_bins(metadata)
    add_traces(metadata)
    add_findings(metadata)
    add_baselines(metadata)
    add_knowledge(metadata)
    return metadata


metadata = build(load())
"""Tables for the catalogue that ships with this program."""
