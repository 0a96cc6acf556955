-- How close is a kernel to the chip's L2 and global memory?
-- Grain: kernel
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 20  how many rows
-- Columns:
--   kernel_id             identifier of the launch; kernel:<id> on the command line
--   run                   folder name of the run
--   operator              kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   chip                  SoC, else the chip family in parentheses
--   duration_us           task duration, us
--   bw_gib_s              (read + written through L2) / task duration, GiB/s
--   l2_limit_share        bw / L2 peak (0..1); NULL for unknown chips
--   gm_bw_gib_s           estimate of what reaches global memory, GiB/s
--   gm_limit_share        gm_bw / global memory peak (0..1); NULL for unknown chips
--   gm_limit_share_other  the same with the other HBM vendor's memory
-- Example: opprof-db query --name memory_limits --param run_id=1
SELECT
    kernel_id,
    run,
    operator,
    chip,
    duration_us,
    bw_gib_s,
    l2_limit_share,
    gm_bw_gib_s,
    gm_limit_share,
    gm_limit_share_other
FROM memory_limits
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
ORDER BY bw_gib_s DESC, kernel_id
LIMIT :limit;
