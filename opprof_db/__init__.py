"""opprof-db: a SQLite warehouse for Ascend operator profiles written by msopprof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Warehouse", "__version__", "open"]

if TYPE_CHECKING:
    from opprof_db.api import Warehouse, open  # noqa: A004 - called as opprof_db.open


def __getattr__(name: str) -> Any:
    """The API, loaded when it is first used: the command line starts without it."""
    if name in ("Warehouse", "open"):
        from opprof_db import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
