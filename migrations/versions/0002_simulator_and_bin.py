"""Simulator statistics and the blocks of visualize_data.bin.

Revision: 0002, after 0001. The statements are what the tables were at this release, frozen.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE instruction_details (
    id INTEGER NOT NULL,
    detail TEXT NOT NULL,
    pairs TEXT NOT NULL,
    CONSTRAINT pk_instruction_details PRIMARY KEY (id),
    CONSTRAINT uq_instruction_details_detail UNIQUE (detail)
)
 STRICT;

CREATE TABLE source_texts (
    sha256 TEXT NOT NULL,
    source TEXT NOT NULL,
    CONSTRAINT pk_source_texts PRIMARY KEY (sha256)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE bin_basics (
    kernel_id INTEGER NOT NULL,
    name TEXT,
    op_type TEXT,
    soc TEXT,
    duration_us REAL,
    block_dim INTEGER,
    mix_block_dim INTEGER,
    device_id INTEGER,
    pid INTEGER,
    current_freq_mhz REAL,
    rated_freq_mhz REAL,
    detail_rows INTEGER,
    detail_columns INTEGER,
    CONSTRAINT pk_bin_basics PRIMARY KEY (kernel_id),
    CONSTRAINT fk_bin_basics_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE bin_blocks (
    kernel_id INTEGER NOT NULL,
    byte_offset INTEGER NOT NULL,
    type INTEGER NOT NULL,
    name TEXT NOT NULL,
    version INTEGER,
    size_bytes INTEGER NOT NULL,
    status TEXT NOT NULL,
    CONSTRAINT pk_bin_blocks PRIMARY KEY (kernel_id, byte_offset),
    CONSTRAINT fk_bin_blocks_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE block_durations (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    core TEXT NOT NULL,
    block_id INTEGER,
    duration_us REAL,
    CONSTRAINT pk_block_durations PRIMARY KEY (kernel_id, position, core),
    CONSTRAINT fk_block_durations_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE cache_lines (
    kernel_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    line_id INTEGER,
    hits INTEGER,
    hit_share REAL,
    hit_ranges TEXT NOT NULL,
    misses INTEGER,
    miss_share REAL,
    miss_ranges TEXT NOT NULL,
    CONSTRAINT pk_cache_lines PRIMARY KEY (kernel_id, ordinal),
    CONSTRAINT fk_cache_lines_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE compute_load (
    kernel_id INTEGER NOT NULL,
    "view" TEXT NOT NULL,
    position INTEGER NOT NULL,
    block_id INTEGER,
    block_type TEXT,
    name TEXT,
    unit_code INTEGER,
    unit TEXT,
    value REAL,
    origin_value REAL,
    CONSTRAINT pk_compute_load PRIMARY KEY (kernel_id, "view", position),
    CONSTRAINT fk_compute_load_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE core_occupancy (
    kernel_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    position INTEGER NOT NULL,
    core_id INTEGER,
    subcore_type TEXT,
    subcore_id INTEGER,
    cycles INTEGER,
    throughput_bytes INTEGER,
    l2_hit_rate_pct REAL,
    simt_instructions INTEGER,
    simt_instructions_per_cycle REAL,
    op_type TEXT,
    soc TEXT,
    CONSTRAINT pk_core_occupancy PRIMARY KEY (kernel_id, ordinal),
    CONSTRAINT fk_core_occupancy_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE core_table_heads (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    block_id INTEGER,
    op_type TEXT,
    row_count INTEGER,
    column_count INTEGER,
    CONSTRAINT pk_core_table_heads PRIMARY KEY (kernel_id, position, table_name),
    CONSTRAINT fk_core_table_heads_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE core_tables (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    row_number INTEGER NOT NULL,
    column_number INTEGER NOT NULL,
    block_id INTEGER,
    row_name TEXT,
    column_name TEXT,
    value REAL,
    flag TEXT,
    CONSTRAINT pk_core_tables PRIMARY KEY (kernel_id, position, table_name, row_number, column_number),
    CONSTRAINT fk_core_tables_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE hot_instruction_values (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    core TEXT NOT NULL,
    cycles INTEGER,
    executed INTEGER,
    gpr_count INTEGER,
    process_bytes INTEGER,
    ub_read_conflicts INTEGER,
    ub_write_conflicts INTEGER,
    real_stall_cycles INTEGER,
    theoretical_stall_cycles INTEGER,
    icache_cycles INTEGER,
    ccu_cycles INTEGER,
    scalar_cycles INTEGER,
    vector_utilization_pct REAL,
    l2_hit_rate_pct REAL,
    CONSTRAINT pk_hot_instruction_values PRIMARY KEY (kernel_id, position, core),
    CONSTRAINT fk_hot_instruction_values_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE hot_instructions (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    address INTEGER,
    code TEXT,
    source TEXT,
    pipe TEXT,
    gpr_status TEXT,
    CONSTRAINT pk_hot_instructions PRIMARY KEY (kernel_id, position),
    CONSTRAINT fk_hot_instructions_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE hot_line_values (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    core TEXT NOT NULL,
    cycles INTEGER,
    executed INTEGER,
    gpr_count INTEGER,
    process_bytes INTEGER,
    ub_read_conflicts INTEGER,
    ub_write_conflicts INTEGER,
    real_stall_cycles INTEGER,
    theoretical_stall_cycles INTEGER,
    icache_cycles INTEGER,
    ccu_cycles INTEGER,
    scalar_cycles INTEGER,
    vector_utilization_pct REAL,
    l2_hit_rate_pct REAL,
    CONSTRAINT pk_hot_line_values PRIMARY KEY (kernel_id, position, core),
    CONSTRAINT fk_hot_line_values_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE hot_lines (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    file TEXT,
    line INTEGER,
    address_ranges TEXT NOT NULL,
    CONSTRAINT pk_hot_lines PRIMARY KEY (kernel_id, position),
    CONSTRAINT fk_hot_lines_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE instruction_stats (
    kernel_id INTEGER NOT NULL,
    core TEXT NOT NULL,
    line_number INTEGER NOT NULL,
    core_kind TEXT,
    instruction TEXT,
    address INTEGER,
    pipe TEXT,
    call_count INTEGER,
    cycles INTEGER,
    saturated INTEGER NOT NULL,
    running_time_us REAL,
    below_resolution INTEGER NOT NULL,
    detail_id INTEGER,
    CONSTRAINT pk_instruction_stats PRIMARY KEY (kernel_id, core, line_number),
    CONSTRAINT ck_instruction_stats_saturated CHECK (saturated IN (0, 1)),
    CONSTRAINT ck_instruction_stats_below_resolution CHECK (below_resolution IN (0, 1)),
    CONSTRAINT fk_instruction_stats_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE,
    CONSTRAINT fk_instruction_stats_detail_id_instruction_details FOREIGN KEY(detail_id) REFERENCES instruction_details (id)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE memory_cores (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    core_no INTEGER,
    op_type TEXT,
    soc TEXT,
    l2_hit INTEGER,
    l2_miss INTEGER,
    l2_total INTEGER,
    l2_hit_rate_pct REAL,
    memory_detail INTEGER,
    CONSTRAINT pk_memory_cores PRIMARY KEY (kernel_id, position),
    CONSTRAINT fk_memory_cores_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE memory_paths (
    kernel_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    position INTEGER NOT NULL,
    core_no INTEGER,
    path_code INTEGER,
    path TEXT,
    bandwidth_gb_s REAL,
    request INTEGER,
    peak_pct REAL,
    display INTEGER,
    bandwidth_suffix TEXT,
    request_suffix TEXT,
    theoretical INTEGER NOT NULL,
    CONSTRAINT pk_memory_paths PRIMARY KEY (kernel_id, ordinal),
    CONSTRAINT ck_memory_paths_theoretical CHECK (theoretical IN (0, 1)),
    CONSTRAINT fk_memory_paths_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE memory_units (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    unit TEXT NOT NULL,
    core_no INTEGER,
    busy_cycles INTEGER,
    total_cycles INTEGER,
    busy_pct REAL,
    CONSTRAINT pk_memory_units PRIMARY KEY (kernel_id, position, unit),
    CONSTRAINT fk_memory_units_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE roofline_points (
    kernel_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    title TEXT,
    bandwidth_name TEXT,
    bandwidth_tb_s REAL,
    compute_name TEXT,
    compute_tflops REAL,
    ops_per_byte REAL,
    tops REAL,
    roof_share REAL,
    CONSTRAINT pk_roofline_points PRIMARY KEY (kernel_id, position),
    CONSTRAINT fk_roofline_points_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE source_files (
    kernel_id INTEGER NOT NULL,
    path TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    encoding TEXT NOT NULL,
    CONSTRAINT pk_source_files PRIMARY KEY (kernel_id, path, sha256),
    CONSTRAINT fk_source_files_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE,
    CONSTRAINT fk_source_files_sha256_source_texts FOREIGN KEY(sha256) REFERENCES source_texts (sha256)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE source_line_stats (
    kernel_id INTEGER NOT NULL,
    core TEXT NOT NULL,
    line_number INTEGER NOT NULL,
    core_kind TEXT,
    code TEXT,
    file TEXT,
    line INTEGER,
    call_count INTEGER,
    cycles INTEGER,
    saturated INTEGER NOT NULL,
    running_time_us REAL,
    below_resolution INTEGER NOT NULL,
    CONSTRAINT pk_source_line_stats PRIMARY KEY (kernel_id, core, line_number),
    CONSTRAINT ck_source_line_stats_saturated CHECK (saturated IN (0, 1)),
    CONSTRAINT ck_source_line_stats_below_resolution CHECK (below_resolution IN (0, 1)),
    CONSTRAINT fk_source_line_stats_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE stall_samples (
    kernel_id INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    owner TEXT NOT NULL,
    position INTEGER,
    scope TEXT NOT NULL,
    reason TEXT,
    samples INTEGER,
    share REAL,
    CONSTRAINT pk_stall_samples PRIMARY KEY (kernel_id, ordinal),
    CONSTRAINT fk_stall_samples_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE vendor_advice (
    kernel_id INTEGER NOT NULL,
    block TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    position INTEGER,
    block_id INTEGER,
    advice TEXT NOT NULL,
    reliability TEXT NOT NULL,
    CONSTRAINT pk_vendor_advice PRIMARY KEY (kernel_id, block, ordinal),
    CONSTRAINT fk_vendor_advice_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT
"""


def upgrade() -> None:
    for statement in TABLES.split(";\n"):
        op.execute(statement)


def downgrade() -> None:
    raise RuntimeError("downgrades are not supported: restore the backup made by the upgrade")
