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
-- Example: SELECT pipe, sum(cycles) FROM simulated_pipes WHERE kernel_id = 1 GROUP BY pipe
SELECT
    kernel_id,
    core,
    core_kind,
    pipe,
    count(*) AS instructions,
    sum(call_count) AS call_count,
    sum(CASE WHEN saturated = 0 THEN cycles END) AS cycles,
    coalesce(sum(CASE WHEN saturated = 0 AND instruction LIKE 'WAIT_FLAG%' THEN cycles END), 0) AS wait_cycles,
    coalesce(
        sum(CASE WHEN saturated = 0 AND (instruction = 'BAR' OR instruction LIKE 'BARRIER%') THEN cycles END), 0
    ) AS barrier_cycles,
    sum(saturated) AS saturated
FROM instruction_stats
GROUP BY kernel_id, core, core_kind, pipe;
