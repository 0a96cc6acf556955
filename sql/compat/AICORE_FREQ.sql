-- Frequency of the AI Cores during each launch, in the shape of msprof's AICORE_FREQ table.
-- A launch whose frequency the tool could not read has no row; the rated frequency never stands in for it.
-- Grain: kernel with a recorded frequency
-- Columns:
--   deviceId     device; -1 when not recorded
--   timestampNs  derived start of the launch, as in TASK, ns
--   freq         frequency, MHz
-- Example: SELECT deviceId, min(freq), max(freq) FROM AICORE_FREQ GROUP BY deviceId
SELECT
    device_id AS deviceId,
    start_ns AS timestampNs,
    freq_mhz AS freq
FROM msprof_launches
WHERE freq_mhz > 0;
