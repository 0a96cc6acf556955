-- Problems met at ingest, with the run and launch they concern.
-- Grain: issue
-- Columns:
--   issue_id      identifier of the issue
--   run_id        identifier of the run
--   run           folder name of the run
--   kernel_id     identifier of the launch; NULL for issues of the whole run
--   severity      error (a file was lost), warning (values lost or doubtful) or info (a remark)
--   code          kind of problem
--   path          file below the run's folder
--   line          line in the file, the header being line 1
--   column_name   column as spelt in the file
--   raw_text      the text as it stood there
--   message       what happened
--   cells         cells this issue explains the loss of; 0 for remarks
--   count         how many like it this row stands for
-- Example: SELECT run, code, count(*) FROM issue_overview WHERE severity <> 'info' GROUP BY run, code
SELECT
    i.id AS issue_id,
    i.run_id,
    r.name AS run,
    i.kernel_id,
    i.severity,
    i.code,
    i.path,
    i.line,
    i.column_name,
    i.raw_text,
    i.message,
    i.cells,
    i.count
FROM ingest_issues AS i
INNER JOIN runs AS r ON r.id = i.run_id;
