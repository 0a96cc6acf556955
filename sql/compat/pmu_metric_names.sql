-- Metrics with a value for the whole kernel, under msopprof's names and, where they have one, msprof's.
-- Grain: metric and name
-- Columns:
--   metric_id  the metric (table metrics)
--   string_id  id of the name in STRING_IDS
--   name       column as msopprof prints it, name of the derived metric, or msprof's name (aic_mac_ratio, aiv_mte2_time)
--   roll_up    how the cores became one value: sum, max (the slowest core), or derived (by the catalogue's formula)
-- Example: SELECT name, roll_up FROM pmu_metric_names WHERE name LIKE 'aic_mac%'
WITH own AS (
    SELECT
        m.id AS metric_id,
        CASE WHEN m.formula IS NULL THEN m.vendor_name ELSE m.column_name END AS name,
        CASE WHEN m.formula IS NULL THEN m.aggregate ELSE 'derived' END AS roll_up
    FROM metrics AS m
    WHERE m.family <> 'OpBasicInfo' AND m.known = 1 AND (m.aggregate IN ('sum', 'max') OR m.formula IS NOT NULL)
),

alias AS (
    SELECT
        own.metric_id,
        CASE
            WHEN own.name = 'aic_time(us)' THEN 'aicore_time'
            WHEN own.roll_up = 'derived' THEN replace(replace(own.name, '_kernel_ratio', '_ratio'), '_cube_', '_mac_')
            ELSE replace(replace(own.name, '(us)', ''), '_cube_', '_mac_')
        END AS name,
        own.roll_up
    FROM own
    WHERE own.name LIKE 'ai__%\_kernel\_ratio' ESCAPE '\' OR own.name LIKE 'ai__%time(us)'
)

SELECT
    metric_id,
    3000000000 + 2 * min(metric_id) OVER (PARTITION BY name) AS string_id,
    name,
    roll_up
FROM own
UNION ALL
SELECT
    metric_id,
    3000000001 + 2 * min(metric_id) OVER (PARTITION BY name) AS string_id,
    name,
    roll_up
FROM alias;
