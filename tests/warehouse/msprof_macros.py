"""The joins that tools and skills around the msprof database copy to the front of their queries.

Written here in the same shape (source: the public skill ascend-profiler-db-explorer): tables, join conditions and
result columns are what matters to a database that wants to be asked this way.
"""

COMPUTE = """WITH compute_view AS (
    SELECT info.globalTaskId, round(task.endNs - task.startNs) AS duration_ns,
        kernel.value AS op_name, kind.value AS op_type
    FROM COMPUTE_TASK_INFO info
    LEFT JOIN TASK task ON task.globalTaskId = info.globalTaskId
    LEFT JOIN STRING_IDS kernel ON kernel.id = info.name
    LEFT JOIN STRING_IDS kind ON kind.id = info.opType
) """

COMMUNICATION = """WITH comm_view AS (
    SELECT round(op.endNs - op.startNs) AS duration_ns, name.value AS op_name,
        kind.value AS op_type, ranks.value AS group_name
    FROM COMMUNICATION_OP op
    LEFT JOIN STRING_IDS name ON name.id = op.opName
    LEFT JOIN STRING_IDS kind ON kind.id = op.opType
    LEFT JOIN STRING_IDS ranks ON ranks.id = op.groupName
) """

DISPATCH = """WITH dispatch_view AS (
    SELECT round(task.endNs - task.startNs) AS task_duration_ns, round(cann.endNs - cann.startNs) AS cann_duration_ns,
        round(torch.endNs - torch.startNs) AS pytorch_duration_ns, cann_name.value AS cann_api_name,
        torch_name.value AS pytorch_api_name, kind.value AS task_type
    FROM TASK task
    LEFT JOIN CANN_API cann ON cann.connectionId = task.connectionId
    LEFT JOIN CONNECTION_IDS link ON link.connectionId = task.connectionId
    LEFT JOIN PYTORCH_API torch ON torch.connectionId = link.id
    LEFT JOIN STRING_IDS cann_name ON cann_name.id = cann.name
    LEFT JOIN STRING_IDS torch_name ON torch_name.id = torch.name
    LEFT JOIN STRING_IDS kind ON kind.id = task.taskType
) """

METRICS = """WITH metric_view AS (
    SELECT pmu.globalTaskId, name.value AS metric, pmu.value
    FROM TASK_PMU_INFO pmu
    LEFT JOIN STRING_IDS name ON name.id = pmu.name
) """
