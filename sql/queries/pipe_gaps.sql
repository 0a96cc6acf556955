-- Where do pipes of a traced kernel stand still? Longest gaps between pieces of work.
-- Grain: kernel, core, pipe
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 20  how many rows
-- Columns:
--   kernel_id   identifier of the launch; kernel:<id> on the command line
--   run         folder name of the run
--   core        core such as core0.veccore1
--   pipe        pipe as the trace names it
--   busy_us     time it worked, us
--   busy_share  busy_us / span from first to last work; withheld in a cut trace
--   gaps        gaps between neighbours of the work
--   gap_p50_us  median gap, us
--   gap_max_us  longest gap, us
-- Example: opprof-db query --name pipe_gaps --param kernel_id=1
SELECT
    k.kernel_id,
    k.run,
    a.core,
    a.pipe,
    a.busy_us,
    a.busy_share,
    a.gaps,
    a.gap_p50_us,
    a.gap_max_us
FROM kernel_overview AS k
CROSS JOIN pipe_activity AS a
WHERE
    a.kernel_id = k.kernel_id
    AND k.run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND k.kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
    AND a.gaps > 0
ORDER BY a.gap_max_us DESC, k.kernel_id, a.core, a.pipe
LIMIT :limit;
