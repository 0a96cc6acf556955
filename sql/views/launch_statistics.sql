-- How launches of one kernel in one run vary: median, spread, and whether the first one was cold.
-- Launches count as the same kernel when device, full name and block dim are equal.
-- Grain: run, device, kernel name, block dim
-- Columns:
--   run_id            identifier of the run
--   run               folder name of the run
--   started_at        start of the run, local time (ISO 8601)
--   operator          kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   op_type           vector, cube, mix, or AiCore on 310P
--   tiling_key        tiling key taken off the name
--   name              full kernel name
--   chip              SoC, else the chip family in parentheses
--   device_id         device
--   block_dim         blocks launched
--   current_freq_mhz  frequency during collection, MHz; NULL when unknown or not the same for all launches
--   launches          launches with a recorded duration
--   min_us            shortest task duration, us
--   median_us         median task duration, us
--   mean_us           mean task duration, us
--   max_us            longest task duration, us
--   std_us            sample standard deviation, us; NULL for a single launch
--   cv                std_us / mean_us; NULL for a single launch
--   first_kernel_id   identifier of the first launch
--   first_us          task duration of the first launch, us
--   later_median_us   median of the later launches, us; NULL for a single launch
--   cold_factor       first_us / later_median_us
--   cold_first        1: the first launch is slower than all later ones and by 10 % than their median; NULL below three
--                     launches
-- Example: SELECT operator, launches, median_us, cv FROM launch_statistics WHERE launches > 1 ORDER BY cv DESC
SELECT
    run_id,
    run,
    started_at,
    operator,
    op_type,
    tiling_key,
    name,
    chip,
    device_id,
    block_dim,
    CASE
        WHEN count(current_freq_mhz) = count(*) AND min(current_freq_mhz) = max(current_freq_mhz)
            THEN max(current_freq_mhz)
    END AS current_freq_mhz,
    count(*) AS launches,
    min(duration_us) AS min_us,
    avg(CASE WHEN 2 * place BETWEEN launches AND launches + 2 THEN duration_us END) AS median_us,
    avg(duration_us) AS mean_us,
    max(duration_us) AS max_us,
    sqrt(sum((duration_us - mean_us) * (duration_us - mean_us)) / nullif(count(*) - 1, 0)) AS std_us,
    sqrt(sum((duration_us - mean_us) * (duration_us - mean_us)) / nullif(count(*) - 1, 0))
    / nullif(avg(duration_us), 0) AS cv,
    max(CASE WHEN launch = 1 THEN kernel_id END) AS first_kernel_id,
    max(CASE WHEN launch = 1 THEN duration_us END) AS first_us,
    avg(CASE WHEN launch > 1 AND 2 * later_place BETWEEN launches - 1 AND launches + 1 THEN duration_us END)
        AS later_median_us,
    max(CASE WHEN launch = 1 THEN duration_us END)
    / nullif(
        avg(CASE WHEN launch > 1 AND 2 * later_place BETWEEN launches - 1 AND launches + 1 THEN duration_us END), 0
    ) AS cold_factor,
    CASE
        WHEN count(*) < 3 THEN NULL
        WHEN
            max(CASE WHEN launch = 1 THEN duration_us END) > max(CASE WHEN launch > 1 THEN duration_us END)
            AND max(CASE WHEN launch = 1 THEN duration_us END) >= 1.1 * avg(
                CASE WHEN launch > 1 AND 2 * later_place BETWEEN launches - 1 AND launches + 1 THEN duration_us END
            )
            THEN 1
        ELSE 0
    END AS cold_first
FROM (
    SELECT
        numbered.*,
        row_number() OVER (
            PARTITION BY run_id, operator, device_id, name, block_dim, CASE launch WHEN 1 THEN 1 ELSE 0 END
            ORDER BY duration_us, kernel_id
        ) AS later_place
    FROM (
        SELECT
            kernel_id,
            run_id,
            run,
            started_at,
            operator,
            op_type,
            tiling_key,
            name,
            chip,
            device_id,
            block_dim,
            current_freq_mhz,
            duration_us,
            row_number() OVER (
                PARTITION BY run_id, operator, device_id, name, block_dim ORDER BY duration_us, kernel_id
            ) AS place,
            row_number() OVER (
                PARTITION BY run_id, operator, device_id, name, block_dim ORDER BY launch_index, kernel_id
            ) AS launch,
            count(*) OVER (PARTITION BY run_id, operator, device_id, name, block_dim) AS launches,
            avg(duration_us) OVER (PARTITION BY run_id, operator, device_id, name, block_dim) AS mean_us
        FROM kernel_overview
        WHERE duration_us IS NOT NULL
    ) AS numbered
) AS ranked
GROUP BY run_id, run, started_at, operator, op_type, tiling_key, name, chip, device_id, block_dim, launches, mean_us;
