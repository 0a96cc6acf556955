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
    CASE WHEN min_freq_mhz = max_freq_mhz AND known_freqs = launches THEN max_freq_mhz END AS current_freq_mhz,
    launches,
    min_us,
    median_us,
    mean_us,
    max_us,
    sqrt(squares / nullif(launches - 1, 0)) AS std_us,
    sqrt(squares / nullif(launches - 1, 0)) / nullif(mean_us, 0) AS cv,
    first_kernel_id,
    first_us,
    later_median_us,
    first_us / nullif(later_median_us, 0) AS cold_factor,
    CASE
        WHEN launches < 3 THEN NULL
        WHEN first_us > later_max_us AND first_us >= 1.1 * later_median_us THEN 1
        ELSE 0
    END AS cold_first
FROM (
    -- Windows rather than groups, one partition a level: only so does a filter on the run reach the table.
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
        launches,
        mean_us,
        place,
        min(current_freq_mhz) OVER same AS min_freq_mhz,
        max(current_freq_mhz) OVER same AS max_freq_mhz,
        count(current_freq_mhz) OVER same AS known_freqs,
        min(duration_us) OVER same AS min_us,
        max(duration_us) OVER same AS max_us,
        avg(CASE WHEN 2 * place BETWEEN launches AND launches + 2 THEN duration_us END) OVER same AS median_us,
        sum((duration_us - mean_us) * (duration_us - mean_us)) OVER same AS squares,
        max(CASE WHEN launch = 1 THEN kernel_id END) OVER same AS first_kernel_id,
        max(CASE WHEN launch = 1 THEN duration_us END) OVER same AS first_us,
        max(CASE WHEN launch > 1 THEN duration_us END) OVER same AS later_max_us,
        avg(CASE WHEN launch > 1 AND 2 * later_place BETWEEN launches - 1 AND launches + 1 THEN duration_us END)
            OVER same AS later_median_us
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
                row_number() OVER (same ORDER BY duration_us, kernel_id) AS place,
                row_number() OVER (same ORDER BY launch_index, kernel_id) AS launch,
                count(*) OVER same AS launches,
                avg(duration_us) OVER same AS mean_us
            FROM kernel_overview
            WHERE duration_us IS NOT NULL
            WINDOW same AS (PARTITION BY run_id, operator, device_id, name, block_dim)
        ) AS numbered
    ) AS ranked
    WINDOW same AS (PARTITION BY run_id, operator, device_id, name, block_dim)
) AS summed
WHERE place = 1;
