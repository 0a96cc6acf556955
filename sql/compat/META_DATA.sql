-- Version of the shape that these views follow, and what in it is derived.
-- Grain: key
-- Columns:
--   name   key
--   value  value
-- Example: SELECT value FROM META_DATA WHERE name = 'SCHEMA_VERSION'
SELECT
    column1 AS name,
    column2 AS value
FROM (
    VALUES
    ('SCHEMA_VERSION', '1.1.0'),
    ('SCHEMA_VERSION_MAJOR', '1'),
    ('SCHEMA_VERSION_MINOR', '1'),
    ('SCHEMA_VERSION_MICRO', '0'),
    ('SOURCE', 'opprof-db, from msopprof runs'),
    ('DERIVED', 'TASK.startNs and endNs: start of the run and launch order; msopprof records no times of day')
);
