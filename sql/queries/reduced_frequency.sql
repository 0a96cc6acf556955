-- Which kernels ran at reduced frequency, so that their times are not to be compared with others?
-- Grain: kernel
-- Parameters:
--   run_id  integer = NULL  only this run
--   limit   integer = 50  how many rows
-- Columns:
--   kernel_id           identifier of the launch; kernel:<id> on the command line
--   run                 folder name of the run
--   operator            kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   started_at          start of the run, local time (ISO 8601)
--   rated_freq_mhz      rated frequency, MHz
--   current_freq_mhz    frequency read during collection, MHz; NULL when unknown
--   estimated_freq_mhz  cycles of the slowest core / task duration, MHz: too low in short kernels
--   reduced_from        current_freq or estimate
-- Example: opprof-db query --name reduced_frequency
SELECT
    kernel_id,
    run,
    operator,
    started_at,
    rated_freq_mhz,
    current_freq_mhz,
    estimated_freq_mhz,
    reduced_from
FROM frequency
WHERE
    reduced = 1
    AND run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
ORDER BY started_at DESC, kernel_id
LIMIT :limit;
