"""Reads one entry: YAML front matter between ``---`` lines, Markdown with ``##`` sections below."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import yaml

from opprof_db.knowledge.model import Entry, FrontMatter, Source

MAX_BYTES = 256 * 1024
"""A larger file is no entry."""
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The same safe constructors in C, where PyYAML was built with them."""
_FRONT = re.compile(r"\A---\n(?P<head>.*?)\n---\n(?P<body>.*)\Z", re.DOTALL)
_HEADING = re.compile(r"^## +(?P<name>.+?) *$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with an entry."""

    path: str
    line: int
    """Line in the file; 1 where it is about the whole."""
    code: str
    """unreadable, schema, name, section, source, citation, figure, rule, metric, operator, chip, link, duplicate."""
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.code}: {self.message}"


class UnreadableError(Exception):
    """The file is no entry at all."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def safe_yaml(text: str) -> Any:
    """Plain values of a YAML text.

    Raises:
        yaml.YAMLError: it is none.
    """
    return yaml.load(text, Loader=_LOADER)


def read_sources(content: bytes, path: str) -> dict[str, Source]:
    """A directory's ``sources.yaml``: a list of sources, by id.

    Raises:
        UnreadableError: not such a list.
    """
    try:
        found = msgspec.convert(safe_yaml(content.decode("utf-8")) or [], list[Source])
    except (UnicodeDecodeError, yaml.YAMLError, msgspec.ValidationError, RecursionError) as error:
        raise UnreadableError(Problem(path, _line_of(error), "unreadable", _one_line(error))) from error
    return {source.id: source for source in found}


def read_entry(content: bytes, path: str, origin: str, bibliography: Mapping[str, Source]) -> Entry:
    """An entry from its file's content; sources it does not find in ``bibliography`` are left out.

    Raises:
        UnreadableError: no front matter, no YAML, or fields that do not fit the schema.
    """
    if len(content) > MAX_BYTES:
        raise UnreadableError(Problem(path, 1, "unreadable", f"larger than {MAX_BYTES // 1024} KiB"))
    try:
        text = content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UnreadableError(Problem(path, 1, "unreadable", f"not UTF-8 (byte {error.start})")) from error
    found = _FRONT.match(text)
    if found is None:
        raise UnreadableError(
            Problem(path, 1, "unreadable", "no front matter: the file starts with a line --- and YAML")
        )
    try:
        head = msgspec.convert(safe_yaml(found["head"]), FrontMatter)
    except (yaml.YAMLError, msgspec.ValidationError, RecursionError) as error:
        code = "schema" if isinstance(error, msgspec.ValidationError) else "unreadable"
        raise UnreadableError(Problem(path, _line_of(error), code, _one_line(error))) from error
    sources = [bibliography.get(source) if isinstance(source, str) else source for source in head.sources]
    return Entry(
        head,
        tuple(source for source in sources if source is not None),
        sections(found["body"]),
        found["body"].strip("\n") + "\n",
        origin,
        hashlib.sha256(content).hexdigest(),
    )


def sections(body: str) -> dict[str, str]:
    """Heading -> text; ``##`` within code is no heading."""
    masked = without_code(body)
    heads = list(_HEADING.finditer(masked))
    ends = [head.start() for head in heads[1:]] + [len(body)]  # one more than heads where there is no heading at all
    return {head["name"]: body[head.end() : end].strip("\n") for head, end in zip(heads, ends, strict=False)}


def without_code(text: str) -> str:
    """The text with fenced code blanked out, every line where it was."""
    return _FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block.group()), text)


def _line_of(error: Exception) -> int:
    mark = getattr(error, "problem_mark", None)
    return int(mark.line) + 2 if mark is not None else 1


def _one_line(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return " ".join(str(error).split())[:300]
