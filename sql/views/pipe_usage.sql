-- How busy each pipe of a kernel was, from the device CSVs: time over the working cores, and the share of their time.
-- Grain: kernel, core kind, pipe
-- Columns:
--   kernel_id         identifier of the launch
--   run_id            identifier of the run
--   run               folder name of the run
--   started_at        start of the run, local time (ISO 8601)
--   operator          kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind         aic, aiv, or aicore (310P: one row for all cores)
--   pipe              cube, vec, scalar, mte1, mte2, mte3 or fixpipe
--   cores             working cores with a figure
--   idle_cores        idle cores, left out of the times
--   mean_time_us      mean busy time of the pipe, us
--   max_time_us       longest busy time of the pipe, us
--   max_block_id      block with the longest busy time
--   max_sub_block_id  sub-block with the longest busy time
--   ratio             total busy time / total core time (0..1); NULL when undefined. Not a mean of printed ratios
--   ratio_formula     what ratio divides by what, from the catalogue
-- Example: SELECT core_kind, pipe, ratio FROM pipe_usage WHERE kernel_id = 1 ORDER BY ratio DESC
SELECT
    k.kernel_id,
    k.run_id,
    k.run,
    k.started_at,
    k.operator,
    t.core_kind,
    m.pipe,
    t.n - t.n_idle AS cores,
    t.n_idle AS idle_cores,
    t.mean AS mean_time_us,
    t.max AS max_time_us,
    t.max_block_id,
    t.max_sub_block_id,
    r.max AS ratio,
    d.formula AS ratio_formula
FROM metrics AS m
LEFT JOIN metrics AS d
    ON d.family = m.family AND d.vendor_name = 'derived:' || substr(m.column_name, 1, 4) || m.pipe || '_kernel_ratio'
CROSS JOIN kernel_overview AS k
CROSS JOIN kernel_metrics AS t
LEFT JOIN kernel_metrics AS r ON r.kernel_id = t.kernel_id AND r.metric_id = d.id AND r.core_kind = t.core_kind
WHERE
    m.family = 'PipeUtilization'
    AND m.column_name IN ('aic_' || m.pipe || '_time_us', 'aiv_' || m.pipe || '_time_us')
    AND t.kernel_id = k.kernel_id AND t.metric_id = m.id;
