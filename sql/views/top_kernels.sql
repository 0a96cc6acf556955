-- Launches with a recorded duration, the slowest first.
-- Grain: kernel (one launch on one device)
-- Columns:
--   kernel_id     identifier of the launch
--   run_id        identifier of the run
--   run           folder name of the run
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   op_type       vector, cube, mix, or AiCore on 310P
--   launch_index  number of the launch folder; NULL when the run has no such level
--   block_dim     blocks launched
--   duration_us   task duration, us
--   started_at    start of the run, local time (ISO 8601)
-- Example: SELECT operator, run, duration_us FROM top_kernels LIMIT 5
SELECT
    kernel_id,
    run_id,
    run,
    operator,
    op_type,
    launch_index,
    block_dim,
    duration_us,
    started_at
FROM kernel_overview
WHERE duration_us IS NOT NULL
ORDER BY duration_us DESC, kernel_id;
