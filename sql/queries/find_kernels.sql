-- Launches whose name contains a text, newest run first.
-- Grain: kernel (one launch on one device)
-- Parameters:
--   text    text  part of the operator or full name, in any case
--   run_id  integer = NULL  only this run
--   limit   integer = 50  how many rows
-- Columns:
--   kernel_id    identifier of the launch; kernel:<id> on the command line
--   run          folder name of the run
--   operator     kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   started_at   start of the run, local time (ISO 8601)
--   duration_us  task duration, us
--   block_dim    blocks launched
--   tiling_key   tiling key taken off the name
-- Example: opprof-db query --name find_kernels --param text=matmul
SELECT
    kernel_id,
    run,
    operator,
    started_at,
    duration_us,
    block_dim,
    tiling_key
FROM kernel_overview
WHERE
    instr(lower(coalesce(operator, '') || ' ' || coalesce(name, '')), lower(:text)) > 0
    AND run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
ORDER BY started_at DESC, kernel_id
LIMIT :limit;
