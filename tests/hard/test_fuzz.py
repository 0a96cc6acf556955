"""A short run of the fuzzer (full size: ``python -m tests.hard.fuzz``)."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from opprof_db.knowledge.reading import sections
from opprof_db.msopprof.trace_reader import TraceReader
from tests.hard.fuzz import fuzz, targets

TARGETS = targets()
EXECUTIONS = 250


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_never_raises_what_a_reader_does_not_document(name: str, tmp_path: Path) -> None:
    assert TARGETS[name].seeds
    assert fuzz(name, TARGETS[name], EXECUTIONS, random.SystemRandom().randrange(1 << 32), tmp_path) == []


@pytest.mark.parametrize("address", ["", "0x", "0xzz", "-5", "9" * 30, "text"])
def test_a_flag_with_a_bad_address_costs_its_address_only(address: str) -> None:
    """Found by the fuzzer: begin and end side by side, the begin's address no number."""
    shared = {"pid": "core0.veccore0", "tid": "MTE2", "name": "SET_FLAG", "id": "1"}
    begin = {**shared, "ph": "B", "ts": 1.0, "args": {"pc_addr": address, "code": "", "detail": ""}, "cname": "good"}
    document = {"traceEvents": [begin, {**shared, "ph": "E", "ts": 2.0, "args": {}, "cname": "good"}]}
    reader = TraceReader([json.dumps(document, separators=(",", ":")).encode()], "trace.json")
    batches = list(reader)
    assert sum(len(batch.events.ordinal) for batch in batches) >= 1
    assert {held for batch in batches for held in batch.events.pc_addr} == {None}
    if address:
        assert len(list(reader.issues)) >= 1


def test_an_entry_without_a_heading_has_no_sections() -> None:
    """Found by the fuzzer: a body that was cut off."""
    assert sections("#\n") == {}
    assert sections("") == {}
