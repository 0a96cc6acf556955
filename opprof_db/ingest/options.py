"""What a user may tell ingest beside the paths."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from opprof_db.errors import UsageError
from opprof_db.ingest.archive import DEFAULT_ARCHIVE_MAX

CONDITIONS = ("soc", "cann_version", "tool_version", "git_commit", "aic_metrics", "kernel")
"""What a user may state because the data does not record it."""
TRACE_CHOICES = ("auto", "full", "summary", "none")

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """Options of one ingest."""

    labels: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    """soc, cann_version, tool_version, git_commit, aic_metrics and the like, as the user gave them."""
    label_from_path: re.Pattern[str] | None = None
    archive_max: int = DEFAULT_ARCHIVE_MAX
    """Bytes; larger files are listed and hashed, not archived (device CSVs always are)."""
    jobs: int = 0
    """Processes that read, beside the one that writes."""
    cache_lines: bool = False
    """Whether block 14 of bins, the L2 cache lines, is taken in."""
    trace: str = "auto"
    """Events of traces: full, summary, none; auto: full up to a stated size."""
    dry_run: bool = False

    def path_labels(self, path: str) -> dict[str, str]:
        """Labels that the pattern's named groups find in a path; the innermost match counts."""
        if self.label_from_path is None:
            return {}
        found: dict[str, str] = {}
        for match in self.label_from_path.finditer(path):
            found.update({key: value for key, value in match.groupdict().items() if value is not None})
        return found


def parse_labels(pairs: list[str]) -> dict[str, str]:
    """``key=value`` texts to a dictionary.

    Raises:
        UsageError: not of that form, or one key with two values.
    """
    labels: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not _KEY.fullmatch(key) or not value:
            raise UsageError(f"{pair!r} is no label", "write key=value; keys have letters, digits, '_', '.' and '-'")
        if labels.setdefault(key, value) != value:
            raise UsageError(f"the label {key!r} is given twice, as {labels[key]!r} and {value!r}")
    return labels


def parse_path_pattern(text: str | None) -> re.Pattern[str] | None:
    """A regular expression with named groups, each of which becomes a label.

    Raises:
        UsageError: no valid expression, or without a named group.
    """
    if text is None:
        return None
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise UsageError(f"{text!r} is no regular expression: {error}") from error
    if not pattern.groupindex:
        raise UsageError(f"{text!r} names no group", r"write for example 'tile(?P<tile>\d+)'")
    return pattern


def parse_size(text: str) -> int:
    """``256MiB``, ``1G``, ``0`` … to bytes.

    Raises:
        UsageError: not a size.
    """
    match = re.fullmatch(r"(\d{1,15})\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if match is None:
        raise UsageError(f"{text!r} is no size", "write for example 256MiB, 1GiB or 0")
    factor: int = 1024 ** " KMGT".index(match[2].upper() or " ")
    return int(match[1]) * factor


def path_below(given: Path, root: Path) -> str:
    """The part of a run's path that the user pointed at: from the given folder's name on."""
    resolved = given.resolve()
    base = resolved if resolved.is_dir() else resolved.parent
    if root.is_relative_to(base):
        return f"{base.name}/{root.relative_to(base).as_posix()}"
    return root.name
