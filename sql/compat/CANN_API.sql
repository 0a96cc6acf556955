-- Calls of CANN on the host, in the shape of msprof's CANN_API table: always empty, msopprof records none.
-- It is here so that the queries of msprof's tools run unchanged.
-- Grain: call
-- Columns:
--   startNs       start, ns
--   endNs         end, ns
--   type          kind of call
--   globalTid     process and thread
--   connectionId  link to TASK
--   name          string id of the call's name
-- Example: SELECT count(*) FROM CANN_API
SELECT
    CAST(NULL AS INTEGER) AS startNs,
    CAST(NULL AS INTEGER) AS endNs,
    CAST(NULL AS INTEGER) AS type,
    CAST(NULL AS INTEGER) AS globalTid,
    CAST(NULL AS INTEGER) AS connectionId,
    CAST(NULL AS INTEGER) AS name
WHERE 1 = 0;
