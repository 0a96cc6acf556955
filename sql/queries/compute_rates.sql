-- What rate of operations do the compute units reach over the task duration?
-- Grain: kernel, core kind
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 20  how many rows
-- Columns:
--   kernel_id  identifier of the launch; kernel:<id> on the command line
--   run        folder name of the run
--   operator   kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind  aic, aiv, or aicore (310P)
--   unit       cube or vec
--   tops       operations / task duration, 10^12 per second; padding and masked lanes count
-- Example: opprof-db query --name compute_rates --param run_id=1
SELECT
    k.kernel_id,
    k.run,
    k.operator,
    v.core_kind,
    CASE m.column_name WHEN 'aic_cube_kernel_tops' THEN 'cube' ELSE 'vec' END AS unit,
    v.max AS tops
FROM metrics AS m
CROSS JOIN kernel_overview AS k
CROSS JOIN kernel_metrics AS v
WHERE
    v.kernel_id = k.kernel_id AND v.metric_id = m.id
    AND m.family = 'ArithmeticUtilization'
    AND m.vendor_name IN ('derived:aic_cube_kernel_tops', 'derived:aiv_vec_kernel_tops', 'derived:aic_vec_kernel_tops')
    AND k.run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND k.kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
ORDER BY v.max DESC, k.kernel_id, v.core_kind
LIMIT :limit;
