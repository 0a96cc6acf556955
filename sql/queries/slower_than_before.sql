-- Kernels that got slower from one run to the next, the worst first.
-- Grain: run, device, kernel name, block dim
-- Parameters:
--   min_change  real = 0.05  least slowdown as a share of the run before
--   limit       integer = 20  how many rows
-- Columns:
--   kernel_id        first launch in the run
--   run              folder name of the run
--   started_at       start of the run, local time (ISO 8601)
--   operator         kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   block_dim        blocks launched
--   previous_run_id  run before
--   previous_us      median in the run before, us
--   median_us        median in this run, us
--   change_share     (median_us - previous_us) / previous_us
--   caution          frequency differs from the run before, or is unknown; NULL otherwise
-- Example: opprof-db query --name slower_than_before --param min_change=0.1
SELECT
    kernel_id,
    run,
    started_at,
    operator,
    block_dim,
    previous_run_id,
    previous_us,
    median_us,
    change_share,
    caution
FROM kernel_history
WHERE change_share >= :min_change
ORDER BY change_share DESC, run_id, kernel_id
LIMIT :limit;
