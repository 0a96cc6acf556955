"""The foundation: runs, operators, kernels, metrics, device facts, roll-up, provenance.

Revision: 0001, the first. The statements are what the tables were at this release, frozen.
"""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE chips (
    soc TEXT NOT NULL,
    family TEXT NOT NULL,
    header_family TEXT NOT NULL,
    aic_cores INTEGER,
    aiv_cores INTEGER,
    sim_clock_mhz REAL,
    l2_mib REAL,
    ub_kib REAL,
    gm_peak_tb_s REAL,
    gm_peak_other_hbm_tb_s REAL,
    l2_peak_tb_s REAL,
    l2_peak_other_hbm_tb_s REAL,
    gm_to_ub_core_peak_gib_s REAL,
    ub_to_gm_core_peak_gib_s REAL,
    gm_to_l1_core_peak_gib_s REAL,
    l1_to_gm_core_peak_gib_s REAL,
    l0c_to_l1_core_peak_gib_s REAL,
    l0c_to_gm_core_peak_gib_s REAL,
    source TEXT NOT NULL,
    CONSTRAINT pk_chips PRIMARY KEY (soc)
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE contents (
    id INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    codec TEXT NOT NULL,
    stored_bytes INTEGER NOT NULL,
    CONSTRAINT pk_contents PRIMARY KEY (id),
    CONSTRAINT ck_contents_codec CHECK (codec IN ('zstd', 'raw')),
    CONSTRAINT uq_contents_sha256 UNIQUE (sha256)
)
 STRICT;

CREATE TABLE metric_changes (
    id INTEGER NOT NULL,
    changed_on TEXT NOT NULL,
    chips TEXT NOT NULL,
    family TEXT,
    columns TEXT NOT NULL,
    effect TEXT NOT NULL,
    source TEXT NOT NULL,
    CONSTRAINT pk_metric_changes PRIMARY KEY (id)
)
 STRICT;

CREATE TABLE metrics (
    id INTEGER NOT NULL,
    family TEXT NOT NULL,
    vendor_name TEXT NOT NULL,
    column_name TEXT,
    unit TEXT,
    unit_base TEXT,
    core_kind TEXT,
    aggregate TEXT,
    polarity TEXT,
    denominator TEXT,
    metric_set TEXT,
    pipe TEXT,
    chips TEXT,
    formula TEXT,
    meaning TEXT,
    source TEXT,
    known INTEGER NOT NULL,
    CONSTRAINT pk_metrics PRIMARY KEY (id),
    CONSTRAINT ck_metrics_known CHECK (known IN (0, 1)),
    CONSTRAINT uq_metrics_family_vendor_name UNIQUE (family, vendor_name)
)
 STRICT;

CREATE TABLE operators (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    op_type TEXT NOT NULL,
    CONSTRAINT pk_operators PRIMARY KEY (id),
    CONSTRAINT uq_operators_name_op_type UNIQUE (name, op_type)
)
 STRICT;

CREATE TABLE runs (
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    missing TEXT,
    started_at TEXT,
    started_at_source TEXT,
    soc TEXT,
    soc_source TEXT,
    chip_family TEXT,
    chip_family_source TEXT,
    tool_version TEXT,
    fingerprint TEXT NOT NULL,
    ingested_at TEXT NOT NULL,
    ingested_with TEXT NOT NULL,
    cells_read INTEGER NOT NULL,
    cells_stored INTEGER NOT NULL,
    cells_null INTEGER NOT NULL,
    cells_lost INTEGER NOT NULL,
    CONSTRAINT pk_runs PRIMARY KEY (id),
    CONSTRAINT ck_runs_mode CHECK (mode IN ('device', 'simulator', 'mixed', 'unknown')),
    CONSTRAINT ck_runs_status CHECK (status IN ('complete', 'partial')),
    CONSTRAINT ck_runs_accounting CHECK (cells_read = cells_stored + cells_null + cells_lost),
    CONSTRAINT uq_runs_fingerprint UNIQUE (fingerprint)
)
 STRICT;

CREATE TABLE warehouse_info (
    "key" TEXT NOT NULL,
    value TEXT,
    CONSTRAINT pk_warehouse_info PRIMARY KEY ("key")
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE content_chunks (
    content_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    data BLOB NOT NULL,
    CONSTRAINT pk_content_chunks PRIMARY KEY (content_id, seq),
    CONSTRAINT fk_content_chunks_content_id_contents FOREIGN KEY(content_id) REFERENCES contents (id) ON DELETE CASCADE
)
 STRICT;

CREATE TABLE kernels (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    operator_id INTEGER,
    name TEXT,
    op_type TEXT,
    folder_name TEXT,
    source_path TEXT NOT NULL,
    device_id INTEGER,
    launch_index INTEGER,
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    missing TEXT,
    duration_us REAL,
    block_dim INTEGER,
    mix_block_dim INTEGER,
    pid INTEGER,
    current_freq_mhz INTEGER,
    rated_freq_mhz INTEGER,
    captured_at TEXT,
    tiling_key TEXT,
    clock_mhz REAL,
    clock_source TEXT,
    clock_low_mhz REAL,
    clock_high_mhz REAL,
    CONSTRAINT pk_kernels PRIMARY KEY (id),
    CONSTRAINT ck_kernels_mode CHECK (mode IN ('device', 'simulator', 'mixed', 'unknown')),
    CONSTRAINT ck_kernels_status CHECK (status IN ('complete', 'partial', 'incomplete')),
    CONSTRAINT uq_kernels_run_id_source_path UNIQUE (run_id, source_path),
    CONSTRAINT fk_kernels_run_id_runs FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
    CONSTRAINT fk_kernels_operator_id_operators FOREIGN KEY(operator_id) REFERENCES operators (id)
)
 STRICT;

CREATE INDEX ix_kernels_operator_id ON kernels (operator_id);

CREATE TABLE run_conditions (
    run_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT NOT NULL,
    CONSTRAINT pk_run_conditions PRIMARY KEY (run_id, kind, "key"),
    CONSTRAINT ck_run_conditions_kind CHECK (kind IN ('condition', 'label')),
    CONSTRAINT fk_run_conditions_run_id_runs FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE run_locations (
    run_id INTEGER NOT NULL,
    path TEXT NOT NULL,
    content TEXT NOT NULL,
    first_seen_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    CONSTRAINT pk_run_locations PRIMARY KEY (run_id, path),
    CONSTRAINT ck_run_locations_content CHECK (content IN ('whole', 'part')),
    CONSTRAINT fk_run_locations_run_id_runs FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE arithmetic_utilization (
    kernel_id INTEGER NOT NULL,
    block_id INTEGER NOT NULL,
    sub_block_id TEXT NOT NULL,
    aic_time_us REAL,
    aic_total_cycles INTEGER,
    aic_cube_ratio REAL,
    aic_cube_fp16_ratio REAL,
    aic_cube_int8_ratio REAL,
    aic_cube_fops INTEGER,
    aic_cube_total_instr_number INTEGER,
    aic_cube_fp_instr_number INTEGER,
    aic_cube_int_instr_number INTEGER,
    aic_vec_ratio REAL,
    aic_vec_fp32_ratio REAL,
    aic_vec_fp16_ratio REAL,
    aic_vec_int32_ratio REAL,
    aic_vec_int16_ratio REAL,
    aic_vec_misc_ratio REAL,
    aic_vec_fops INTEGER,
    aic_cube_fp_ratio REAL,
    aic_cube_int_ratio REAL,
    aiv_time_us REAL,
    aiv_total_cycles INTEGER,
    aiv_vec_ratio REAL,
    aiv_vec_fp32_ratio REAL,
    aiv_vec_fp16_ratio REAL,
    aiv_vec_int32_ratio REAL,
    aiv_vec_int16_ratio REAL,
    aiv_vec_misc_ratio REAL,
    aiv_vec_fops INTEGER,
    aiv_vec_vf_ratio REAL,
    aiv_vec_sfu_ratio REAL,
    aiv_vec_simt_vf_ratio REAL,
    CONSTRAINT pk_arithmetic_utilization PRIMARY KEY (kernel_id, block_id, sub_block_id),
    CONSTRAINT fk_arithmetic_utilization_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE artifacts (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    kernel_id INTEGER,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    family TEXT,
    status TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    sha256 TEXT,
    in_fingerprint INTEGER NOT NULL,
    encoding TEXT,
    rows INTEGER,
    content_id INTEGER,
    CONSTRAINT pk_artifacts PRIMARY KEY (id),
    CONSTRAINT uq_artifacts_run_id_path UNIQUE (run_id, path),
    CONSTRAINT ck_artifacts_in_fingerprint CHECK (in_fingerprint IN (0, 1)),
    CONSTRAINT fk_artifacts_run_id_runs FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
    CONSTRAINT fk_artifacts_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE,
    CONSTRAINT fk_artifacts_content_id_contents FOREIGN KEY(content_id) REFERENCES contents (id)
)
 STRICT;

CREATE INDEX ix_artifacts_content_id ON artifacts (content_id);

CREATE INDEX ix_artifacts_kernel_id ON artifacts (kernel_id);

CREATE INDEX ix_artifacts_sha256 ON artifacts (sha256);

CREATE TABLE extra_metric_values (
    kernel_id INTEGER NOT NULL,
    metric_id INTEGER NOT NULL,
    block_id INTEGER NOT NULL,
    sub_block_id TEXT NOT NULL,
    value REAL,
    raw_text TEXT NOT NULL,
    CONSTRAINT pk_extra_metric_values PRIMARY KEY (kernel_id, metric_id, block_id, sub_block_id),
    CONSTRAINT fk_extra_metric_values_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE,
    CONSTRAINT fk_extra_metric_values_metric_id_metrics FOREIGN KEY(metric_id) REFERENCES metrics (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE ingest_issues (
    id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    kernel_id INTEGER,
    code TEXT NOT NULL,
    severity TEXT NOT NULL,
    message TEXT NOT NULL,
    path TEXT,
    line INTEGER,
    column_name TEXT,
    raw_text TEXT,
    byte_offset INTEGER,
    cells INTEGER NOT NULL,
    count INTEGER NOT NULL,
    CONSTRAINT pk_ingest_issues PRIMARY KEY (id),
    CONSTRAINT ck_ingest_issues_severity CHECK (severity IN ('error', 'warning', 'info')),
    CONSTRAINT fk_ingest_issues_run_id_runs FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
    CONSTRAINT fk_ingest_issues_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 STRICT;

CREATE INDEX ix_ingest_issues_kernel_id ON ingest_issues (kernel_id);

CREATE INDEX ix_ingest_issues_run_id ON ingest_issues (run_id);

CREATE TABLE kernel_cores (
    kernel_id INTEGER NOT NULL,
    block_id INTEGER NOT NULL,
    sub_block_id TEXT NOT NULL,
    core_kind TEXT,
    time_us REAL,
    total_cycles INTEGER,
    is_idle INTEGER NOT NULL,
    CONSTRAINT pk_kernel_cores PRIMARY KEY (kernel_id, block_id, sub_block_id),
    CONSTRAINT ck_kernel_cores_is_idle CHECK (is_idle IN (0, 1)),
    CONSTRAINT fk_kernel_cores_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE kernel_labels (
    kernel_id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT NOT NULL,
    CONSTRAINT pk_kernel_labels PRIMARY KEY (kernel_id, "key"),
    CONSTRAINT fk_kernel_labels_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE kernel_metrics (
    kernel_id INTEGER NOT NULL,
    metric_id INTEGER NOT NULL,
    core_kind TEXT NOT NULL,
    n INTEGER NOT NULL,
    n_idle INTEGER NOT NULL,
    sum REAL,
    mean REAL,
    min REAL,
    max REAL,
    std REAL,
    max_block_id INTEGER,
    max_sub_block_id TEXT,
    CONSTRAINT pk_kernel_metrics PRIMARY KEY (kernel_id, metric_id, core_kind),
    CONSTRAINT fk_kernel_metrics_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE,
    CONSTRAINT fk_kernel_metrics_metric_id_metrics FOREIGN KEY(metric_id) REFERENCES metrics (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE l2_cache (
    kernel_id INTEGER NOT NULL,
    block_id INTEGER NOT NULL,
    sub_block_id TEXT NOT NULL,
    aic_time_us REAL,
    aic_total_cycles INTEGER,
    aic_write_cache_hit INTEGER,
    aic_write_cache_miss_allocate INTEGER,
    aic_r0_read_cache_hit INTEGER,
    aic_r0_read_cache_miss_allocate INTEGER,
    aic_r1_read_cache_hit INTEGER,
    aic_r1_read_cache_miss_allocate INTEGER,
    aic_write_hit_rate_pct REAL,
    aic_read_hit_rate_pct REAL,
    aic_total_hit_rate_pct REAL,
    aic_l2_cache_hit_rate_pct REAL,
    aic_read_close_hit INTEGER,
    aic_read_close_miss INTEGER,
    aic_read_close_victim INTEGER,
    aic_read_far_hit INTEGER,
    aic_read_far_miss INTEGER,
    aic_read_far_victim INTEGER,
    aic_write_close_hit INTEGER,
    aic_write_close_miss INTEGER,
    aic_write_close_victim INTEGER,
    aic_write_far_hit INTEGER,
    aic_write_far_miss INTEGER,
    aic_write_far_victim INTEGER,
    aiv_time_us REAL,
    aiv_total_cycles INTEGER,
    aiv_write_cache_hit INTEGER,
    aiv_write_cache_miss_allocate INTEGER,
    aiv_r0_read_cache_hit INTEGER,
    aiv_r0_read_cache_miss_allocate INTEGER,
    aiv_r1_read_cache_hit INTEGER,
    aiv_r1_read_cache_miss_allocate INTEGER,
    aiv_write_hit_rate_pct REAL,
    aiv_read_hit_rate_pct REAL,
    aiv_total_hit_rate_pct REAL,
    aiv_read_close_hit INTEGER,
    aiv_read_close_miss INTEGER,
    aiv_read_close_victim INTEGER,
    aiv_read_far_hit INTEGER,
    aiv_read_far_miss INTEGER,
    aiv_read_far_victim INTEGER,
    aiv_write_close_hit INTEGER,
    aiv_write_close_miss INTEGER,
    aiv_write_close_victim INTEGER,
    aiv_write_far_hit INTEGER,
    aiv_write_far_miss INTEGER,
    aiv_write_far_victim INTEGER,
    CONSTRAINT pk_l2_cache PRIMARY KEY (kernel_id, block_id, sub_block_id),
    CONSTRAINT fk_l2_cache_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE memory (
    kernel_id INTEGER NOT NULL,
    block_id INTEGER NOT NULL,
    sub_block_id TEXT NOT NULL,
    aic_time_us REAL,
    aic_total_cycles INTEGER,
    aic_l1_read_bw_gb_s REAL,
    aic_l1_write_bw_gb_s REAL,
    aic_main_mem_read_bw_gb_s REAL,
    aic_main_mem_write_bw_gb_s REAL,
    aic_mte1_instructions INTEGER,
    aic_mte1_ratio REAL,
    aic_mte2_instructions INTEGER,
    aic_mte2_ratio REAL,
    aic_mte3_instructions INTEGER,
    aic_mte3_ratio REAL,
    aic_ub_to_gm_bw_gb_s REAL,
    aic_gm_to_ub_bw_gb_s REAL,
    aiv_time_us REAL,
    aiv_total_cycles INTEGER,
    aiv_ub_to_gm_bw_gb_s REAL,
    aiv_gm_to_ub_bw_gb_s REAL,
    aiv_main_mem_read_bw_gb_s REAL,
    aiv_main_mem_write_bw_gb_s REAL,
    aiv_mte2_instructions INTEGER,
    aiv_mte2_ratio REAL,
    aiv_mte3_instructions INTEGER,
    aiv_mte3_ratio REAL,
    read_main_memory_datas_kb REAL,
    write_main_memory_datas_kb REAL,
    gm_to_l1_datas_kb REAL,
    gm_to_l1_bw_usage_rate_pct REAL,
    l1_to_gm_datas_kb_estimate REAL,
    l1_to_gm_bw_usage_rate_pct_estimate REAL,
    l0c_to_l1_datas_kb REAL,
    l0c_to_l1_bw_usage_rate_pct REAL,
    l0c_to_gm_datas_kb REAL,
    l0c_to_gm_bw_usage_rate_pct REAL,
    gm_to_ub_datas_kb REAL,
    gm_to_ub_bw_usage_rate_pct REAL,
    ub_to_gm_datas_kb REAL,
    ub_to_gm_bw_usage_rate_pct REAL,
    CONSTRAINT pk_memory PRIMARY KEY (kernel_id, block_id, sub_block_id),
    CONSTRAINT fk_memory_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE memory_l0 (
    kernel_id INTEGER NOT NULL,
    block_id INTEGER NOT NULL,
    sub_block_id TEXT NOT NULL,
    aic_time_us REAL,
    aic_total_cycles INTEGER,
    aic_l0a_read_bw_gb_s REAL,
    aic_l0a_write_bw_gb_s REAL,
    aic_l0b_read_bw_gb_s REAL,
    aic_l0b_write_bw_gb_s REAL,
    aic_l0c_read_bw_cube_gb_s REAL,
    aic_l0c_write_bw_cube_gb_s REAL,
    aic_l0c_read_bw_gb_s REAL,
    aic_l0c_write_bw_gb_s REAL,
    aiv_time_us REAL,
    aiv_total_cycles INTEGER,
    CONSTRAINT pk_memory_l0 PRIMARY KEY (kernel_id, block_id, sub_block_id),
    CONSTRAINT fk_memory_l0_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE memory_ub (
    kernel_id INTEGER NOT NULL,
    block_id INTEGER NOT NULL,
    sub_block_id TEXT NOT NULL,
    aic_time_us REAL,
    aic_total_cycles INTEGER,
    aic_ub_read_bw_vector_gb_s REAL,
    aic_ub_write_bw_vector_gb_s REAL,
    aic_ub_read_bw_scalar_gb_s REAL,
    aic_ub_write_bw_scalar_gb_s REAL,
    aiv_time_us REAL,
    aiv_total_cycles INTEGER,
    aiv_ub_read_bw_vector_gb_s REAL,
    aiv_ub_write_bw_vector_gb_s REAL,
    aiv_ub_read_bw_scalar_gb_s REAL,
    aiv_ub_write_bw_scalar_gb_s REAL,
    aiv_ub_read_bw_gm_gb_s REAL,
    aiv_ub_write_bw_gm_gb_s REAL,
    CONSTRAINT pk_memory_ub PRIMARY KEY (kernel_id, block_id, sub_block_id),
    CONSTRAINT fk_memory_ub_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE pipe_utilization (
    kernel_id INTEGER NOT NULL,
    block_id INTEGER NOT NULL,
    sub_block_id TEXT NOT NULL,
    aic_time_us REAL,
    aic_total_cycles INTEGER,
    aic_cube_time_us REAL,
    aic_cube_ratio REAL,
    aic_mte1_time_us REAL,
    aic_mte1_ratio REAL,
    aic_mte2_time_us REAL,
    aic_mte2_ratio REAL,
    aic_mte3_time_us REAL,
    aic_mte3_ratio REAL,
    aic_mte3_active_bw_gb_s REAL,
    aic_fixpipe_time_us REAL,
    aic_fixpipe_ratio REAL,
    aic_fixpipe_active_bw_gb_s REAL,
    aic_icache_miss_rate REAL,
    aic_scalar_time_us REAL,
    aic_scalar_ratio REAL,
    aic_scalar_single_time_us REAL,
    aic_scalar_dual_time_us REAL,
    aic_scalar_mte1_stall_time_us REAL,
    aic_scalar_mte2_stall_time_us REAL,
    aic_scalar_mte3_stall_time_us REAL,
    aic_scalar_cube_stall_time_us REAL,
    aic_scalar_wait_ib_time_us REAL,
    aic_scalar_wait_time_us REAL,
    aic_vec_time_us REAL,
    aic_vec_ratio REAL,
    aic_mte1_active_bw_gb_s REAL,
    aic_mte2_active_bw_gb_s REAL,
    aic_scalar_wait_id0_time_us REAL,
    aic_scalar_wait_id1_time_us REAL,
    aic_scalar_wait_id2_time_us REAL,
    aic_scalar_wait_id3_time_us REAL,
    aic_scalar_wait_id4_time_us REAL,
    aic_scalar_wait_id5_time_us REAL,
    aic_scalar_wait_id6_time_us REAL,
    aic_scalar_wait_id7_time_us REAL,
    aic_scalar_wait_id8_time_us REAL,
    aic_scalar_wait_id9_time_us REAL,
    aic_scalar_wait_id10_time_us REAL,
    aic_scalar_wait_id11_time_us REAL,
    aic_scalar_wait_id12_time_us REAL,
    aic_scalar_wait_id13_time_us REAL,
    aic_scalar_wait_id14_time_us REAL,
    aic_scalar_wait_id15_time_us REAL,
    aiv_time_us REAL,
    aiv_total_cycles INTEGER,
    aiv_vec_time_us REAL,
    aiv_vec_ratio REAL,
    aiv_mte2_time_us REAL,
    aiv_mte2_ratio REAL,
    aiv_mte2_active_bw_gb_s REAL,
    aiv_mte3_time_us REAL,
    aiv_mte3_ratio REAL,
    aiv_mte3_active_bw_gb_s REAL,
    aiv_icache_miss_rate REAL,
    aiv_scalar_time_us REAL,
    aiv_scalar_ratio REAL,
    aiv_scalar_single_time_us REAL,
    aiv_scalar_dual_time_us REAL,
    aiv_scalar_mte2_stall_time_us REAL,
    aiv_scalar_mte3_stall_time_us REAL,
    aiv_scalar_stall_by_ub_time_us REAL,
    aiv_scalar_vector_stall_time_us REAL,
    aiv_scalar_wait_ib_time_us REAL,
    aiv_scalar_wait_time_us REAL,
    aiv_scalar_wait_id0_time_us REAL,
    aiv_scalar_wait_id1_time_us REAL,
    aiv_scalar_wait_id2_time_us REAL,
    aiv_scalar_wait_id3_time_us REAL,
    aiv_scalar_wait_id4_time_us REAL,
    aiv_scalar_wait_id5_time_us REAL,
    aiv_scalar_wait_id6_time_us REAL,
    aiv_scalar_wait_id7_time_us REAL,
    aiv_scalar_wait_id8_time_us REAL,
    aiv_scalar_wait_id9_time_us REAL,
    aiv_scalar_wait_id10_time_us REAL,
    aiv_scalar_wait_id11_time_us REAL,
    aiv_scalar_wait_id12_time_us REAL,
    aiv_scalar_wait_id13_time_us REAL,
    aiv_scalar_wait_id14_time_us REAL,
    aiv_scalar_wait_id15_time_us REAL,
    CONSTRAINT pk_pipe_utilization PRIMARY KEY (kernel_id, block_id, sub_block_id),
    CONSTRAINT fk_pipe_utilization_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT;

CREATE TABLE resource_conflict_ratio (
    kernel_id INTEGER NOT NULL,
    block_id INTEGER NOT NULL,
    sub_block_id TEXT NOT NULL,
    aic_time_us REAL,
    aic_total_cycles INTEGER,
    aic_cube_wait_ratio REAL,
    aic_mte1_wait_ratio REAL,
    aic_mte2_wait_ratio REAL,
    aic_mte3_wait_ratio REAL,
    aic_vec_wait_ratio REAL,
    aic_vec_total_cflt_ratio REAL,
    aic_vec_bankgroup_cflt_ratio REAL,
    aic_vec_bank_cflt_ratio REAL,
    aic_vec_resc_cflt_ratio REAL,
    aic_vec_mte_cflt_ratio REAL,
    aiv_time_us REAL,
    aiv_total_cycles INTEGER,
    aiv_vec_total_cflt_ratio REAL,
    aiv_vec_bankgroup_cflt_ratio REAL,
    aiv_vec_bank_cflt_ratio REAL,
    aiv_vec_resc_cflt_ratio REAL,
    aiv_vec_mte_cflt_ratio REAL,
    aiv_vec_wait_ratio REAL,
    aiv_mte2_wait_ratio REAL,
    aiv_mte3_wait_ratio REAL,
    aiv_vec_stu_cflt_ratio REAL,
    aiv_vec_ldu_cflt_ratio REAL,
    aiv_vec_sfu_cflt_ratio REAL,
    aiv_mte1_wait_ratio REAL,
    CONSTRAINT pk_resource_conflict_ratio PRIMARY KEY (kernel_id, block_id, sub_block_id),
    CONSTRAINT fk_resource_conflict_ratio_kernel_id_kernels FOREIGN KEY(kernel_id) REFERENCES kernels (id) ON DELETE CASCADE
)
 WITHOUT ROWID,
 STRICT
"""


def upgrade() -> None:
    for statement in TABLES.split(";\n"):
        op.execute(statement)


def downgrade() -> None:
    raise RuntimeError("downgrades are not supported: restore the backup made by the upgrade")
