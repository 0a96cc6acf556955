-- Which operators take most of the time of a run?
-- Grain: run, operator
-- Parameters:
--   run_id  integer = NULL  only this run
--   limit   integer = 20  how many rows
-- Columns:
--   run           folder name of the run
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   launches      launches with a recorded duration
--   total_us      sum of their task durations, us
--   share_of_run  total_us / sum of all task durations of the run (0..1)
--   mean_us       mean task duration, us
--   max_us        longest task duration, us
-- Example: opprof-db query --name top_operators --param run_id=1
SELECT
    run,
    operator,
    launches,
    total_us,
    share_of_run,
    mean_us,
    max_us
FROM top_operators
WHERE run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
ORDER BY total_us DESC, run_id, operator
LIMIT :limit;
