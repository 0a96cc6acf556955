-- Time of every core of a kernel by logical block, beside the slowest and the mean of its kind.
-- By physical core: physical_core_times.
-- Grain: kernel, block, sub-block
-- Columns:
--   kernel_id         identifier of the launch
--   run_id            identifier of the run
--   run               folder name of the run
--   started_at        start of the run, local time (ISO 8601)
--   operator          kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core_kind         aic, aiv, or aicore (310P: one row for all cores)
--   block_id          logical block; -1 for a row that stands for the whole kernel
--   sub_block_id      cube0, vector0, vector1; all for the whole kernel
--   time_us           time of this core in the last replay, us; NULL when not recorded
--   total_cycles      cycles of this core
--   is_idle           1: busy for less than 1 % of the slowest core of its kind
--   share_of_slowest  time_us / time of the slowest core of its kind (0..1)
--   above_mean_us     time_us - mean of the working cores of its kind, us; NULL for idle cores
-- Example: SELECT block_id, sub_block_id, time_us FROM core_times WHERE kernel_id = 1 ORDER BY time_us DESC
SELECT
    k.kernel_id,
    k.run_id,
    k.run,
    k.started_at,
    k.operator,
    c.core_kind,
    c.block_id,
    c.sub_block_id,
    c.time_us,
    c.total_cycles,
    c.is_idle,
    c.time_us / nullif(max(c.time_us) OVER kind, 0) AS share_of_slowest,
    CASE
        WHEN c.is_idle = 0 THEN c.time_us - avg(CASE WHEN c.is_idle = 0 THEN c.time_us END) OVER kind
    END AS above_mean_us
FROM kernel_overview AS k
CROSS JOIN kernel_cores AS c
WHERE c.kernel_id = k.kernel_id
WINDOW kind AS (PARTITION BY k.kernel_id, k.run_id, k.operator, c.core_kind);
