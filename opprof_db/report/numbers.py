"""Numbers as people read them: three significant digits, whole numbers in full. The exact figure goes beside them."""

from __future__ import annotations

import math

NOTHING = "–"
"""Stands for what is not recorded; never zero."""
_DIGITS = 3


def readable(value: float | int | None, digits: int = _DIGITS) -> str:
    """``2049.780029`` as ``2,050``, ``0.861857`` as ``0.862``; whole numbers (int) keep all their digits."""
    if value is None:
        return NOTHING
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else f"{value:.{digits - 1}e}"
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    size = math.floor(math.log10(abs(rounded)))
    if size >= 15 or size < -4:
        return f"{value:.{digits - 1}e}"
    return f"{rounded:,.{max(0, digits - 1 - size)}f}"


def exact(value: float | int | None) -> str:
    """All digits that are stored."""
    if value is None:
        return "not recorded"
    return str(value) if isinstance(value, int) else repr(value)


def percent(share: float | None) -> str:
    """A share (0..1) in per cent, three digits at most: ``0.8619`` as ``86.2 %``."""
    if share is None:
        return NOTHING
    value = 100.0 * share
    return f"{value:.0f} %" if abs(value) >= 99.95 else f"{readable(value)} %"


def bytes_text(size: float | None) -> str:
    """A size in the largest fitting binary unit: ``369,064 KiB`` as ``360 MiB``."""
    if size is None:
        return NOTHING
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(value) < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{readable(int(value) if unit == 'B' else value)} {unit}"


def us_text(time_us: float | None) -> str:
    """A time in the unit that reads best: us, ms or s."""
    if time_us is None:
        return NOTHING
    for factor, unit in ((1e6, "s"), (1e3, "ms")):
        if abs(time_us) >= 10 * factor:
            return f"{readable(float(time_us) / factor)} {unit}"
    return f"{readable(float(time_us))} us"
