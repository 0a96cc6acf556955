-- Launches with a recorded duration, one row each, as skills around msprof ask for them.
-- Grain: kernel with a recorded duration
-- Columns:
--   task_id        globalTaskId of the launch
--   op_name        kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   kernel_name    full kernel name
--   op_type        AI_VECTOR_CORE, AI_CORE, MIX_AIC, MIX_AIV or N/A, as in msprof_launches
--   total_time     task duration, us
--   start_ns       derived start, as in TASK, ns
--   end_ns         derived end, as in TASK, ns
--   device_id      device; -1 when not recorded
--   stream_id      always NULL: msopprof records none
--   model_id       4294967295, msprof's mark for none
--   step_id        identifier of the run: msopprof knows no steps
--   step_name      folder name of the run
--   block_dim      blocks launched
--   mix_block_dim  blocks of the other core kind in a mix kernel; NULL when not mix
-- Example: SELECT op_name, total_time, block_dim FROM task_summary ORDER BY total_time DESC LIMIT 20
SELECT
    l.kernel_id AS task_id,
    l.operator AS op_name,
    l.name AS kernel_name,
    l.task_type AS op_type,
    l.duration_us AS total_time,
    l.start_ns,
    l.end_ns,
    l.device_id,
    CAST(NULL AS INTEGER) AS stream_id,
    4294967295 AS model_id,
    l.run_id AS step_id,
    r.name AS step_name,
    k.block_dim,
    k.mix_block_dim
FROM msprof_launches AS l
INNER JOIN kernels AS k ON k.id = l.kernel_id
INNER JOIN runs AS r ON r.id = l.run_id
WHERE l.duration_us IS NOT NULL;
