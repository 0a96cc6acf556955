"""The entries that come with the program are valid and cover what they should."""

from __future__ import annotations

import pytest

from opprof_db.analysis.rules import rule_set
from opprof_db.knowledge.library import only_built_in
from opprof_db.knowledge.lint import lint
from opprof_db.knowledge.model import RULES
from opprof_db.knowledge.places import built_in

ENTRIES = only_built_in().entries
FAMILIES = {
    "tiling": {
        "cores_not_launched": "pattern-cores-not-launched",
        "tile too small": "pattern-small-transfers",
        "tile too large": "pattern-tile-too-large",
        "unreasonable tile count": "pattern-tile-count",
        "inefficient tail": "pattern-tail-inefficient",
        "fixed tiling for dynamic shapes": "pattern-fixed-tiling",
    },
    "data movement": {
        "redundant copy-in": "pattern-redundant-copy-in",
        "extra copy-out": "pattern-extra-copy-out",
        "small copy granularity": "pattern-small-transfers",
    },
    "pipeline": {
        "serial copy-compute-copy": "pattern-serial-pipeline",
        "excessive barriers": "pattern-sim-barriers",
        "double buffering off": "pattern-transfer-compute-in-turn",
    },
    "on-chip memory": {
        "over-allocated UB temporaries": "pattern-ub-overallocated",
        "spilling intermediates to GM": "pattern-gm-spill",
        "low UB reuse": "pattern-low-ub-reuse",
    },
    "core utilization": {
        "under-used cores": "pattern-cores-not-launched",
        "empty cores launched": "pattern-idle-cores",
        "imbalance at the tail": "pattern-imbalance",
    },
    "API and algorithm": {
        "redundant scalar loops": "pattern-scalar-loop",
        "vector calls on small chunks": "pattern-small-vector-chunks",
        "redundant casts or vector copies": "pattern-redundant-vector",
    },
}


def test_nothing_is_wrong_with_any_of_them() -> None:
    library, problems = lint([built_in()])
    assert problems == []
    assert len(library.entries) == len(list(built_in().path.glob("*.md"))) > 70


def test_every_rule_has_a_pattern_that_is_mainly_about_it() -> None:
    patterns = [entry.head.rules for entry in ENTRIES.values() if entry.head.kind == "pattern" and entry.head.rules]
    main = {rules[0] for rules in patterns}
    own = {rule.id for rule in rule_set().rules if rule.profiles != ("upstream",)}
    assert own - main == set()
    assert {rule.id for rule in rule_set().rules} - {rule for rules in patterns for rule in rules} == set()


def test_the_rules_entries_may_name_are_those_of_the_rule_set() -> None:
    assert {rule.id for rule in rule_set().rules} == RULES


@pytest.mark.parametrize("problem", [(family, name) for family, names in FAMILIES.items() for name in names])
def test_every_problem_family_has_its_patterns(problem: tuple[str, str]) -> None:
    family, name = problem
    assert ENTRIES[FAMILIES[family][name]].head.kind == "pattern"


@pytest.mark.parametrize(
    "operator",
    ["conv2d", "matmul", "attention", "nms", "layernorm", "softmax", "reduction", "transpose", "elementwise", "gather",
     "quant_matmul"],
)  # fmt: skip
def test_every_operator_asked_for_has_a_recipe_with_a_sketch(operator: str) -> None:
    recipes = [e for e in ENTRIES.values() if e.head.kind == "recipe" and operator in e.head.operators]
    assert recipes
    for entry in recipes:
        assert "ketch" in entry.section("Sketch")
        assert "```" in entry.section("Sketch")


@pytest.mark.parametrize("architecture", ["yolov8s", "resnet50", "unet"])
def test_every_migration_case_has_an_architecture_to_match_against(architecture: str) -> None:
    (case,) = [e for e in ENTRIES.values() if e.head.kind == "case" and architecture in e.head.architectures]
    assert case.head.architecture is not None
    assert case.head.architecture.operators["conv2d"] > 10


def test_the_gains_of_the_brief_say_that_nobody_measured_them() -> None:
    given = {
        entry.id: (entry.head.gain.low, entry.head.gain.high)
        for entry in ENTRIES.values()
        if entry.head.gain and entry.head.gain.source == "brief"
    }
    assert given == {
        "case-yolov8s": (37.8, 37.8),
        "recipe-conv2d": (5, 10),
        "recipe-matmul": (10, 15),
        "recipe-attention": (20, 30),
        "recipe-nms": (25, 35),
    }
    for identifier in given:
        gain = ENTRIES[identifier].head.gain
        assert gain is not None
        assert "stated in the project's brief, unmeasured" in (gain.note or "")


def test_public_sources_have_addresses_and_are_not_called_measured() -> None:
    web = {source.id: source for entry in ENTRIES.values() for source in entry.sources if source.kind == "web"}
    assert len(web) > 15
    for source in web.values():
        assert (source.address or "").startswith("https://")
        assert source.confidence == "reported"
