"""A short run of the fuzzer (full size: ``python -m tests.hard.fuzz``)."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.hard.fuzz import fuzz, targets

TARGETS = targets()
EXECUTIONS = 250


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_never_raises_what_a_reader_does_not_document(name: str, tmp_path: Path) -> None:
    assert TARGETS[name].seeds
    assert fuzz(name, TARGETS[name], EXECUTIONS, random.SystemRandom().randrange(1 << 32), tmp_path) == []
