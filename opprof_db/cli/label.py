"""``opprof-db label``."""

from __future__ import annotations

from typing import Annotated

import typer

from opprof_db.cli.common import DEFAULT_DB, DbOption, complete_run_or_kernel, writing

EPILOG = """Examples:

  opprof-db label kernel:7 tile=4096

  opprof-db label OPPROF_2026/MatMul/0 tile=4096 layout=nz

  opprof-db label last branch=main              a label on the whole run

  opprof-db label kernel:7 --remove tile"""


def label(
    target: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL|RUN",
            help="kernel:7, RUN/NAME[/LAUNCH], or a run.",
            autocompletion=complete_run_or_kernel,
        ),
    ],
    labels: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE…]", help="Labels to set.")] = None,
    remove: Annotated[list[str] | None, typer.Option(metavar="KEY", help="Label to take off; repeatable.")] = None,
    db: DbOption = DEFAULT_DB,
) -> None:
    """Put labels on a launch or a run, to tell the variants of a sweep apart."""
    from opprof_db.errors import UsageError
    from opprof_db.ingest.options import parse_labels
    from opprof_db.warehouse import labels as stored
    from opprof_db.warehouse.connection import transaction

    wanted = parse_labels(labels or [])
    if not wanted and not remove:
        raise UsageError("no label is given", "write key=value, or --remove key")
    with writing(db) as connection:
        subject = stored.subject_named(connection, target)
        with transaction(connection, db):
            stored.put(connection, subject, wanted)
            missing = stored.take_off(connection, subject, remove or [])
        now = stored.of(connection, subject)
    if missing:
        raise UsageError(f"{target} had no label {', '.join(missing)}")
    print(f"{subject}: " + (" ".join(f"{key}={value}" for key, value in now.items()) or "no labels"))
