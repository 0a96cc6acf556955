-- What changed since the last run of this kernel? Every metric beside the run before, the largest change first.
-- The run before: the newest earlier run with a launch of the same operator, tiling key and block dim; its first launch.
-- Figures are the mean over working cores, else the sum, else the largest, whichever the catalogue allows first.
-- Grain: metric, core kind
-- Parameters:
--   kernel_id  integer  the launch; kernel:<id> on the command line
--   limit      integer = 30  how many rows
-- Columns:
--   metric              SQL column of the metric
--   unit                unit as msopprof prints it (GB/s means GiB/s, KB means KiB)
--   core_kind           aic, aiv, aicore (310P) or kernel
--   statistic           mean, sum or max
--   previous_kernel_id  launch of the run before
--   previous            figure of the run before
--   now                 figure of this launch
--   change_share        (now - previous) / previous; NULL where previous is 0
--   direction           better, worse, or NULL where no direction is an improvement
-- Example: opprof-db query --name changed_since_last_run --param kernel_id=1
WITH previous AS (
    SELECT p.id AS kernel_id
    FROM kernels AS k
    INNER JOIN runs AS r ON r.id = k.run_id
    INNER JOIN kernels AS p ON p.operator_id = k.operator_id
    INNER JOIN runs AS pr ON pr.id = p.run_id
    WHERE
        k.id = :kernel_id
        AND p.run_id <> k.run_id
        AND (pr.started_at < r.started_at OR (pr.started_at = r.started_at AND pr.id < r.id))
        AND coalesce(p.block_dim, -1) = coalesce(k.block_dim, -1)
        AND coalesce(p.tiling_key, '') = coalesce(k.tiling_key, '')
    ORDER BY pr.started_at DESC, pr.id DESC, p.launch_index, p.id
    LIMIT 1
),

compared AS (
    SELECT
        m.column_name AS metric,
        m.unit,
        n.core_kind,
        m.polarity,
        p.kernel_id AS previous_kernel_id,
        CASE
            WHEN n.mean IS NOT NULL AND b.mean IS NOT NULL THEN 'mean'
            WHEN n.sum IS NOT NULL AND b.sum IS NOT NULL THEN 'sum'
            ELSE 'max'
        END AS statistic,
        CASE
            WHEN n.mean IS NOT NULL AND b.mean IS NOT NULL THEN b.mean
            WHEN n.sum IS NOT NULL AND b.sum IS NOT NULL THEN b.sum
            ELSE b.max
        END AS previous,
        CASE
            WHEN n.mean IS NOT NULL AND b.mean IS NOT NULL THEN n.mean
            WHEN n.sum IS NOT NULL AND b.sum IS NOT NULL THEN n.sum
            ELSE n.max
        END AS now
    FROM previous AS p
    CROSS JOIN kernel_metrics AS n
    INNER JOIN kernel_metrics AS b
        ON b.kernel_id = p.kernel_id AND b.metric_id = n.metric_id AND b.core_kind = n.core_kind
    INNER JOIN metrics AS m ON m.id = n.metric_id
    WHERE n.kernel_id = :kernel_id AND m.column_name IS NOT NULL
    UNION ALL
    SELECT
        'duration_us',
        'us',
        'kernel',
        'lower',
        p.kernel_id,
        'sum',
        b.duration_us,
        n.duration_us
    FROM previous AS p
    INNER JOIN kernels AS b ON b.id = p.kernel_id
    CROSS JOIN kernels AS n
    WHERE n.id = :kernel_id
)

SELECT DISTINCT
    metric,
    unit,
    core_kind,
    statistic,
    previous_kernel_id,
    previous,
    now,
    (now - previous) / nullif(abs(previous), 0) AS change_share,
    CASE
        WHEN polarity = 'neutral' THEN NULL
        WHEN (now > previous) = (polarity = 'higher') THEN 'better'
        ELSE 'worse'
    END AS direction
FROM compared
WHERE now <> previous
ORDER BY abs((now - previous) / nullif(abs(previous), 0)) DESC, metric, core_kind
LIMIT :limit;
