-- Kernels that leave cores idle: rows that did nothing, or fewer rows than the chip has cores.
-- Grain: kernel, core kind
-- Parameters:
--   run_id  integer = NULL  only this run
--   limit   integer = 20  how many rows
-- Columns:
--   kernel_id      identifier of the launch; kernel:<id> on the command line
--   run            folder name of the run
--   operator       kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind      aic or aiv
--   working_cores  cores that worked
--   idle_cores     cores with a row that did nothing
--   chip_cores     cores of this kind on the chip; NULL when the chip is unknown
--   unused_share   share of the chip, else of the rows, that did not work (0..1)
--   max_us         time of the slowest core, us
-- Example: opprof-db query --name idle_cores --param run_id=1
SELECT
    kernel_id,
    run,
    operator,
    core_kind,
    cores - idle_cores AS working_cores,
    idle_cores,
    chip_cores,
    1 - 1.0 * (cores - idle_cores) / coalesce(chip_cores, cores) AS unused_share,
    max_us
FROM core_balance
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND cores - idle_cores < coalesce(chip_cores, cores)
ORDER BY unused_share DESC, max_us DESC, kernel_id, core_kind
LIMIT :limit;
