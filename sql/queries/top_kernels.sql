-- The slowest launches, whole warehouse or one run.
-- Grain: kernel (one launch on one device)
-- Parameters:
--   limit   integer = 10    how many launches
--   run_id  integer = NULL  only launches of this run
-- Columns:
--   kernel_id    identifier of the launch; kernel:<id> on the command line
--   run          folder name of the run
--   operator     kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   duration_us  task duration, us
--   block_dim    blocks launched
-- Example: opprof-db query --name top_kernels --param limit=5
SELECT
    kernel_id,
    run,
    operator,
    duration_us,
    block_dim
FROM top_kernels
WHERE run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
ORDER BY duration_us DESC, kernel_id
LIMIT :limit;
