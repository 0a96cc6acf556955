-- Where do kernels stand under their roofs?
-- Grain: kernel, roof
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 50  how many rows
-- Columns:
--   kernel_id       identifier of the launch; kernel:<id> on the command line
--   run             folder name of the run
--   operator        kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   title           which roofline
--   bandwidth_name  memory path of the roof
--   compute_name    compute unit and data type of the roof
--   ops_per_byte    intensity, operations per byte
--   tops            reached, 10^12 operations per second
--   roof_tops       height of the roof there
--   roof_side       memory or compute
--   roof_share      share of the roof as printed; NULL where NA is
--   above_roof      1: above the roof, so one of the figures is off
-- Example: opprof-db query --name roofline --param kernel_id=1
SELECT
    kernel_id,
    run,
    operator,
    title,
    bandwidth_name,
    compute_name,
    ops_per_byte,
    tops,
    roof_tops,
    roof_side,
    roof_share,
    above_roof
FROM roofline
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
ORDER BY kernel_id, CASE WHEN roof_share IS NULL THEN 1 ELSE 0 END, roof_share DESC, title, bandwidth_name
LIMIT :limit;
