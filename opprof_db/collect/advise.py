"""Which mode answers what one wants to know."""

from __future__ import annotations

from dataclasses import dataclass

DEVICE_WANTS = {
    "time": "the real task duration",
    "bandwidth": "real bandwidths, with all cores at once",
    "l2": "L2 hits and misses",
    "balance": "how the real cores share the work",
}
SIMULATOR_WANTS = {
    "pipeline": "instructions and pipes over time, who waits for whom",
    "bubbles": "the holes between the instructions of a pipe",
    "source": "cycles of every source line and instruction",
}
WANTS = (*DEVICE_WANTS, *SIMULATOR_WANTS)


@dataclass(frozen=True, slots=True)
class Advice:
    """A mode, why, and what the other would give."""

    mode: str
    """device, simulator or both."""
    why: tuple[str, ...]
    other: str
    command: str


def advise(hardware: bool, wants: list[str]) -> Advice:
    """The mode for a machine and wishes (of WANTS; none: the usual start)."""
    on_device = [want for want in wants if want in DEVICE_WANTS]
    simulated = [want for want in wants if want in SIMULATOR_WANTS]
    device_line = "opprof-db collect --mode device --output out --goal bound -- ./my_operator"
    simulator_line = "opprof-db collect --mode simulator --soc-version Ascend910B2 --output out -- ./my_operator"
    gives_device = f"the device would give {', '.join(DEVICE_WANTS.values())}"
    gives_simulator = f"the simulator would give {', '.join(SIMULATOR_WANTS.values())}"
    if not hardware:
        why = ["without an NPU only the simulator runs"]
        why += [f"it cannot show {DEVICE_WANTS[want]}: its memory is a model" for want in on_device]
        why += [f"it shows {SIMULATOR_WANTS[want]}" for want in simulated]
        return Advice("simulator", tuple(why), gives_device, simulator_line)
    if on_device and simulated:
        why = [f"the device for {DEVICE_WANTS[want]}" for want in on_device]
        why += [f"the simulator for {SIMULATOR_WANTS[want]}" for want in simulated]
        line = "opprof-db collect --both --chip Ascend910B2 --output out -- ./my_operator"
        return Advice("both", tuple(why), "either alone leaves out what the other is for", line)
    if simulated:
        why = [f"it shows {SIMULATOR_WANTS[want]}" for want in simulated]
        why.append("simulate small shapes: it is far slower than the chip")
        return Advice("simulator", tuple(why), gives_device, simulator_line)
    why = [f"it measures {DEVICE_WANTS[want]}" for want in on_device] or ["start with real time and what bounds it"]
    return Advice("device", tuple(why), gives_simulator, device_line)
