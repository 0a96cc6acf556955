"""Checks of single option values: does the mode take the option, is the value in range."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from opprof_db.collect.catalogue import DEVICE, SIMULATOR, Option, catalogue
from opprof_db.collect.request import Remark, Request, Surroundings, refusal, warning


def check_values(request: Request, around: Surroundings) -> Iterator[Remark]:
    """Every option by itself."""
    known = catalogue().options
    for name, text in request.values.items():
        option = known.get(name)
        if option is None:
            near = get_close_matches(name, known, n=1)
            yield refusal(
                f"--{name}: not an option of msopprof that this program knows",
                f"did you mean --{near[0]}?" if near else f"pass it on unchecked with --extra {name}={text or 'VALUE'}",
            )
        elif request.mode in (DEVICE, SIMULATOR) and request.mode not in option.modes:
            other = option.modes[0]
            yield refusal(
                f"--{name} is an option of the {other} mode, this is a {request.mode} run: msopprof refuses it",
                f"leave it out, or use --mode {other}",
            )
        else:
            yield from _value(option, text, request, around)
    for text in request.extra:
        yield from _extra(text)


def _value(option: Option, text: str, request: Request, around: Surroundings) -> Iterator[Remark]:
    if not text:
        yield refusal(f"--{option.name} has no value", f"write --{option.name}={option.value}, or leave it out")
        return
    if option.max_length is not None and len(text) > option.max_length:
        yield refusal(
            f"--{option.name} has {len(text)} characters, msopprof takes {option.max_length}",
            "name fewer, or use '*' for common beginnings" if option.name == "kernel-name" else "name fewer",
        )
        return
    if option.kind == "integer":
        yield from _integer(option, text, f"--{option.name}")
    elif option.kind in ("switch", "choice"):
        choices = option.choices or ("on", "off")
        if text not in choices:
            yield refusal(f"--{option.name}={text}: not one of {', '.join(choices)}", f"write --{option.name}=…")
    elif option.kind == "names":
        yield from _names(option, text)
    elif option.kind == "list":
        for part in text.split("|"):
            if option.choices and part not in option.choices:
                yield refusal(
                    f"--{option.name}: {part!r} is none of {', '.join(option.choices)}", "join several with '|'"
                )
            elif not option.choices:
                yield from _integer(option, part, f"--{option.name}: {part!r}", "join several with '|'")
    elif option.kind == "metrics":
        yield from _metrics(text, request)
    elif option.kind in ("file", "folder"):
        yield from _path(option, around.folder / Path(text).expanduser())


def _integer(option: Option, text: str, head: str, remedy: str | None = None) -> Iterator[Remark]:
    between = f"a whole number from {option.min} to {option.max}"
    remedy = remedy or f"write --{option.name}=N, {between}"
    if not re.fullmatch(r"\d{1,9}", text, re.ASCII):
        yield refusal(f"{head} must be {between}, not {text!r}", remedy)
    elif not (option.min or 0) <= int(text) <= (option.max or 0):
        yield refusal(f"{head} must be {between}, not {int(text)}", remedy)


def _names(option: Option, text: str) -> Iterator[Remark]:
    for name in text.split("|"):
        if not re.fullmatch(option.characters or ".*", name, re.ASCII):
            shown = repr(name) if name else "an empty name"
            star = " and '*'" if "*" in (option.characters or "") else ""
            yield refusal(
                f"--{option.name}: {shown}; msopprof takes letters, digits, '_'{star}, names joined by '|'",
                "give the plain kernel name without namespace, template or blanks"
                + (", '*' for what cannot be written" if star else ""),
            )


def _metrics(text: str, request: Request) -> Iterator[Remark]:
    known = catalogue().metrics
    mode = request.mode or DEVICE
    if not [part for part in text.split(",") if part.strip()]:
        yield refusal("--aic-metrics names no metric set", "write for example --aic-metrics=Default, or use --goal")
    for part in (part.strip() for part in text.split(",")):
        metric = known.get(part.lower())
        if metric is None:
            if part:
                near = get_close_matches(part.lower(), known, n=1)
                yield refusal(
                    f"--aic-metrics: {part!r} is no metric set that this program knows",
                    f"did you mean {known[near[0]].name}? "
                    if near
                    else "`opprof-db collect goals` lists them; "
                    "a set of a newer msopprof goes with --extra aic-metrics=SETS",
                )
        elif mode not in metric.modes:
            yield refusal(
                f"--aic-metrics: {metric.name} exists only in the {metric.modes[0]} mode",
                f"leave it out, or use --mode {metric.modes[0]}",
            )


def _path(option: Option, path: Path) -> Iterator[Remark]:
    folder = option.kind == "folder"
    if not path.exists():
        yield refusal(f"--{option.name}: {path} does not exist", "check the path; blanks need quotes in the shell")
    elif path.is_dir() is not folder:
        wanted, found = ("a folder", "a file") if folder else ("a file", "a folder")
        yield refusal(f"--{option.name}: {path} is {found}, not {wanted}", f"name {wanted}")
    elif option.suffix and path.suffix != option.suffix:
        yield refusal(f"--{option.name}: {path.name} must end in {option.suffix}", f"rename it to *{option.suffix}")


def _extra(text: str) -> Iterator[Remark]:
    name, equals, _ = text.partition("=")
    if not equals or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        yield refusal(f"--extra {text!r}: not of the form NAME=VALUE", "write for example --extra new-option=on")
    else:
        yield warning(f"--{name} is passed on unchecked", "msopprof refuses what it does not know with exit code 255")
