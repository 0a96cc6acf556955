-- Where kernels stand under their roofs, as msopprof computed it (collect with --aic-metrics=Roofline).
-- Grain: kernel, roof
-- Columns:
--   kernel_id       identifier of the launch
--   run_id          identifier of the run
--   run             folder name of the run
--   started_at      start of the run, local time (ISO 8601)
--   operator        kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   title           which roofline
--   bandwidth_name  memory path of the roof
--   bandwidth_tb_s  peak of that path, decimal TB/s
--   compute_name    compute unit and data type of the roof
--   compute_tflops  peak of that unit, 10^12 operations per second
--   ops_per_byte    intensity of the kernel, operations per byte
--   tops            what it reached, 10^12 operations per second
--   roof_tops       height of the roof at that intensity, 10^12 operations per second
--   roof_side       memory: under the slope; compute: under the flat part
--   roof_share      share of the roof that is reached as printed; NULL where the tool prints NA
--   above_roof      1: the point lies above the roof, so one of the figures is off
-- Example: SELECT title, bandwidth_name, roof_share, roof_side FROM roofline WHERE kernel_id = 1
SELECT
    k.kernel_id,
    k.run_id,
    k.run,
    k.started_at,
    k.operator,
    p.title,
    p.bandwidth_name,
    p.bandwidth_tb_s,
    p.compute_name,
    p.compute_tflops,
    p.ops_per_byte,
    p.tops,
    CASE
        WHEN p.bandwidth_tb_s * p.ops_per_byte < p.compute_tflops THEN p.bandwidth_tb_s * p.ops_per_byte
        ELSE p.compute_tflops
    END AS roof_tops,
    CASE
        WHEN p.bandwidth_tb_s * p.ops_per_byte < p.compute_tflops THEN 'memory'
        WHEN p.bandwidth_tb_s * p.ops_per_byte >= p.compute_tflops THEN 'compute'
    END AS roof_side,
    p.roof_share,
    CASE
        WHEN p.tops > p.bandwidth_tb_s * p.ops_per_byte OR p.tops > p.compute_tflops THEN 1
        WHEN p.tops IS NOT NULL AND p.bandwidth_tb_s * p.ops_per_byte IS NOT NULL AND p.compute_tflops IS NOT NULL
            THEN 0
    END AS above_roof
FROM kernel_overview AS k
CROSS JOIN roofline_points AS p
WHERE p.kernel_id = k.kernel_id;
