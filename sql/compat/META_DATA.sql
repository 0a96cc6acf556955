-- What the views in msprof's shape are, in the shape of msprof's META_DATA table.
-- Grain: fact
-- Columns:
--   name   SCHEMA_VERSION, its three parts, and facts of opprof-db
--   value  the fact, as text
-- Example: SELECT value FROM META_DATA WHERE name = 'SCHEMA_VERSION'
SELECT 'SCHEMA_VERSION' AS name, '1.0.2' AS value
UNION ALL
SELECT 'SCHEMA_VERSION_MAJOR' AS name, '1' AS value
UNION ALL
SELECT 'SCHEMA_VERSION_MINOR' AS name, '0' AS value
UNION ALL
SELECT 'SCHEMA_VERSION_MICRO' AS name, '2' AS value
UNION ALL
SELECT 'OPPROF_SOURCE' AS name, 'msopprof runs in an opprof-db warehouse' AS value
UNION ALL
SELECT
    'OPPROF_TIMES' AS name,
    'derived: endNs - startNs is the recorded task duration; launches are laid end to end from the start of their run,'
    || ' its local time read as UTC' AS value
UNION ALL
SELECT
    'OPPROF_PMU_VALUES' AS name,
    'one roll-up per launch and metric: counters and volumes summed over cores, times (us) of the slowest core,'
    || ' ratios, rates and bandwidths by formula over totals; msprof names: times in ns, bandwidths in byte/s' AS value;
