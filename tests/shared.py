"""Real captures and small inputs that lie beside the checkout, never in it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
CORPUS = SHARED / "corpus"
INPUTS = SHARED / "inputs"
FORMATS = SHARED / "formats"

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the real captures (../shared) are not beside this checkout"
)
