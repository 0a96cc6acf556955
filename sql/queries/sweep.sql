-- How does the duration follow a label? Launches of each operator by the value of one label.
-- Labels of a launch count before labels of its run.
-- Grain: operator, label value
-- Parameters:
--   key    text  label key, as given with --label
--   limit  integer = 200  how many rows
-- Columns:
--   operator  kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   label     value of the label
--   launches  launches with a recorded duration
--   min_us    shortest task duration, us
--   mean_us   mean task duration, us
--   max_us    longest task duration, us
-- Example: opprof-db query --name sweep --param key=tile
SELECT
    operator,
    label,
    count(*) AS launches,
    min(duration_us) AS min_us,
    avg(duration_us) AS mean_us,
    max(duration_us) AS max_us
FROM (
    SELECT
        k.operator,
        k.duration_us,
        coalesce(
            (SELECT l.value FROM kernel_labels AS l WHERE l.kernel_id = k.kernel_id AND l.key = :key),
            (SELECT c.value FROM run_conditions AS c WHERE c.run_id = k.run_id AND c.kind = 'label' AND c.key = :key)
        ) AS label
    FROM kernel_overview AS k
    WHERE k.duration_us IS NOT NULL
) AS labelled
WHERE label IS NOT NULL
GROUP BY operator, label
ORDER BY operator, label
LIMIT :limit;
