-- Traffic of a kernel on each memory path: volume, bytes per instruction, one core's usage, share of the L2 limit.
-- Volumes count whole requests (128 bytes; L1 paths 256), so smaller transfers are over-counted. The traffic of all
-- cores of a kernel together, and what reaches global memory, stands in memory_limits.
-- Grain: kernel, core kind, path
-- Columns:
--   kernel_id              identifier of the launch
--   run_id                 identifier of the run
--   run                    folder name of the run
--   started_at             start of the run, local time (ISO 8601)
--   operator               kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind              aic or aiv
--   path                   read_main_memory, write_main_memory (all of the core's traffic with L2), gm_to_ub, ub_to_gm,
--                          gm_to_l1, l1_to_gm (an estimate), l0c_to_gm or l0c_to_l1
--   cores                  cores with a volume
--   volume_kib             volume over all cores, KiB
--   kernel_bw_gib_s        volume / task duration, GiB/s; NULL when the duration is unknown
--   pipe                   pipe whose instructions are counted; NULL where none can be told
--   instructions           instructions of that pipe over all cores
--   bytes_per_instruction  volume / instructions, bytes; NULL without instructions
--   max_core_usage_pct     largest share of ONE core's peak on this path as printed, per cent, clamped at 100
--   max_core_block_id      block of that core
--   l2_limit_share         kernel_bw / the chip's L2 peak (0..1); NULL for unknown chips and for l0c_to_l1
--   l2_limit_share_other   the same, had the board the other HBM vendor's memory, which the output does not name
-- Example: SELECT path, volume_kib, bytes_per_instruction FROM memory_traffic WHERE kernel_id = 1
WITH paths (core_kind, path, volume, bandwidth, usage_rate, pipe, instructions) AS (
    VALUES
    ('aic', 'read_main_memory', 'read_main_memory_datas_kb', 'aic_read_main_memory', NULL, NULL, NULL),
    ('aic', 'write_main_memory', 'write_main_memory_datas_kb', 'aic_write_main_memory', NULL, NULL, NULL),
    ('aiv', 'read_main_memory', 'read_main_memory_datas_kb', 'aiv_read_main_memory', NULL, NULL, NULL),
    ('aiv', 'write_main_memory', 'write_main_memory_datas_kb', 'aiv_write_main_memory', NULL, NULL, NULL),
    (
        'aic', 'gm_to_l1', 'gm_to_l1_datas_kb', 'gm_to_l1', 'gm_to_l1_bw_usage_rate_pct', 'mte2',
        'aic_mte2_instructions'
    ),
    (
        'aic', 'l1_to_gm', 'l1_to_gm_datas_kb_estimate', 'l1_to_gm_estimate', 'l1_to_gm_bw_usage_rate_pct_estimate',
        NULL, NULL
    ),
    ('aic', 'l0c_to_l1', 'l0c_to_l1_datas_kb', 'l0c_to_l1', 'l0c_to_l1_bw_usage_rate_pct', NULL, NULL),
    ('aic', 'l0c_to_gm', 'l0c_to_gm_datas_kb', 'l0c_to_gm', 'l0c_to_gm_bw_usage_rate_pct', NULL, NULL),
    (
        'aiv', 'gm_to_ub', 'gm_to_ub_datas_kb', 'gm_to_ub', 'gm_to_ub_bw_usage_rate_pct', 'mte2',
        'aiv_mte2_instructions'
    ),
    (
        'aiv', 'ub_to_gm', 'ub_to_gm_datas_kb', 'ub_to_gm', 'ub_to_gm_bw_usage_rate_pct', 'mte3',
        'aiv_mte3_instructions'
    )
)

SELECT
    k.kernel_id,
    k.run_id,
    k.run,
    k.started_at,
    k.operator,
    p.core_kind,
    p.path,
    kv.n AS cores,
    kv.sum AS volume_kib,
    kb.max AS kernel_bw_gib_s,
    p.pipe,
    ki.sum AS instructions,
    1024.0 * kv.sum / nullif(ki.sum, 0) AS bytes_per_instruction,
    ku.max AS max_core_usage_pct,
    ku.max_block_id AS max_core_block_id,
    CASE WHEN p.path <> 'l0c_to_l1' THEN kb.max * 1073741824.0 / (c.l2_peak_tb_s * 1e12) END AS l2_limit_share,
    CASE
        WHEN p.path <> 'l0c_to_l1' THEN kb.max * 1073741824.0 / (c.l2_peak_other_hbm_tb_s * 1e12)
    END AS l2_limit_share_other
FROM paths AS p
INNER JOIN metrics AS v ON v.family = 'Memory' AND v.column_name = p.volume
LEFT JOIN metrics AS b ON b.family = 'Memory' AND b.vendor_name = 'derived:' || p.bandwidth || '_kernel_bw_gb_s'
LEFT JOIN metrics AS u ON u.family = 'Memory' AND u.column_name = p.usage_rate
LEFT JOIN metrics AS i ON i.family = 'Memory' AND i.column_name = p.instructions
CROSS JOIN kernel_overview AS k
CROSS JOIN kernel_metrics AS kv
LEFT JOIN kernel_metrics AS kb ON kb.kernel_id = kv.kernel_id AND kb.metric_id = b.id AND kb.core_kind = kv.core_kind
LEFT JOIN kernel_metrics AS ku ON ku.kernel_id = kv.kernel_id AND ku.metric_id = u.id AND ku.core_kind = kv.core_kind
LEFT JOIN kernel_metrics AS ki ON ki.kernel_id = kv.kernel_id AND ki.metric_id = i.id AND ki.core_kind = kv.core_kind
LEFT JOIN chips AS c ON c.soc IN (k.chip, 'Ascend' || k.chip)
WHERE kv.kernel_id = k.kernel_id AND kv.metric_id = v.id AND kv.core_kind = p.core_kind;
