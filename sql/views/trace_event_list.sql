-- Events of traces with their texts, cores and pipes.
-- Grain: event of a trace
-- Columns:
--   kernel_id      identifier of the launch
--   trace_no       number of the trace file within the kernel
--   ordinal        place in the file's event list
--   core           core such as core0.veccore1
--   pipe           pipe such as MTE2
--   phase          X; P for a SET/WAIT pair made one; B or E unmatched
--   kind           work, wait, set, barrier, cache_head, ccu_head, marker or other
--   name           name of the event
--   ts_us          start, us
--   dur_us         length, us; artificial for wait, set and barrier
--   pc_addr        program counter
--   code           source frames, innermost first, one a line
--   detail         operands
--   process_bytes  bytes processed
--   pair           identifier of a SET/WAIT pair
--   flags          1 no usable time, 2 ends before its start, 4 unmatched, 8 mended, 16 outside of the run
--   run_id         identifier of the run
--   started_at     start of the run, local time (ISO 8601)
--   operator       kernel name without _mix_aic/_mix_aiv, hash and tiling key; NULL when unknown
-- Example: SELECT pipe, name, ts_us, dur_us FROM trace_event_list WHERE kernel_id = 1 AND core = 'core0.veccore0'
SELECT
    e.kernel_id,
    e.trace_no,
    e.ordinal,
    l.core,
    l.pipe,
    e.phase,
    CASE e.kind
        WHEN 0 THEN 'work'
        WHEN 1 THEN 'wait'
        WHEN 2 THEN 'set'
        WHEN 3 THEN 'barrier'
        WHEN 4 THEN 'cache_head'
        WHEN 5 THEN 'ccu_head'
        WHEN 6 THEN 'marker'
        ELSE 'other'
    END AS kind,
    n.string AS name,
    e.ts_us,
    e.dur_us,
    e.pc_addr,
    c.string AS code,
    d.string AS detail,
    e.process_bytes,
    p.string AS pair,
    e.flags,
    k.run_id,
    k.started_at,
    k.operator
FROM kernel_overview AS k
CROSS JOIN trace_events AS e
INNER JOIN trace_lanes AS l ON l.kernel_id = e.kernel_id AND l.trace_no = e.trace_no AND l.lane = e.lane
LEFT JOIN trace_strings AS n ON n.kernel_id = e.kernel_id AND n.id = e.name_id
LEFT JOIN trace_strings AS c ON c.kernel_id = e.kernel_id AND c.id = e.code_id
LEFT JOIN trace_strings AS d ON d.kernel_id = e.kernel_id AND d.id = e.detail_id
LEFT JOIN trace_strings AS p ON p.kernel_id = e.kernel_id AND p.id = e.pair_id
WHERE e.kernel_id = k.kernel_id;
