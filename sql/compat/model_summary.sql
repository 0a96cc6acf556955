-- Runs as if each was one execution of a model: msopprof knows no models.
-- Grain: run
-- Columns:
--   model_id    4294967295: no model
--   run_id      identifier of the run
--   model_name  folder name of the run
--   total_time  sum of the recorded task durations, us; NULL when none was recorded
--   op_count    launches
-- Example: SELECT model_name, total_time FROM model_summary ORDER BY total_time DESC LIMIT 5
SELECT
    4294967295 AS model_id,
    r.id AS run_id,
    r.name AS model_name,
    sum(CAST(k.duration_us AS REAL)) AS total_time,
    count(*) AS op_count
FROM kernels AS k
INNER JOIN runs AS r ON r.id = k.run_id
WHERE k.mode <> 'simulator'
GROUP BY r.id;
