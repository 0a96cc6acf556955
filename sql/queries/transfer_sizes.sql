-- How big are my transfers? Bytes per copy instruction, the smallest first.
-- Grain: kernel, core kind, path
-- Parameters:
--   run_id       integer = NULL  only this run
--   kernel_id    integer = NULL  only this launch
--   below_bytes  real = NULL  only transfers smaller than this, bytes
--   limit        integer = 50  how many rows
-- Columns:
--   kernel_id              identifier of the launch; kernel:<id> on the command line
--   run                    folder name of the run
--   operator               kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind              aic or aiv
--   path                   gm_to_l1, gm_to_ub or ub_to_gm
--   volume_kib             volume over all cores, KiB
--   instructions           copy instructions over all cores
--   bytes_per_instruction  volume / instructions, bytes
--   max_core_usage_pct     largest share of one core's peak, per cent, clamped at 100
-- Example: opprof-db query --name transfer_sizes --param run_id=1 --param below_bytes=16384
SELECT
    kernel_id,
    run,
    operator,
    core_kind,
    path,
    volume_kib,
    instructions,
    bytes_per_instruction,
    max_core_usage_pct
FROM memory_traffic
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
    AND bytes_per_instruction < coalesce(:below_bytes, 1e18)
    AND volume_kib > 0
ORDER BY bytes_per_instruction, kernel_id, core_kind, path
LIMIT :limit;
