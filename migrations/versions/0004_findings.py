"""Diagnoses: findings with their evidence, and the work that people state for operators.

Revision: 0004, after 0003. The statements are what the tables were at this release, frozen.
"""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE operator_work (
    operator TEXT NOT NULL,
    flops REAL,
    bytes_read REAL,
    bytes_written REAL,
    bytes_total REAL,
    shape TEXT,
    dtype TEXT,
    source TEXT NOT NULL,
    stated_at TEXT NOT NULL,
    CONSTRAINT pk_operator_work PRIMARY KEY (operator)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE diagnoses (
    kernel_id INTEGER NOT NULL,
    profile TEXT NOT NULL,
    rules_version TEXT NOT NULL,
    diagnosed_at TEXT NOT NULL,
    CONSTRAINT pk_diagnoses PRIMARY KEY (kernel_id, profile),
    CONSTRAINT fk_diagnoses_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE diagnosis_facts (
    kernel_id INTEGER NOT NULL,
    profile TEXT NOT NULL,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT,
    unit TEXT,
    sentence TEXT NOT NULL,
    CONSTRAINT pk_diagnosis_facts PRIMARY KEY (kernel_id, profile, position),
    CONSTRAINT fk_diagnosis_facts_kernel_id_diagnoses FOREIGN KEY(kernel_id, profile) REFERENCES diagnoses (kernel_id, profile) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE findings (
    kernel_id INTEGER NOT NULL,
    profile TEXT NOT NULL,
    position INTEGER NOT NULL,
    rule TEXT NOT NULL,
    outcome TEXT NOT NULL,
    severity TEXT NOT NULL,
    confidence TEXT NOT NULL,
    title TEXT NOT NULL,
    sentence TEXT NOT NULL,
    core TEXT,
    recoverable_us REAL,
    recoverable_why TEXT,
    advice TEXT NOT NULL,
    measure_next TEXT NOT NULL,
    expected TEXT NOT NULL,
    source TEXT,
    CONSTRAINT pk_findings PRIMARY KEY (kernel_id, profile, position),
    CONSTRAINT fk_findings_kernel_id_diagnoses FOREIGN KEY(kernel_id, profile) REFERENCES diagnoses (kernel_id, profile) ON DELETE CASCADE,
    CONSTRAINT ck_findings_outcome CHECK (outcome IN ('finding', 'no_problem', 'could_not_look')),
    CONSTRAINT ck_findings_severity CHECK (severity IN ('critical', 'high', 'medium', 'low', 'info')),
    CONSTRAINT ck_findings_confidence CHECK (confidence IN ('high', 'medium', 'low'))
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX ix_findings_rule ON findings (rule);

CREATE TABLE finding_evidence (
    kernel_id INTEGER NOT NULL,
    profile TEXT NOT NULL,
    position INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    column_name TEXT NOT NULL,
    row_key TEXT NOT NULL,
    value_number REAL,
    value_text TEXT,
    unit TEXT,
    note TEXT,
    CONSTRAINT pk_finding_evidence PRIMARY KEY (kernel_id, profile, position, ordinal),
    CONSTRAINT fk_finding_evidence_kernel_id_findings FOREIGN KEY(kernel_id, profile, position) REFERENCES findings (kernel_id, profile, position) ON DELETE CASCADE,
    CONSTRAINT ck_finding_evidence_one_value CHECK (value_number IS NULL OR value_text IS NULL)
)
 WITHOUT ROWID,
 STRICT
"""


def upgrade() -> None:
    for statement in TABLES.split(";\n"):
        op.execute(statement)


def downgrade() -> None:
    raise RuntimeError("downgrades are not supported: restore the backup made by the upgrade")
