"""What is wrong with entries: what the schema cannot say. Nothing found means an entry may be relied on.

Every figure in the text needs a citation ``[^source]`` in its paragraph, list item or table, unless it stands in code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from opprof_db.catalog import load
from opprof_db.knowledge.library import Library, read
from opprof_db.knowledge.model import RULES, SECTIONS, Entry, Source
from opprof_db.knowledge.operators import kinds
from opprof_db.knowledge.places import Place
from opprof_db.knowledge.reading import Problem, without_code

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_CITATION = re.compile(r"\[\^(?P<id>[^\]\s]+)\]")
_LINK = re.compile(r"\[\[(?P<id>[^\]]+)\]\]")
_INLINE_CODE = re.compile(r"`[^`\n]*`")
_UNITS = r"%|x|ns|[µu]s|ms|s|[KMGT]i?B(?:/s)?|MHz|GHz|FPS|TOPS"
_FIGURE = re.compile(rf"(?<![\w.])\d[\d,.]*(?:\s?(?:{_UNITS}))?(?!\w)")
"""A number standing for a quantity; ``910B4``, ``fp16`` and ``L0`` are names."""
_ITEM = re.compile(r"^\s*([-*+]|\d+[.)])\s")
_ADDRESS = re.compile(r"https?://[^\s/]+\.[^\s/]+(/\S*)?")
_OTHER_METRICS = frozenset({"duration_us", "block_dim", "mix_block_dim", "current_freq_mhz", "idle_cores", "cores"})
_CHIPS = frozenset({"910B", "910_93", "310P", "310B", "950"})
_OP_TYPES = frozenset({"vector", "cube", "mix", "AiCore"})


class _Maker(Protocol):
    """Makes a problem of the entry at hand: its code, what it says, and the text at whose first place it stands."""

    def __call__(self, code: str, message: str, mark: str | None = None) -> Problem: ...


def lint(places: Iterable[Place], checked: Iterable[Place] | None = None) -> tuple[Library, list[Problem]]:
    """Read the places and check the entries of ``checked`` (all where it is ``None``)."""
    where = list(places)
    library = read(where)
    roots = [place.path for place in (where if checked is None else checked)]
    names = {place.name for place in (where if checked is None else checked)}
    found = [problem for problem in library.problems if any(Path(problem.path).is_relative_to(root) for root in roots)]
    for entry in library.entries.values():
        if entry.origin in names:
            found += problems_of(entry, library.files[entry.id], library)
    return library, sorted(found, key=lambda problem: (problem.path, problem.line, problem.message))


def problems_of(entry: Entry, path: Path, library: Library) -> Iterator[Problem]:
    """Everything wrong with one entry."""
    text = path.read_text(encoding="utf-8")

    def problem(code: str, message: str, mark: str | None = None) -> Problem:
        return Problem(str(path), _line(text, mark), code, message)

    head = entry.head
    if not _ID.fullmatch(head.id) or path.stem != head.id:
        yield problem("name", f"id {head.id!r} is not the file's name, or not lower case words with hyphens", "id:")
    for field in ("title", "summary"):
        if not str(getattr(head, field)).strip():
            yield problem("schema", f"{field} is empty", f"{field}:")
    for name in SECTIONS[head.kind]:
        if not entry.section(name).strip():
            yield problem("section", f"a {head.kind} needs a section '## {name}' that says something")
    yield from _sources(entry, problem)
    yield from _names(entry, problem, library)
    yield from _figures(entry, path, text)


def _sources(entry: Entry, problem: _Maker) -> Iterator[Problem]:
    head = entry.head
    known = {source.id for source in entry.sources}
    if not head.sources:
        yield problem("source", "no source: say where it comes from", "sources:")
    for source in head.sources:
        if isinstance(source, str) and source not in known:
            yield problem("source", f"source {source!r} is not in sources.yaml", source)
    for each in entry.sources:
        yield from _address(each, problem)
    uses = [(condition.source, f"condition on {condition.metric}") for condition in head.conditions]
    uses += [(figure.source, f"figure {figure.what!r}") for figure in head.before_after]
    uses += [(head.gain.source, "gain")] if head.gain else []
    uses += [(head.architecture.source, "architecture")] if head.architecture else []
    for identifier, what in uses:
        if identifier not in known:
            yield problem("citation", f"{what} cites {identifier!r}, which is not among its sources", identifier)
    if head.gain and head.gain.low > head.gain.high:
        yield problem("schema", f"the gain goes from {head.gain.low:g} to {head.gain.high:g}", "gain:")


def _address(source: Source, problem: _Maker) -> Iterator[Problem]:
    if source.kind == "web" and not source.address:
        yield problem("source", f"source {source.id!r} is a web page without an address", source.id)
    elif source.address and not _ADDRESS.fullmatch(source.address):
        yield problem("source", f"source {source.id!r} has no address that could be opened", source.id)
    if source.kind == "web" and source.confidence == "measured":
        yield problem("source", f"source {source.id!r}: what a page says is reported, not measured", source.id)


def _names(entry: Entry, problem: _Maker, library: Library) -> Iterator[Problem]:
    head = entry.head
    for rule in head.rules:
        if rule not in RULES:
            yield problem("rule", f"unknown rule {rule!r}", rule)
    for listed, known, what in (
        (head.operators, set(kinds()), "operator"),
        (head.chips, _CHIPS, "chip"),
        (head.op_types, _OP_TYPES, "op type"),
        (list(head.architecture.operators) if head.architecture else [], set(kinds()), "operator"),
    ):
        for name in listed:
            if name not in known:
                yield problem("operator" if what == "operator" else "chip", f"unknown {what} {name!r}", name)
    for metric in [*(each.metric for each in head.expected), *(each.metric for each in head.conditions)]:
        if not known_metric(metric):
            yield problem("metric", f"unknown metric {metric!r}", metric)
    for target in [*head.related, *(match["id"] for match in _LINK.finditer(without_code(entry.body)))]:
        if target not in library.entries:
            yield problem("link", f"there is no entry {target!r}", target)
        elif target == head.id:
            yield problem("link", "it is related to itself", "related:")
    if head.kind in ("pattern", "recipe") and not head.expected:
        yield problem("schema", f"a {head.kind} says which metric should move: expected", "kind:")


def known_metric(name: str) -> bool:
    """Whether the catalogue, or the launch itself, has a metric of that name (for one kind of core at least)."""
    columns = {metric.column for metric in load().metrics} | {metric.column for metric in load().derived}
    names = columns | _OTHER_METRICS
    return any(name.replace("{core}", core) in names for core in ("aic", "aiv"))


def _figures(entry: Entry, path: Path, text: str) -> Iterator[Problem]:
    known = {source.id for source in entry.sources}
    start = text.index("\n---\n", 3) + 5
    first = text.count("\n", 0, start) + 1
    for line, block in _blocks(without_code(text[start:])):
        cited = [match["id"] for match in _CITATION.finditer(block)]
        for identifier in cited:
            if identifier not in known:
                yield Problem(str(path), first + line, "citation", f"[^{identifier}] is not among its sources")
        figure = _FIGURE.search(_plain(block))
        if figure and not cited:
            yield Problem(
                str(path), first + line, "figure", f"{figure.group().strip()!r} stands without a source: cite [^one]"
            )


def _plain(block: str) -> str:
    """A block without code, citations, links and list numbers."""
    for pattern in (_INLINE_CODE, _CITATION, _LINK):
        block = pattern.sub(" ", block)
    return "\n".join(_ITEM.sub("", line) for line in block.split("\n"))


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """(line from 0, text) of every paragraph, list item and table; headings are left out."""
    lines: list[str] = []
    begin = 0
    for number, line in enumerate([*text.split("\n"), ""]):
        starts = not line.strip() or line.startswith("#") or bool(_ITEM.match(line))
        if starts and lines:
            yield begin, "\n".join(lines)
            lines = []
        if line.strip() and not line.startswith("#"):
            if not lines:
                begin = number
            lines.append(line)


def _line(text: str, mark: str | None) -> int:
    at = text.find(mark) if mark else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else 1
