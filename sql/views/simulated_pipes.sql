-- Cycles and calls of every pipe of every simulated core, from the instruction statistics.
-- Grain: kernel, core, pipe
-- Columns:
--   kernel_id        identifier of the launch
--   core             simulated core such as core0.veccore1
--   core_kind        aic, aiv, or aicore on chips with one kind of core
--   pipe             pipe as the simulator names it
--   instructions     program counters
--   call_count       times executed
--   cycles           cycles summed over calls (calls of one pipe overlap), saturated counters left out
--   wait_cycles      cycles of WAIT_FLAG among them: the true cost of waiting
--   barrier_cycles   cycles of barriers among them
--   saturated        program counters whose counter stood at its end
--   run_id           identifier of the run
--   run              folder name of the run
--   started_at       start of the run, local time (ISO 8601)
--   operator         kernel name without _mix_aic/_mix_aiv, hash and tiling key; NULL when unknown
-- Example: SELECT pipe, sum(cycles) FROM simulated_pipes WHERE kernel_id = 1 GROUP BY pipe
SELECT
    k.kernel_id,
    s.core,
    s.core_kind,
    s.pipe,
    count(*) AS instructions,
    sum(s.call_count) AS call_count,
    sum(CASE WHEN s.saturated = 0 THEN s.cycles END) AS cycles,
    coalesce(sum(CASE WHEN s.saturated = 0 AND s.instruction LIKE 'WAIT_FLAG%' THEN s.cycles END), 0) AS wait_cycles,
    coalesce(
        sum(CASE WHEN s.saturated = 0 AND (s.instruction = 'BAR' OR s.instruction LIKE 'BARRIER%') THEN s.cycles END), 0
    ) AS barrier_cycles,
    sum(s.saturated) AS saturated,
    k.run_id,
    k.run,
    k.started_at,
    k.operator
FROM kernel_overview AS k
CROSS JOIN instruction_stats AS s
WHERE s.kernel_id = k.kernel_id
GROUP BY k.kernel_id, k.run_id, k.run, k.started_at, k.operator, s.core, s.core_kind, s.pipe;
