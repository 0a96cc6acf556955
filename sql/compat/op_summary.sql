-- Operators by name with their launches and total time.
-- Grain: operator name, kind of accelerator
-- Columns:
--   op_name     full kernel name, else the folder's
--   op_type     AI_VECTOR_CORE (vector), AI_CORE (cube, AiCore), MIX_AIC or MIX_AIV (mix), N/A
--   total_time  sum of the recorded task durations, us; NULL when none was recorded
--   call_times  launches
--   task_id     id of the first of these launches
--   model_id    4294967295: no model
-- Example: SELECT op_name, total_time, call_times FROM op_summary ORDER BY total_time DESC LIMIT 5
SELECT
    n.value AS op_name,
    y.value AS op_type,
    sum(CAST(k.duration_us AS REAL)) AS total_time,
    count(*) AS call_times,
    min(c.globalTaskId) AS task_id,
    4294967295 AS model_id
FROM COMPUTE_TASK_INFO AS c
INNER JOIN kernels AS k ON k.id = c.globalTaskId
INNER JOIN STRING_IDS AS n ON n.id = c.name
INNER JOIN STRING_IDS AS y ON y.id = c.taskType
GROUP BY n.value, y.value;
