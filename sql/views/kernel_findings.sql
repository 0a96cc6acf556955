-- Findings of stored diagnoses with the kernel's names, the most important of each kernel first.
-- Stored by `opprof-db diagnose`; rules_version tells whether the rules have changed since.
-- Grain: kernel, profile, outcome of a rule
-- Columns:
--   kernel_id          identifier of the launch
--   run_id             identifier of the run
--   run                folder name of the run
--   started_at         start of the run, local time (ISO 8601)
--   operator           kernel name without _mix_aic/_mix_aiv, hash and tiling key
--   duration_us        task duration, us
--   profile            profile of the rule set: default, strict or upstream
--   position           rank within the kernel, 0 being the most important
--   rule               identifier of the rule
--   outcome            finding, no_problem or could_not_look
--   severity           critical, high, medium, low or info
--   confidence         high, medium or low
--   title              what the finding is called
--   sentence           what it means, with the figures in it
--   core               the core it is about; NULL for the kernel
--   recoverable_us     upper bound of the time at stake, us; NULL where nothing supports an estimate
--   recoverable_share  recoverable_us / duration_us (0..1)
--   recoverable_why    how it was reckoned
--   rules_version      version of the rule set that said so
--   diagnosed_at       when, UTC (ISO 8601)
-- Example: SELECT operator, rule, sentence FROM kernel_findings WHERE outcome = 'finding' AND position = 0 LIMIT 10
SELECT
    k.kernel_id,
    k.run_id,
    k.run,
    k.started_at,
    k.operator,
    k.duration_us,
    f.profile,
    f.position,
    f.rule,
    f.outcome,
    f.severity,
    f.confidence,
    f.title,
    f.sentence,
    f.core,
    f.recoverable_us,
    f.recoverable_us / nullif(k.duration_us, 0) AS recoverable_share,
    f.recoverable_why,
    d.rules_version,
    d.diagnosed_at
FROM kernel_overview AS k
CROSS JOIN findings AS f
INNER JOIN diagnoses AS d ON d.kernel_id = f.kernel_id AND d.profile = f.profile
WHERE f.kernel_id = k.kernel_id;
