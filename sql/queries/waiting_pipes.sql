-- Which pipes are held back most? The pipe that waits, which is not the one to blame.
-- Grain: kernel, core kind, pipe
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 20  how many rows
-- Columns:
--   kernel_id     identifier of the launch; kernel:<id> on the command line
--   run           folder name of the run
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind     aic, aiv, or aicore (310P)
--   pipe          cube, vec, mte1, mte2 or mte3
--   min_ratio     smallest share of a working core's cycles spent waiting (0..1)
--   max_ratio     largest share (0..1)
--   max_block_id  block with the largest share
-- Example: opprof-db query --name waiting_pipes --param kernel_id=1
SELECT
    kernel_id,
    run,
    operator,
    core_kind,
    pipe,
    min_ratio,
    max_ratio,
    max_block_id
FROM resource_conflicts
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
    AND conflict = 'wait'
ORDER BY max_ratio DESC, kernel_id, core_kind, pipe
LIMIT :limit;
