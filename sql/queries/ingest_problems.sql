-- Which runs were not taken in whole, and what was lost?
-- Grain: run
-- Parameters:
--   run_id  integer = NULL  only this run
--   limit   integer = 50  how many rows
-- Columns:
--   run_id              identifier of the run
--   run                 folder name of the run
--   status              complete or partial
--   errors              issues by which a file was lost
--   warnings            issues by which values were lost or are doubtful
--   cells_lost          cells that an issue explains
--   incomplete_kernels  launches that are not complete
--   truncated_traces    traces that are cut off
--   unknown_columns     columns the catalogue does not know
--   missing             what was not there
-- Example: opprof-db query --name ingest_problems
SELECT
    run_id,
    run,
    status,
    errors,
    warnings,
    cells_lost,
    incomplete_kernels,
    truncated_traces,
    unknown_columns,
    missing
FROM ingest_health
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND (status <> 'complete' OR errors + warnings + cells_lost + incomplete_kernels + truncated_traces > 0)
ORDER BY errors DESC, warnings DESC, cells_lost DESC, run_id
LIMIT :limit;
