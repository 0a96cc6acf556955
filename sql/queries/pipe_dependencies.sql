-- Who waits for whom in a traced kernel, all cores together?
-- Grain: kernel, setting pipe, waiting pipe
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
-- Columns:
--   kernel_id     identifier of the launch; kernel:<id> on the command line
--   run           folder name of the run
--   from_pipe     pipe that sets the flag
--   to_pipe       pipe that waits for it
--   cores         cores on which it does
--   syncs         pairs of SET and WAIT
--   mean_lead_us  mean time from the set to the end of the wait, us: near zero the waiter was held up
--   max_lead_us   longest such time, us
-- Example: opprof-db query --name pipe_dependencies --param kernel_id=1
SELECT
    kernel_id,
    run,
    from_pipe,
    to_pipe,
    count(DISTINCT core) AS cores,
    sum(syncs) AS syncs,
    sum(mean_lead_us * syncs) / sum(syncs) AS mean_lead_us,
    max(max_lead_us) AS max_lead_us
FROM pipe_dependencies
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
GROUP BY kernel_id, run, from_pipe, to_pipe
ORDER BY kernel_id, syncs DESC, from_pipe, to_pipe;
