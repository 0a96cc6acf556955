"""Kernel names are taken apart without losing anything, core kinds are matched exactly."""

from __future__ import annotations

import pytest

from opprof_db.msopprof.names import core_kind, parse_stamp, split_kernel_name

HASH = "1e04ee05ab491cc5ae9c3d5c9ee8950b"


@pytest.mark.parametrize(
    ("full", "operator", "tiling_key"),
    [
        ("add_custom", "add_custom", None),
        ("main_kernel_mix_aic", "main_kernel", None),
        ("main_kernel_mix_aiv", "main_kernel", None),
        (f"MatMul_{HASH}_100_mix_aic", "MatMul", "100"),
        (f"MatMul_{HASH}_0", "MatMul", "0"),
        (f"MatMul_{HASH}", "MatMul", None),
        (f"MatMul_mix_aic_{HASH}_7", "MatMul", "7"),
        ("matmul_128", "matmul_128", None),
        ("top_1000000000001111111", "top_1000000000001111111", None),
        ("_mix_aic", "_mix_aic", None),
        (HASH, HASH, None),
        ("f<int,float>", "f<int,float>", None),
    ],
)
def test_endings_are_taken_off(full: str, operator: str, tiling_key: str | None) -> None:
    parts = split_kernel_name(full)
    assert (parts.full, parts.operator, parts.tiling_key) == (full, operator, tiling_key)


@pytest.mark.parametrize(
    ("sub_block", "kind"),
    [
        ("cube0", "aic"),
        ("vector0", "aiv"),
        ("vector1", "aiv"),
        ("all", "aicore"),
        ("vector", None),
        ("vectorx", None),
        ("", None),
    ],
)
def test_core_kinds_are_matched_exactly(sub_block: str, kind: str | None) -> None:
    assert core_kind(sub_block) == kind


@pytest.mark.parametrize(
    ("digits", "moment"),
    [
        ("20240603022810284", "2024-06-03T02:28:10.284"),
        ("20240603022810", "2024-06-03T02:28:10"),
        ("20241399022810284", None),
    ],
)
def test_stamps_become_iso_times(digits: str, moment: str | None) -> None:
    assert parse_stamp(digits) == moment
