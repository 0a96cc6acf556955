"""``opprof-db rules``."""

from __future__ import annotations

from typing import Annotated

import typer

from opprof_db.cli.common import FormatOption
from opprof_db.cli.diagnose import complete_profile, complete_rule
from opprof_db.cli.output import Format, print_object, print_rows

EPILOG = """Examples:

  opprof-db rules                            every rule in reading order

  opprof-db rules small_transfers            one, with thresholds, advice and source

  opprof-db rules --profile upstream --format json

docs/diagnosis.md has all of them in full."""


def rules(
    rule: Annotated[
        str | None, typer.Argument(metavar="[RULE]", help="Show this one in full.", autocompletion=complete_rule)
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", help="Only rules of this profile.", autocompletion=complete_profile)
    ] = None,
    style: FormatOption = Format.TABLE,
) -> None:
    """List the rules of diagnose, or show one."""
    from opprof_db.analysis.rules import rule_set

    held = rule_set()
    if rule is not None:
        one = held.find(rule)
        facts = {
            "rule": one.id,
            "title": one.title,
            "family": one.family,
            "profiles": ", ".join(one.profiles),
            "sentence": one.sentence,
            **{f"limit {name}": value for name, value in one.limits.items()},
            **{f"limit {name} (strict)": value for name, value in one.strict.items()},
            "advice": " ".join(one.advice),
            "measure next": " ".join(one.measure_next),
            "looks at": ", ".join(one.wants),
            "silent where": ", ".join(one.yields_to),
            "source": one.source,
            "learned": one.learned,
        }
        if style is Format.JSON:
            print_object(facts)
        else:
            print_rows(("key", "value"), [(key, value) for key, value in facts.items() if value != ""], style)
        return
    shown = held.of_profile(profile) if profile is not None else held.rules
    rows = [(one.id, one.title, one.family, ", ".join(one.profiles), one.source) for one in shown]
    print_rows(("rule", "title", "family", "profiles", "source"), rows, style)
