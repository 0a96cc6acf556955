-- Which instruction waits most? Waits, sets and barriers of a simulated kernel by their true cost.
-- Grain: kernel, core kind, address
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 20  how many rows
-- Columns:
--   kernel_id     identifier of the launch; kernel:<id> on the command line
--   run           folder name of the run
--   core_kind     aic, aiv, or aicore
--   address       program counter
--   instruction   WAIT_FLAG, SET_FLAG, BAR, …
--   pipe          pipe it is booked on
--   cores         cores that executed it
--   call_count    times executed, over all cores
--   cycles        cycles over all cores
--   max_cycles    cycles of the core that spent most
--   slowest_core  that core
--   detail        operands there: who waits for whom
-- Example: opprof-db query --name waiting_instructions --param kernel_id=1
SELECT
    kernel_id,
    run,
    core_kind,
    address,
    instruction,
    pipe,
    cores,
    call_count,
    cycles,
    max_cycles,
    slowest_core,
    detail
FROM instruction_hotspots
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
    AND (
        instruction LIKE 'WAIT_FLAG%' OR instruction LIKE 'SET_FLAG%' OR instruction = 'BAR'
        OR instruction LIKE 'BARRIER%'
    )
ORDER BY cycles DESC, kernel_id, address
LIMIT :limit;
