-- Which pipe bounds each kernel, and how far ahead of the next is it?
-- Grain: kernel, core kind
-- Parameters:
--   run_id  integer = NULL  only this run
--   limit   integer = 50  how many rows
-- Columns:
--   kernel_id    identifier of the launch; kernel:<id> on the command line
--   run          folder name of the run
--   operator     kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind    aic, aiv, or aicore (310P)
--   pipe         busiest pipe
--   ratio        its total busy time / total core time (0..1)
--   second_pipe  next busiest pipe
--   lead         ratio - ratio of the next
-- Example: opprof-db query --name dominant_pipes --param run_id=1
SELECT
    kernel_id,
    run,
    operator,
    core_kind,
    pipe,
    ratio,
    second_pipe,
    ratio - second_ratio AS lead
FROM dominant_pipe
WHERE run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
ORDER BY ratio DESC, kernel_id, core_kind
LIMIT :limit;
