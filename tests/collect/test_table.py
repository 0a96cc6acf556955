"""Option combinations, each with its command line or the refusal and its reason."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from opprof_db.collect import checking, command
from opprof_db.collect.catalogue import catalogue
from opprof_db.collect.request import Request, Surroundings
from opprof_db.collect.settings import settle
from opprof_db.collect.tools import Tool

NAMES = "a" * 1022


@dataclass(frozen=True)
class Case:
    """Options as typed (``name=value`` …), what comes out, and parts of what is said."""

    mode: str
    typed: str
    line: str | None = None
    """Words behind the output option; None: refused."""
    says: tuple[str, ...] = ()
    application: str = "./op"


def ok(mode: str, typed: str, line: str | None = None, *says: str, application: str = "./op") -> Case:
    """Runs; ``line`` is given where it is not the options as typed and the application."""
    if line is None:
        words = [
            f"--{word}" for word in typed.split() if word.partition("=")[0] not in ("chip", "tool-version", "goal")
        ]
        line = " ".join([*words, application])
    return Case(mode, typed, line, says, application)


def no(mode: str, typed: str, *says: str, application: str = "./op") -> Case:
    """Refused."""
    return Case(mode, typed, None, says, application)


D, S = "device", "simulator"
B2 = "soc-version=Ascend910B2"
CASES = [
    # plain
    ok(D, ""),
    ok(S, B2),
    ok(S, "", None, "no --soc-version"),
    ok(D, "config=op.json", "--config={here}/op.json", application=""),
    ok(S, "config=op.json", "--config={here}/op.json", application=""),
    ok(S, "export=raw", "--export={here}/raw", "no --soc-version", application=""),
    no(D, "", "nothing to profile", application=""),
    no(S, "", "nothing to profile", "--export", application=""),
    no(D, "config=op.json", "an application and --config exclude each other"),
    no(S, f"{B2} export=raw", "an application and --export exclude each other"),
    no(S, "config=op.json export=raw", "--config and --export exclude each other", application=""),
    no(D, "config=nothing.json", "does not exist", application=""),
    no(D, "config=raw", "is a folder, not a file", application=""),
    no(S, "export=op.json", "is a file, not a folder", application=""),
    no("both", "", "not a mode"),
    # the other mode's options
    no(D, "soc-version=Ascend910B2", "option of the simulator mode"),
    no(D, "timeout=5", "option of the simulator mode"),
    no(D, "export=raw", "option of the simulator mode", application=""),
    no(S, f"{B2} warm-up=5", "option of the device mode"),
    no(S, f"{B2} replay-mode=kernel", "option of the device mode"),
    no(S, f"{B2} kill=on", "option of the device mode"),
    no(S, f"{B2} launch-skip-before-match=1", "option of the device mode"),
    no(S, f"{B2} instr-timeline-pipe=cube", "option of the device mode"),
    no(S, f"{B2} custom-input=op.json", "option of the device mode"),
    # ranges
    ok(D, "launch-count=1"),
    ok(D, "launch-count=5000"),
    no(D, "launch-count=0", "from 1 to 5000"),
    no(D, "launch-count=5001", "from 1 to 5000"),
    no(D, "launch-count=many", "not 'many'"),
    no(D, "launch-count=-1", "not '-1'"),
    ok(S, f"{B2} launch-count=3"),
    ok(D, "launch-skip-before-match=0"),
    ok(D, "launch-skip-before-match=1000"),
    no(D, "launch-skip-before-match=1001", "from 0 to 1000"),
    ok(D, "warm-up=0"),
    ok(D, "warm-up=500"),
    no(D, "warm-up=501", "from 0 to 500"),
    ok(S, f"{B2} timeout=1"),
    ok(S, f"{B2} timeout=2880"),
    no(S, f"{B2} timeout=0", "from 1 to 2880"),
    no(S, f"{B2} timeout=2881", "from 1 to 2880"),
    no(D, "launch-count=", "has no value"),
    # switches and choices
    ok(D, "kill=on"),
    no(D, "kill=yes", "not one of on, off"),
    ok(D, "mstx=off"),
    no(D, "mstx=1", "not one of on, off"),
    no(D, "replay-mode=all", "not one of kernel, application, range"),
    ok(D, "custom-input=op.json", "--custom-input={here}/op.json ./op"),
    no(D, "custom-input=op", "must end in .json"),
    # names
    ok(D, "kernel-name=add*|mul_1"),
    ok(D, f"kernel-name={NAMES}"),
    no(D, f"kernel-name={NAMES}a", "1023 characters"),
    no(D, "kernel-name=ns::add", "letters, digits"),
    no(D, "kernel-name=a||b", "an empty name"),
    no(D, "config=op.json kernel-name=add", "only goes with an application", application=""),
    ok(S, f"{B2} kernel-name=add", None, "older simulators refuse it"),
    ok(S, f"{B2} kernel-name=add tool-version=2026-08-21"),
    ok(D, "mstx=on mstx-include=loop|tail"),
    no(D, "mstx-include=loop", "needs --mstx=on"),
    no(D, "mstx=on mstx-include=lo*p", "letters, digits"),
    # metric sets
    ok(D, "aic-metrics=Default"),
    ok(D, "aic-metrics=pipeutilization,MEMORY", "--aic-metrics=PipeUtilization,Memory ./op"),
    ok(D, "aic-metrics=Memory,MemoryL0,MemoryUB,L2Cache,ArithmeticUtilization,ResourceConflictRatio"),
    ok(D, "aic-metrics=Roofline chip=Ascend310P3", "--aic-metrics=Roofline ./op"),
    ok(D, "aic-metrics=BasicInfo", None, "alone writes no metric CSV"),
    ok(D, "aic-metrics=Occupancy", None, "use --aic-metrics=Occupancy,Default"),
    ok(D, "aic-metrics=Source", None, "alone writes no metric CSV"),
    ok(D, "aic-metrics=TimelineDetail", None, "alone writes no metric CSV"),
    ok(D, "aic-metrics=TimelineDetail,Default"),
    ok(D, "aic-metrics=MemoryDetail"),
    ok(D, "aic-metrics=KernelScale", None, "KernelScale changes"),
    ok(D, "aic-metrics=PcSampling,Default chip=Ascend950PR_9599", "--aic-metrics=PcSampling,Default ./op"),
    ok(D, "aic-metrics=PipeTimeline,Default"),
    no(D, "aic-metrics=PipeTimeline,InstrTimeline,Default", "exclude each other"),
    no(D, "aic-metrics=PcSampling,Default chip=Ascend910B3", "does not exist on the 910B, only on 950"),
    no(D, "aic-metrics=MemoryDetail chip=Ascend310P3", "does not exist on the 310P"),
    no(D, "aic-metrics=PipeUtilisation", "did you mean PipeUtilization?"),
    no(D, "aic-metrics=,", "names no metric set"),
    no(D, "aic-metrics=Overhead", "only in the simulator mode"),
    no(D, "aic-metrics=" + ",".join(["PipeUtilization"] * 13), "207 characters"),
    ok(S, f"{B2} aic-metrics=PipeUtilization", None, "without ResourceConflictRatio"),
    ok(S, f"{B2} aic-metrics=PipeUtilization,ResourceConflictRatio,PMSampling,Overhead"),
    no(S, f"{B2} aic-metrics=Default", "only in the device mode"),
    no(S, "soc-version=Ascend310P3 aic-metrics=PMSampling,ResourceConflictRatio", "does not exist on the 310P"),
    no(S, "soc-version=Ascend950PR_9599 aic-metrics=Overhead,ResourceConflictRatio", "does not exist on the 950"),
    ok(D, "instr-timeline-pipe=cube|mte2 aic-metrics=InstrTimeline,Default",
       "--aic-metrics=InstrTimeline,Default --instr-timeline-pipe=cube|mte2 ./op"),
    no(D, "instr-timeline-pipe=cube", "pipes of InstrTimeline, which is not collected"),
    no(D, "aic-metrics=InstrTimeline,Default instr-timeline-pipe=scalar", "'scalar' is none of"),
    # goals
    ok(D, "goal=time", "--aic-metrics=PipeUtilization ./op"),
    ok(D, "goal=bound", "--aic-metrics=Roofline,Default ./op"),
    ok(D, "goal=balance", "--aic-metrics=Occupancy,Default ./op"),
    ok(D, "goal=memory", "--aic-metrics=MemoryDetail,Default ./op"),
    ok(D, "goal=memory chip=Ascend310P3", "--aic-metrics=Default ./op"),
    ok(D, "goal=source", "--aic-metrics=Source,Default ./op"),
    ok(D, "goal=pipeline", "--aic-metrics=TimelineDetail,Default ./op"),
    ok(S, f"{B2} goal=pipeline", f"--{B2} --aic-metrics=PipeUtilization,ResourceConflictRatio ./op"),
    no(S, f"{B2} goal=time", "it measures no time"),
    no(S, f"{B2} goal=balance", "no shared L2"),
    no(D, "goal=balance chip=Ascend310P3", "the goal balance needs it"),
    no(D, "goal=speed", "not a goal"),
    no(D, "goal=time aic-metrics=Memory", "both choose the metric sets"),
    # replay
    ok(D, "replay-mode=kernel"),
    ok(D, "replay-mode=application", None, "does not flush the L2"),
    no(D, "replay-mode=application aic-metrics=TimelineDetail,Default", "excludes TimelineDetail"),
    ok(D, "replay-mode=range mstx=on chip=Ascend910B3"),
    ok(D, "replay-mode=range mstx=on", None, "the chip is not known"),
    no(D, "replay-mode=range", "needs --mstx=on"),
    no(D, "replay-mode=range mstx=on aic-metrics=Source,Default", "excludes Source"),
    no(D, "replay-mode=range mstx=on aic-metrics=MemoryDetail", "excludes MemoryDetail"),
    no(D, "replay-mode=range mstx=on aic-metrics=Roofline chip=Ascend950PR_9599", "excludes Roofline"),
    ok(D, "aic-metrics=Roofline replay-mode=range mstx=on chip=Ascend910B3"),
    ok(D, "aic-metrics=Roofline replay-mode=range mstx=on", None, "on the 950, and the chip is not known"),
    no(D, "replay-mode=range mstx=on chip=Ascend310P3", "does not exist on the 310P"),
    ok(D, "replay-mode=range kill=on mstx=on chip=Ascend910B3", None, "--kill=on is discouraged"),
    ok(D, "replay-mode=range warm-up=0 mstx=on chip=Ascend910B3", None, "--warm-up=0 is discouraged"),
    # cores and dump
    ok(D, "aic-metrics=TimelineDetail,Default core-id=0|31"),
    ok(D, "core-id=0", None, "refuse it, older ones ignore it"),
    no(D, "core-id=0 tool-version=2026-08-13", "refuses it since 2026-08-13"),
    ok(D, "core-id=0 tool-version=2026-08-01", None, "only works with TimelineDetail"),
    ok(D, "aic-metrics=TimelineDetail,Default dump=on chip=Ascend910B3"),
    no(D, "aic-metrics=TimelineDetail,Default dump=on chip=Ascend950PR_9599", "910B and 910_93 only"),
    ok(D, "dump=on", None, "--dump on the device only works with TimelineDetail"),
    ok(D, "dump=off"),
    ok(S, f"{B2} core-id=0|49"),
    no(S, f"{B2} core-id=50", "from 0 to 49"),
    no(S, f"{B2} core-id=0,1", "'0,1'"),
    ok(S, f"{B2} dump=on"),
    no(S, "soc-version=Ascend310P3 dump=on", "910B and 910_93 only"),
    # chips of the simulator
    no(S, "soc-version=Ascend910B2 config=op.json", "exclude each other", application=""),
    no(S, "soc-version=Ascend910B9", "not installed"),
    ok(S, "soc-version=Ascend950PR_9599"),
    no(S, "soc-version=../910B", "not a name"),
    # applications
    no(D, "", "is not at", application="./nothing"),
    no(D, "", "is a folder", application="./raw"),
    no(D, "", "is not executable", application="./op.json"),
    no(D, "", "begins with a dash", application="-x"),
    no(D, "warmup=3", "did you mean --warm-up?"),
]  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("machine")
    (folder / "raw").mkdir()
    (folder / "op.json").write_text("{}")
    for name in ("op", "cann/bin/msopprof"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    for name in ("Ascend910B2", "Ascend310P3"):
        (folder / "cann" / "tools" / "simulator" / name).mkdir(parents=True)
    return folder


def request_of(case: Case) -> Request:
    given = dict(word.split("=", 1) for word in case.typed.split())
    known = {"mode", "output", "goal", "chip", "tool-version"}
    settled = settle(
        {**given, "mode": case.mode, "output": "out"}, {"application": shlex.split(case.application)}, {}
    ).request
    stray = {key: value for key, value in given.items() if key not in known and key not in settled.values}
    return Request(
        **{**{slot: getattr(settled, slot) for slot in Request.__slots__}, "values": {**settled.values, **stray}}
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.mode} {case.typed[:60]} {case.application}")
def test_command_line_or_refusal(case: Case, here: Path) -> None:
    tool = Tool(here / "cann/bin/msopprof", "PATH")
    around = Surroundings({"PATH": "/nowhere", "ASCEND_HOME_PATH": str(here / "cann")}, here, tool)
    request = request_of(case)
    remarks = checking.check(request, around)
    said = " / ".join(f"{remark.what} -> {remark.remedy}" for remark in remarks)
    for part in case.says:
        assert part in said
    assert all(remark.what and remark.remedy for remark in remarks)
    refused = [remark for remark in remarks if remark.refuses]
    if case.line is None:
        assert len(refused) == 1, said
        assert case.says
        return
    assert not refused, said
    assert bool(remarks) == bool(case.says), said
    words = command.build(request, around, tool).words
    beginning = [str(tool.path), *(["simulator"] if case.mode == S else []), f"--output={here}/out"]
    assert list(words[: len(beginning)]) == beginning
    expected = case.line.replace("{here}", str(here)).split()
    options = [word for word in expected if word.startswith("--")]
    assert sorted(words[len(beginning) :]) == sorted(expected)
    assert all("=" in word for word in options)
    assert "--" not in words


def test_the_table_has_every_option_and_metric_set() -> None:
    text = " ".join(case.typed for case in CASES)
    assert len(CASES) >= 80
    assert {name for name in catalogue().options if f"{name}=" not in text} == set()
    assert {
        one.name for one in catalogue().metrics.values() if one.name not in text and one.name.lower() not in text
    } == set()
    assert {name for name in catalogue().goals if f"goal={name}" not in text} == set()
