-- Which cores are slow? Working cores by how far they lie above the mean of their kind.
-- Grain: kernel, block, sub-block
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 20  how many rows
-- Columns:
--   kernel_id         identifier of the launch; kernel:<id> on the command line
--   run               folder name of the run
--   operator          kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind         aic or aiv
--   block_id          logical block
--   sub_block_id      cube0, vector0 or vector1
--   time_us           time of this core, us
--   above_mean_us     time_us - mean of the working cores of its kind, us
--   share_of_slowest  time_us / time of the slowest core of its kind (0..1)
-- Example: opprof-db query --name slow_cores --param kernel_id=1
SELECT
    kernel_id,
    run,
    operator,
    core_kind,
    block_id,
    sub_block_id,
    time_us,
    above_mean_us,
    share_of_slowest
FROM core_times
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
    AND above_mean_us > 0
ORDER BY above_mean_us DESC, kernel_id, block_id, sub_block_id
LIMIT :limit;
