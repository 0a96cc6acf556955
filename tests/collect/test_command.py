"""Command lines: tools and how they are called, wrappers, profiles, --print."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from opprof_db.collect import command, tools
from opprof_db.collect.profiles import load_profile
from opprof_db.collect.request import Request, Surroundings
from opprof_db.collect.settings import parse_duration, settle
from opprof_db.errors import InputError, UsageError
from tests.conftest import Cli


def made(path: Path, content: str = "#!/bin/sh\n", mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
    return path


def test_arguments_with_blanks_and_quotes_reach_the_application(tmp_path: Path) -> None:
    made(tmp_path / "op", '#!/bin/sh\nfor word in "$@"; do echo "<$word>"; done\n')
    words = ["./op", "a b", "it's", 'say "x"', "$HOME", "", "*", "back\\slash", "plain"]
    request = Request("device", Path("out"), application=tuple(words))
    built = command.build(request, Surroundings({}, tmp_path), tools.Tool(Path("/x/msopprof"), "PATH"))
    assert built.wrapper is not None
    assert built.words[-1] == str(built.wrapper.path)
    built.wrapper.write()
    # As msopprof does: joined by blanks, and split again.
    printed = subprocess.run(built.words[-1].split(" "), capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == [f"<{word}>" for word in words[1:]]


def test_plain_arguments_need_no_wrapper(tmp_path: Path) -> None:
    request = Request("device", Path("out"), application=("./op", "--size=4096x4096", "/data/in.bin"))
    built = command.build(request, Surroundings({}, tmp_path), tools.Tool(Path("/x/msopprof"), "PATH"))
    assert built.wrapper is None
    assert built.line == f"/x/msopprof --output={tmp_path}/out ./op --size=4096x4096 /data/in.bin"


@pytest.mark.parametrize(
    ("name", "mode", "beginning"),
    [
        ("msopprof", "device", ["msopprof"]),
        ("msopprof", "simulator", ["msopprof", "simulator"]),
        ("msprof", "device", ["msprof", "op"]),
        ("msprof", "simulator", ["msprof", "op", "simulator"]),
    ],
)
def test_each_tool_is_called_its_own_way(name: str, mode: str, beginning: list[str]) -> None:
    assert tools.Tool(Path(name), "PATH").beginning(mode) == beginning


def test_tools_are_found_on_path_then_below_cann(tmp_path: Path) -> None:
    on_path = made(tmp_path / "bin" / "msprof")
    home = made(tmp_path / "cann" / "bin" / "msopprof")
    toolkit = made(tmp_path / "kit" / "tools" / "profiler" / "bin" / "msprof")
    environment = {"PATH": str(on_path.parent), "ASCEND_HOME_PATH": str(tmp_path / "cann")}
    assert tools.find_tool(None, environment) == tools.Tool(on_path, "PATH")
    assert tools.find_tool(None, {**environment, "PATH": ""}) == tools.Tool(home, "ASCEND_HOME_PATH")
    found = tools.find_tool(None, {"PATH": "", "ASCEND_TOOLKIT_HOME": str(tmp_path / "kit")})
    assert found == tools.Tool(toolkit, "ASCEND_TOOLKIT_HOME")
    assert tools.find_tool(str(home), environment) == tools.Tool(home, "--tool")


def test_why_there_is_no_tool(tmp_path: Path) -> None:
    flat = made(tmp_path / "cann" / "bin" / "msopprof", mode=0o644)
    for given, environment, reason in (
        (None, {"PATH": ""}, "ASCEND_HOME_PATH and ASCEND_TOOLKIT_HOME are not set"),
        (None, {"PATH": "", "ASCEND_HOME_PATH": str(tmp_path / "cann")}, "is not executable"),
        (None, {"PATH": "", "ASCEND_HOME_PATH": "/none"}, "below ASCEND_HOME_PATH=/none"),
        (str(flat), {}, "is not executable"),
        ("/none/msopprof", {}, "does not exist"),
        (str(tmp_path), {}, "is a folder without"),
    ):
        found = tools.find_tool(given, environment)
        assert isinstance(found, tools.NotFound)
        assert reason in found.what


def test_the_command_line_goes_over_the_profile(tmp_path: Path) -> None:
    (tmp_path / "opprof.toml").write_text(
        '[profile.night]\nmode = "device"\ngoal = "bound"\noutput = "out"\nwarm-up = 10\nkill = true\n'
        'label = ["branch=main", "who=ci"]\napplication = ["./op", "1"]\n'
    )
    inner = tmp_path / "a" / "b"
    held = load_profile("night", None, inner, {})
    settings = settle({"warm-up": "3", "aic-metrics": "Memory"}, {"label": ["who=me"]}, held)
    assert settings.request.values == {"warm-up": "3", "kill": "on", "aic-metrics": "Memory"}
    assert settings.request.goal is None
    assert settings.request.application == ("./op", "1")
    assert settings.labels == ("branch=main", "who=me")


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        ("[profile.nigth]\n", UsageError, "did you mean nigth"),
        ("[profile.night]\nwarmup = 3\n", UsageError, "did you mean warm-up"),
        ('[profile.night]\nlabel = "a=b"\n', UsageError, "must be a list"),
        ("[profile.night]\nwarm-up = 1.5\n", UsageError, "a text or a whole number"),
        ("[profile\n", InputError, "not TOML"),
        ("profile = 3\n", InputError, "not a table"),
    ],
)
def test_profiles_that_do_not_work_say_why(tmp_path: Path, content: str, error: type, words: str) -> None:
    (tmp_path / "opprof.toml").write_text(content)
    with pytest.raises(error, match=words):
        load_profile("night", None, tmp_path, {"XDG_CONFIG_HOME": str(tmp_path)})


def test_durations() -> None:
    assert [parse_duration(text) for text in ("90", "90s", "1.5m", "2h")] == [90, 90, 90, 7200]
    for text in ("", "0", "soon", "-3", "5d"):
        with pytest.raises(UsageError):
            parse_duration(text)


def test_print_shows_the_line_and_runs_nothing(cli: Cli, tmp_path: Path) -> None:
    tool = made(tmp_path / "msprof", "#!/bin/sh\ntouch ran\n")
    made(tmp_path / "cli" / "op")
    shown = cli(
        "collect",
        "--mode",
        "device",
        "--output",
        "out",
        "--goal",
        "balance",
        "--tool",
        tool,
        "--print",
        "--",
        "./op",
        "7",
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == f"{tool} op --output={tmp_path}/cli/out --aic-metrics=Occupancy,Default ./op 7\n"
    assert not (tmp_path / "cli" / "ran").exists()
    assert not (tmp_path / "cli" / "out").exists()


def test_refusals_are_usage_errors_with_a_remedy(cli: Cli, tmp_path: Path) -> None:
    refused = cli("collect", "--mode", "simulator", "--output", "out", "--warm-up", "3", "--", "./none")
    assert refused.returncode == 2
    assert "refused: --warm-up is an option of the device mode" in refused.stderr
    assert "use --mode device" in refused.stderr
    assert "refused: the application ./none is not at" in refused.stderr
    assert refused.stdout == ""
