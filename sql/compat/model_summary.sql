-- Total time and calls per model, as skills around msprof ask for them: msopprof knows no models, so all launches are one.
-- Grain: model
-- Columns:
--   model_id    4294967295, msprof's mark for none
--   op_count    operators
--   call_times  launches with a recorded duration
--   total_time  sum of the recorded task durations, us
-- Example: SELECT model_id, op_count, total_time FROM model_summary
SELECT
    model_id,
    count(DISTINCT op_name) AS op_count,
    count(*) AS call_times,
    sum(total_time) AS total_time
FROM task_summary
GROUP BY model_id;
