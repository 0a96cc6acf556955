-- One value per launch and metric, in the shape of msprof's TASK_PMU_INFO table: the roll-up over the cores.
-- Counters and volumes are summed over all cores; a time is that of the slowest core; a ratio, rate or bandwidth is the
-- catalogue's formula over totals, or the value of the only core, and has no row where neither is defined: the cores'
-- own values stand in the tables of the families. msprof_metric_names lists every name and its roll-up.
-- Grain: kernel and metric name
-- Columns:
--   globalTaskId  identifier of the launch, as in TASK
--   name          string id of the metric's name: msopprof's header, msprof's name such as aic_mac_ratio, or a derived metric
--   value         the figure, in the unit of the header; under msprof's names times in ns and bandwidths in byte/s
-- Example: SELECT s.value, p.value FROM TASK_PMU_INFO p JOIN STRING_IDS s ON s.id = p.name WHERE p.globalTaskId = 1
SELECT
    globalTaskId,
    name,
    value
FROM (
    SELECT
        k.kernel_id AS globalTaskId,
        n.name_id AS name,
        CASE
            WHEN n.roll_up = 'sum' THEN n.scale * k."sum"
            WHEN n.scale = 1000 THEN round(n.scale * k."max", 3)
            WHEN n.roll_up <> 'only' OR k.n = 1 THEN n.scale * k."max"
        END AS value
    FROM kernel_metrics AS k
    INNER JOIN msprof_metric_names AS n ON n.metric_id = k.metric_id
    WHERE n.choices = 1 AND n.core_kind <> 'both'
) AS of_one_kind
WHERE value IS NOT NULL
UNION ALL
-- Columns that rows of both kinds of core fill: volumes add up.
SELECT
    globalTaskId,
    name,
    value
FROM (
    SELECT
        k.kernel_id AS globalTaskId,
        n.name_id AS name,
        CASE
            WHEN min(n.roll_up) = 'sum' THEN sum(k."sum")
            WHEN min(n.roll_up) <> 'only' OR sum(k.n) = 1 THEN max(k."max")
        END AS value
    FROM kernel_metrics AS k
    INNER JOIN msprof_metric_names AS n ON n.metric_id = k.metric_id
    WHERE n.choices = 1 AND n.core_kind = 'both'
    GROUP BY k.kernel_id, n.name_id
) AS of_both_kinds
WHERE value IS NOT NULL
UNION ALL
-- Names that several metrics bear: the first of them that the launch has.
SELECT
    globalTaskId,
    name,
    value
FROM (
    SELECT
        globalTaskId,
        name,
        value,
        row_number() OVER (PARTITION BY globalTaskId, name ORDER BY place) AS choice
    FROM (
        SELECT
            k.kernel_id AS globalTaskId,
            n.name_id AS name,
            n.place,
            CASE
                WHEN n.roll_up = 'sum' THEN n.scale * k."sum"
                WHEN n.scale = 1000 THEN round(n.scale * k."max", 3)
                WHEN n.roll_up <> 'only' OR k.n = 1 THEN n.scale * k."max"
            END AS value
        FROM kernel_metrics AS k
        INNER JOIN msprof_metric_names AS n ON n.metric_id = k.metric_id
        WHERE n.choices > 1
    ) AS candidates
    WHERE value IS NOT NULL
) AS ranked
WHERE choice = 1;
