-- What the device measured beside what the simulator says, pipe by pipe, with what cannot be compared.
-- Every simulated kernel is set beside the newest device launch of the same operator that has PipeUtilization (a launch
-- that has both: itself). Simulator runs record no kernel name: give one with `opprof-db ingest --kernel`, or they find
-- no partner.
-- Grain: simulated kernel, core kind, pipe
-- Columns:
--   kernel_id          identifier of the simulated launch
--   run_id             identifier of the simulator run
--   run                folder name of the simulator run
--   started_at         start of the simulator run, local time (ISO 8601)
--   operator           kernel name without _mix_aic/_mix_aiv, hash and tiling key; NULL when unknown
--   device_kernel_id   identifier of the device launch; NULL when there is none
--   core_kind          aic, aiv, or aicore on chips with one kind of core
--   pipe               pipe as the device CSVs name it; pipes that only the simulator has in lower case
--   device_cores       working device cores
--   device_time_us     mean busy time of the pipe over them, us
--   device_share       total busy time / total core time (0..1)
--   simulator_cores    simulated cores of this kind that have a trace; NULL without a trace
--   simulator_time_us  mean busy time of the pipe over these cores, us
--   simulator_share    total busy time / total time of the cores from their first to their last work (0..1)
--   simulator_cycles   cycles of the pipe's instructions over all cores, overlapping calls counted each; NULL without
--                      statistics
--   share_difference   device_share - simulator_share
--   comparison         what may be compared, or why nothing can be
-- Example: SELECT pipe, device_share, simulator_share, comparison FROM device_and_simulator WHERE kernel_id = 3
SELECT
    kernel_id,
    run_id,
    run,
    started_at,
    operator,
    device_kernel_id,
    core_kind,
    pipe,
    device_cores,
    device_time_us,
    device_share,
    simulator_cores,
    busy_us / simulator_cores AS simulator_time_us,
    CASE truncated WHEN 0 THEN busy_us / nullif(span_us, 0) END AS simulator_share,
    simulator_cycles,
    device_share - CASE truncated WHEN 0 THEN busy_us / nullif(span_us, 0) END AS share_difference,
    CASE
        WHEN device_kernel_id IS NULL THEN 'nothing: no device launch of this operator with PipeUtilization'
        WHEN device_cores IS NULL THEN 'nothing: the device launch shows no such pipe on this kind of core'
        WHEN busy_us IS NULL AND simulator_cycles IS NULL THEN 'nothing: the simulator shows no such pipe on this kind of core'
        WHEN busy_us IS NULL THEN 'nothing: without a trace there are cycles, but no share of the core''s time'
        WHEN truncated = 1 THEN 'nothing: the trace is cut off, shares are withheld'
        WHEN device_cores <> simulator_cores
            THEN 'shares with care: core counts differ; times not: clocks and spans differ'
        ELSE 'shares; times not: clocks and spans differ'
    END AS comparison
FROM (
    -- Windows rather than groups, one partition a level: only so does a filter on the kernel or run reach the tables.
    SELECT
        merged.*,
        max(device_kernel_of_pipe) OVER (PARTITION BY kernel_id, run_id, operator) AS device_kernel_id
    FROM (
        SELECT
            kernel_id,
            run_id,
            run,
            started_at,
            operator,
            core_kind,
            pipe,
            max(device_kernel_id) OVER same AS device_kernel_of_pipe,
            max(device_cores) OVER same AS device_cores,
            max(device_time_us) OVER same AS device_time_us,
            max(device_share) OVER same AS device_share,
            max(simulator_cores) OVER same AS simulator_cores,
            sum(busy_us) OVER same AS busy_us,
            max(span_us) OVER same AS span_us,
            max(truncated) OVER same AS truncated,
            sum(simulator_cycles) OVER same AS simulator_cycles,
            row_number() OVER same AS place
        FROM (
            SELECT
                kernel_id,
                run_id,
                run,
                started_at,
                operator,
                core_kind,
                CASE pipe WHEN 'VECTOR' THEN 'vec' WHEN 'FIXP' THEN 'fixpipe' ELSE lower(pipe) END AS pipe,
                NULL AS device_kernel_id,
                NULL AS device_cores,
                NULL AS device_time_us,
                NULL AS device_share,
                kind_cores AS simulator_cores,
                busy_us,
                kind_span_us AS span_us,
                truncated,
                NULL AS simulator_cycles
            FROM (
                SELECT
                    core_rows.*,
                    sum(CASE place WHEN 1 THEN core_span_us END) OVER kind AS kind_span_us,
                    count(CASE place WHEN 1 THEN 1 END) OVER kind AS kind_cores
                FROM (
                    SELECT
                        k.kernel_id,
                        k.run_id,
                        k.run,
                        k.started_at,
                        k.operator,
                        CASE
                            WHEN a.core LIKE '%.veccore%' THEN 'aiv'
                            WHEN a.core LIKE '%.cubecore%' THEN 'aic'
                            ELSE 'aicore'
                        END AS core_kind,
                        a.pipe,
                        a.busy_us,
                        a.truncated,
                        max(a.last_us) OVER core - min(a.first_us) OVER core AS core_span_us,
                        row_number() OVER core_order AS place
                    FROM kernel_overview AS k
                    CROSS JOIN pipe_activity AS a
                    WHERE
                        a.kernel_id = k.kernel_id
                        AND k.mode IN ('simulator', 'mixed') AND a.core LIKE 'core%' AND a.pipe IS NOT NULL
                    WINDOW
                        core AS (PARTITION BY k.kernel_id, k.run_id, k.operator, a.core),
                        core_order AS (PARTITION BY k.kernel_id, k.run_id, k.operator, a.core ORDER BY a.position)
                ) AS core_rows
                WINDOW kind AS (PARTITION BY kernel_id, run_id, operator, core_kind)
            ) AS traced
            UNION ALL
            SELECT
                k.kernel_id,
                k.run_id,
                k.run,
                k.started_at,
                k.operator,
                s.core_kind,
                CASE s.pipe WHEN 'VECTOR' THEN 'vec' WHEN 'FIXP' THEN 'fixpipe' ELSE lower(s.pipe) END,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL,
                CASE s.saturated WHEN 0 THEN s.cycles END
            FROM kernel_overview AS k
            CROSS JOIN instruction_stats AS s
            WHERE s.kernel_id = k.kernel_id
            UNION ALL
            SELECT
                k.kernel_id,
                k.run_id,
                k.run,
                k.started_at,
                k.operator,
                p.core_kind,
                p.pipe,
                p.kernel_id,
                p.cores,
                p.mean_time_us,
                p.ratio,
                NULL,
                NULL,
                NULL,
                NULL,
                NULL
            FROM kernel_overview AS k
            CROSS JOIN pipe_usage AS p
            WHERE
                k.mode IN ('simulator', 'mixed')
                AND p.kernel_id = (
                    SELECT d.id FROM operators AS o
                    INNER JOIN kernels AS d ON d.operator_id = o.id
                    INNER JOIN runs AS r ON r.id = d.run_id
                    WHERE
                        o.name = k.operator AND d.mode IN ('device', 'mixed')
                        AND (k.mode = 'simulator' OR d.id = k.kernel_id)
                        AND EXISTS (SELECT 1 FROM pipe_utilization AS u WHERE u.kernel_id = d.id)
                    ORDER BY r.started_at DESC, d.id DESC LIMIT 1
                )
        ) AS sides
        WINDOW same AS (PARTITION BY kernel_id, run_id, operator, core_kind, pipe)
    ) AS merged
    WHERE place = 1
) AS paired;
