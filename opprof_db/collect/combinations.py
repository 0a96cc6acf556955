"""Checks of options against each other, against the mode and the chip.

Refused is what upstream's argument checker refuses for certain; what depends on a build or chip that
is not known is only said (source: msopprof arg_checker.cpp).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from opprof_db.collect.catalogue import DEVICE, SIMULATOR, catalogue
from opprof_db.collect.request import Remark, Request, refusal, warning
from opprof_db.ingest.chip import family_of_soc

TIMELINE_REQUIRED_SINCE = "2026-08-13"
"""Build from which --dump and --core-id on the device need TimelineDetail."""
_MINIMUM_KERNEL_NAME = "--kernel-name: older simulators refuse it, and the version of this one is not known"


def check_combinations(request: Request) -> Iterator[Remark]:
    """Every rule about more than one option."""
    yield from _subject(request)
    yield from _goal(request)
    if request.chip and family_of_soc(request.chip) is None:
        yield warning(
            f"--chip {request.chip}: not a chip this program knows; nothing is checked against it",
            "write for example --chip Ascend910B3, as `npu-smi info` names it",
        )
    if request.mode not in (DEVICE, SIMULATOR):
        return
    yield from _metric_sets(request)
    yield from _marks(request)
    if request.mode == DEVICE:
        yield from _replay(request)
        yield from _instr_timeline(request)
        yield from _device_dump(request)
    else:
        yield from _simulated(request)


def _subject(request: Request) -> Iterator[Remark]:
    """Mode, output, and exactly one of application, config, export."""
    if request.mode is None:
        yield refusal(
            "no mode is given", "add --mode device (a real NPU) or --mode simulator; `opprof-db collect advise` helps"
        )
    elif request.mode not in (DEVICE, SIMULATOR):
        yield refusal(f"--mode {request.mode}: not a mode", "use --mode device or --mode simulator")
    if request.output is None:
        yield refusal("no output folder is given", "add --output DIR; each run gets a folder of its own in it")
    given = [f"--{name}" for name in ("config", "export") if name in request.values]
    if request.application:
        given.insert(0, "an application")
    choices = "an application, --config FILE" + ("" if request.mode == DEVICE else " or, simulated, --export DIR")
    if not given:
        yield refusal(f"nothing to profile: give {choices}", "for example: … -- ./my_operator 1024")
    elif len(given) > 1:
        yield refusal(f"{' and '.join(given)} exclude each other: msopprof takes exactly one", "leave out all but one")
    if "kernel-name" in request.values and not request.application:
        yield refusal(
            "--kernel-name only goes with an application: --config and --export name their kernel", "leave it out"
        )
    if request.application and request.application[0].startswith("-"):
        yield refusal(
            f"the application begins with a dash ({request.application[0]}): msopprof would take it for an option",
            "write the path, as ./" + request.application[0],
        )


def _goal(request: Request) -> Iterator[Remark]:
    if request.goal is None:
        return
    goals = catalogue().goals
    goal = goals.get(request.goal)
    if goal is None:
        near = get_close_matches(request.goal, goals, n=1)
        also = f"did you mean {near[0]}? " if near else ""
        yield refusal(f"--goal {request.goal}: not a goal", f"{also}one of {', '.join(goals)}")
        return
    if "aic-metrics" in request.values:
        yield refusal("--goal and --aic-metrics both choose the metric sets", "leave out one of them")
    if request.mode == SIMULATOR and not goal.simulator:
        yield refusal(f"--goal {goal.name}: {goal.refuse}", "use --mode device, or --goal pipeline")


def _metric_sets(request: Request) -> Iterator[Remark]:
    known = catalogue().metrics
    sets = [known[name.lower()] for name in request.asked_sets if name.lower() in known]
    sets = [one for one in sets if request.mode in one.modes]
    names = {one.name for one in sets}
    mode, family = request.mode or DEVICE, request.family
    for one in sets:
        if family is not None and not one.on(mode, family):
            yield refusal(
                f"--aic-metrics: {one.name} does not exist on the {family}, only on {', '.join(one.chips[mode])}",
                "leave it out" + (f" (the goal {request.goal} needs it)" if request.goal else ""),
            )
    if {"PipeTimeline", "InstrTimeline"} <= names:
        yield refusal("--aic-metrics: PipeTimeline and InstrTimeline exclude each other", "collect them in two runs")
    bare = [one.name for one in sets if not one.alone]
    if sets and len(bare) == len(sets):
        yield warning(
            f"--aic-metrics={','.join(bare)} alone writes no metric CSV",
            f"use --aic-metrics={','.join(bare)},Default",
        )
    if "KernelScale" in names:
        yield warning(
            "KernelScale changes what ratios of mix kernels are divided by (each core's own cycles): such runs do not "
            "compare with runs without it",
            "use it for all runs of a comparison, or for none",
        )
    if mode == SIMULATOR and names and "ResourceConflictRatio" not in names and family != "310B":
        yield warning(
            "without ResourceConflictRatio the simulator records no flags: waits between pipes are hidden",
            f"use --aic-metrics={','.join([one.name for one in sets])},ResourceConflictRatio",
        )


def _marks(request: Request) -> Iterator[Remark]:
    if "mstx-include" in request.values and request.values.get("mstx") != "on":
        yield refusal("--mstx-include needs --mstx=on: without it no mark is looked at", "add --mstx on")


def _replay(request: Request) -> Iterator[Remark]:
    replay = request.values.get("replay-mode")
    if replay == "application":
        if request.has_set("TimelineDetail"):
            yield refusal(
                "--replay-mode=application excludes TimelineDetail: msopprof refuses the two together",
                "use --replay-mode kernel, or leave TimelineDetail out",
            )
        yield warning(
            "--replay-mode=application does not flush the L2 cache between replays: L2 figures differ",
            "do not compare its L2 figures with those of --replay-mode kernel",
        )
    if replay == "range":
        yield from _range(request)


def _range(request: Request) -> Iterator[Remark]:
    if request.values.get("mstx") != "on":
        yield refusal("--replay-mode=range replays what mstx marks: it needs --mstx=on", "add --mstx on")
    excluded = ["TimelineDetail", "Source", "MemoryDetail"]
    on_950 = ["PcSampling", "Roofline", "PipeTimeline", "InstrTimeline"]
    # PcSampling implies Source; where the user named PcSampling, that is what to say.
    asked = {name.lower() for name in request.effective_sets}
    clash = [name for name in excluded if name.lower() in asked]
    only_950 = [name for name in on_950 if name.lower() in asked]
    if clash or (only_950 and request.family == "950"):
        yield refusal(
            f"--replay-mode=range excludes {', '.join(clash + only_950)}: msopprof refuses them together",
            "use --replay-mode kernel, or leave them out",
        )
    elif only_950 and request.family is None:
        yield warning(
            f"--replay-mode=range excludes {', '.join(only_950)} on the 950, and the chip is not known",
            "name the chip with --chip, or use --replay-mode kernel",
        )
    if request.family in ("310P", "310B"):
        yield refusal(
            f"--replay-mode=range does not exist on the {request.family}, only on 910B and 950",
            "use --replay-mode kernel or application",
        )
    elif request.family not in ("910B", "950"):
        yield warning(
            "--replay-mode=range exists on 910B and 950 only"
            + (f", this is a {request.family}" if request.family else ", and the chip is not known"),
            "use --replay-mode kernel elsewhere",
        )
    if request.values.get("kill") == "on":
        yield warning("--kill=on is discouraged with --replay-mode=range: the range may be cut off", "leave it out")
    if request.values.get("warm-up") == "0":
        yield warning("--warm-up=0 is discouraged with --replay-mode=range: the clock is not settled", "leave it out")


def _instr_timeline(request: Request) -> Iterator[Remark]:
    if "instr-timeline-pipe" in request.values and not request.has_set("InstrTimeline"):
        yield refusal(
            "--instr-timeline-pipe chooses pipes of InstrTimeline, which is not collected",
            "add --aic-metrics=InstrTimeline,Default",
        )


def _device_dump(request: Request) -> Iterator[Remark]:
    dump = request.values.get("dump") == "on"
    if dump and request.family not in (None, "910B", "910_93"):
        yield refusal(
            f"--dump=on exists on 910B and 910_93 only, this is a {request.family}", "leave it out, or use --dump off"
        )
    for option in ("core-id", *(["dump"] if dump else [])):
        if option not in request.values or request.has_set("TimelineDetail"):
            continue
        what = f"--{option} on the device only works with TimelineDetail"
        remedy = "add --aic-metrics=TimelineDetail,Default, or leave it out"
        built = _build_date(request.tool_version)
        if built is not None and built >= TIMELINE_REQUIRED_SINCE:
            yield refusal(f"{what}: msopprof refuses it since {TIMELINE_REQUIRED_SINCE}", remedy)
        else:
            yield warning(f"{what}: builds since {TIMELINE_REQUIRED_SINCE} refuse it, older ones ignore it", remedy)
    if "core-id" in request.values and request.family in ("310P", "310B"):
        yield refusal(f"--core-id does not exist on the {request.family} as a device", "leave it out")


def _simulated(request: Request) -> Iterator[Remark]:
    if "soc-version" in request.values and "config" in request.values:
        yield refusal(
            "--soc-version and --config exclude each other: the file names the chip", "leave --soc-version out"
        )
    if "soc-version" not in request.values and "config" not in request.values:
        yield warning(
            "no --soc-version: msopprof takes the simulator in LD_LIBRARY_PATH, else the runtime's, else Ascend910B1",
            "add --soc-version NAME, so that the run says which chip it is about",
        )
    if request.values.get("dump") == "on" and request.family not in (None, "910B", "910_93"):
        yield refusal(
            f"--dump=on simulates 910B and 910_93 only, this is a {request.family}", "leave it out, or use --dump off"
        )
    if "kernel-name" in request.values and _build_date(request.tool_version) is None:
        yield warning(_MINIMUM_KERNEL_NAME, "leave it out if msopprof ends with exit code 255")


def _build_date(version: str | None) -> str | None:
    found = re.search(r"\d{4}-\d{2}-\d{2}", version or "")
    return found[0] if found else None
