-- Which pipe waits for which, from the flows between SET and WAIT in traces.
-- Grain: kernel, core, setting pipe, waiting pipe
-- Columns:
--   kernel_id     identifier of the launch
--   run_id        identifier of the run
--   run           folder name of the run
--   started_at    start of the run, local time (ISO 8601)
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core          core of the waiting side
--   from_pipe     pipe that sets the flag
--   to_pipe       pipe that waits for it
--   syncs         pairs of SET and WAIT
--   mean_lead_us  mean time from the set to the end of the wait, us: near zero the waiter was held up by the setter,
--                 large it came late and found the flag set
--   max_lead_us   longest such time, us
-- Example: SELECT from_pipe, to_pipe, syncs, mean_lead_us FROM pipe_dependencies WHERE kernel_id = 1
SELECT
    k.kernel_id,
    k.run_id,
    k.run,
    k.started_at,
    k.operator,
    t.core,
    f.pipe AS from_pipe,
    t.pipe AS to_pipe,
    count(*) AS syncs,
    avg(w.to_ts_us - w.from_ts_us) AS mean_lead_us,
    max(w.to_ts_us - w.from_ts_us) AS max_lead_us
FROM kernel_overview AS k
CROSS JOIN trace_flows AS w
INNER JOIN trace_lanes AS f ON f.kernel_id = w.kernel_id AND f.trace_no = w.trace_no AND f.lane = w.from_lane
INNER JOIN trace_lanes AS t ON t.kernel_id = w.kernel_id AND t.trace_no = w.trace_no AND t.lane = w.to_lane
WHERE w.kernel_id = k.kernel_id
GROUP BY k.kernel_id, k.run_id, k.run, k.started_at, k.operator, t.core, f.pipe, t.pipe;
