"""A test double of msopprof's command line, and of nothing else: it profiles nothing and measures nothing.

Writes a file that behaves as documented: takes --output, prints progress, leaves a folder with a real layout.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.shared import ROOT

RUN = ROOT / "examples/out/before/OPPROF_20260512093015_KQWJXZPLMVNRTYBD"

SCRIPT = '''#!{python}
"""Test double of msopprof: the command line only."""
import os, shutil, signal, sys, time
from pathlib import Path
behaviour = {behaviour!r}
options = [word for word in sys.argv[1:] if word.startswith("--")]
if any("=" not in word for word in options):
    print("[ERROR] unexpected argument"); sys.exit(255)
output = Path(next(word for word in options if word.startswith("--output=")).partition("=")[2])
name = "OPPROF_20260601120000_" + "".join(chr(65 + byte % 26) for byte in os.urandom(16))
print("[INFO] profiling 1%", flush=True)
asked = []
if behaviour == "ignores":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
else:
    signal.signal(signal.SIGINT, lambda *_: asked.append(1))
def write():
    shutil.copytree({run!r}, output / name)
    basics = output / name / "OpBasicInfo.csv"
    duration = f"20{{time.time_ns() % 100:02d}}.{{time.time_ns() % 10**6:06d}}"
    basics.write_text(basics.read_text().replace("2049.780029", duration))
if behaviour == "nothing":
    print("[ERROR] no kernel was launched"); sys.exit(0)
if behaviour == "gbk":
    sys.stdout.buffer.write("\\u89e3\\u6790\\u5931\\u8d25\\n".encode("gbk")); sys.exit(0)
if behaviour == "failed parsing":
    (output / name / "dump").mkdir(parents=True); print("[ERROR] parse failed"); sys.exit(0)
if behaviour in ("partial", "ignores"):
    (output / name).mkdir(parents=True)
    (output / name / "OpBasicInfo.csv").write_text("Op Name,Op Type,Task Du")
if behaviour in ("partial", "ignores", "long"):
    end = time.time() + 60
    while time.time() < end and not (asked and behaviour == "long"):
        time.sleep(0.02)
    print("[INFO] parsing what is there", flush=True)
    if behaviour != "long":
        sys.exit(0)
write()
print("[INFO] done", flush=True)
if behaviour == "crash":
    os.abort()
'''


def write_standin(path: Path, behaviour: str = "good") -> Path:
    """The double as an executable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SCRIPT.format(python=sys.executable, run=str(RUN), behaviour=behaviour))
    path.chmod(0o755)
    return path
