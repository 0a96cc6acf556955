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
    b.kernel_id,
    b.run,
    b.operator,
    b.core_kind,
    c.block_id,
    c.sub_block_id,
    c.time_us,
    c.time_us - b.mean_us AS above_mean_us,
    c.time_us / b.max_us AS share_of_slowest
FROM core_balance AS b
CROSS JOIN kernel_cores AS c
WHERE
    b.run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND b.kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
    AND c.kernel_id = b.kernel_id
    AND c.core_kind = b.core_kind
    AND c.is_idle = 0
    AND c.time_us > b.mean_us
ORDER BY above_mean_us DESC, b.kernel_id, c.block_id, c.sub_block_id
LIMIT :limit;
