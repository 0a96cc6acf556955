"""Tables of the msprof database as its public documentation describes them (Ascend/msprof, profile data file, db).

Only what tools that read such a file look for; enumerations with the values that documentation lists.
"""

from __future__ import annotations

TABLES: dict[str, str] = {
    "STRING_IDS": "id INTEGER PRIMARY KEY, value TEXT",
    "META_DATA": "name TEXT, value TEXT",
    "SESSION_TIME_INFO": "startTimeNs INTEGER, endTimeNs INTEGER",
    "HOST_INFO": "hostUid TEXT, hostName TEXT",
    "NPU_INFO": "id INTEGER, name TEXT",
    "RANK_DEVICE_MAP": "rankId INTEGER, deviceId INTEGER",
    "AICORE_FREQ": "deviceId INTEGER, timestampNs NUMERIC, freq INTEGER",
    "TASK": (
        "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER,"
        " globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER"
    ),
    "COMPUTE_TASK_INFO": (
        "name INTEGER, globalTaskId INTEGER PRIMARY KEY, {blocks} INTEGER, {mix_blocks} INTEGER, taskType INTEGER,"
        " opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER, outputFormats INTEGER,"
        " outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER, opState INTEGER, hf32Eligible INTEGER"
    ),
    "TASK_PMU_INFO": "globalTaskId INTEGER, name INTEGER, value NUMERIC",
    "COMMUNICATION_OP": (
        "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER,"
        " opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, count NUMERIC,"
        " opType INTEGER, deviceId INTEGER"
    ),
    "COMMUNICATION_TASK_INFO": (
        "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, groupName INTEGER, notifyId INTEGER,"
        " rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER, transportType INTEGER, size INTEGER, dataType INTEGER,"
        " linkType INTEGER, opId INTEGER, isMaster INTEGER, bandwidth NUMERIC"
    ),
    "CANN_API": (
        "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER PRIMARY KEY,"
        " name INTEGER"
    ),
    "PYTORCH_API": (
        "startNs INTEGER, endNs INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER,"
        " sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER,"
        " callchainId INTEGER, type INTEGER"
    ),
    "CONNECTION_IDS": "id INTEGER, connectionId INTEGER",
    "op_summary": (
        "op_name TEXT, op_type TEXT, total_time REAL, call_times INTEGER, task_id INTEGER, model_id INTEGER"
    ),
    "task_summary": (
        "task_id INTEGER, op_name TEXT, op_type TEXT, device_id INTEGER, start_time INTEGER, task_time REAL,"
        " block_dim INTEGER, model_id INTEGER"
    ),
    "model_summary": "model_id INTEGER, run_id INTEGER, model_name TEXT, total_time REAL, op_count INTEGER",
    "step_summary": ("step_id INTEGER, start_time INTEGER, end_time INTEGER, total_time REAL, op_count INTEGER"),
}

ENUMERATIONS: dict[str, dict[int, str]] = {
    "ENUM_API_TYPE": {
        20000: "acl", 15000: "model", 10000: "node", 5500: "communication", 5000: "runtime", 50001: "op",
        50002: "queue", 50003: "trace", 50004: "mstx",
    },
    "ENUM_HCCL_DATA_TYPE": {
        0: "INT8", 1: "INT16", 2: "INT32", 3: "FP16", 4: "FP32", 5: "INT64", 6: "UINT64", 7: "UINT8", 8: "UINT16",
        9: "UINT32", 10: "FP64", 11: "BFP16", 12: "INT128", 65534: "N/A", 65535: "INVALID_TYPE",
    },
    "ENUM_HCCL_LINK_TYPE": {
        0: "ON_CHIP", 1: "HCCS", 2: "PCIE", 3: "ROCE", 4: "SIO", 5: "HCCS_SW", 6: "STANDARD_ROCE", 7: "RESERVED",
        65534: "N/A", 65535: "INVALID_TYPE",
    },
    "ENUM_HCCL_TRANSPORT_TYPE": {0: "SDMA", 1: "RDMA", 2: "LOCAL", 65534: "N/A", 65535: "INVALID_TYPE"},
    "ENUM_HCCL_RDMA_TYPE": {
        0: "RDMA_SEND_NOTIFY", 1: "RDMA_SEND_PAYLOAD", 2: "RDMA_PAYLOAD_PREPARE", 3: "RDMA_PAYLOAD_CHECK",
        4: "RDMA_PAYLOAD_ACK", 5: "RDMA_SEND_OP", 65534: "N/A", 65535: "INVALID_TYPE",
    },
    "ENUM_MEMCPY_OPERATION": {
        0: "host to host", 1: "host to device", 2: "device to host", 3: "device to device", 4: "managed memory",
        5: "addr device to device", 6: "host to device ex", 7: "device to host ex", 65535: "other",
    },
    "ENUM_MODULE": {
        3: "HCCL", 7: "RUNTIME", 8: "CCE", 10: "DRV", 31: "PROFILING", 33: "APP", 34: "TS", 36: "AICPU", 45: "GE",
        48: "ASCENDCL", 56: "AIVECTOR", 63: "OP",
    },
    "ENUM_MSTX_EVENT_TYPE": {0: "marker", 1: "push/pop", 2: "start/end", 3: "marker_ex"},
}  # fmt: skip
"""The modules are those that concern operators; the documentation lists some seventy more."""

INDEXES = (
    "CREATE INDEX TaskIndex ON TASK (startNs, globalTaskId)",
    "CREATE INDEX TaskIdIndex ON TASK (globalTaskId)",
    "CREATE INDEX PmuTaskIndex ON TASK_PMU_INFO (globalTaskId)",
    "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)",
)

BLOCK_COLUMNS = {"1.1.0": ("blockDim", "mixBlockDim"), "1.2.0": ("blockNum", "mixBlockNum")}
"""Declared schema -> how COMPUTE_TASK_INFO spells the number of blocks."""
