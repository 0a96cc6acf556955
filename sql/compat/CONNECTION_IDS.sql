-- Links of PyTorch calls, in the shape of the Ascend PyTorch profiler's CONNECTION_IDS table: always empty.
-- It is here so that the queries of msprof's tools run unchanged.
-- Grain: link
-- Columns:
--   id            connectionId of PYTORCH_API
--   connectionId  connectionId of TASK and CANN_API
-- Example: SELECT count(*) FROM CONNECTION_IDS
SELECT
    CAST(NULL AS INTEGER) AS id,
    CAST(NULL AS INTEGER) AS connectionId
WHERE 1 = 0;
