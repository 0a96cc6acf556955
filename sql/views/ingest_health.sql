-- Whether a run was taken in whole: files, cells, issues, what is missing.
-- Grain: run
-- Columns:
--   run_id              identifier of the run
--   run                 folder name of the run
--   started_at          start of the run, local time (ISO 8601)
--   status              complete or partial
--   missing             what was not there; NULL when complete
--   files               files met
--   unreadable_files    files that could not be read
--   unrecognised_files  tables that are of no known kind
--   cells_read          cells of tabular files
--   cells_stored        cells stored as values
--   cells_null          cells that say NA or nothing
--   cells_lost          cells that an issue explains
--   lost_share          cells_lost / cells_read (0..1); NULL when no cell was read
--   errors              issues by which a file was lost
--   warnings            issues by which values were lost or are doubtful
--   remarks             issues that are only remarks
--   kernels             launches stored
--   incomplete_kernels  launches that are not complete
--   unknown_columns     columns met that the catalogue does not know
--   truncated_traces    traces that are cut off
-- Example: SELECT run, errors, warnings, cells_lost FROM ingest_health WHERE errors + warnings > 0
SELECT
    r.id AS run_id,
    r.name AS run,
    r.started_at,
    r.status,
    r.missing,
    (SELECT count(*) FROM artifacts AS a WHERE a.run_id = r.id) AS files,
    (SELECT count(*) FROM artifacts AS a WHERE a.run_id = r.id AND a.status IN ('unreadable', 'lfs_pointer'))
        AS unreadable_files,
    (SELECT count(*) FROM artifacts AS a WHERE a.run_id = r.id AND a.status = 'unrecognised') AS unrecognised_files,
    r.cells_read,
    r.cells_stored,
    r.cells_null,
    r.cells_lost,
    1.0 * r.cells_lost / nullif(r.cells_read, 0) AS lost_share,
    (SELECT coalesce(sum(i.count), 0) FROM ingest_issues AS i WHERE i.run_id = r.id AND i.severity = 'error') AS errors,
    (SELECT coalesce(sum(i.count), 0) FROM ingest_issues AS i WHERE i.run_id = r.id AND i.severity = 'warning')
        AS warnings,
    (SELECT coalesce(sum(i.count), 0) FROM ingest_issues AS i WHERE i.run_id = r.id AND i.severity = 'info') AS remarks,
    (SELECT count(*) FROM kernels AS k WHERE k.run_id = r.id) AS kernels,
    (SELECT count(*) FROM kernels AS k WHERE k.run_id = r.id AND k.status <> 'complete') AS incomplete_kernels,
    (
        SELECT count(DISTINCT x.metric_id) FROM kernels AS k
        INNER JOIN extra_metric_values AS x ON x.kernel_id = k.id
        WHERE k.run_id = r.id
    ) AS unknown_columns,
    (
        SELECT count(*) FROM kernels AS k
        INNER JOIN trace_files AS t ON t.kernel_id = k.id
        WHERE k.run_id = r.id AND t.truncated = 1
    ) AS truncated_traces
FROM runs AS r;
