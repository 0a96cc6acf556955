-- Waiting and synchronisation of each pipe: events and drawn lengths from traces, the true cost from the statistics.
-- Drawn lengths of waits, sets and barriers are artificial; the cycles of *_instr_exe.csv are what they cost. Some
-- builds book waits on the pipe that waits, others on FLOWCTRL. Who waits for whom: pipe_dependencies.
-- Grain: kernel, core, pipe
-- Columns:
--   kernel_id       identifier of the launch
--   run_id          identifier of the run
--   run             folder name of the run
--   started_at      start of the run, local time (ISO 8601)
--   operator        kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   core            core such as core0.veccore1
--   pipe            pipe as the simulator names it
--   wait_events     waits in the trace; NULL without a trace, 0 may mean that flags were not collected
--   set_events      sets in the trace
--   barrier_events  barriers in the trace
--   drawn_wait_us   union of the drawn waits, us: artificial
--   waiting_share   share of drawn waits; NULL where flags were not collected or the trace is cut off
--   wait_cycles     cycles of WAIT_FLAG in the statistics: the true cost; NULL without statistics
--   set_cycles      cycles of SET_FLAG in the statistics
--   barrier_cycles  cycles of barriers in the statistics
--   saturated       counters among them that stood at their end and are left out
-- Example: SELECT core, pipe, wait_cycles, barrier_cycles FROM trace_waits WHERE kernel_id = 1 ORDER BY wait_cycles DESC
SELECT
    kernel_id,
    run_id,
    run,
    started_at,
    operator,
    core,
    pipe,
    wait_events,
    set_events,
    barrier_events,
    drawn_wait_us,
    waiting_share,
    wait_cycles,
    set_cycles,
    barrier_cycles,
    saturated
FROM (
    -- Windows rather than groups, so that a filter on the kernel or run reaches the tables.
    SELECT
        kernel_id,
        run_id,
        run,
        started_at,
        operator,
        core,
        pipe,
        sum(wait_events) OVER same AS wait_events,
        sum(set_events) OVER same AS set_events,
        sum(barrier_events) OVER same AS barrier_events,
        sum(drawn_wait_us) OVER same AS drawn_wait_us,
        max(waiting_share) OVER same AS waiting_share,
        sum(CASE what WHEN 'wait' THEN cycles WHEN 'none' THEN 0 WHEN 'set' THEN 0 WHEN 'barrier' THEN 0 END)
            OVER same AS wait_cycles,
        sum(CASE what WHEN 'set' THEN cycles WHEN 'none' THEN 0 WHEN 'wait' THEN 0 WHEN 'barrier' THEN 0 END)
            OVER same AS set_cycles,
        sum(CASE what WHEN 'barrier' THEN cycles WHEN 'none' THEN 0 WHEN 'wait' THEN 0 WHEN 'set' THEN 0 END)
            OVER same AS barrier_cycles,
        sum(saturated) OVER same AS saturated,
        row_number() OVER same AS place
    FROM (
        SELECT
            k.kernel_id,
            k.run_id,
            k.run,
            k.started_at,
            k.operator,
            a.core,
            a.pipe,
            a.wait_events,
            a.set_events,
            a.barrier_events,
            a.wait_us AS drawn_wait_us,
            a.waiting_share,
            NULL AS what,
            NULL AS cycles,
            NULL AS saturated
        FROM kernel_overview AS k
        CROSS JOIN pipe_activity AS a
        WHERE a.kernel_id = k.kernel_id
        UNION ALL
        SELECT
            k.kernel_id,
            k.run_id,
            k.run,
            k.started_at,
            k.operator,
            s.core,
            s.pipe,
            NULL,
            NULL,
            NULL,
            NULL,
            NULL,
            CASE
                WHEN s.instruction LIKE 'WAIT_FLAG%' THEN 'wait'
                WHEN s.instruction LIKE 'SET_FLAG%' THEN 'set'
                WHEN s.instruction = 'BAR' OR s.instruction LIKE 'BARRIER%' THEN 'barrier'
                ELSE 'none'
            END,
            CASE s.saturated WHEN 0 THEN s.cycles ELSE 0 END,
            CASE
                WHEN
                    s.instruction LIKE 'WAIT_FLAG%' OR s.instruction LIKE 'SET_FLAG%'
                    OR s.instruction = 'BAR' OR s.instruction LIKE 'BARRIER%'
                    THEN s.saturated
                ELSE 0
            END
        FROM kernel_overview AS k
        CROSS JOIN instruction_stats AS s
        WHERE s.kernel_id = k.kernel_id
    ) AS both_sources
    WINDOW same AS (PARTITION BY kernel_id, run_id, operator, core, pipe)
) AS ranked
WHERE place = 1;
