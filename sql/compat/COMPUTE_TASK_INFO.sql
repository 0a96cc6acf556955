-- Launches on a device in the shape of the msprof database's COMPUTE_TASK_INFO; what msopprof does not record is N/A.
-- Grain: kernel (one launch on one device)
-- Columns:
--   name             STRING_IDS: full kernel name, else the folder's
--   globalTaskId     the kernel's id, as in TASK
--   blockDim         blocks launched
--   mixBlockDim      blocks of the other core kind in a mix kernel
--   taskType         STRING_IDS: AI_VECTOR_CORE (vector), AI_CORE (cube, AiCore of 310P), MIX_AIC or MIX_AIV (mix, by
--                    the kernel's name, MIX_AIC where it does not say), N/A
--   opType           STRING_IDS: kernel name without _mix_aic/_mix_aiv, hash and tiling key: the kernel family
--   inputFormats     STRING_IDS: N/A
--   inputDataTypes   STRING_IDS: N/A
--   inputShapes      STRING_IDS: N/A
--   outputFormats    STRING_IDS: N/A
--   outputDataTypes  STRING_IDS: N/A
--   outputShapes     STRING_IDS: N/A
--   attrInfo         STRING_IDS: N/A
--   opState          STRING_IDS: N/A
--   hf32Eligible     STRING_IDS: N/A
-- Example: SELECT n.value, c.blockDim FROM COMPUTE_TASK_INFO AS c JOIN STRING_IDS AS n ON n.id = c.name LIMIT 5
SELECT
    1000000000 + k.id AS name,
    k.id AS globalTaskId,
    k.block_dim AS blockDim,
    k.mix_block_dim AS mixBlockDim,
    CASE
        WHEN k.op_type = 'vector' THEN 2
        WHEN k.op_type IN ('cube', 'AiCore') THEN 1
        WHEN k.op_type = 'mix' AND k.name LIKE '%\_mix\_aiv' ESCAPE '\' THEN 4
        WHEN k.op_type = 'mix' THEN 3
        ELSE 0
    END AS taskType,
    coalesce(2000000000 + k.operator_id, 0) AS opType,
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
WHERE k.mode <> 'simulator';
