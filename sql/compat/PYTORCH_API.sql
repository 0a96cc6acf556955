-- Calls of PyTorch, in the shape of the Ascend PyTorch profiler's PYTORCH_API table: always empty, msopprof records none.
-- It is here so that the queries of msprof's tools run unchanged.
-- Grain: call
-- Columns:
--   startNs         start, ns
--   endNs           end, ns
--   globalTid       process and thread
--   connectionId    link to CONNECTION_IDS.id
--   name            string id of the call's name
--   sequenceNumber  number of the operation
--   fwdThreadId     thread of the forward operation
--   inputDtypes     string id of the input data types
--   inputShapes     string id of the input shapes
--   callchainId     link to the call stack
--   type            kind of call
-- Example: SELECT count(*) FROM PYTORCH_API
SELECT
    CAST(NULL AS INTEGER) AS startNs,
    CAST(NULL AS INTEGER) AS endNs,
    CAST(NULL AS INTEGER) AS globalTid,
    CAST(NULL AS INTEGER) AS connectionId,
    CAST(NULL AS INTEGER) AS name,
    CAST(NULL AS INTEGER) AS sequenceNumber,
    CAST(NULL AS INTEGER) AS fwdThreadId,
    CAST(NULL AS INTEGER) AS inputDtypes,
    CAST(NULL AS INTEGER) AS inputShapes,
    CAST(NULL AS INTEGER) AS callchainId,
    CAST(NULL AS INTEGER) AS type
WHERE 1 = 0;
