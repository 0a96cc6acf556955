-- Collective communication, in the shape of msprof's COMMUNICATION_OP table: always empty, msopprof records none.
-- It is here so that the queries of msprof's tools run unchanged.
-- Grain: communication operator
-- Columns:
--   opName        string id of the name
--   startNs       start, ns
--   endNs         end, ns
--   connectionId  link to CANN_API
--   groupName     string id of the communication group
--   opId          identifier
--   relay         whether another rail was borrowed
--   retry         whether it was sent again
--   dataType      data type
--   algType       string id of the algorithm
--   count         elements
--   opType        string id of the type
--   deviceId      device
-- Example: SELECT count(*) FROM COMMUNICATION_OP
SELECT
    CAST(NULL AS INTEGER) AS opName,
    CAST(NULL AS INTEGER) AS startNs,
    CAST(NULL AS INTEGER) AS endNs,
    CAST(NULL AS INTEGER) AS connectionId,
    CAST(NULL AS INTEGER) AS groupName,
    CAST(NULL AS INTEGER) AS opId,
    CAST(NULL AS INTEGER) AS relay,
    CAST(NULL AS INTEGER) AS retry,
    CAST(NULL AS INTEGER) AS dataType,
    CAST(NULL AS INTEGER) AS algType,
    CAST(NULL AS INTEGER) AS count,
    CAST(NULL AS INTEGER) AS opType,
    CAST(NULL AS INTEGER) AS deviceId
WHERE 1 = 0;
