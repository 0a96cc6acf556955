-- Runs with what they hold, one row each.
-- Grain: run
-- Columns:
--   run_id        identifier of the run
--   run           folder name when first seen
--   mode          device, simulator, mixed or unknown
--   status        complete or partial
--   started_at    start of the collection, local time (ISO 8601)
--   chip          SoC, else the chip family in parentheses when it was inferred from the headers
--   kernels       launches stored
--   operators     distinct operators
--   duration_us   sum of the recorded task durations, us; NULL when none was recorded
--   cells         cells stored as values
--   issues        problems met at ingest, remarks not counted
--   labels        labels as key=value, separated by blanks
--   path          where the whole run was last seen
--   missing       what was not there; NULL when complete
-- Example: SELECT run, kernels, duration_us FROM run_overview ORDER BY started_at DESC LIMIT 10
SELECT
    r.id AS run_id,
    r.name AS run,
    r.mode,
    r.status,
    r.started_at,
    coalesce(r.soc, '(' || r.chip_family || ')') AS chip,
    (SELECT count(*) FROM kernels AS k WHERE k.run_id = r.id) AS kernels,
    (SELECT count(DISTINCT k.operator_id) FROM kernels AS k WHERE k.run_id = r.id) AS operators,
    (SELECT sum(k.duration_us) FROM kernels AS k WHERE k.run_id = r.id) AS duration_us,
    r.cells_stored AS cells,
    (
        SELECT count(*) FROM ingest_issues AS i
        WHERE i.run_id = r.id AND i.severity <> 'info'
    ) AS issues,
    (
        SELECT group_concat(c.key || '=' || c.value, ' ') FROM run_conditions AS c
        WHERE c.run_id = r.id AND c.kind = 'label'
    ) AS labels,
    (
        SELECT l.path FROM run_locations AS l
        WHERE l.run_id = r.id
        ORDER BY l.content DESC, l.last_seen_at DESC, l.path LIMIT 1
    ) AS path,
    r.missing
FROM runs AS r;
