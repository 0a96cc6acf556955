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
    count(*) AS cores,
    sum(call_count) AS call_count,
    sum(CASE WHEN saturated = 0 THEN cycles END) AS cycles,
    max(CASE WHEN place = 1 THEN cycles END) AS max_cycles,
    max(CASE WHEN place = 1 THEN core END) AS slowest_core,
    sum(running_time_us) AS running_time_us,
    sum(saturated) AS saturated_cores,
    max(CASE WHEN place = 1 THEN detail END) AS detail,
    run_id,
    run,
    started_at,
    operator
FROM (
    SELECT
        s.*,
        k.run_id,
        k.run,
        k.started_at,
        k.operator,
        d.detail,
        row_number() OVER (
            PARTITION BY s.kernel_id, k.run_id, k.operator, s.core_kind, s.address, s.instruction, s.pipe
            ORDER BY s.cycles DESC, s.core, s.line_number
        ) AS place
    FROM kernel_overview AS k
    INNER JOIN instruction_stats AS s ON s.kernel_id = k.kernel_id
    LEFT JOIN instruction_details AS d ON d.id = s.detail_id
) AS ranked
GROUP BY kernel_id, run_id, run, started_at, operator, core_kind, address, instruction, pipe
ORDER BY cycles DESC;
