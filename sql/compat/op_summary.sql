-- Operators with their total time and calls, as skills around msprof ask for them.
-- Grain: operator name
-- Columns:
--   op_name     kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   op_type     AI_VECTOR_CORE (vector), AI_CORE (cube, and AiCore of 310P), MIX_AIC or MIX_AIV (mix, by the end of the
--               name), N/A when not recorded; several, with slashes between, when launches of the name differ
--   total_time  sum of the recorded task durations, us
--   call_times  launches with a recorded duration
--   task_id     globalTaskId of the slowest of them
--   model_id    4294967295, msprof's mark for none
-- Example: SELECT op_name, op_type, total_time, call_times FROM op_summary ORDER BY total_time DESC LIMIT 20
SELECT
    t.op_name,
    types.op_type,
    sum(t.total_time) AS total_time,
    count(*) AS call_times,
    min(CASE WHEN t.place = 1 THEN t.task_id END) AS task_id,
    4294967295 AS model_id
FROM (
    SELECT
        op_name,
        total_time,
        task_id,
        row_number() OVER (PARTITION BY op_name ORDER BY total_time DESC, task_id) AS place
    FROM task_summary
) AS t
INNER JOIN (
    SELECT op_name, group_concat(op_type, '/') AS op_type
    FROM (SELECT DISTINCT op_name, op_type FROM task_summary ORDER BY op_name, op_type) AS met
    GROUP BY op_name
) AS types ON types.op_name = t.op_name
GROUP BY t.op_name, types.op_type;
