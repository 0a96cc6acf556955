-- A kernel over the runs, each beside the run before: did it get faster?
-- The same kernel: operator, type, tiling key, block dim and chip are equal. Whether two runs may be compared in earnest
-- is not decided here; caution names what is plain to see.
-- Grain: run, device, kernel name, block dim
-- Columns:
--   operator           kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   op_type            vector, cube, mix, or AiCore on 310P
--   tiling_key         tiling key taken off the name
--   block_dim          blocks launched
--   chip               SoC, else the chip family in parentheses
--   device_id          device
--   run_id             identifier of the run
--   run                folder name of the run
--   started_at         start of the run, local time (ISO 8601)
--   kernel_id          first launch in the run
--   launches           launches in the run
--   median_us          median task duration in the run, us
--   run_number         place of the run among those of this kernel, from 1
--   previous_run_id    run before
--   previous_us        median in the run before, us; of its fastest device where there are several
--   change_us          median_us - previous_us, us; below zero is faster
--   change_share       change_us / previous_us
--   best_so_far_us     smallest median up to and including this run, us
--   caution            frequency differs from the run before, or is unknown in one; NULL otherwise
-- Example: SELECT run, median_us, change_share FROM kernel_history WHERE operator = 'add_custom' ORDER BY started_at
SELECT
    operator,
    op_type,
    tiling_key,
    block_dim,
    chip,
    device_id,
    run_id,
    run,
    started_at,
    kernel_id,
    launches,
    median_us,
    run_number,
    previous_run_id,
    previous_us,
    median_us - previous_us AS change_us,
    (median_us - previous_us) / nullif(previous_us, 0) AS change_share,
    best_so_far_us,
    CASE
        WHEN previous_run_id IS NULL THEN NULL
        WHEN current_freq_mhz IS NULL OR previous_freq_mhz IS NULL THEN 'frequency unknown'
        WHEN current_freq_mhz <> previous_freq_mhz THEN 'frequency differs'
    END AS caution
FROM (
    SELECT
        s.*,
        s.first_kernel_id AS kernel_id,
        dense_rank() OVER (
            PARTITION BY s.operator, s.op_type, s.tiling_key, s.block_dim, s.chip ORDER BY s.started_at, s.run_id
        ) AS run_number,
        max(s.run_id) OVER before AS previous_run_id,
        min(s.median_us) OVER before AS previous_us,
        min(s.current_freq_mhz) OVER before AS previous_freq_mhz,
        min(s.median_us) OVER (
            PARTITION BY s.operator, s.op_type, s.tiling_key, s.block_dim, s.chip ORDER BY s.started_at, s.run_id
        ) AS best_so_far_us
    FROM launch_statistics AS s
    WINDOW
        before AS (
            PARTITION BY s.operator, s.op_type, s.tiling_key, s.block_dim, s.chip
            ORDER BY s.started_at, s.run_id
            GROUPS BETWEEN 1 PRECEDING AND 1 PRECEDING
        )
) AS followed;
