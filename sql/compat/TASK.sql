-- Launches on a device in the shape of the msprof database's TASK. Simulated kernels are no tasks and are left out.
-- Grain: kernel (one launch on one device)
-- Columns:
--   startNs       ns; derived: start of the run (local time read as UTC) plus the durations of the run's launches before
--   endNs         ns; derived: startNs plus the task duration; NULL when the duration was not recorded
--   deviceId      device
--   connectionId  the kernel's id; nothing on the host is connected to it
--   globalTaskId  the kernel's id
--   globalPid     process on the host
--   taskType      STRING_IDS: AI_VECTOR_CORE, AI_CORE, MIX_AIC, MIX_AIV or N/A
--   contextId     4294967295: no sub-task
--   streamId      NULL: msopprof records none
--   taskId        place of the launch in its run, from 0
--   modelId       4294967295: no model
-- Example: SELECT globalTaskId, endNs - startNs AS duration_ns FROM TASK ORDER BY duration_ns DESC LIMIT 5
SELECT
    CAST(strftime('%s', coalesce(r.started_at, '1970-01-01')) AS INTEGER) * 1000000000
    + coalesce(sum(CAST(round(k.duration_us * 1000) AS INTEGER)) OVER earlier, 0) AS startNs,
    CAST(strftime('%s', coalesce(r.started_at, '1970-01-01')) AS INTEGER) * 1000000000
    + coalesce(sum(CAST(round(k.duration_us * 1000) AS INTEGER)) OVER earlier, 0)
    + CAST(round(k.duration_us * 1000) AS INTEGER) AS endNs,
    k.device_id AS deviceId,
    k.id AS connectionId,
    k.id AS globalTaskId,
    k.pid AS globalPid,
    CASE
        WHEN k.op_type = 'vector' THEN 2
        WHEN k.op_type IN ('cube', 'AiCore') THEN 1
        WHEN k.op_type = 'mix' AND k.name LIKE '%\_mix\_aiv' ESCAPE '\' THEN 4
        WHEN k.op_type = 'mix' THEN 3
        ELSE 0
    END AS taskType,
    4294967295 AS contextId,
    NULL AS streamId,
    row_number() OVER (
        PARTITION BY k.run_id
        ORDER BY k.device_id, k.captured_at, k.launch_index, k.id
    ) - 1 AS taskId,
    4294967295 AS modelId
FROM kernels AS k
INNER JOIN runs AS r ON r.id = k.run_id
WHERE k.mode <> 'simulator'
WINDOW earlier AS (
    PARTITION BY k.run_id, k.device_id
    ORDER BY k.captured_at, k.launch_index, k.id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
);
