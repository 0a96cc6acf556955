-- Which metric of the catalogue a name in TASK_PMU_INFO stands for, and how it is rolled up.
-- Names are msopprof's headers, msprof's names for the same figure (without a unit: ns and byte/s), and the derived metrics.
-- Several metrics can bear one name (every family repeats the cycles); a launch gets the first it has, by place.
-- Grain: name and metric
-- Columns:
--   name_id    string id of the name
--   name       name in TASK_PMU_INFO
--   metric_id  identifier of the metric in metrics
--   roll_up    sum: over all cores; max: of the slowest core; formula: the derived metric of the whole kernel;
--              only: the value of the only core, and none where there are several
--   core_kind  cores the metric is of: aic, aiv or both
--   scale      what the stored value is multiplied with
--   place      1 for the first choice among metrics of the same name, then 2, …
--   choices    metrics that bear the name
-- Example: SELECT name, roll_up, formula FROM msprof_metric_names n JOIN metrics m ON m.id = n.metric_id LIMIT 10
WITH
printed AS (
    SELECT
        id AS metric_id,
        vendor_name AS name,
        CASE aggregate WHEN 'sum' THEN 'sum' WHEN 'max' THEN 'max' ELSE 'only' END AS roll_up,
        CASE family WHEN 'PipeUtilization' THEN 1 WHEN 'Memory' THEN 2 ELSE 3 END AS preference
    FROM metrics
    WHERE known = 1 AND formula IS NULL AND family <> 'OpBasicInfo' AND column_name NOT IN ('block_id', 'sub_block_id')
),
stands_for (column_name, header) AS (
    VALUES
    ('aic_read_main_memory_kernel_bw_gb_s', 'aic_main_mem_read_bw(GB/s)'),
    ('aic_write_main_memory_kernel_bw_gb_s', 'aic_main_mem_write_bw(GB/s)'),
    ('aiv_read_main_memory_kernel_bw_gb_s', 'aiv_main_mem_read_bw(GB/s)'),
    ('aiv_write_main_memory_kernel_bw_gb_s', 'aiv_main_mem_write_bw(GB/s)'),
    ('gm_to_ub_kernel_bw_gb_s', 'aiv_gm_to_ub_bw(GB/s)'),
    ('ub_to_gm_kernel_bw_gb_s', 'aiv_ub_to_gm_bw(GB/s)'),
    ('aic_l2_kernel_write_hit_rate_pct', 'aic_write_hit_rate(%)'),
    ('aic_l2_kernel_read_hit_rate_pct', 'aic_read_hit_rate(%)'),
    ('aic_l2_kernel_hit_rate_pct', 'aic_total_hit_rate(%)'),
    ('aic_l2_kernel_write_hit_rate_950_pct', 'aic_write_hit_rate(%)'),
    ('aic_l2_kernel_read_hit_rate_950_pct', 'aic_read_hit_rate(%)'),
    ('aic_l2_kernel_hit_rate_950_pct', 'aic_total_hit_rate(%)'),
    ('aiv_l2_kernel_write_hit_rate_pct', 'aiv_write_hit_rate(%)'),
    ('aiv_l2_kernel_read_hit_rate_pct', 'aiv_read_hit_rate(%)'),
    ('aiv_l2_kernel_hit_rate_pct', 'aiv_total_hit_rate(%)'),
    ('aiv_l2_kernel_write_hit_rate_950_pct', 'aiv_write_hit_rate(%)'),
    ('aiv_l2_kernel_read_hit_rate_950_pct', 'aiv_read_hit_rate(%)'),
    ('aiv_l2_kernel_hit_rate_950_pct', 'aiv_total_hit_rate(%)'),
    ('aic_cube_kernel_ratio', 'aic_cube_ratio'),
    ('aic_mte1_kernel_ratio', 'aic_mte1_ratio'),
    ('aic_mte2_kernel_ratio', 'aic_mte2_ratio'),
    ('aic_mte3_kernel_ratio', 'aic_mte3_ratio'),
    ('aic_fixpipe_kernel_ratio', 'aic_fixpipe_ratio'),
    ('aic_scalar_kernel_ratio', 'aic_scalar_ratio'),
    ('aic_vec_kernel_ratio', 'aic_vec_ratio'),
    ('aiv_vec_kernel_ratio', 'aiv_vec_ratio'),
    ('aiv_mte2_kernel_ratio', 'aiv_mte2_ratio'),
    ('aiv_mte3_kernel_ratio', 'aiv_mte3_ratio'),
    ('aiv_scalar_kernel_ratio', 'aiv_scalar_ratio')
),
vendor AS (
    SELECT metric_id, name, roll_up, preference FROM printed
    UNION ALL
    SELECT m.id, s.header, 'formula', 0
    FROM metrics AS m
    INNER JOIN stands_for AS s ON s.column_name = m.column_name
    WHERE m.formula IS NOT NULL
),
msprof (header, name, scale) AS (
    VALUES
    ('aic_time(us)', 'aic_total_time', 1000),
    ('aic_cube_time(us)', 'aic_mac_time', 1000),
    ('aic_scalar_time(us)', 'aic_scalar_time', 1000),
    ('aic_mte1_time(us)', 'aic_mte1_time', 1000),
    ('aic_mte2_time(us)', 'aic_mte2_time', 1000),
    ('aic_mte3_time(us)', 'aic_mte3_time', 1000),
    ('aic_fixpipe_time(us)', 'aic_fixpipe_time', 1000),
    ('aic_vec_time(us)', 'aic_vec_time', 1000),
    ('aiv_time(us)', 'aiv_total_time', 1000),
    ('aiv_vec_time(us)', 'aiv_vec_time', 1000),
    ('aiv_scalar_time(us)', 'aiv_scalar_time', 1000),
    ('aiv_mte2_time(us)', 'aiv_mte2_time', 1000),
    ('aiv_mte3_time(us)', 'aiv_mte3_time', 1000),
    ('aic_cube_ratio', 'aic_mac_ratio', 1),
    ('aic_cube_fp16_ratio', 'aic_mac_fp16_ratio', 1),
    ('aic_cube_int8_ratio', 'aic_mac_int8_ratio', 1),
    ('aiv_vec_fops', 'aiv_vector_fops', 1),
    ('aic_main_mem_read_bw(GB/s)', 'aic_main_mem_read_bw', 1073741824),
    ('aic_main_mem_write_bw(GB/s)', 'aic_main_mem_write_bw', 1073741824),
    ('aiv_main_mem_read_bw(GB/s)', 'aiv_main_mem_read_bw', 1073741824),
    ('aiv_main_mem_write_bw(GB/s)', 'aiv_main_mem_write_bw', 1073741824),
    ('aic_l1_read_bw(GB/s)', 'aic_l1_read_bw', 1073741824),
    ('aic_l1_write_bw(GB/s)', 'aic_l1_write_bw', 1073741824),
    ('aic_l0a_read_bw(GB/s)', 'aic_l0a_read_bw', 1073741824),
    ('aic_l0a_write_bw(GB/s)', 'aic_l0a_write_bw', 1073741824),
    ('aic_l0b_read_bw(GB/s)', 'aic_l0b_read_bw', 1073741824),
    ('aic_l0b_write_bw(GB/s)', 'aic_l0b_write_bw', 1073741824),
    ('aic_l0c_read_bw_cube(GB/s)', 'aic_l0c_read_bw_cube', 1073741824),
    ('aic_l0c_write_bw_cube(GB/s)', 'aic_l0c_write_bw_cube', 1073741824),
    ('aiv_ub_read_bw_vector(GB/s)', 'aiv_ub_read_bw_vector', 1073741824),
    ('aiv_ub_write_bw_vector(GB/s)', 'aiv_ub_write_bw_vector', 1073741824),
    ('aiv_ub_read_bw_scalar(GB/s)', 'aiv_ub_read_bw_scalar', 1073741824),
    ('aiv_ub_write_bw_scalar(GB/s)', 'aiv_ub_write_bw_scalar', 1073741824)
),
named AS (
    SELECT metric_id, name, roll_up, preference, 1 AS scale, 1 AS kind FROM vendor
    UNION ALL
    SELECT v.metric_id, a.name, v.roll_up, v.preference, a.scale, 2
    FROM vendor AS v
    INNER JOIN msprof AS a ON a.header = v.name
    UNION ALL
    SELECT id, column_name, 'formula', 0, 1, 1
    FROM metrics
    WHERE known = 1 AND formula IS NOT NULL
)
SELECT
    8 * min(n.metric_id) OVER (PARTITION BY n.name) + n.kind AS name_id,
    n.name,
    n.metric_id,
    n.roll_up,
    m.core_kind,
    n.scale,
    row_number() OVER (PARTITION BY n.name ORDER BY n.preference, n.metric_id) AS place,
    count(*) OVER (PARTITION BY n.name) AS choices
FROM named AS n
INNER JOIN metrics AS m ON m.id = n.metric_id;
