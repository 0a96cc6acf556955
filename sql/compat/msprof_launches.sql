-- Launches on a device in the words of the msprof database: the base of the views in msprof's shape.
-- Times of day are derived: msopprof records only when a run began and how long each launch took. The launches
-- of a run are laid end to end on their device, from the start of the run, in the order in which msopprof parsed them
-- (then by launch number). Lengths are recorded ones. Launches of a simulator are not here: nothing ran on a device.
-- Grain: kernel (one launch on one device)
-- Columns:
--   kernel_id     identifier of the launch; globalTaskId, taskId and task_id of the other views
--   run_id        identifier of the run
--   name          full kernel name, else the folder's name, else N/A
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key, else the folder's name, else N/A
--   task_type_id  string id of task_type
--   task_type     vector: AI_VECTOR_CORE; cube and AiCore: AI_CORE; mix: MIX_AIV when the name ends in _mix_aiv,
--                 else MIX_AIC, since a mix launch counts its blocks by cube cores; N/A when not recorded
--   device_id     device; -1, as msprof writes it, when not recorded
--   start_ns      derived start, ns since 1970 with the local time of the run read as UTC; from 0 when the run's is unknown
--   end_ns        start_ns + duration, ns; NULL when no duration was recorded
--   duration_us   task duration, us; NULL when not recorded
--   freq_mhz      frequency during collection, MHz; NULL when unknown
--   chip          SoC, else the chip family inferred from the headers, else UNKNOWN
-- Example: SELECT name, task_type, end_ns - start_ns AS duration_ns FROM msprof_launches WHERE run_id = 1
SELECT
    kernel_id,
    run_id,
    name,
    operator,
    CASE task_type
        WHEN 'AI_CORE' THEN 8
        WHEN 'AI_VECTOR_CORE' THEN 16
        WHEN 'MIX_AIC' THEN 24
        WHEN 'MIX_AIV' THEN 32
        ELSE 0
    END AS task_type_id,
    task_type,
    device_id,
    begin_ns + before_ns AS start_ns,
    begin_ns + before_ns + length_ns AS end_ns,
    duration_us,
    freq_mhz,
    chip
FROM (
    SELECT
        k.id AS kernel_id,
        k.run_id,
        coalesce(k.name, k.folder_name, 'N/A') AS name,
        coalesce(o.name, k.name, k.folder_name, 'N/A') AS operator,
        CASE
            WHEN k.op_type = 'vector' THEN 'AI_VECTOR_CORE'
            WHEN k.op_type IN ('cube', 'AiCore') THEN 'AI_CORE'
            WHEN k.op_type = 'mix' AND substr(k.name, -8) = '_mix_aiv' THEN 'MIX_AIV'
            WHEN k.op_type = 'mix' THEN 'MIX_AIC'
            ELSE 'N/A'
        END AS task_type,
        coalesce(k.device_id, -1) AS device_id,
        coalesce(
            1000000000 * CAST(strftime('%s', r.started_at) AS INTEGER)
            + 1000000 * CAST(substr(strftime('%f', r.started_at), 4) AS INTEGER),
            0
        ) AS begin_ns,
        coalesce(
            sum(CAST(round(1000 * k.duration_us) AS INTEGER)) OVER (
                PARTITION BY k.run_id, k.device_id
                ORDER BY coalesce(k.captured_at, ''), coalesce(k.launch_index, 0), k.id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ),
            0
        ) AS before_ns,
        CAST(round(1000 * k.duration_us) AS INTEGER) AS length_ns,
        k.duration_us,
        k.current_freq_mhz AS freq_mhz,
        coalesce(r.soc, r.chip_family, 'UNKNOWN') AS chip
    FROM kernels AS k
    INNER JOIN runs AS r ON r.id = k.run_id
    LEFT JOIN operators AS o ON o.id = k.operator_id
    WHERE k.mode IN ('device', 'mixed')
) AS launches;
