-- Devices and their chips.
-- Grain: device, chip
-- Columns:
--   id    device
--   name  SoC; N/A where neither data nor user say
-- Example: SELECT id, name FROM NPU_INFO
SELECT DISTINCT
    k.device_id AS id,
    coalesce(r.soc, 'N/A') AS name
FROM kernels AS k
INNER JOIN runs AS r ON r.id = k.run_id
WHERE k.device_id IS NOT NULL AND k.mode <> 'simulator';
