-- Texts and their ids, in the shape of msprof's STRING_IDS table.
-- An id is 8 times the row id of what the text was first met in, plus a digit for the kind of thing: 0 a fixed word,
-- 1 and 2 a metric, 4 an operator, 5 a kernel. `opprof-db export msprof-db` numbers its own from 0.
-- Grain: text
-- Columns:
--   id     string id, stable as long as the first launch with the text stays
--   value  the text
-- Example: SELECT id, value FROM STRING_IDS WHERE value = 'AI_VECTOR_CORE'
SELECT 0 AS id, 'N/A' AS value
UNION ALL
SELECT 8 AS id, 'AI_CORE' AS value
UNION ALL
SELECT 16 AS id, 'AI_VECTOR_CORE' AS value
UNION ALL
SELECT 24 AS id, 'MIX_AIC' AS value
UNION ALL
SELECT 32 AS id, 'MIX_AIV' AS value
UNION ALL
SELECT DISTINCT name_id AS id, name AS value FROM msprof_metric_names
UNION ALL
SELECT 8 * min(id) + 4 AS id, name AS value FROM operators GROUP BY name
UNION ALL
SELECT 8 * min(id) + 5 AS id, coalesce(name, folder_name) AS value
FROM kernels
WHERE
    coalesce(name, folder_name) IS NOT NULL
    AND coalesce(name, folder_name) NOT IN (SELECT name FROM operators)
GROUP BY coalesce(name, folder_name);
