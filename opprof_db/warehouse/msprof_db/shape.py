"""Tables of the msprof database: names, columns, types and indexes, as documented and as its writer makes them.

Source: msprof profile_data_file_references_db.md and msprof_db.cpp; PYTORCH_API and CONNECTION_IDS: the
documentation of ascend_pytorch_profiler_*.db. The four ``*_summary`` tables are those of skills around msprof.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SchemaVersion(StrEnum):
    """What META_DATA declares. Names of block columns changed between the two."""

    BLOCK_DIM = "1.0.2"
    """The documentation's own example: COMPUTE_TASK_INFO holds blockDim and mixBlockDim."""
    BLOCK_NUM = "1.2.0"
    """msprof of 2026: blockNum and mixBlockNum, and new columns gridDim and blockDim (threads of SIMT kernels)."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: columns as ``name TYPE``, in order."""

    name: str
    columns: tuple[str, ...]
    index: tuple[str, ...] = ()
    """Name of an index and its columns."""

    def statements(self) -> list[str]:
        """CREATE statements: an ordinary table, not a STRICT one, as msprof's are."""
        made = [f"CREATE TABLE {self.name} ({', '.join(_quoted(column) for column in self.columns)})"]
        if self.index:
            name, *columns = self.index
            made.append(f"CREATE INDEX {name} ON {self.name} ({', '.join(columns)})")
        return made

    @property
    def insert(self) -> str:
        """INSERT statement with a mark per column."""
        return f"INSERT INTO {self.name} VALUES ({', '.join('?' * len(self.columns))})"


def _quoted(column: str) -> str:
    name, _, rest = column.partition(" ")
    return f'"{name}" {rest}'


def _integers(names: str) -> tuple[str, ...]:
    return tuple(f"{name} INTEGER" for name in names.split())


_SHAPES = (
    "inputFormats inputDataTypes inputShapes outputFormats outputDataTypes outputShapes attrInfo opState hf32Eligible"
)
_ENUM = ("id INTEGER PRIMARY KEY", "name TEXT")


def tables(version: SchemaVersion) -> dict[str, Table]:
    """Every table of an export, by name."""
    newer = version is SchemaVersion.BLOCK_NUM
    blocks, simt = ("blockNum mixBlockNum", " gridDim blockDim") if newer else ("blockDim mixBlockDim", "")
    made = (
        Table("STRING_IDS", ("id INTEGER PRIMARY KEY", "value TEXT")),
        Table(
            "TASK",
            _integers(
                "startNs endNs deviceId connectionId globalTaskId globalPid taskType contextId streamId taskId modelId"
            ),
            ("TaskIndex", "startNs", "globalTaskId"),
        ),
        Table(
            "COMPUTE_TASK_INFO",
            (
                "name INTEGER",
                "globalTaskId INTEGER PRIMARY KEY",
                *_integers(f"{blocks} taskType opType {_SHAPES}{simt}"),
            ),
        ),
        Table("TASK_PMU_INFO", ("globalTaskId INTEGER", "name INTEGER", "value NUMERIC")),
        Table("NPU_INFO", ("id INTEGER", "name TEXT")),
        Table("RANK_DEVICE_MAP", _integers("rankId deviceId")),
        Table("HOST_INFO", ("hostUid TEXT", "hostName TEXT")),
        Table("SESSION_TIME_INFO", _integers("startTimeNs endTimeNs")),
        Table("META_DATA", ("name TEXT", "value TEXT")),
        Table(
            "AICORE_FREQ",
            ("deviceId INTEGER", "timestampNs NUMERIC", "freq INTEGER", *(("dieId NUMERIC",) if newer else ())),
        ),
        Table(
            "CANN_API",
            (*_integers("startNs endNs type globalTid"), "connectionId INTEGER PRIMARY KEY", "name INTEGER"),
        ),
        Table(
            "COMMUNICATION_OP",
            (
                *_integers("opName startNs endNs connectionId groupName"),
                "opId INTEGER PRIMARY KEY",
                *_integers("relay retry dataType algType"),
                "count NUMERIC",
                *_integers("opType deviceId" + (" rankSize" if newer else "")),
            ),
        ),
        Table(
            "COMMUNICATION_TASK_INFO",
            (
                *_integers(
                    "name globalTaskId taskType planeId groupName notifyId rdmaType srcRank dstRank transportType size"
                    " dataType linkType opId isMaster"
                ),
                "bandwidth NUMERIC",
            ),
            ("CommunicationTaskIndex", "globalTaskId"),
        ),
        Table(
            "PYTORCH_API",
            _integers(
                "startNs endNs globalTid connectionId name sequenceNumber fwdThreadId inputDtypes inputShapes"
                " callchainId type"
            ),
        ),
        Table("CONNECTION_IDS", _integers("id connectionId")),
        Table(
            "task_summary",
            (
                "task_id INTEGER",
                "op_name TEXT",
                "kernel_name TEXT",
                "op_type TEXT",
                "total_time REAL",
                *_integers("start_ns end_ns device_id stream_id model_id step_id"),
                "step_name TEXT",
                *_integers("block_dim mix_block_dim"),
            ),
        ),
        Table(
            "op_summary",
            ("op_name TEXT", "op_type TEXT", "total_time REAL", *_integers("call_times task_id model_id")),
        ),
        Table("model_summary", (*_integers("model_id op_count call_times"), "total_time REAL")),
        Table(
            "step_summary",
            (
                "step_id INTEGER",
                "step_name TEXT",
                *_integers("model_id op_count call_times"),
                "total_time REAL",
                *_integers("start_ns end_ns"),
            ),
        ),
        *(Table(name, _ENUM) for name in ENUMS),
    )
    return {table.name: table for table in made}


_INVALID = {255: "RESERVED", 65534: "N/A", 65535: "INVALID_TYPE"}
_MODULES = (
    "0 SLOG 1 IDEDD 2 SCC 3 HCCL 4 FMK 5 CCU 6 DVPP 7 RUNTIME 8 CCE 9 HDC 10 DRV 11 NET 22 DEVMM 23 KERNEL 24 LIBMEDIA"
    " 25 CCECPU 27 ROS 28 HCCP 29 ROCE 30 TEFUSION 31 PROFILING 32 DP 33 APP 34 TS 35 TSDUMP 36 AICPU 37 LP 38 TDT"
    " 39 FE 40 MD 41 MB 42 ME 43 IMU 44 IMP 45 GE 47 CAMERA 48 ASCENDCL 49 TEEOS 50 ISP 51 SIS 52 HSM 53 DSS"
    " 54 PROCMGR 55 BBOX 56 AIVECTOR 57 TBE 58 FV 59 MDCMAP 60 TUNE 61 HSS 62 FFTS 63 OP 64 UDF 65 HICAID 66 TSYNC"
    " 67 AUDIO 68 TPRT 69 ASCENDCKERNEL 70 ASYS 71 ATRACE 72 RTC 73 SYSMONITOR 74 AMP 75 ADETECT 76 MBUFF 77 CUSTOM"
).split()

ENUMS: dict[str, dict[int, str]] = {
    "ENUM_API_TYPE": {
        20000: "acl",
        15000: "model",
        10000: "node",
        5500: "communication",
        5000: "runtime",
        50001: "op",
        50002: "queue",
        50003: "trace",
        50004: "mstx",
    },
    "ENUM_MODULE": {int(number): name for number, name in zip(_MODULES[::2], _MODULES[1::2], strict=True)},
    "ENUM_HCCL_DATA_TYPE": {
        **dict(enumerate("INT8 INT16 INT32 FP16 FP32 INT64 UINT64 UINT8 UINT16 UINT32 FP64 BFP16 INT128".split())),
        **_INVALID,
    },
    "ENUM_HCCL_LINK_TYPE": {
        **dict(enumerate("ON_CHIP HCCS PCIE ROCE SIO HCCS_SW STANDARD_ROCE".split())),
        **_INVALID,
    },
    "ENUM_HCCL_TRANSPORT_TYPE": {0: "SDMA", 1: "RDMA", 2: "LOCAL", **_INVALID},
    "ENUM_HCCL_RDMA_TYPE": {0: "RDMA_SEND_NOTIFY", 1: "RDMA_SEND_PAYLOAD", **_INVALID},
    "ENUM_MSTX_EVENT_TYPE": {0: "marker", 1: "push/pop", 2: "start/end", 3: "marker_ex"},
    "ENUM_MEMCPY_OPERATION": {
        0: "host to host",
        1: "host to device",
        2: "device to host",
        3: "device to device",
        4: "managed memory",
        5: "addr device to device",
        6: "host to device ex",
        7: "device to host ex",
        65535: "other",
    },
}
"""Contents of the tables that name numbers (source: msprof profile_data_file_references_db.md)."""
