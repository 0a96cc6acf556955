-- Operators of each run by the time they took, the most costly first.
-- Grain: run, operator
-- Columns:
--   run_id        identifier of the run
--   run           folder name of the run
--   started_at    start of the run, local time (ISO 8601)
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   op_type       vector, cube, mix, or AiCore on 310P
--   launches      launches with a recorded duration
--   total_us      sum of their task durations, us
--   share_of_run  total_us / sum of all task durations of the run (0..1)
--   mean_us       mean task duration, us
--   min_us        shortest task duration, us
--   max_us        longest task duration, us
-- Example: SELECT operator, launches, total_us FROM top_operators WHERE run_id = 1 LIMIT 5
SELECT
    run_id,
    run,
    started_at,
    operator,
    op_type,
    count(*) AS launches,
    sum(duration_us) AS total_us,
    sum(duration_us) / nullif(sum(sum(duration_us)) OVER (PARTITION BY run_id), 0) AS share_of_run,
    avg(duration_us) AS mean_us,
    min(duration_us) AS min_us,
    max(duration_us) AS max_us
FROM kernel_overview
WHERE duration_us IS NOT NULL
GROUP BY run_id, run, started_at, operator, op_type
ORDER BY total_us DESC, run_id, operator;
