-- Launches with a recorded duration, in the shape of msprof's TASK table.
-- startNs and endNs are derived (see msprof_launches): their difference is the recorded duration, their place in time
-- is not. Launches without a recorded duration, and those of a simulator, have no row.
-- Grain: kernel with a recorded duration
-- Columns:
--   startNs       derived start, ns since 1970 with the local time of the run read as UTC
--   endNs         startNs + task duration, ns
--   deviceId      device; -1 when not recorded
--   connectionId  link to the call on the host; always NULL: msopprof records none
--   globalTaskId  identifier of the launch, unique and stable: kernel_id of the other views
--   globalPid     process that launched the kernel
--   taskType      string id of AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV or N/A
--   contextId     4294967295, msprof's mark for none
--   streamId      always NULL: msopprof records none
--   taskId        the same as globalTaskId
--   modelId       4294967295, msprof's mark for none
-- Example: SELECT globalTaskId, endNs - startNs AS duration_ns FROM TASK ORDER BY duration_ns DESC LIMIT 10
SELECT
    l.start_ns AS startNs,
    l.end_ns AS endNs,
    l.device_id AS deviceId,
    CAST(NULL AS INTEGER) AS connectionId,
    l.kernel_id AS globalTaskId,
    k.pid AS globalPid,
    l.task_type_id AS taskType,
    4294967295 AS contextId,
    CAST(NULL AS INTEGER) AS streamId,
    l.kernel_id AS taskId,
    4294967295 AS modelId
FROM msprof_launches AS l
INNER JOIN kernels AS k ON k.id = l.kernel_id
WHERE l.end_ns IS NOT NULL;
