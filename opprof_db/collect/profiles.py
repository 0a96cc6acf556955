"""Profiles: set-ups that are used again, in TOML.

    [profile.nightly]
    mode = "device"
    goal = "bound"
    output = "~/profiles"
    warm-up = 10
    label = ["branch=main"]
    application = ["./add_custom", "4096"]

Keys are the options' names; what the command line says goes first.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from opprof_db.collect.catalogue import catalogue
from opprof_db.errors import InputError, UsageError

FILE_NAME = "opprof.toml"
OWN_KEYS = (
    "mode", "output", "goal", "chip", "tool", "tool-version", "cann-version", "application", "label", "extra",
    "time-limit", "repeat",
)  # fmt: skip
_LISTS = ("application", "label", "extra")

Profile = Mapping[str, str | list[str]]


def places(folder: Path, environment: Mapping[str, str]) -> list[Path]:
    """Where profiles are looked for: opprof.toml here or above, then the user's own file."""
    config = environment.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    return [*(parent / FILE_NAME for parent in (folder, *folder.parents)), Path(config) / "opprof-db" / FILE_NAME]


def load_profile(name: str, file: Path | None, folder: Path, environment: Mapping[str, str]) -> Profile:
    """A profile by name.

    Raises:
        UsageError: no such profile, or a key that is none.
        InputError: the file cannot be read.
    """
    candidates = [file] if file is not None else [path for path in places(folder, environment) if path.is_file()]
    if not candidates:
        raise UsageError(
            f"no profile {name!r}: there is no {FILE_NAME} here, above, or in ~/.config/opprof-db",
            f'write one with a table [profile.{name}] and keys such as mode = "device", or use --profiles FILE',
        )
    known: list[str] = []
    for path in candidates:
        held = _read(path)
        if name in held:
            return _checked(held[name], name, path)
        known += held
    near = get_close_matches(name, known, n=1)
    raise UsageError(
        f"no profile {name!r} in {', '.join(map(str, candidates))}",
        f"did you mean {near[0]}?" if near else f"there are: {', '.join(known) or 'none'}",
    )


def _read(path: Path) -> dict[str, object]:
    try:
        parsed = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", "name the file with --profiles FILE") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}", "mend it; texts need quotes") from error
    profiles = parsed.get("profile", {})
    if not isinstance(profiles, dict):
        raise InputError(f"{path}: 'profile' is not a table", "write [profile.NAME]")
    return profiles


def _checked(held: object, name: str, path: Path) -> Profile:
    if not isinstance(held, dict):
        raise InputError(f"{path}: profile.{name} is not a table", f"write [profile.{name}]")
    options = catalogue().options
    made: dict[str, str | list[str]] = {}
    for key, value in held.items():
        if key not in options and key not in OWN_KEYS:
            near = get_close_matches(key, [*options, *OWN_KEYS], n=1)
            raise UsageError(
                f"{path}: profile.{name} has a key {key!r}, which is no option",
                f"did you mean {near[0]}?" if near else "keys are option names without dashes in front",
            )
        if key in _LISTS:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise UsageError(f"{path}: profile.{name}.{key} must be a list of texts", f'write {key} = ["…", "…"]')
            made[key] = value
        elif isinstance(value, bool):
            made[key] = "on" if value else "off"
        elif isinstance(value, str | int):
            made[key] = str(value)
        else:
            raise UsageError(f"{path}: profile.{name}.{key} must be a text or a whole number")
    return made


def names(folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Every profile there is, for completion; files that cannot be read have none."""
    found: list[str] = []
    for path in places(folder, environment):
        try:
            found += _read(path) if path.is_file() else []
        except InputError:
            continue
    return sorted(set(found))
