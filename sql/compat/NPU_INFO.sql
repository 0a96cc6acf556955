-- Devices and their chips, in the shape of msprof's NPU_INFO table.
-- Runs of several machines may use the same device number: its name then holds all their chips, with slashes between, so
-- that a join with TASK never counts a launch twice.
-- Grain: device number
-- Columns:
--   id    device; -1 when not recorded
--   name  SoC such as Ascend910B2, else the chip family inferred from the headers, else UNKNOWN
-- Example: SELECT id, name FROM NPU_INFO ORDER BY id
SELECT
    device_id AS id,
    group_concat(chip, '/') AS name
FROM (SELECT DISTINCT device_id, chip FROM msprof_launches ORDER BY device_id, chip) AS met
GROUP BY device_id;
