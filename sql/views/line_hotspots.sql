-- Source lines of simulated kernels, all cores of a kind together, the costliest first. Lines overlap.
-- Grain: kernel, core kind, source position
-- Columns:
--   kernel_id        identifier of the launch
--   core_kind        aic, aiv, or aicore on chips with one kind of core
--   code             source position as printed, path:line
--   file             path of the source file
--   line             line in the source file
--   cores            cores that executed it
--   call_count       times executed, over all cores
--   cycles           cycles over all cores, saturated counters left out; never add up lines (inlined callees)
--   max_cycles       cycles of the core that spent most
--   running_time_us  running time over all cores, us; NULL when all are below resolution
--   saturated_cores  cores whose counter stood at its end
--   run_id           identifier of the run
--   run              folder name of the run
--   started_at       start of the run, local time (ISO 8601)
--   operator         kernel name without _mix_aic/_mix_aiv, hash and tiling key; NULL when unknown
-- Example: SELECT code, cycles FROM line_hotspots WHERE kernel_id = 1 LIMIT 10
SELECT
    k.kernel_id,
    s.core_kind,
    s.code,
    s.file,
    s.line,
    count(*) AS cores,
    sum(s.call_count) AS call_count,
    sum(CASE WHEN s.saturated = 0 THEN s.cycles END) AS cycles,
    max(s.cycles) AS max_cycles,
    sum(s.running_time_us) AS running_time_us,
    sum(s.saturated) AS saturated_cores,
    k.run_id,
    k.run,
    k.started_at,
    k.operator
FROM kernel_overview AS k
CROSS JOIN source_line_stats AS s
WHERE s.kernel_id = k.kernel_id
GROUP BY k.kernel_id, k.run_id, k.run, k.started_at, k.operator, s.core_kind, s.code, s.file, s.line
ORDER BY saturated_cores > 0 DESC, cycles DESC;
