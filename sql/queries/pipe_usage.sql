-- How busy is each pipe, the busiest first?
-- Grain: kernel, core kind, pipe
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 50  how many rows
-- Columns:
--   kernel_id     identifier of the launch; kernel:<id> on the command line
--   run           folder name of the run
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind     aic, aiv, or aicore (310P)
--   pipe          cube, vec, scalar, mte1, mte2, mte3 or fixpipe
--   ratio         total busy time / total core time (0..1)
--   mean_time_us  mean busy time over working cores, us
--   max_time_us   longest busy time, us
--   max_block_id  block with the longest
-- Example: opprof-db query --name pipe_usage --param kernel_id=1
SELECT
    kernel_id,
    run,
    operator,
    core_kind,
    pipe,
    ratio,
    mean_time_us,
    max_time_us,
    max_block_id
FROM pipe_usage
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
ORDER BY ratio DESC, kernel_id, core_kind, pipe
LIMIT :limit;
