-- One value per launch and metric, as the catalogue lets the cores be rolled up; metrics without such a value are left out.
-- Grain: kernel, metric name
-- Columns:
--   globalTaskId  the kernel's id, as in TASK
--   name          STRING_IDS: name of the metric; pmu_metric_names says how it was rolled up
--   value         sum over cores, the slowest core's value, or the derived figure; AIC and AIV are never mixed but where
--                 both print under one name (volumes), which are summed
-- Example: SELECT s.value, p.value FROM TASK_PMU_INFO AS p JOIN STRING_IDS AS s ON s.id = p.name WHERE p.globalTaskId = 1
SELECT
    v.kernel_id AS globalTaskId,
    v.string_id AS name,
    max(v.value) AS value
FROM (
    SELECT
        km.kernel_id,
        p.string_id,
        km.metric_id,
        CASE p.roll_up WHEN 'sum' THEN sum(km.sum) WHEN 'max' THEN max(km.max) ELSE max(km.mean) END AS value
    FROM kernel_metrics AS km
    INNER JOIN pmu_metric_names AS p ON p.metric_id = km.metric_id
    GROUP BY km.kernel_id, p.string_id, km.metric_id
) AS v
WHERE v.value IS NOT NULL
GROUP BY v.kernel_id, v.string_id;
