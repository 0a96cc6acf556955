"""``opprof-db collect``: msopprof with checks before, and ingest behind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from opprof_db.cli.common import DEFAULT_DB, DbOption
from opprof_db.cli.output import Format, note, print_rows, shown

if TYPE_CHECKING:
    from opprof_db.collect.request import Remark

EPILOG = """Examples:

  opprof-db collect --mode device --output out --goal bound -- ./add_custom 4096

  opprof-db collect --mode simulator --soc-version Ascend910B2 --output out -- ./add_custom

  opprof-db collect --mode device --output out --print -- ./add_custom      only show the command line

  opprof-db collect --profile nightly                                       a set-up from opprof.toml

  opprof-db collect advise                                                  which mode?

  opprof-db collect goals                                                   what to collect for which question

Options of msopprof keep their names. What cannot work is refused before anything runs (exit code 2), with the
remedy; doubts are only said."""


class RunByDefault(TyperGroup):
    """A group whose own options and application belong to ``run``, unless a sub-command is named."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put ``run`` in front of everything that is no sub-command."""
        if not args or args[0] not in self.commands:
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=RunByDefault, help="Run msopprof with checks before and ingest behind; advise on what to run.")


def complete_mode(incomplete: str) -> list[str]:
    """Shell completion for modes."""
    from opprof_db.collect.catalogue import MODES

    return [name for name in MODES if name.startswith(incomplete)]


def complete_goal(incomplete: str) -> list[str]:
    """Shell completion for goals."""
    from opprof_db.collect.catalogue import catalogue

    return [name for name in catalogue().goals if name.startswith(incomplete)]


def complete_sets(incomplete: str) -> list[str]:
    """Shell completion for metric sets, behind a comma too."""
    from opprof_db.collect.catalogue import catalogue

    before, comma, last = incomplete.rpartition(",")
    return [
        before + comma + one.name for one in catalogue().metrics.values() if one.name.lower().startswith(last.lower())
    ]


def complete_profile(incomplete: str) -> list[str]:
    """Shell completion for profiles."""
    import os

    from opprof_db.collect.profiles import names

    return [name for name in names(Path.cwd(), os.environ) if name.startswith(incomplete)]


Text = str | None


@app.command("run", epilog=EPILOG)
def run(
    application: Annotated[
        list[str] | None, typer.Argument(metavar="[--] APPLICATION [ARG…]", help="What is profiled, with arguments.")
    ] = None,
    mode: Annotated[
        Text,
        typer.Option(metavar="device|simulator", help="A real NPU, or the simulator.", autocompletion=complete_mode),
    ] = None,
    output: Annotated[Text, typer.Option(metavar="DIR", help="Folder that gets a folder for each run.")] = None,
    goal: Annotated[
        Text,
        typer.Option(metavar="GOAL", help="What you want to know: chooses the sets.", autocompletion=complete_goal),
    ] = None,
    aic_metrics: Annotated[
        Text, typer.Option(metavar="SETS", help="Metric sets, joined by commas.", autocompletion=complete_sets)
    ] = None,
    profile: Annotated[
        Text, typer.Option(metavar="NAME", help="Set-up in opprof.toml.", autocompletion=complete_profile)
    ] = None,
    profiles: Annotated[
        Path | None, typer.Option("--profiles", metavar="FILE", help="Where the profile is, if not in opprof.toml.")
    ] = None,
    config: Annotated[Text, typer.Option(metavar="FILE", help="JSON that describes the operator.")] = None,
    export: Annotated[
        Text, typer.Option(metavar="DIR", help="Simulator: parse the raw data of an earlier run.")
    ] = None,
    soc_version: Annotated[Text, typer.Option(metavar="NAME", help="Simulator: chip, such as Ascend910B2.")] = None,
    kernel_name: Annotated[Text, typer.Option(metavar="NAMES", help="Only these kernels: 'a|b*'.")] = None,
    launch_count: Annotated[Text, typer.Option(metavar="N", help="At most so many launches, 1 to 5000.")] = None,
    launch_skip_before_match: Annotated[
        Text, typer.Option(metavar="N", help="Device: launches to let pass first, 0 to 1000.")
    ] = None,
    replay_mode: Annotated[
        Text, typer.Option(metavar="kernel|application|range", help="Device: what is run again.")
    ] = None,
    kill: Annotated[Text, typer.Option(metavar="on|off", help="Device: end the application when done.")] = None,
    warm_up: Annotated[Text, typer.Option(metavar="N", help="Device: launches before measuring, 0 to 500.")] = None,
    instr_timeline_pipe: Annotated[
        Text, typer.Option(metavar="PIPES", help="Device: pipes of InstrTimeline: 'cube|mte2'.")
    ] = None,
    custom_input: Annotated[Text, typer.Option(metavar="FILE.json", help="Device: inputs of the operator.")] = None,
    mstx: Annotated[Text, typer.Option(metavar="on|off", help="Only what mstx marks.")] = None,
    mstx_include: Annotated[Text, typer.Option(metavar="NAMES", help="Only these marks: 'a|b'.")] = None,
    core_id: Annotated[Text, typer.Option(metavar="CORES", help="Only these cores: '0|31'.")] = None,
    timeout: Annotated[Text, typer.Option(metavar="MINUTES", help="Simulator: its own limit, 1 to 2880.")] = None,
    dump: Annotated[Text, typer.Option(metavar="on|off", help="Keep the raw data.")] = None,
    extra: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Option of a newer msopprof, passed on unchecked; repeatable."),
    ] = None,
    chip: Annotated[Text, typer.Option(metavar="NAME", help="Chip of this machine: Ascend910B3; for checks.")] = None,
    tool: Annotated[Text, typer.Option(metavar="PATH", help="msopprof or msprof, if not on PATH or in CANN.")] = None,
    tool_version: Annotated[Text, typer.Option(help="Version or build date of msopprof.")] = None,
    cann_version: Annotated[Text, typer.Option(help="CANN version, if its files do not say.")] = None,
    label: Annotated[
        list[str] | None, typer.Option("--label", "-l", metavar="KEY=VALUE", help="Label on each run; repeatable.")
    ] = None,
    time_limit: Annotated[Text, typer.Option(metavar="TIME", help="Stop each run after so long: 90s, 10m, 2h.")] = None,
    repeat: Annotated[Text, typer.Option(metavar="N", help="Run so often; launch statistics at the end.")] = None,
    both: Annotated[bool, typer.Option("--both", help="Device, then simulator, then the two side by side.")] = False,
    no_ingest: Annotated[bool, typer.Option("--no-ingest", help="Only run; print the new folders.")] = False,
    db: DbOption = DEFAULT_DB,
    print_only: Annotated[bool, typer.Option("--print", help="Show the exact command line, run nothing.")] = False,
) -> None:
    """Run msopprof: checked before it starts, taken into the warehouse when it is done."""
    import os

    from opprof_db.collect import checking, command, tools
    from opprof_db.collect.both import in_mode
    from opprof_db.collect.catalogue import MODES
    from opprof_db.collect.profiles import load_profile
    from opprof_db.collect.request import Surroundings
    from opprof_db.collect.settings import settle

    here = Path.cwd()
    held = load_profile(profile, profiles, here, os.environ) if profile else {}
    settings = settle(
        {
            "mode": mode,
            "output": output,
            "goal": goal,
            "aic-metrics": aic_metrics,
            "config": config,
            "export": export,
            "soc-version": soc_version,
            "kernel-name": kernel_name,
            "launch-count": launch_count,
            "launch-skip-before-match": launch_skip_before_match,
            "replay-mode": replay_mode,
            "kill": kill,
            "warm-up": warm_up,
            "instr-timeline-pipe": instr_timeline_pipe,
            "custom-input": custom_input,
            "mstx": mstx,
            "mstx-include": mstx_include,
            "core-id": core_id,
            "timeout": timeout,
            "dump": dump,
            "chip": chip,
            "tool": tool,
            "tool-version": tool_version,
            "cann-version": cann_version,
            "time-limit": time_limit,
            "repeat": repeat,
        },
        {"application": application or [], "extra": extra or [], "label": label or []},
        held,
    )
    found = tools.find_tool(settings.tool, os.environ)
    usable = found if isinstance(found, tools.Tool) else None
    around = Surroundings(tool=usable)
    requests = [in_mode(settings.request, one) for one in MODES] if both else [settings.request]
    remarks = list(dict.fromkeys(remark for one in requests for remark in checking.check(one, around)))
    if isinstance(found, tools.NotFound):
        remarks.insert(0, checking.missing_tool(found, doubt=print_only and settings.tool is None))
    _say(remarks)
    if any(remark.refuses for remark in remarks):
        raise typer.Exit(2)
    if print_only:
        shown_tool = usable or tools.Tool(Path("msopprof"), "nowhere")
        for request in requests:
            print(command.build(request, around, shown_tool).script())
        return
    from opprof_db.cli.collect_run import collect_all

    collect_all(db, requests, settings, around, take_in=not no_ingest)


def _say(remarks: list[Remark]) -> None:
    for remark in remarks:
        note(f"{'refused' if remark.refuses else 'warning'}: {shown(remark.what)}\n  {shown(remark.remedy)}")


@app.command("goals")
def goals(
    style: Annotated[Format, typer.Option("--format", "-f", help="How rows are printed.")] = Format.TABLE,
) -> None:
    """What to collect for which question, in the order of tuning."""
    from opprof_db.collect.catalogue import catalogue

    columns = ("goal", "question", "device", "simulator", "meaning")
    rows = [
        (
            one.name,
            one.question,
            one.device,
            one.simulator or None,
            one.why if one.simulator else f"{one.why} Not simulated: {one.refuse}.",
        )
        for one in catalogue().goals.values()
    ]
    print_rows(columns, rows, style)


@app.command("advise")
def advise(
    hardware: Annotated[
        bool | None, typer.Option("--hardware/--no-hardware", help="Whether there is an NPU; else it is looked for.")
    ] = None,
    want: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT", help="time, bandwidth, l2, balance, pipeline, bubbles, source; repeatable."),
    ] = None,
) -> None:
    """Which mode to use for what you want to know, and what the other would give."""
    from opprof_db.collect import advise as advisor
    from opprof_db.errors import UsageError

    for one in want or []:
        if one not in advisor.WANTS:
            raise UsageError(f"--want {one}: not something to want here", f"one of {', '.join(advisor.WANTS)}")
    there = any(Path("/dev").glob("davinci[0-9]*")) if hardware is None else hardware
    advice = advisor.advise(there, want or [])
    print(f"mode: {advice.mode}" + ("" if hardware is not None else f" ({'an' if there else 'no'} NPU was found here)"))
    for reason in advice.why:
        print(f"  {reason}")
    print(f"other: {advice.other}\n\n  {advice.command}")
