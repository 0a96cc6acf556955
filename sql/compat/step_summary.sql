-- Total time and calls per step, as skills around msprof ask for them: msopprof knows no steps, so a run stands for one.
-- Grain: run
-- Columns:
--   step_id     identifier of the run
--   step_name   folder name of the run
--   model_id    4294967295, msprof's mark for none
--   op_count    operators
--   call_times  launches with a recorded duration
--   total_time  sum of the recorded task durations, us
--   start_ns    start of the first launch, derived as in TASK, ns
--   end_ns      end of the last launch, derived as in TASK, ns
-- Example: SELECT step_id, step_name, total_time FROM step_summary ORDER BY total_time DESC LIMIT 20
SELECT
    step_id,
    step_name,
    model_id,
    count(DISTINCT op_name) AS op_count,
    count(*) AS call_times,
    sum(total_time) AS total_time,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns
FROM task_summary
GROUP BY step_id, step_name, model_id;
