-- How evenly the work of a kernel is spread over its cores; AIC and AIV apart, idle cores apart.
-- The 310P prints one row for all cores and has none here.
-- Grain: kernel, core kind
-- Columns:
--   kernel_id                    identifier of the launch
--   run_id                       identifier of the run
--   run                          folder name of the run
--   started_at                   start of the run, local time (ISO 8601)
--   operator                     kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind                    aic or aiv
--   cores                        cores (rows) of this kind with a time, idle ones included
--   idle_cores                   cores busy for less than 1 % of the slowest
--   chip_cores                   cores of this kind on the chip; NULL when the chip is unknown
--   min_us                       shortest time of a working core, us
--   mean_us                      mean time of the working cores, us
--   max_us                       time of the slowest core, us
--   std_us                       population standard deviation over the working cores, us
--   slowest_block_id             block of the slowest core
--   slowest_sub_block_id         sub-block of the slowest core
--   recoverable_us               max_us - mean_us: what an even spread over the working cores would save, us
--   recoverable_share            recoverable_us / max_us (0..1)
--   recoverable_share_all_cores  the same, with the work spread over the idle cores too (0..1)
-- Example: SELECT operator, core_kind, recoverable_us FROM core_balance ORDER BY recoverable_us DESC LIMIT 5
SELECT
    k.kernel_id,
    k.run_id,
    k.run,
    k.started_at,
    k.operator,
    t.core_kind,
    t.n AS cores,
    t.n_idle AS idle_cores,
    CASE t.core_kind WHEN 'aic' THEN c.aic_cores ELSE c.aiv_cores END AS chip_cores,
    t.min AS min_us,
    t.mean AS mean_us,
    t.max AS max_us,
    t.std AS std_us,
    t.max_block_id AS slowest_block_id,
    t.max_sub_block_id AS slowest_sub_block_id,
    t.max - t.mean AS recoverable_us,
    (t.max - t.mean) / nullif(t.max, 0) AS recoverable_share,
    1 - t.mean * (t.n - t.n_idle) / nullif(t.max * t.n, 0) AS recoverable_share_all_cores
FROM metrics AS m
CROSS JOIN kernel_overview AS k
CROSS JOIN kernel_metrics AS t
LEFT JOIN chips AS c ON c.soc IN (k.chip, 'Ascend' || k.chip)
WHERE
    m.column_name IN ('aic_time_us', 'aiv_time_us')
    AND t.kernel_id = k.kernel_id AND t.metric_id = m.id AND t.core_kind = substr(m.column_name, 1, 3)
    -- The times repeat in every family; the first one that the kernel has is taken.
    AND NOT EXISTS (
        SELECT 1 FROM metrics AS em
        CROSS JOIN kernel_metrics AS e
        WHERE
            em.family IN (
                'PipeUtilization', 'Memory', 'MemoryL0', 'MemoryUB', 'L2Cache', 'ArithmeticUtilization',
                'ResourceConflictRatio'
            )
            AND em.vendor_name = m.vendor_name AND em.id < m.id
            AND e.kernel_id = t.kernel_id AND e.metric_id = em.id AND e.core_kind = t.core_kind
    );
