-- At which frequency each kernel ran: rated, as read during collection, and estimated; unknown stays unknown.
-- Grain: kernel
-- Columns:
--   kernel_id           identifier of the launch
--   run_id              identifier of the run
--   run                 folder name of the run
--   started_at          start of the run, local time (ISO 8601)
--   operator            kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   mode                device, simulator, mixed or unknown
--   duration_us         task duration, us
--   rated_freq_mhz      rated frequency, MHz
--   current_freq_mhz    frequency read during collection, MHz; NULL when the tool could not read it
--   estimated_freq_mhz  cycles of the slowest core / task duration, MHz; vector and cube kernels only. The duration
--                       holds a head of about 1 us, so this is too low, much so in short kernels
--   reduced             1: ran below the rated frequency; 0: did not; NULL: cannot be told
--   reduced_from        current_freq: from that column; estimate: below 95 % of the rated frequency even with 2 us
--                       taken off the duration (1), or at least 95 % without (0); NULL: cannot be told
--   clock_mhz           clock of a simulator run, MHz
--   clock_source        where clock_mhz comes from
-- Example: SELECT run, operator, current_freq_mhz, rated_freq_mhz FROM frequency WHERE reduced = 1
SELECT
    kernel_id,
    run_id,
    run,
    started_at,
    operator,
    mode,
    duration_us,
    rated_freq_mhz,
    current_freq_mhz,
    estimated_freq_mhz,
    CASE
        WHEN current_freq_mhz < rated_freq_mhz THEN 1
        WHEN current_freq_mhz >= rated_freq_mhz THEN 0
        WHEN estimated_freq_mhz >= 0.95 * rated_freq_mhz THEN 0
        WHEN duration_us > 2 AND estimated_freq_mhz * duration_us / (duration_us - 2) < 0.95 * rated_freq_mhz THEN 1
    END AS reduced,
    CASE
        WHEN rated_freq_mhz IS NULL THEN NULL
        WHEN current_freq_mhz IS NOT NULL THEN 'current_freq'
        WHEN estimated_freq_mhz >= 0.95 * rated_freq_mhz THEN 'estimate'
        WHEN
            duration_us > 2 AND estimated_freq_mhz * duration_us / (duration_us - 2) < 0.95 * rated_freq_mhz
            THEN 'estimate'
    END AS reduced_from,
    clock_mhz,
    clock_source
FROM (
    SELECT
        o.*,
        k.clock_mhz,
        k.clock_source,
        (
            SELECT max(v.max) FROM metrics AS m
            INNER JOIN kernel_metrics AS v ON v.metric_id = m.id
            WHERE
                m.family = 'PipeUtilization'
                AND m.vendor_name IN ('derived:aic_real_freq_mhz', 'derived:aiv_real_freq_mhz')
                AND v.kernel_id = k.id
        ) AS estimated_freq_mhz
    FROM kernel_overview AS o
    INNER JOIN kernels AS k ON k.id = o.kernel_id
) AS known;
