"""Entries for tests: one that is right, to be spoilt in one place."""

from __future__ import annotations

from pathlib import Path

SOURCES = """\
- id: mine
  kind: capture
  title: A capture of ours
  confidence: measured
"""
ENTRY = """\
---
id: recipe-mine
kind: recipe
title: Our recipe
summary: What we do about it.
confidence: measured
operators: [matmul]
rules: [mte1_bound]
expected:
  - {metric: duration_us, direction: down, why: less to do}
gain: {what: task duration, low: 1.5, high: 2, unit: x, source: mine}
related: []
sources: [mine]
---

## Problem

It takes 12 us too long.[^mine]

## Solution

Do less, as `tile = 4096` shows.

## Sketch

```cpp
// Sketch
constexpr int TILE = 4096;
```

## Verify

- The duration falls.
- By 1.5 times.[^mine]

## When not to apply

Never on fp32 or 910B4.
"""


def write(folder: Path, text: str = ENTRY, name: str = "recipe-mine", sources: str | None = SOURCES) -> Path:
    """A directory with one entry."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    if sources is not None:
        (folder / "sources.yaml").write_text(sources, encoding="utf-8")
    return folder
