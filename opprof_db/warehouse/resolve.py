"""How people name things: a run by id, name or unique prefix; a kernel as kernel:7 or RUN/NAME[/LAUNCH]."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Iterable

from opprof_db.errors import UsageError

LAST = "last"
KERNEL_PREFIX = "kernel:"
_SHOWN = 5


def looks_like_kernel(text: str) -> bool:
    """Whether a name means a kernel rather than a run."""
    return text.startswith(KERNEL_PREFIX) or "/" in text.strip("/")


def run_id(connection: sqlite3.Connection, text: str) -> int:
    """The run somebody means: ``last``, an id, a name, or the unique beginning of a name.

    Raises:
        UsageError: no such run, or several.
    """
    if text == LAST:
        row = connection.execute("SELECT id FROM runs ORDER BY started_at IS NULL, started_at DESC, id DESC").fetchone()
        if row is None:
            raise UsageError("the warehouse holds no runs yet", "take some in with `opprof-db ingest PATH`")
        return int(row[0])
    if text.isdecimal() and text.isascii():
        row = connection.execute("SELECT id FROM runs WHERE id = ?", (_small(text),)).fetchone()
        if row is None:
            raise UsageError(f"no run has the id {text}", _range_hint(connection))
        return int(row[0])
    names: dict[int, set[str]] = {}
    for identifier, name, path in connection.execute(
        "SELECT r.id, r.name, l.path FROM runs r LEFT JOIN run_locations l ON l.run_id = r.id"
    ):
        names.setdefault(int(identifier), {name}).add((path or name).rpartition("/")[2])
    exact = sorted(identifier for identifier, known in names.items() if text in known)
    if exact:
        return _only(exact, f"runs are called {text!r}")
    beginning = sorted(
        identifier for identifier, known in names.items() if any(name.startswith(text) for name in known)
    )
    if beginning and text:
        return _only(beginning, f"runs begin with {text!r}")
    if looks_like_kernel(text):
        raise UsageError(f"{text!r} names a launch, a run is wanted", f"write {text.partition('/')[0]!r}")
    raise UsageError(
        f"no run is called {text!r}",
        did_you_mean(text, {name for known in names.values() for name in known}) or "`opprof-db runs` lists them",
    )


def kernel_id(connection: sqlite3.Connection, text: str) -> int:
    """The launch somebody means: ``kernel:7`` or ``RUN/NAME[/LAUNCH]``.

    Raises:
        UsageError: no such kernel, or several.
    """
    if text.startswith(KERNEL_PREFIX):
        number = text[len(KERNEL_PREFIX) :]
        if number.isdecimal() and number.isascii():
            row = connection.execute("SELECT id FROM kernels WHERE id = ?", (_small(number),)).fetchone()
            if row is not None:
                return int(row[0])
        raise UsageError(f"there is no {text}", "`opprof-db kernels` lists them with their ids")
    parts = [part for part in text.split("/") if part]
    if len(parts) not in (2, 3):
        raise UsageError(f"{text!r} names no kernel", "write kernel:7 or RUN/NAME[/LAUNCH]")
    run = run_id(connection, parts[0])
    found = kernels_named(connection, run, parts[1])
    if len(parts) == 3:
        found = [(identifier, launch) for identifier, launch in found if str(launch) == parts[2]]
        if not found:
            raise UsageError(
                f"{parts[0]}/{parts[1]} has no launch {parts[2]}",
                f"`opprof-db kernels {parts[0]}` lists them",
            )
    return _only([identifier for identifier, _ in found], f"launches match {text!r}", KERNEL_PREFIX)


def only_kernel(connection: sqlite3.Connection, text: str) -> int:
    """The launch somebody means; the name of a run with a single launch does too.

    Raises:
        UsageError: no such kernel, or several.
    """
    if looks_like_kernel(text):
        return kernel_id(connection, text)
    run = run_id(connection, text)
    found = [row[0] for row in connection.execute("SELECT id FROM kernels WHERE run_id = ? ORDER BY id", (run,))]
    return _only(found, f"launches are in run {text!r}", KERNEL_PREFIX)


def operator_named(connection: sqlite3.Connection, text: str) -> tuple[str, int | None]:
    """The operator somebody means, as ``kernel_overview`` names it: by its name, its unique beginning, or a launch.

    Returns the launch too where one was named.

    Raises:
        UsageError: no such operator, or several begin so.
    """
    names = [
        row[0]
        for row in connection.execute(
            "SELECT DISTINCT coalesce(o.name, k.folder_name) AS operator FROM kernels AS k"
            " LEFT JOIN operators AS o ON o.id = k.operator_id ORDER BY operator"
        )
        if row[0] is not None
    ]
    if text in names:
        return text, None
    beginning = [name for name in names if text and name.startswith(text)]
    if len(beginning) == 1:
        return beginning[0], None
    if beginning:
        shown = ", ".join(beginning[:_SHOWN]) + (", …" if len(beginning) > _SHOWN else "")
        raise UsageError(f"{len(beginning)} operators begin with {text!r}: {shown}", "write more of the name")
    if looks_like_kernel(text):
        identifier = kernel_id(connection, text)
        row = connection.execute(
            "SELECT coalesce(o.name, k.folder_name) FROM kernels AS k"
            " LEFT JOIN operators AS o ON o.id = k.operator_id WHERE k.id = ?",
            (identifier,),
        ).fetchone()
        if row[0] is None:
            raise UsageError(f"kernel:{identifier} records no name", "name it at ingest: --kernel NAME")
        return row[0], identifier
    raise UsageError(
        f"no operator is called {text!r}", did_you_mean(text, names) or "`opprof-db kernels` lists the launches"
    )


def kernels_named(connection: sqlite3.Connection, run: int, name: str) -> list[tuple[int, int | None]]:
    """Launches (id, launch index) of a run whose kernel is called so, or begins so."""
    rows = connection.execute(
        "SELECT k.id, k.launch_index, k.name, o.name, k.folder_name FROM kernels k"
        " LEFT JOIN operators o ON o.id = k.operator_id WHERE k.run_id = ? ORDER BY k.id",
        (run,),
    ).fetchall()
    for matches in (str.__eq__, str.startswith):
        found = [(row[0], row[1]) for row in rows if any(known and matches(known, name) for known in row[2:])]
        if found:
            return found
    known = {text for row in rows for text in row[2:] if text}
    raise UsageError(
        f"the run has no kernel {name!r}",
        did_you_mean(name, known) or f"`opprof-db kernels {run}` lists them",
    )


def did_you_mean(text: str, known: Iterable[str]) -> str | None:
    """A hint with the closest names, or ``None``."""
    lowered: dict[str, str] = {}
    for name in known:
        lowered.setdefault(name.lower(), name)
    close = difflib.get_close_matches(text.lower(), lowered, n=3, cutoff=0.6)
    close += [name for name in lowered if text and text.lower() in name and name not in close][: 3 - len(close)]
    return f"did you mean {' or '.join(lowered[name] for name in close)}?" if close else None


def _only(found: list[int], what: str, prefix: str = "") -> int:
    if len(found) == 1:
        return found[0]
    shown = ", ".join(f"{prefix}{identifier}" for identifier in found[:_SHOWN])
    more = ", …" if len(found) > _SHOWN else ""
    raise UsageError(f"{len(found)} {what}: {shown}{more}", "name one by its id")


def _small(text: str) -> int:
    """An id that fits SQLite; a longer number matches nothing."""
    return int(text) if len(text) <= 18 else -1


def _range_hint(connection: sqlite3.Connection) -> str:
    low, high = connection.execute("SELECT min(id), max(id) FROM runs").fetchone()
    if low is None:
        return "the warehouse holds no runs yet"
    return f"ids run from {low} to {high}; `opprof-db runs` lists them"
