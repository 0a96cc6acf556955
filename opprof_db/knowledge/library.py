"""All entries in force, read and checked as far as reading needs; what does not read is a problem, not an end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from opprof_db.errors import UsageError
from opprof_db.knowledge.model import Entry, Source
from opprof_db.knowledge.places import SOURCES, Place, built_in, places
from opprof_db.knowledge.reading import Problem, UnreadableError, read_entry, read_sources


@dataclass(frozen=True, slots=True)
class Library:
    """Entries by id, of several directories; later ones override earlier ones."""

    entries: Mapping[str, Entry]
    problems: tuple[Problem, ...]
    files: Mapping[str, Path]
    """Entry id -> file."""

    def get(self, identifier: str) -> Entry:
        """The entry of that id.

        Raises:
            UsageError: there is none; the hint names similar ones.
        """
        from opprof_db.warehouse.resolve import did_you_mean

        entry = self.entries.get(identifier)
        if entry is None:
            hint = did_you_mean(identifier, self.entries) or "`opprof-db kb list` shows all of them"
            raise UsageError(f"no knowledge entry is called {identifier!r}", hint)
        return entry

    def about(self, rule: str) -> list[Entry]:
        """Entries that answer a rule, those with it as their main rule first."""
        found = [entry for entry in self.entries.values() if rule in entry.head.rules]
        return sorted(found, key=lambda entry: (entry.head.rules.index(rule), entry.id))


def read(where: Iterable[Place]) -> Library:
    """Read every entry of the places, in their order."""
    entries: dict[str, Entry] = {}
    files: dict[str, Path] = {}
    problems: list[Problem] = []
    bibliography: dict[str, Source] = {}
    for place in where:
        bibliography |= _bibliography(place, problems)
        seen: dict[str, Path] = {}
        for path in place.files():
            try:
                entry = read_entry(path.read_bytes(), str(path), place.name, bibliography)
            except UnreadableError as error:
                problems.append(error.problem)
                continue
            except OSError as error:
                problems.append(Problem(str(path), 1, "unreadable", error.strerror or str(error)))
                continue
            if entry.id in seen:
                problems.append(Problem(str(path), 1, "duplicate", f"id {entry.id} is that of {seen[entry.id]} too"))
                continue
            seen[entry.id] = path
            entries[entry.id] = entry
            files[entry.id] = path
    return Library(dict(sorted(entries.items())), tuple(problems), files)


def _bibliography(place: Place, problems: list[Problem]) -> dict[str, Source]:
    path = place.path / SOURCES
    try:
        return read_sources(path.read_bytes(), str(path))
    except FileNotFoundError:
        return {}
    except UnreadableError as error:
        problems.append(error.problem)
        return {}


@lru_cache(maxsize=4)
def _cached(where: tuple[Place, ...], stamps: tuple[str, ...]) -> Library:
    del stamps
    return read(where)


def library(given: Iterable[Path] = ()) -> Library:
    """The entries in force, read once while their files stay as they are."""
    where = places(given)
    return _cached(where, tuple(place.stamp() for place in where))


def only_built_in() -> Library:
    """The entries that come with the program."""
    place = built_in()
    return _cached((place,), (place.stamp(),))
