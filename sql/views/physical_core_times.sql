-- What each physical core did in a kernel, from the bin's occupancy block (collect with --aic-metrics=Occupancy).
-- Grain: kernel, physical core, sub-core
-- Columns:
--   kernel_id         identifier of the launch
--   run_id            identifier of the run
--   run               folder name of the run
--   started_at        start of the run, local time (ISO 8601)
--   operator          kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind         aic or aiv
--   core_id           lowest block id on that physical core; blocks of mix kernels are not merged
--   subcore_id        number of the sub-core
--   cycles            cycles
--   throughput_bytes  bytes moved
--   l2_hit_rate_pct   L2 hit rate as printed, per cent
--   share_of_slowest  cycles / cycles of the slowest sub-core of its kind (0..1)
-- Example: SELECT core_id, subcore_id, cycles FROM physical_core_times WHERE kernel_id = 1 ORDER BY cycles DESC
SELECT
    k.kernel_id,
    k.run_id,
    k.run,
    k.started_at,
    k.operator,
    CASE c.subcore_type WHEN 'cube' THEN 'aic' WHEN 'vector' THEN 'aiv' ELSE c.subcore_type END AS core_kind,
    c.core_id,
    c.subcore_id,
    c.cycles,
    c.throughput_bytes,
    c.l2_hit_rate_pct,
    1.0 * c.cycles / nullif(max(c.cycles) OVER kind, 0) AS share_of_slowest
FROM kernel_overview AS k
CROSS JOIN core_occupancy AS c
WHERE c.kernel_id = k.kernel_id
WINDOW kind AS (PARTITION BY k.kernel_id, k.run_id, k.operator, c.subcore_type);
