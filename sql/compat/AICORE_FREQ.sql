-- Frequency of each launch's device while it was collected; no row where it is unknown.
-- Grain: kernel (one launch on one device)
-- Columns:
--   deviceId     device
--   timestampNs  startNs of the launch in TASK
--   freq         MHz
-- Example: SELECT deviceId, freq FROM AICORE_FREQ
SELECT
    t.deviceId,
    t.startNs AS timestampNs,
    k.current_freq_mhz AS freq
FROM TASK AS t
INNER JOIN kernels AS k ON k.id = t.globalTaskId
WHERE k.current_freq_mhz > 0;
