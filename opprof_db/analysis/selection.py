"""What somebody names as one side of a comparison: a run, a launch, a label, a baseline."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import Literal

from opprof_db.errors import UsageError
from opprof_db.warehouse import resolve

_LABEL = re.compile(r"(?P<key>[A-Za-z_][A-Za-z0-9_.-]*)=(?P<value>.+)")
_LABELLED = """
SELECT k.id FROM kernels AS k
LEFT JOIN kernel_labels AS l ON l.kernel_id = k.id AND l.key = :key
LEFT JOIN run_conditions AS c ON c.run_id = k.run_id AND c.kind = 'label' AND c.key = :key
WHERE coalesce(l.value, c.value) = :value ORDER BY k.id"""


@dataclass(frozen=True, slots=True)
class Selection:
    """The launches of one side."""

    text: str
    """As it was named."""
    kind: Literal["run", "kernel", "label", "baseline"]
    kernel_ids: tuple[int, ...]


def selected(connection: sqlite3.Connection, text: str) -> Selection:
    """The launches somebody means: a run, ``kernel:7``, ``RUN/NAME[/LAUNCH]``, or a label such as ``branch=main``.

    Raises:
        UsageError: nothing, or not one thing, is called so.
    """
    label = _LABEL.fullmatch(text)
    if label is not None:
        ids = [row[0] for row in connection.execute(_LABELLED, label.groupdict())]
        if not ids:
            raise UsageError(f"no launch is labelled {text!r}", "`opprof-db label RUN KEY=VALUE` sets labels")
        return Selection(text, "label", tuple(ids))
    if resolve.looks_like_kernel(text):
        return Selection(text, "kernel", tuple(_launches(connection, text)))
    run = resolve.run_id(connection, text)
    ids = [row[0] for row in connection.execute("SELECT id FROM kernels WHERE run_id = ? ORDER BY id", (run,))]
    if not ids:
        raise UsageError(f"run {text!r} holds no launch", "`opprof-db runs` says what is missing")
    return Selection(text, "run", tuple(ids))


def baseline(connection: sqlite3.Connection, name: str) -> Selection:
    """The launches of a baseline.

    Raises:
        UsageError: there is none of that name, or its runs were forgotten.
    """
    names = [row[0] for row in connection.execute("SELECT name FROM baselines ORDER BY name")]
    if name not in names:
        raise UsageError(
            f"there is no baseline {name!r}", resolve.did_you_mean(name, names) or "`opprof-db baseline list`"
        )
    sql = "SELECT kernel_id FROM baseline_kernels WHERE name = ? ORDER BY kernel_id"
    ids = [row[0] for row in connection.execute(sql, (name,))]
    if not ids:
        raise UsageError(
            f"the runs of baseline {name!r} were forgotten", f"set it again: opprof-db baseline set {name} RUN"
        )
    return Selection(name, "baseline", tuple(ids))


def _launches(connection: sqlite3.Connection, text: str) -> list[int]:
    parts = [part for part in text.split("/") if part]
    if text.startswith(resolve.KERNEL_PREFIX) or len(parts) != 2:
        return [resolve.kernel_id(connection, text)]
    return [found for found, _ in resolve.kernels_named(connection, resolve.run_id(connection, parts[0]), parts[1])]
