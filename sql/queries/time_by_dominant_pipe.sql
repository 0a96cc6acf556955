-- What bounds the work as a whole: how much task time belongs to kernels led by which pipe?
-- A mix kernel counts once for each of its core kinds.
-- Grain: core kind, pipe
-- Parameters:
--   run_id  integer = NULL  only this run
-- Columns:
--   core_kind    aic, aiv, or aicore (310P)
--   pipe         busiest pipe
--   kernels      launches it leads
--   duration_us  sum of their task durations, us; NULL when none was recorded
-- Example: opprof-db query --name time_by_dominant_pipe --param run_id=1
SELECT
    d.core_kind,
    d.pipe,
    count(*) AS kernels,
    sum(k.duration_us) AS duration_us
FROM dominant_pipe AS d
INNER JOIN kernels AS k ON k.id = d.kernel_id
WHERE d.run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
GROUP BY d.core_kind, d.pipe
ORDER BY duration_us DESC, d.core_kind, d.pipe;
