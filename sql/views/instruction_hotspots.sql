-- Instructions of simulated kernels, all cores of a kind together, the costliest first.
-- Grain: kernel, core kind, address
-- Columns:
--   kernel_id        identifier of the launch
--   core_kind        aic, aiv, or aicore on chips with one kind of core
--   address          program counter
--   instruction      instruction name
--   pipe             pipe as the simulator names it
--   cores            cores that executed it
--   call_count       times executed, over all cores
--   cycles           cycles over all cores, saturated counters left out
--   max_cycles       cycles of the core that spent most
--   slowest_core     that core
--   running_time_us  running time over all cores, us; NULL when all are below resolution
--   saturated_cores  cores whose counter stood at its end
--   detail           operands on the core that spent most
--   run_id           identifier of the run
--   run              folder name of the run
--   started_at       start of the run, local time (ISO 8601)
--   operator         kernel name without _mix_aic/_mix_aiv, hash and tiling key; NULL when unknown
-- Example: SELECT instruction, pipe, cycles FROM instruction_hotspots WHERE kernel_id = 1 LIMIT 10
SELECT
    kernel_id,
    core_kind,
    address,
    instruction,
    pipe,
    cores,
    call_count,
    cycles,
    max_cycles,
    slowest_core,
    running_time_us,
    saturated_cores,
    detail,
    run_id,
    run,
    started_at,
    operator
FROM (
    -- Windows rather than groups, so that a filter on the kernel or run reaches the table.
    SELECT
        k.kernel_id,
        k.run_id,
        k.run,
        k.started_at,
        k.operator,
        s.core_kind,
        s.address,
        s.instruction,
        s.pipe,
        s.cycles AS max_cycles,
        s.core AS slowest_core,
        d.detail,
        count(*) OVER same AS cores,
        sum(s.call_count) OVER same AS call_count,
        sum(CASE WHEN s.saturated = 0 THEN s.cycles END) OVER same AS cycles,
        sum(s.running_time_us) OVER same AS running_time_us,
        sum(s.saturated) OVER same AS saturated_cores,
        row_number() OVER costliest AS place
    FROM kernel_overview AS k
    CROSS JOIN instruction_stats AS s
    LEFT JOIN instruction_details AS d ON d.id = s.detail_id
    WHERE s.kernel_id = k.kernel_id
    WINDOW
        same AS (PARTITION BY k.kernel_id, k.run_id, k.operator, s.core_kind, s.address, s.instruction, s.pipe),
        costliest AS (
            PARTITION BY k.kernel_id, k.run_id, k.operator, s.core_kind, s.address, s.instruction, s.pipe
            ORDER BY s.cycles DESC, s.core, s.line_number
        )
) AS ranked
WHERE place = 1
ORDER BY saturated_cores > 0 DESC, cycles DESC;
