"""``opprof-db report …``: pages to read; ``opprof-db report RUN`` is short for ``opprof-db report run RUN``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from opprof_db.cli.common import DEFAULT_DB, DbOption, complete_run_or_kernel, reading
from opprof_db.cli.diagnose import complete_profile
from opprof_db.cli.output import note

if TYPE_CHECKING:
    from opprof_db.report.page import Options

EPILOG = """Examples:

  opprof-db report last                        writes report.html about the newest run

  opprof-db report 3 -o cummin.html

  opprof-db report kernel:7 -o kernel.html     only this launch

  opprof-db report last -o out/run.html --assets directory

  opprof-db report last --format markdown      the four sections of the profiling workflow, to stdout or -o report.md

Where the time goes, why, and what to try; then every figure, down to a core, an instruction and a source line. The
file opens offline: style, script and plotly are in it, or beside it with --assets directory."""

DEFAULT_COMMAND = "run"


class DefaultGroup(TyperGroup):
    """A group whose first word need not name a command: anything else is a run."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before what names none; ``--help`` alone is the group's."""
        helps = set(ctx.help_option_names)
        if args and args[0] not in self.commands and not (helps & {args[0]} and len(args) == 1):
            args = [DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Commands, and what the default command's argument may be."""
        argument = next(item for item in self.commands[DEFAULT_COMMAND].params if item.param_type_name == "argument")
        return [*super().shell_complete(ctx, incomplete), *argument.shell_complete(ctx, incomplete)]


app = typer.Typer(
    cls=DefaultGroup,
    help="Reports to read: HTML pages of a run. 'report RUN' is short for 'report run RUN'.",
    no_args_is_help=True,
    epilog=EPILOG,
)

OutputOption = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="File to write; an existing one is replaced.")
]
RunOutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="File to write; an existing one is replaced. Default: report.html; Markdown goes to stdout.",
    ),
]
FormatOption = Annotated[
    str,
    typer.Option(
        "--format",
        "-f",
        metavar="html|markdown",
        help="A page to open, or Markdown with the four fixed sections of the profiling workflow.",
        autocompletion=lambda: ["html", "markdown"],
    ),
]
AssetsOption = Annotated[
    str,
    typer.Option(
        "--assets",
        metavar="inline|directory",
        help="Style and scripts within the page, or in a folder beside it that many pages share.",
        autocompletion=lambda: ["inline", "directory"],
    ),
]
TemplateOption = Annotated[
    Path | None,
    typer.Option("--template", metavar="DIR", help="Folder with Jinja templates of your own; see report-context.md."),
]
ShowPathsOption = Annotated[
    bool, typer.Option("--show-paths", help="Keep absolute paths; else only their last parts are shown.")
]


def page_options(assets: str, template: Path | None, show_paths: bool) -> Options:
    """What every HTML report takes.

    Raises:
        UsageError: an unknown word.
    """
    from opprof_db.errors import UsageError
    from opprof_db.report.assets import Assets
    from opprof_db.report.page import Options

    if assets not in set(Assets):
        raise UsageError(f"--assets {assets}: unknown", "write inline or directory")
    return Options(Assets(assets), show_paths, template)


def refuse_warehouse(output: Path, db: Path) -> None:
    """A report never replaces the warehouse, nor anything that is no file.

    Raises:
        UsageError: it would.
    """
    from opprof_db.errors import UsageError

    if output.is_dir():
        raise UsageError(f"{output} is a folder", "give a file with -o, such as report.html")
    if output.exists() and db.exists() and output.samefile(db):
        raise UsageError(f"{output} is the warehouse", "give another file with -o")


@app.command("run", epilog=EPILOG)
def run(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RUN|KERNEL",
            help="Run: id, name, unique prefix or 'last'; or kernel:7, RUN/NAME[/LAUNCH].",
            autocompletion=complete_run_or_kernel,
        ),
    ],
    db: DbOption = DEFAULT_DB,
    output: RunOutputOption = None,
    style: FormatOption = "html",
    profile: Annotated[
        str,
        typer.Option("--profile", help="Which rules: default, strict, or upstream.", autocompletion=complete_profile),
    ] = "default",
    assets: AssetsOption = "inline",
    template: TemplateOption = None,
    show_paths: ShowPathsOption = False,
) -> None:
    """Write the report of a run: where the time goes, why, and what to try."""
    from opprof_db.errors import UsageError
    from opprof_db.warehouse import resolve

    if style not in ("html", "markdown"):
        raise UsageError(f"--format {style}: unknown", "write html or markdown")
    options = page_options(assets, template, show_paths)
    target_file = output or (Path("report.html") if style == "html" else None)
    if target_file is not None:
        refuse_warehouse(target_file, db)
    with reading(db) as connection:
        kernel = resolve.kernel_id(connection, target) if resolve.looks_like_kernel(target) else None
        if kernel is None:
            run_id = resolve.run_id(connection, target)
        else:
            run_id = connection.execute("SELECT run_id FROM kernels WHERE id = ?", (kernel,)).fetchone()[0]
        if style == "markdown":
            from opprof_db.report import markdown

            text = markdown.render(connection, run_id, options, kernel_id=kernel, profile=profile)
        else:
            from opprof_db.report import run_report

            text = run_report.render(connection, run_id, options, kernel_id=kernel, profile=profile)
    if target_file is None:
        print(text, end="")
    elif style == "markdown":
        from opprof_db.scratch import new_file

        with new_file(target_file) as part:
            part.write_text(text, encoding="utf-8")
        note(f"{target_file} written")
    else:
        from opprof_db.report import page

        page.write(text, target_file, options)
        note(f"{target_file} written")
