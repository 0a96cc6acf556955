-- Names and shapes of launches on a device, in the shape of msprof's COMPUTE_TASK_INFO table.
-- What msopprof does not record (formats, data types, shapes, attributes) is the string id of N/A.
-- Grain: kernel (one launch on one device)
-- Columns:
--   name             string id of the full kernel name
--   globalTaskId     identifier of the launch, as in TASK
--   blockDim         blocks launched
--   mixBlockDim      blocks of the other core kind in a mix kernel; NULL when not mix
--   taskType         string id of AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV or N/A
--   opType           string id of the operator: the kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   inputFormats     string id of N/A
--   inputDataTypes   string id of N/A
--   inputShapes      string id of N/A
--   outputFormats    string id of N/A
--   outputDataTypes  string id of N/A
--   outputShapes     string id of N/A
--   attrInfo         string id of N/A
--   opState          string id of N/A
--   hf32Eligible     string id of N/A
-- Example: SELECT s.value, c.blockDim FROM COMPUTE_TASK_INFO c JOIN STRING_IDS s ON s.id = c.name LIMIT 10
SELECT
    coalesce(
        (SELECT 8 * min(same.id) + 4 FROM operators AS same WHERE same.name = coalesce(k.name, k.folder_name)),
        8 * titles.first_kernel + 5,
        0
    ) AS name,
    k.id AS globalTaskId,
    k.block_dim AS blockDim,
    k.mix_block_dim AS mixBlockDim,
    CASE
        WHEN k.op_type = 'vector' THEN 16
        WHEN k.op_type IN ('cube', 'AiCore') THEN 8
        WHEN k.op_type = 'mix' AND substr(k.name, -8) = '_mix_aiv' THEN 32
        WHEN k.op_type = 'mix' THEN 24
        ELSE 0
    END AS taskType,
    coalesce(
        (SELECT 8 * min(same.id) + 4 FROM operators AS same WHERE same.name = o.name),
        8 * titles.first_kernel + 5,
        0
    ) AS opType,
    0 AS inputFormats,
    0 AS inputDataTypes,
    0 AS inputShapes,
    0 AS outputFormats,
    0 AS outputDataTypes,
    0 AS outputShapes,
    0 AS attrInfo,
    0 AS opState,
    0 AS hf32Eligible
FROM kernels AS k
LEFT JOIN operators AS o ON o.id = k.operator_id
LEFT JOIN (
    SELECT coalesce(name, folder_name) AS title, min(id) AS first_kernel
    FROM kernels
    WHERE coalesce(name, folder_name) IS NOT NULL
    GROUP BY coalesce(name, folder_name)
) AS titles ON titles.title = coalesce(k.name, k.folder_name)
WHERE k.mode IN ('device', 'mixed');
