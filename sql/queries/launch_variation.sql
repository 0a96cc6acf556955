-- Which kernels vary most from launch to launch?
-- Grain: run, device, kernel name, block dim
-- Parameters:
--   run_id        integer = NULL  only this run
--   min_launches  integer = 3  leave out kernels with fewer launches
--   limit         integer = 20  how many rows
-- Columns:
--   run         folder name of the run
--   operator    kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   device_id   device
--   launches    launches
--   median_us   median task duration, us
--   min_us      shortest, us
--   max_us      longest, us
--   cv          sample standard deviation / mean
--   cold_first  1: the first launch was cold; 0: it was not
-- Example: opprof-db query --name launch_variation --param run_id=1
SELECT
    run,
    operator,
    device_id,
    launches,
    median_us,
    min_us,
    max_us,
    cv,
    cold_first
FROM launch_statistics
WHERE
    launches >= :min_launches
    AND run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
ORDER BY cv DESC, run_id, first_kernel_id
LIMIT :limit;
