-- Is double buffering at work? How much of the copying in (MTE2) and of the computing runs at the same time.
-- A share near 0 means that copying and computing take turns. Needs a trace (simulator, or a timeline of the device).
-- Grain: kernel, core, pair of pipes
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 50  how many rows
-- Columns:
--   kernel_id        identifier of the launch; kernel:<id> on the command line
--   run              folder name of the run
--   core             core such as core0.veccore1
--   copy_pipe        MTE2
--   compute_pipe     VECTOR or CUBE
--   both_us          time both worked, us
--   copy_busy_us     busy time of MTE2, us
--   compute_busy_us  busy time of the compute unit, us
--   hidden_share     both_us / the shorter of the two busy times (0..1): how much of it is hidden behind the other
-- Example: opprof-db query --name double_buffering --param kernel_id=1
SELECT
    k.kernel_id,
    k.run,
    o.core,
    c.pipe AS copy_pipe,
    u.pipe AS compute_pipe,
    o.both_us,
    c.busy_us AS copy_busy_us,
    u.busy_us AS compute_busy_us,
    o.both_us / nullif(CASE WHEN c.busy_us < u.busy_us THEN c.busy_us ELSE u.busy_us END, 0) AS hidden_share
FROM kernel_overview AS k
CROSS JOIN pipe_overlap AS o
INNER JOIN pipe_activity AS c ON c.kernel_id = o.kernel_id AND c.core = o.core
INNER JOIN pipe_activity AS u ON u.kernel_id = o.kernel_id AND u.core = o.core
WHERE
    o.kernel_id = k.kernel_id
    AND k.run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND k.kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
    AND c.pipe = 'MTE2'
    AND u.pipe IN ('VECTOR', 'CUBE')
    AND ((o.pipe_a = c.pipe AND o.pipe_b = u.pipe) OR (o.pipe_a = u.pipe AND o.pipe_b = c.pipe))
ORDER BY hidden_share, k.kernel_id, o.core
LIMIT :limit;
