-- Traffic of a kernel's cores together against what the chip's L2 and global memory can do.
-- Peaks are decimal TB/s, bandwidths GiB/s (2^30); shares take both to bytes. Which HBM vendor a board has is not
-- recorded: the true share lies between the two columns.
-- Grain: kernel
-- Columns:
--   kernel_id             identifier of the launch
--   run_id                identifier of the run
--   run                   folder name of the run
--   started_at            start of the run, local time (ISO 8601)
--   operator              kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   chip                  SoC, else the chip family in parentheses; peaks are known for SoCs only
--   duration_us           task duration, us
--   read_kib              read through L2 by all cores, KiB
--   write_kib             written through L2 by all cores, KiB
--   bw_gib_s              (read + written) / task duration, GiB/s
--   l2_limit_share        bw / L2 peak (0..1); NULL for unknown chips
--   l2_limit_share_other  the same with the other HBM vendor
--   gm_bw_gib_s           L2 misses x 128 bytes / task duration, GiB/s: an estimate of what reaches global memory
--   gm_bw_counts          misses with allocation, or read misses (950); NULL when L2Cache was not collected
--   gm_limit_share        gm_bw / global memory peak (0..1); NULL for unknown chips
--   gm_limit_share_other  the same with the other HBM vendor
-- Example: SELECT operator, bw_gib_s, l2_limit_share, gm_limit_share FROM memory_limits WHERE run_id = 1
SELECT
    t.kernel_id,
    t.run_id,
    t.run,
    t.started_at,
    t.operator,
    t.chip,
    t.duration_us,
    t.read_kib,
    t.write_kib,
    t.bw_gib_s,
    t.bw_gib_s * 1073741824.0 / (c.l2_peak_tb_s * 1e12) AS l2_limit_share,
    t.bw_gib_s * 1073741824.0 / (c.l2_peak_other_hbm_tb_s * 1e12) AS l2_limit_share_other,
    t.gm_bw_gib_s,
    t.gm_bw_counts,
    t.gm_bw_gib_s * 1073741824.0 / (c.gm_peak_tb_s * 1e12) AS gm_limit_share,
    t.gm_bw_gib_s * 1073741824.0 / (c.gm_peak_other_hbm_tb_s * 1e12) AS gm_limit_share_other
FROM (
    SELECT
        k.kernel_id,
        k.run_id,
        k.run,
        k.started_at,
        k.operator,
        k.chip,
        k.duration_us,
        sum(CASE m.column_name WHEN 'read_main_memory_datas_kb' THEN v.sum END) AS read_kib,
        sum(CASE m.column_name WHEN 'write_main_memory_datas_kb' THEN v.sum END) AS write_kib,
        max(CASE m.column_name WHEN 'total_main_memory_kernel_bw_gb_s' THEN v.max END) AS bw_gib_s,
        sum(CASE m.family WHEN 'L2Cache' THEN v.max END) AS gm_bw_gib_s,
        max(
            CASE
                WHEN m.column_name IN ('aic_l2_miss_kernel_bw_gb_s', 'aiv_l2_miss_kernel_bw_gb_s')
                    THEN 'misses with allocation'
                WHEN m.family = 'L2Cache' THEN 'read misses'
            END
        ) AS gm_bw_counts
    FROM metrics AS m
    CROSS JOIN kernel_overview AS k
    CROSS JOIN kernel_metrics AS v
    WHERE v.kernel_id = k.kernel_id AND v.metric_id = m.id AND m.column_name IN (
        'read_main_memory_datas_kb',
        'write_main_memory_datas_kb',
        'total_main_memory_kernel_bw_gb_s',
        'aic_l2_miss_kernel_bw_gb_s',
        'aiv_l2_miss_kernel_bw_gb_s',
        'aic_l2_read_miss_kernel_bw_gb_s',
        'aiv_l2_read_miss_kernel_bw_gb_s'
    )
    GROUP BY k.kernel_id, k.run_id, k.run, k.started_at, k.operator, k.chip, k.duration_us
) AS t
LEFT JOIN chips AS c ON c.soc IN (t.chip, 'Ascend' || t.chip);
