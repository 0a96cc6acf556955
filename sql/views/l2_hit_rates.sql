-- Hit rates of the L2 cache: hits over requests, both summed over cores; never a mean of printed rates.
-- Requests are hits and misses with allocation (950: hits, misses and victims); misses without allocation are in no
-- column of the tool.
-- Grain: kernel, core kind, access
-- Columns:
--   kernel_id     identifier of the launch
--   run_id        identifier of the run
--   run           folder name of the run
--   started_at    start of the run, local time (ISO 8601)
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind     aic, aiv, or aicore (310P)
--   access        read, write or all
--   hits          requests that hit; NULL on 310P, which prints the rate only
--   requests      requests counted; NULL on 310P
--   hit_rate_pct  hits / requests, per cent; NULL when undefined
--   state         defined; undefined: no requests; printed: as the tool prints it (310P)
-- Example: SELECT access, hit_rate_pct, state FROM l2_hit_rates WHERE kernel_id = 1
WITH counters (counter, access, is_hit) AS (
    VALUES
    ('write_cache_hit', 'write', 1),
    ('write_cache_miss_allocate', 'write', 0),
    ('r0_read_cache_hit', 'read', 1),
    ('r0_read_cache_miss_allocate', 'read', 0),
    ('r1_read_cache_hit', 'read', 1),
    ('r1_read_cache_miss_allocate', 'read', 0),
    ('read_close_hit', 'read', 1),
    ('read_close_miss', 'read', 0),
    ('read_close_victim', 'read', 0),
    ('read_far_hit', 'read', 1),
    ('read_far_miss', 'read', 0),
    ('read_far_victim', 'read', 0),
    ('write_close_hit', 'write', 1),
    ('write_close_miss', 'write', 0),
    ('write_close_victim', 'write', 0),
    ('write_far_hit', 'write', 1),
    ('write_far_miss', 'write', 0),
    ('write_far_victim', 'write', 0)
),

accesses (part, access) AS (
    VALUES ('read', 'read'), ('write', 'write'), ('read', 'all'), ('write', 'all')
)

SELECT
    kernel_id,
    run_id,
    run,
    started_at,
    operator,
    core_kind,
    access,
    hits,
    requests,
    100.0 * hits / nullif(requests, 0) AS hit_rate_pct,
    CASE requests WHEN 0 THEN 'undefined: no requests' ELSE 'defined' END AS state
FROM (
    SELECT
        k.kernel_id,
        k.run_id,
        k.run,
        k.started_at,
        k.operator,
        v.core_kind,
        a.access,
        sum(CASE c.is_hit WHEN 1 THEN v.sum ELSE 0 END) AS hits,
        sum(v.sum) AS requests
    FROM counters AS c
    INNER JOIN accesses AS a ON a.part = c.access
    INNER JOIN metrics AS m ON m.family = 'L2Cache' AND m.column_name IN ('aic_' || c.counter, 'aiv_' || c.counter)
    CROSS JOIN kernel_overview AS k
    CROSS JOIN kernel_metrics AS v
    WHERE v.kernel_id = k.kernel_id AND v.metric_id = m.id
    GROUP BY k.kernel_id, k.run_id, k.run, k.started_at, k.operator, v.core_kind, a.access
) AS summed
UNION ALL
SELECT
    k.kernel_id,
    k.run_id,
    k.run,
    k.started_at,
    k.operator,
    v.core_kind,
    'all',
    NULL,
    NULL,
    v.max,
    'printed'
FROM metrics AS m
CROSS JOIN kernel_overview AS k
CROSS JOIN kernel_metrics AS v
WHERE
    m.family = 'L2Cache' AND m.column_name = 'aic_l2_cache_hit_rate_pct'
    AND v.kernel_id = k.kernel_id AND v.metric_id = m.id;
