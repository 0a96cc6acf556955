-- How did a kernel develop over the runs, newest first?
-- Grain: run, device, kernel name, block dim
-- Parameters:
--   operator  text  operator, exactly as kernel_overview names it
--   limit     integer = 50  how many rows
-- Columns:
--   run_id          identifier of the run
--   run             folder name of the run
--   started_at      start of the run, local time (ISO 8601)
--   tiling_key      tiling key taken off the name
--   block_dim       blocks launched
--   chip            SoC, else the chip family in parentheses
--   launches        launches in the run
--   median_us       median task duration, us
--   change_us       against the run before, us; below zero is faster
--   change_share    change_us / median of the run before
--   best_so_far_us  smallest median up to this run, us
--   caution         frequency differs from the run before, or is unknown; NULL otherwise
-- Example: opprof-db query --name kernel_history --param operator=add_custom
SELECT
    run_id,
    run,
    started_at,
    tiling_key,
    block_dim,
    chip,
    launches,
    median_us,
    change_us,
    change_share,
    best_so_far_us,
    caution
FROM kernel_history
WHERE operator = :operator
ORDER BY started_at DESC, run_id DESC, tiling_key, block_dim
LIMIT :limit;
