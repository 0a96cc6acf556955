-- The roll-up with names and units: one metric of one kernel over the cores of one kind.
-- Grain: kernel, metric, core kind
-- Columns:
--   kernel_id         identifier of the launch
--   family            CSV family
--   metric            SQL column of the metric; for unknown columns the vendor's spelling
--   unit              unit as msopprof prints it (GB/s means GiB/s, KB means KiB)
--   core_kind         aic, aiv, aicore (310P) or kernel (derived for the whole kernel)
--   n                 cores with a value
--   n_idle            idle cores among them, left out of mean, min, max and std
--   sum               sum over all cores; NULL where the metric must not be summed
--   mean              mean over working cores; NULL where it must not be averaged
--   min               smallest value of a working core
--   max               largest value of a working core
--   std               population standard deviation over working cores
--   max_block_id      block with the largest value
--   max_sub_block_id  sub-block with the largest value
--   polarity          which direction is an improvement: higher, lower or neutral
--   derived           1: computed by a formula of the catalogue; 0: printed by msopprof
--   run_id            identifier of the run
-- Example: SELECT metric, unit, max FROM kernel_metric_values WHERE kernel_id = 1 AND family = 'PipeUtilization'
SELECT
    km.kernel_id,
    m.family,
    coalesce(m.column_name, m.vendor_name) AS metric,
    m.unit,
    km.core_kind,
    km.n,
    km.n_idle,
    km.sum,
    km.mean,
    km.min,
    km.max,
    km.std,
    km.max_block_id,
    km.max_sub_block_id,
    m.polarity,
    m.formula IS NOT NULL AS derived,
    k.run_id
FROM kernels AS k
CROSS JOIN kernel_metrics AS km
INNER JOIN metrics AS m ON m.id = km.metric_id
WHERE km.kernel_id = k.id;
