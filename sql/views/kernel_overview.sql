-- Launches with name, duration, shape and clock, one row each.
-- Grain: kernel (one launch on one device)
-- Columns:
--   kernel_id         identifier of the launch; kernel:<id> on the command line
--   run_id            identifier of the run
--   run               folder name of the run
--   started_at        start of the run, local time (ISO 8601)
--   operator          kernel name without _mix_aic/_mix_aiv, hash and tiling key; the folder's name when unknown
--   name              full kernel name; NULL when OpBasicInfo was missing
--   op_type           vector, cube, mix, or AiCore on 310P
--   mode              device, simulator, mixed or unknown
--   status            complete, partial or incomplete
--   device_id         device
--   launch_index      number of the launch folder; NULL when the run has no such level
--   duration_us       task duration, us; NULL when not recorded
--   block_dim         blocks launched
--   mix_block_dim     blocks of the other core kind in a mix kernel
--   cores             rows (cores) recorded; NULL when none were
--   idle_cores        cores busy for less than 1 % of the slowest of their kind
--   current_freq_mhz  frequency during collection, MHz; NULL when unknown
--   rated_freq_mhz    rated frequency, MHz
--   chip              SoC, else the chip family in parentheses when it was inferred from the headers
--   tiling_key        tiling key taken off the name
--   labels            labels of the kernel as key=value, separated by blanks
--   missing           what was not there; NULL when complete
-- Example: SELECT operator, duration_us FROM kernel_overview WHERE run_id = 1 ORDER BY duration_us DESC
SELECT
    k.id AS kernel_id,
    k.run_id,
    r.name AS run,
    r.started_at,
    coalesce(o.name, k.folder_name) AS operator,
    k.name,
    k.op_type,
    k.mode,
    k.status,
    k.device_id,
    k.launch_index,
    k.duration_us,
    k.block_dim,
    k.mix_block_dim,
    (SELECT nullif(count(*), 0) FROM kernel_cores AS c WHERE c.kernel_id = k.id) AS cores,
    (SELECT sum(c.is_idle) FROM kernel_cores AS c WHERE c.kernel_id = k.id) AS idle_cores,
    k.current_freq_mhz,
    k.rated_freq_mhz,
    coalesce(r.soc, '(' || r.chip_family || ')') AS chip,
    k.tiling_key,
    (
        SELECT group_concat(l.key || '=' || l.value, ' ') FROM kernel_labels AS l
        WHERE l.kernel_id = k.id
    ) AS labels,
    k.missing
FROM kernels AS k
INNER JOIN runs AS r ON r.id = k.run_id
LEFT JOIN operators AS o ON o.id = k.operator_id;
