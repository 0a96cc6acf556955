-- Waits and conflicts of the pipes as shares of a core's cycles: the least and the most of the working cores.
-- The tool prints ratios, which must not be averaged; a large wait names the pipe that waits, not the one to blame.
-- Grain: kernel, core kind, pipe, conflict
-- Columns:
--   kernel_id         identifier of the launch
--   run_id            identifier of the run
--   run               folder name of the run
--   started_at        start of the run, local time (ISO 8601)
--   operator          kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind         aic, aiv, or aicore (310P)
--   pipe              cube, vec, mte1, mte2 or mte3
--   conflict          wait; for vec also total, bankgroup, bank, resc, mte (950: stu, ldu, sfu)
--   cores             working cores with a figure
--   min_ratio         smallest share of a working core
--   max_ratio         largest share of a working core
--   max_block_id      block with the largest share
--   max_sub_block_id  sub-block with the largest share
-- Example: SELECT pipe, conflict, max_ratio FROM resource_conflicts WHERE kernel_id = 1 ORDER BY max_ratio DESC
SELECT
    k.kernel_id,
    k.run_id,
    k.run,
    k.started_at,
    k.operator,
    v.core_kind,
    m.pipe,
    replace(replace(substr(m.column_name, length(m.pipe) + 6), '_cflt_ratio', ''), '_ratio', '') AS conflict,
    v.n - v.n_idle AS cores,
    v.min AS min_ratio,
    v.max AS max_ratio,
    v.max_block_id,
    v.max_sub_block_id
FROM metrics AS m
CROSS JOIN kernel_overview AS k
CROSS JOIN kernel_metrics AS v
WHERE
    v.kernel_id = k.kernel_id AND v.metric_id = m.id
    AND m.family = 'ResourceConflictRatio' AND m.pipe IS NOT NULL AND m.unit = 'ratio';
