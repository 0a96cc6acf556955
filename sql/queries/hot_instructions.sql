-- Which instructions of a simulated kernel cost most?
-- Grain: kernel, core kind, address
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 20  how many rows
-- Columns:
--   kernel_id      identifier of the launch; kernel:<id> on the command line
--   run            folder name of the run
--   core_kind      aic, aiv, or aicore
--   address        program counter
--   instruction    instruction name
--   pipe           pipe as the simulator names it
--   call_count     times executed, over all cores
--   cycles         cycles over all cores
--   share_of_pipe  cycles / cycles of all instructions of the pipe in this kernel and core kind (0..1)
--   saturated_cores  cores whose counter stopped at 2^31-1: they come first, their cycles are in no sum
--   max_cycles     cycles of the core that spent most
--   slowest_core   that core
--   detail         operands there
-- Example: opprof-db query --name hot_instructions --param kernel_id=1
SELECT
    kernel_id,
    run,
    core_kind,
    address,
    instruction,
    pipe,
    call_count,
    cycles,
    1.0 * cycles / nullif(sum(cycles) OVER (PARTITION BY kernel_id, core_kind, pipe), 0) AS share_of_pipe,
    saturated_cores,
    max_cycles,
    slowest_core,
    detail
FROM instruction_hotspots
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
ORDER BY saturated_cores > 0 DESC, cycles DESC, kernel_id, address
LIMIT :limit;
