"""The smallest device runs that make a point: one or two CSVs, a few cells each."""

from __future__ import annotations

from pathlib import Path

BASIC_HEADER = "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,Rated Freq,"
PIPE_HEADER = "block_id,sub_block_id,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,"


def basic_info(name: str = "k", duration: str = "5.000000", *, pid: int = 1, device: int = 0) -> str:
    """An OpBasicInfo.csv."""
    return f"{BASIC_HEADER}\n{name},vector,{duration},8,NA,{device},{pid},1800,1800,\n"


def pipe(*times: float) -> str:
    """A PipeUtilization.csv of a vector kernel, one core per time."""
    rows = "".join(
        f"{block},vector0,{time:f},{round(time * 1800)},{time / 2:f},0.500000,\n" for block, time in enumerate(times)
    )
    return f"{PIPE_HEADER}\n{rows}"


def write(folder: Path, **files: str) -> Path:
    """Write one CSV per keyword, the keyword being the family."""
    folder.mkdir(parents=True, exist_ok=True)
    for family, text in files.items():
        (folder / f"{family}.csv").write_text(text)
    return folder


def run(folder: Path, duration: str = "5.000000", *times: float, name: str = "k", pid: int = 1) -> Path:
    """A run of two files."""
    return write(
        folder,
        OpBasicInfo=basic_info(name, duration, pid=pid),
        PipeUtilization=pipe(*(times or (4.0, 4.5))),
    )


def stamped(folder: Path, stamp: str, duration: str = "5.000000", *, device: int = 0, name: str = "k") -> Path:
    """A launch folder as msopprof names its files in runs of several kernels."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"OpBasicInfo_{stamp}.csv").write_text(basic_info(name, duration, device=device))
    (folder / f"PipeUtilization_{stamp}.csv").write_text(pipe(4.0))
    return folder
