-- Does the simulator agree with the device? Busy shares of each pipe side by side.
-- Grain: simulated kernel, core kind, pipe
-- Parameters:
--   run_id     integer = NULL  only this run
--   kernel_id  integer = NULL  only this launch
--   limit      integer = 100  how many rows
-- Columns:
--   kernel_id         identifier of the launch; kernel:<id> on the command line
--   operator          kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   device_kernel_id  launch it is set beside
--   core_kind         aic, aiv, or aicore
--   pipe              pipe
--   device_share      total busy time / total core time (0..1)
--   simulator_share   total busy time / total time of the cores (0..1)
--   share_difference  device_share - simulator_share
--   comparison        what may be compared, or why nothing can be
-- Example: opprof-db query --name device_vs_simulator --param kernel_id=1
SELECT
    kernel_id,
    operator,
    device_kernel_id,
    core_kind,
    pipe,
    device_share,
    simulator_share,
    share_difference,
    comparison
FROM device_and_simulator
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
ORDER BY kernel_id, core_kind, CASE WHEN share_difference IS NULL THEN 1 ELSE 0 END, abs(share_difference) DESC, pipe
LIMIT :limit;
