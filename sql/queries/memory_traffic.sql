-- What moves on which memory path, the largest volume first?
-- Grain: kernel, core kind, path
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 50  how many rows
-- Columns:
--   kernel_id           identifier of the launch; kernel:<id> on the command line
--   run                 folder name of the run
--   operator            kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind           aic or aiv
--   path                read_main_memory, gm_to_ub, …
--   volume_kib          volume over all cores, KiB
--   kernel_bw_gib_s     volume / task duration, GiB/s
--   max_core_usage_pct  largest share of one core's peak, per cent, clamped at 100
--   l2_limit_share      kernel_bw / the chip's L2 peak (0..1); NULL for unknown chips
-- Example: opprof-db query --name memory_traffic --param kernel_id=1
SELECT
    kernel_id,
    run,
    operator,
    core_kind,
    path,
    volume_kib,
    kernel_bw_gib_s,
    max_core_usage_pct,
    l2_limit_share
FROM memory_traffic
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
ORDER BY volume_kib DESC, kernel_id, core_kind, path
LIMIT :limit;
