-- The busiest pipe of each core kind of a kernel, and the runner-up.
-- Grain: kernel, core kind
-- Columns:
--   kernel_id     identifier of the launch
--   run_id        identifier of the run
--   run           folder name of the run
--   started_at    start of the run, local time (ISO 8601)
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind     aic, aiv, or aicore (310P)
--   pipe          pipe with the largest ratio; on a tie the first by name
--   ratio         its total busy time / total core time (0..1)
--   mean_time_us  its mean busy time over working cores, us
--   max_time_us   its longest busy time, us
--   second_pipe   pipe with the second largest ratio
--   second_ratio  its ratio
-- Example: SELECT operator, core_kind, pipe, ratio FROM dominant_pipe WHERE run_id = 1
SELECT
    kernel_id,
    run_id,
    run,
    started_at,
    operator,
    core_kind,
    pipe,
    ratio,
    mean_time_us,
    max_time_us,
    second_pipe,
    second_ratio
FROM (
    SELECT
        p.kernel_id,
        p.run_id,
        p.run,
        p.started_at,
        p.operator,
        p.core_kind,
        p.pipe,
        p.ratio,
        p.mean_time_us,
        p.max_time_us,
        row_number() OVER busiest AS place,
        lead(p.pipe) OVER busiest AS second_pipe,
        lead(p.ratio) OVER busiest AS second_ratio
    FROM pipe_usage AS p
    WHERE p.ratio IS NOT NULL
    WINDOW busiest AS (PARTITION BY p.kernel_id, p.run_id, p.operator, p.core_kind ORDER BY p.ratio DESC, p.pipe)
) AS ranked
WHERE place = 1;
