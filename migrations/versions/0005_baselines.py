"""Baselines: named sets of launches that later ones are compared with.

Revision: 0005, after 0004. The statements are what the tables were at this release, frozen.
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE baselines (
    name TEXT NOT NULL,
    selection TEXT NOT NULL,
    set_at TEXT NOT NULL,
    CONSTRAINT pk_baselines PRIMARY KEY (name)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE baseline_kernels (
    name TEXT NOT NULL,
    kernel_id INTEGER NOT NULL,
    CONSTRAINT pk_baseline_kernels PRIMARY KEY (name, kernel_id),
    CONSTRAINT fk_baseline_kernels_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE INDEX ix_baseline_kernels_kernel_id ON baseline_kernels (kernel_id)
"""


def upgrade() -> None:
    for statement in TABLES.split(";\n"):
        op.execute(statement)


def downgrade() -> None:
    raise RuntimeError("downgrades are not supported: restore the backup made by the upgrade")
