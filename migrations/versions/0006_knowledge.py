"""The knowledge base: entries by content, what they are about, a full-text index, recorded cases.

Revision: 0006, after 0005. The statements are what the tables were at this release, frozen.
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE knowledge_entries (
    id INTEGER NOT NULL,
    entry TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    confidence TEXT NOT NULL,
    origin TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    gain_what TEXT,
    gain_low REAL,
    gain_high REAL,
    gain_unit TEXT,
    gain_note TEXT,
    body TEXT NOT NULL,
    stored_at TEXT NOT NULL,
    CONSTRAINT pk_knowledge_entries PRIMARY KEY (id),
    CONSTRAINT ck_knowledge_entries_kind CHECK (kind IN ('pattern', 'recipe', 'case', 'tip')),
    CONSTRAINT ck_knowledge_entries_confidence CHECK (confidence IN ('measured', 'reported', 'inferred')),
    CONSTRAINT uq_knowledge_entries_entry UNIQUE (entry)
)
 STRICT;

CREATE TABLE knowledge_facets (
    facet TEXT NOT NULL,
    value TEXT NOT NULL,
    entry_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    CONSTRAINT pk_knowledge_facets PRIMARY KEY (facet, value, entry_id),
    CONSTRAINT ck_knowledge_facets_facet CHECK (facet IN ('rule', 'operator', 'op_type', 'chip', 'architecture', 'term', 'related')),
    CONSTRAINT fk_knowledge_facets_entry_id_knowledge_entries FOREIGN KEY(entry_id) REFERENCES knowledge_entries (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE VIRTUAL TABLE knowledge_index USING fts5(entry UNINDEXED, kind UNINDEXED, label UNINDEXED, summary UNINDEXED, title, subject, body, tokenize = 'porter unicode61');

CREATE TABLE knowledge_movements (
    entry_id INTEGER NOT NULL,
    metric TEXT NOT NULL,
    direction TEXT NOT NULL,
    decides INTEGER NOT NULL,
    why TEXT NOT NULL,
    CONSTRAINT pk_knowledge_movements PRIMARY KEY (entry_id, metric),
    CONSTRAINT ck_knowledge_movements_direction CHECK (direction IN ('up', 'down', 'same')),
    CONSTRAINT fk_knowledge_movements_entry_id_knowledge_entries FOREIGN KEY(entry_id) REFERENCES knowledge_entries (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE knowledge_places (
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    stamp TEXT NOT NULL,
    CONSTRAINT pk_knowledge_places PRIMARY KEY (position)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE knowledge_sources (
    entry_id INTEGER NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    confidence TEXT NOT NULL,
    address TEXT,
    note TEXT,
    CONSTRAINT pk_knowledge_sources PRIMARY KEY (entry_id, source),
    CONSTRAINT fk_knowledge_sources_entry_id_knowledge_entries FOREIGN KEY(entry_id) REFERENCES knowledge_entries (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE recorded_cases (
    id INTEGER NOT NULL,
    title TEXT NOT NULL,
    note TEXT,
    entry TEXT,
    recorded_at TEXT NOT NULL,
    before_kernel_id INTEGER,
    after_kernel_id INTEGER,
    before_name TEXT NOT NULL,
    after_name TEXT NOT NULL,
    operator TEXT,
    op_type TEXT,
    chip TEXT,
    before_duration_us REAL NOT NULL,
    after_duration_us REAL NOT NULL,
    remarks TEXT,
    CONSTRAINT pk_recorded_cases PRIMARY KEY (id),
    CONSTRAINT fk_recorded_cases_before_kernel_id_kernels FOREIGN KEY(before_kernel_id) REFERENCES kernels (id) ON DELETE SET NULL,
    CONSTRAINT fk_recorded_cases_after_kernel_id_kernels FOREIGN KEY(after_kernel_id) REFERENCES kernels (id) ON DELETE SET NULL
)
 STRICT;

CREATE TABLE recorded_metrics (
    case_id INTEGER NOT NULL,
    metric TEXT NOT NULL,
    core_kind TEXT NOT NULL,
    statistic TEXT NOT NULL,
    unit TEXT,
    before_value REAL,
    after_value REAL,
    CONSTRAINT pk_recorded_metrics PRIMARY KEY (case_id, metric, core_kind, statistic),
    CONSTRAINT fk_recorded_metrics_case_id_recorded_cases FOREIGN KEY(case_id) REFERENCES recorded_cases (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE recorded_rules (
    case_id INTEGER NOT NULL,
    rule TEXT NOT NULL,
    position INTEGER NOT NULL,
    gone INTEGER,
    CONSTRAINT pk_recorded_rules PRIMARY KEY (case_id, rule),
    CONSTRAINT fk_recorded_rules_case_id_recorded_cases FOREIGN KEY(case_id) REFERENCES recorded_cases (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT
"""


def upgrade() -> None:
    for statement in TABLES.split(";\n"):
        op.execute(statement)


def downgrade() -> None:
    raise RuntimeError("downgrades are not supported: restore the backup made by the upgrade")
