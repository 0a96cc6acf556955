-- Where does the L2 cache help least? Kernels by hit rate, the lowest first; undefined ones last.
-- Grain: kernel, core kind
-- Parameters:
--   run_id        integer = NULL  only this run
--   kernel_id     integer = NULL  only this launch
--   access        text = all  read, write or all
--   min_requests  integer = 0  leave out kernels with fewer requests
--   limit         integer = 20  how many rows
-- Columns:
--   kernel_id     identifier of the launch; kernel:<id> on the command line
--   run           folder name of the run
--   operator      kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind     aic, aiv, or aicore (310P)
--   hits          requests that hit
--   requests      requests counted
--   hit_rate_pct  hits / requests, per cent; NULL when undefined
--   state         defined, undefined: no requests, or printed
-- Example: opprof-db query --name low_l2_hit_rates --param access=read
SELECT
    kernel_id,
    run,
    operator,
    core_kind,
    hits,
    requests,
    hit_rate_pct,
    state
FROM l2_hit_rates
WHERE
    run_id BETWEEN coalesce(:run_id, 0) AND coalesce(:run_id, 9223372036854775807)
    AND kernel_id BETWEEN coalesce(:kernel_id, 0) AND coalesce(:kernel_id, 9223372036854775807)
    AND access = :access
    AND coalesce(requests, :min_requests) >= :min_requests
ORDER BY CASE WHEN hit_rate_pct IS NULL THEN 1 ELSE 0 END, hit_rate_pct, kernel_id, core_kind
LIMIT :limit;
