"""Traces: events, flows, counters, pipe activity and overlap.

Revision: 0003, after 0002. The statements are what the tables were at this release, frozen.
"""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE pipe_activity (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    core TEXT,
    pipe TEXT,
    work_events INTEGER NOT NULL,
    wait_events INTEGER NOT NULL,
    set_events INTEGER NOT NULL,
    barrier_events INTEGER NOT NULL,
    cache_head_events INTEGER NOT NULL,
    ccu_head_events INTEGER NOT NULL,
    other_events INTEGER NOT NULL,
    impossible_events INTEGER NOT NULL,
    busy_us REAL,
    busy_with_impossible_us REAL,
    work_us REAL,
    wait_us REAL,
    set_us REAL,
    barrier_us REAL,
    cache_head_us REAL,
    ccu_head_us REAL,
    first_us REAL,
    last_us REAL,
    span_us REAL,
    busy_share REAL,
    waiting_share REAL,
    gap_p50_us REAL,
    gap_p90_us REAL,
    gap_p99_us REAL,
    gap_max_us REAL,
    gaps INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    CONSTRAINT pk_pipe_activity PRIMARY KEY (kernel_id, position),
    CONSTRAINT fk_pipe_activity_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE pipe_overlap (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    core TEXT,
    pipe_a TEXT NOT NULL,
    pipe_b TEXT NOT NULL,
    both_us REAL NOT NULL,
    either_us REAL NOT NULL,
    overlap_share REAL,
    CONSTRAINT pk_pipe_overlap PRIMARY KEY (kernel_id, position),
    CONSTRAINT fk_pipe_overlap_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE trace_counters (
    kernel_id INTEGER NOT NULL,
    trace_no INTEGER NOT NULL,
    sample INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    process TEXT NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    ts_us REAL NOT NULL,
    value REAL NOT NULL,
    CONSTRAINT pk_trace_counters PRIMARY KEY (kernel_id, trace_no, sample),
    CONSTRAINT fk_trace_counters_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE trace_events (
    kernel_id INTEGER NOT NULL,
    trace_no INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    phase TEXT NOT NULL,
    lane INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    name_id INTEGER NOT NULL,
    ts_us REAL,
    dur_us REAL,
    pc_addr INTEGER,
    code_id INTEGER,
    detail_id INTEGER,
    process_bytes INTEGER,
    group_id INTEGER,
    colour_id INTEGER,
    pair_id INTEGER,
    other_id INTEGER,
    flags INTEGER NOT NULL,
    byte_offset INTEGER NOT NULL,
    CONSTRAINT pk_trace_events PRIMARY KEY (kernel_id, trace_no, ordinal),
    CONSTRAINT fk_trace_events_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE trace_files (
    kernel_id INTEGER NOT NULL,
    trace_no INTEGER NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    schema_version INTEGER,
    truncated INTEGER NOT NULL,
    kept TEXT NOT NULL,
    elements INTEGER NOT NULL,
    lost INTEGER NOT NULL,
    events INTEGER NOT NULL,
    pairs INTEGER NOT NULL,
    flows INTEGER NOT NULL,
    counters INTEGER NOT NULL,
    unmatched INTEGER NOT NULL,
    has_flags INTEGER NOT NULL,
    has_heads INTEGER NOT NULL,
    CONSTRAINT pk_trace_files PRIMARY KEY (kernel_id, trace_no),
    CONSTRAINT ck_trace_files_kept CHECK (kept IN ('full', 'summary')),
    CONSTRAINT ck_trace_files_truncated CHECK (truncated IN (0, 1)),
    CONSTRAINT fk_trace_files_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE trace_flows (
    kernel_id INTEGER NOT NULL,
    trace_no INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    flow_id TEXT NOT NULL,
    category TEXT,
    from_lane INTEGER,
    from_ts_us REAL,
    from_event INTEGER,
    to_lane INTEGER,
    to_ts_us REAL,
    to_event INTEGER,
    flags INTEGER NOT NULL,
    CONSTRAINT pk_trace_flows PRIMARY KEY (kernel_id, trace_no, ordinal),
    CONSTRAINT fk_trace_flows_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE trace_lanes (
    kernel_id INTEGER NOT NULL,
    trace_no INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    process TEXT NOT NULL,
    thread TEXT NOT NULL,
    is_numeric INTEGER NOT NULL,
    core TEXT,
    pipe TEXT,
    process_name TEXT,
    thread_name TEXT,
    process_sort INTEGER,
    thread_sort INTEGER,
    CONSTRAINT pk_trace_lanes PRIMARY KEY (kernel_id, trace_no, lane),
    CONSTRAINT fk_trace_lanes_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE trace_strings (
    kernel_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    string TEXT NOT NULL,
    CONSTRAINT pk_trace_strings PRIMARY KEY (kernel_id, id),
    CONSTRAINT fk_trace_strings_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT
"""


def upgrade() -> None:
    for statement in TABLES.split(";\n"):
        op.execute(statement)


def downgrade() -> None:
    raise RuntimeError("downgrades are not supported: restore the backup made by the upgrade")
