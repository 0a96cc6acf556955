-- Which kernels lose vector time to conflicts in the unified buffer and units?
-- Grain: kernel, core kind, conflict
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   min_ratio  real = 0.01  least share of the worst core
--   limit      integer = 20  how many rows
-- Columns:
--   kernel_id     identifier of the launch; kernel:<id> on the command line
--   run           folder name of the run
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind     aiv, or aicore (310P)
--   conflict      bankgroup, bank, resc, mte; 950: stu, ldu, sfu
--   min_ratio     smallest share of a working core's cycles (0..1)
--   max_ratio     largest share (0..1)
--   max_block_id  block with the largest share
-- Example: opprof-db query --name bank_conflicts --param run_id=1
SELECT
    kernel_id,
    run,
    operator,
    core_kind,
    conflict,
    min_ratio,
    max_ratio,
    max_block_id
FROM resource_conflicts
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
    AND conflict NOT IN ('wait', 'total')
    AND max_ratio >= :min_ratio
ORDER BY max_ratio DESC, kernel_id, core_kind, conflict
LIMIT :limit;
