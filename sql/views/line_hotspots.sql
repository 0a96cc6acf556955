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
-- Example: SELECT code, cycles FROM line_hotspots WHERE kernel_id = 1 LIMIT 10
SELECT
    kernel_id,
    core_kind,
    code,
    file,
    line,
    count(*) AS cores,
    sum(call_count) AS call_count,
    sum(CASE WHEN saturated = 0 THEN cycles END) AS cycles,
    max(cycles) AS max_cycles,
    sum(running_time_us) AS running_time_us,
    sum(saturated) AS saturated_cores
FROM source_line_stats
GROUP BY kernel_id, core_kind, code, file, line
ORDER BY cycles DESC;
