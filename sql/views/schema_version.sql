-- Which schema and which SQL API this file has; docs/sql-api.md says what changed with each.
-- Grain: one row
-- Columns:
--   schema_revision  revision of the tables (migration)
--   sql_api          version of the views and named queries, MAJOR.MINOR: MAJOR changes when a name or meaning does
--   program_version  version of opprof-db whose views and catalogue these are
-- Example: SELECT sql_api FROM schema_version
SELECT
    a.version_num AS schema_revision,
    (SELECT i.value FROM warehouse_info AS i WHERE i.key = 'sql_api') AS sql_api,
    (SELECT i.value FROM warehouse_info AS i WHERE i.key = 'refreshed_with') AS program_version
FROM alembic_version AS a;
