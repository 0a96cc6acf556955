"""docs/diagnosis.md names rules and profiles that exist, and every profile is explained."""

from __future__ import annotations

import re
from pathlib import Path

from opprof_db.analysis.predicates import PREDICATES
from opprof_db.analysis.rules import rule_set

PAGE = (Path(__file__).parents[2] / "docs" / "diagnosis.md").read_text(encoding="utf-8")


def test_names_only_rules_that_exist() -> None:
    rules = {rule.id for rule in rule_set().rules}
    like_rules = {rule.rpartition("_")[0] for rule in rules} | {rule.partition("_")[0] for rule in rules}
    named = {
        name
        for name in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGE)
        if name.startswith(("sim_", "upstream_")) or name.rpartition("_")[0] in like_rules
    }
    assert len(named) >= 6
    assert named <= rules


def test_explains_every_profile() -> None:
    assert {name for name in rule_set().profiles if f"`{name}`" in PAGE} == set(rule_set().profiles)


def test_every_predicate_is_used_by_a_rule() -> None:
    assert {rule.predicate for rule in rule_set().rules} == set(PREDICATES)
