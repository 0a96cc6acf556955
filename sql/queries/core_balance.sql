-- Where would an even spread of work over the cores save most?
-- Grain: kernel, core kind
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 20  how many rows
-- Columns:
--   kernel_id          identifier of the launch; kernel:<id> on the command line
--   run                folder name of the run
--   operator           kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind          aic or aiv
--   cores              cores with a time
--   idle_cores         idle ones among them
--   mean_us            mean time of working cores, us
--   max_us             time of the slowest core, us
--   slowest_block_id   block of the slowest core
--   recoverable_us     max_us - mean_us, us
--   recoverable_share  recoverable_us / max_us (0..1)
-- Example: opprof-db query --name core_balance --param run_id=1
SELECT
    kernel_id,
    run,
    operator,
    core_kind,
    cores,
    idle_cores,
    mean_us,
    max_us,
    slowest_block_id,
    recoverable_us,
    recoverable_share
FROM core_balance
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
ORDER BY recoverable_us DESC, kernel_id, core_kind
LIMIT :limit;
