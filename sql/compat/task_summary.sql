-- Launches with name, kind of accelerator and time.
-- Grain: kernel (one launch on one device)
-- Columns:
--   task_id     the kernel's id
--   op_name     full kernel name, else the folder's
--   op_type     kind of accelerator, as in op_summary
--   device_id   device
--   start_time  ns; derived, see TASK
--   task_time   task duration, us; NULL when not recorded
--   block_dim   blocks launched
--   model_id    4294967295: no model
-- Example: SELECT op_name, task_time FROM task_summary ORDER BY task_time DESC LIMIT 5
SELECT
    t.globalTaskId AS task_id,
    coalesce(k.name, k.folder_name, 'N/A') AS op_name,
    y.value AS op_type,
    t.deviceId AS device_id,
    t.startNs AS start_time,
    CAST(k.duration_us AS REAL) AS task_time,
    k.block_dim,
    t.modelId AS model_id
FROM TASK AS t
INNER JOIN kernels AS k ON k.id = t.globalTaskId
INNER JOIN STRING_IDS AS y ON y.id = t.taskType;
