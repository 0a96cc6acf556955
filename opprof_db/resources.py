"""Where migrations/ and sql/ are: inside an installed package, or beside it in a checkout."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from opprof_db.errors import DatabaseError


def folder(name: str) -> Path:
    """The ``migrations`` or ``sql`` folder.

    Raises:
        DatabaseError: the installation is damaged (the folder is nowhere).
    """
    bundled = files("opprof_db") / "_bundled" / name
    if bundled.is_dir():
        with as_file(bundled) as path:
            return Path(path)
    checkout = Path(__file__).resolve().parent.parent / name
    if checkout.is_dir():
        return checkout
    raise DatabaseError(f"this installation of opprof-db lacks its {name} folder", "install it again")
