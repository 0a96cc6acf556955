-- Kernels whose first launch was cold: slower than all later ones and than their median by a factor.
-- Grain: run, device, kernel name, block dim
-- Parameters:
--   run_id  integer = NULL  only this run
--   factor  real = 1.1  least first launch / median of the later ones
--   limit   integer = 20  how many rows
-- Columns:
--   first_kernel_id  identifier of the first launch
--   run              folder name of the run
--   operator         kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   launches         launches
--   first_us         task duration of the first launch, us
--   later_median_us  median of the later launches, us
--   cold_factor      first_us / later_median_us
-- Example: opprof-db query --name cold_launches --param factor=1.2
SELECT
    first_kernel_id,
    run,
    operator,
    launches,
    first_us,
    later_median_us,
    cold_factor
FROM launch_statistics
WHERE
    cold_first = 1 AND cold_factor >= :factor
    AND run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
ORDER BY cold_factor DESC, run_id, first_kernel_id
LIMIT :limit;
