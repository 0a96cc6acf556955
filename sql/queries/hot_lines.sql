-- Which source lines of a simulated kernel cost most? Lines overlap (inlined callees): do not add them up.
-- Grain: kernel, core kind, source position
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 20  how many rows
-- Columns:
--   kernel_id        identifier of the launch; kernel:<id> on the command line
--   run              folder name of the run
--   core_kind        aic, aiv, or aicore
--   file             path of the source file
--   line             line in the source file
--   cores            cores that executed it
--   call_count       times executed, over all cores
--   cycles           cycles over all cores
--   saturated_cores  cores whose counter stopped at 2^31-1: they come first, their cycles are in no sum
--   max_cycles       cycles of the core that spent most
--   running_time_us  running time over all cores, us; NULL when all are below resolution
-- Example: opprof-db query --name hot_lines --param kernel_id=1
SELECT
    kernel_id,
    run,
    core_kind,
    file,
    line,
    cores,
    call_count,
    cycles,
    saturated_cores,
    max_cycles,
    running_time_us
FROM line_hotspots
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
ORDER BY saturated_cores > 0 DESC, cycles DESC, kernel_id, file, line
LIMIT :limit;
