-- Texts that the views in the msprof database's shape refer to. Ids are derived from rows: one text may have several.
-- Grain: text
-- Columns:
--   id     0 to 4: N/A and kinds of accelerator; from 1000000000 kernel names, 2000000000 families, 3000000000 metrics
--   value  the text
-- Example: SELECT value FROM STRING_IDS WHERE id < 5
SELECT
    column1 AS id,
    column2 AS value
FROM (VALUES (0, 'N/A'), (1, 'AI_CORE'), (2, 'AI_VECTOR_CORE'), (3, 'MIX_AIC'), (4, 'MIX_AIV'))
UNION ALL
SELECT
    1000000000 + k.id,
    coalesce(k.name, k.folder_name, 'N/A')
FROM kernels AS k
UNION ALL
SELECT
    2000000000 + o.id,
    o.name
FROM operators AS o
UNION ALL
SELECT DISTINCT
    p.string_id,
    p.name
FROM pmu_metric_names AS p;
