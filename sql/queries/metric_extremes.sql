-- Launches with the largest (or smallest) value of one metric on a core.
-- Grain: kernel, core kind
-- Parameters:
--   metric    text  SQL column of the metric, such as aiv_mte2_ratio; `opprof-db metrics` lists them
--   run_id    integer = NULL  only this run
--   smallest  integer = 0  1: the smallest values instead
--   limit     integer = 20  how many rows
-- Columns:
--   kernel_id     identifier of the launch; kernel:<id> on the command line
--   run           folder name of the run
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   family        CSV family
--   core_kind     aic, aiv, aicore (310P) or kernel
--   unit          unit as msopprof prints it
--   min           smallest value of a working core
--   max           largest value of a working core
--   max_block_id  block with the largest
-- Example: opprof-db query --name metric_extremes --param metric=aic_icache_miss_rate
SELECT
    k.kernel_id,
    k.run,
    k.operator,
    m.family,
    v.core_kind,
    m.unit,
    v.min,
    v.max,
    v.max_block_id
FROM metrics AS m
CROSS JOIN kernel_overview AS k
CROSS JOIN kernel_metrics AS v
WHERE
    v.kernel_id = k.kernel_id AND v.metric_id = m.id
    AND m.column_name = :metric
    AND k.run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
ORDER BY CASE WHEN :smallest = 1 THEN v.min ELSE -v.max END, k.kernel_id, m.family, v.core_kind
LIMIT :limit;
