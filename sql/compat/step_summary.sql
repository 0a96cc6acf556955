-- Runs as if each was one step: msopprof knows no steps.
-- Grain: run
-- Columns:
--   step_id     identifier of the run
--   start_time  ns; derived: start of the first launch, see TASK
--   end_time    ns; derived: end of the last launch
--   total_time  sum of the recorded task durations, us; NULL when none was recorded
--   op_count    launches
-- Example: SELECT step_id, total_time FROM step_summary ORDER BY step_id DESC LIMIT 5
SELECT
    k.run_id AS step_id,
    min(t.startNs) AS start_time,
    max(t.endNs) AS end_time,
    sum(CAST(k.duration_us AS REAL)) AS total_time,
    count(*) AS op_count
FROM TASK AS t
INNER JOIN kernels AS k ON k.id = t.globalTaskId
GROUP BY k.run_id;
