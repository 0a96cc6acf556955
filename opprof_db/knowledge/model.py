"""What a knowledge entry is: the fields of its front matter and the sections of its text.

The structs are the schema: ``msgspec`` checks types and refuses unknown fields when an entry is read.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal["case", "recipe", "pattern", "tip"]
Confidence = Literal["measured", "reported", "inferred"]
Direction = Literal["up", "down", "same"]
SourceKind = Literal["web", "brief", "capture", "project"]

KINDS: tuple[Kind, ...] = ("pattern", "recipe", "case", "tip")
SECTIONS: dict[Kind, tuple[str, ...]] = {
    "pattern": ("Symptoms", "Cause", "Solution", "Verify", "When not to apply"),
    "recipe": ("Problem", "Solution", "Sketch", "Verify", "When not to apply"),
    "case": ("Problem", "Solution", "Result", "Lessons", "When not to apply"),
    "tip": ("Advice", "Why"),
}
"""Headings that the text of each kind must have."""

RULES = frozenset(
    """
    idle_cores cores_not_launched one_core_only unused_half imbalance slow_core_upstream reduced_frequency
    dominant_pipe at_memory_roof transfer_bound small_transfers transfer_compute_in_turn scalar_overhead
    aic_waits_for_aiv aiv_waits_for_aic head_cost instruction_cache bank_conflicts l2_reuse fixpipe_heavy mte1_bound
    cube_data_type roofline_bound excess_traffic tail_wave sim_overlap sim_waits sim_barriers sim_holes
    sim_critical_chain sim_double_buffering
    upstream_frequency upstream_slow_core upstream_more_data upstream_low_hit_rate upstream_low_compute
    upstream_low_active_bandwidth upstream_roofline
    """.split()
)
"""Rules of the diagnosis that entries may name; a test holds them to those of the rule set."""


class Source(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Where a statement comes from."""

    id: str
    """What the text cites: ``[^id]``."""
    title: str
    confidence: Confidence
    """measured: figures taken with the profiler; reported: somebody says so; inferred: reasoned, not measured."""
    kind: SourceKind = "web"
    """web: a public address; brief: stated in this project's brief; capture: real captures; project: reasoned here."""
    address: str | None = None
    """Public address; required for ``web``."""
    note: str | None = None
    """What to know when reading its figures."""


class Movement(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which way a metric should move when the entry works."""

    metric: str
    """``duration_us``, ``block_dim`` or a column of the catalogue; ``{core}`` stands for aic and aiv."""
    direction: Direction
    why: str
    decides: bool = True
    """Whether a movement the other way denies the entry; else it is only shown."""


class Condition(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A threshold on a kernel's counters under which the entry fits."""

    metric: str
    test: Literal["<", "<=", ">", ">="]
    value: float
    source: str


class Gain(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the entry brought where it was applied: never a promise."""

    what: str
    """What became better: latency, throughput, task duration."""
    low: float
    high: float
    unit: Literal["%", "x"]
    """``%``: less time or more throughput by so much; ``x``: so many times as fast."""
    source: str
    note: str | None = None


class Figure(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One quantity before and after."""

    what: str
    unit: str
    before: float
    after: float
    source: str


class Architecture(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A model's operators, for matching other models against a case."""

    name: str
    operators: dict[str, int]
    """Operator kind -> how many of them."""
    source: str
    counted: str
    """How the operators were counted."""


class FrontMatter(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The head of an entry's file."""

    id: str
    kind: Kind
    title: str
    summary: str
    confidence: Confidence
    sources: list[str | Source]
    """Names of the directory's ``sources.yaml``, or sources given here."""
    chips: list[str] = []
    """Chip families it applies to; empty: all."""
    op_types: list[str] = []
    """vector, cube, mix, AiCore; empty: all."""
    operators: list[str] = []
    """Operator kinds of ``operators.toml``; empty: all."""
    architectures: list[str] = []
    rules: list[str] = []
    """Rules of the diagnosis it answers, the main one first."""
    terms: list[str] = []
    """More words under which it should be found."""
    conditions: list[Condition] = []
    expected: list[Movement] = []
    gain: Gain | None = None
    before_after: list[Figure] = []
    architecture: Architecture | None = None
    related: list[str] = []


class Entry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A validated entry."""

    head: FrontMatter
    sources: tuple[Source, ...]
    """All it may cite, resolved."""
    sections: dict[str, str]
    """Heading -> Markdown below it."""
    body: str
    """The text below the front matter, as written."""
    origin: str
    """``built-in``, ``recorded``, or the directory it came from."""
    content_sha256: str
    """Of the file: the version of the entry."""

    @property
    def id(self) -> str:
        """Its identifier: the file's name without ``.md``."""
        return self.head.id

    def section(self, name: str) -> str:
        """Text of a section; empty where there is none."""
        return self.sections.get(name, "")

    def cited(self, identifier: str) -> Source:
        """The source of that name."""
        return next(source for source in self.sources if source.id == identifier)
