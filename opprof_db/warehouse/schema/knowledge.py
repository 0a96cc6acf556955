"""The knowledge base in the warehouse: entries by content, what they are about, and recorded cases."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table, Text, UniqueConstraint

from opprof_db.warehouse.fts import FTS5, INDEX, INDEX_COLUMNS, compile_virtual_tables, index_statement
from opprof_db.warehouse.schema.columns import CLUSTERED, STRICT, integer, key, one_of, parent, real, text

compile_virtual_tables()


def add_knowledge(metadata: MetaData) -> None:
    """Add the tables of the knowledge base."""
    _add_entries(metadata)
    _add_index(metadata)
    _add_recorded(metadata)


def _entry() -> Column[int]:
    return parent("entry_id", "knowledge_entries", "The entry.", primary_key=True)


def _add_entries(metadata: MetaData) -> None:
    Table(
        "knowledge_places",
        metadata,
        integer("position", "Place in the order; later ones override earlier ones.", primary_key=True),
        text("path", "Directory the entries came from, or built-in.", nullable=False),
        text("stamp", "Changes when a file's name, size or time does.", nullable=False),
        comment="Directories whose entries this file holds, as of the last time they were looked at.",
        **CLUSTERED,
    )
    Table(
        "knowledge_entries",
        metadata,
        key("Identifier; the rowid in knowledge_index."),
        text("entry", "Identifier of the entry, such as pattern-small-transfers.", nullable=False),
        text("kind", "pattern, recipe, case or tip.", nullable=False),
        text("title", "Title.", nullable=False),
        text("summary", "One or two sentences.", nullable=False),
        text("confidence", "measured, reported or inferred.", nullable=False),
        text("origin", "built-in, recorded (a pair marked by the user), or a directory.", nullable=False),
        text("content_sha256", "SHA-256 of the entry's file: its version.", nullable=False),
        text("gain_what", "What became better where it was applied; NULL where no source gives a figure."),
        real("gain_low", "Lower end of the gain."),
        real("gain_high", "Upper end of the gain."),
        text("gain_unit", "% (so much less time or more throughput) or x (so many times as fast)."),
        text("gain_note", "How the gain is known, and of what."),
        text("body", "The text, Markdown.", nullable=False),
        text("stored_at", "When this content was stored, UTC (ISO 8601).", nullable=False),
        one_of("kind", "pattern", "recipe", "case", "tip"),
        one_of("confidence", "measured", "reported", "inferred"),
        UniqueConstraint("entry"),
        comment="Knowledge entries in force: cases, recipes, patterns and tips.",
        **STRICT,
    )
    Table(
        "knowledge_facets",
        metadata,
        text("facet", "rule, operator, op_type, chip, architecture, term or related.", primary_key=True),
        text("value", "The rule's identifier, operator kind, chip family, …", primary_key=True),
        _entry(),
        integer("position", "Place in the entry's list; of rules 0 is the one it is mainly about.", nullable=False),
        one_of("facet", "rule", "operator", "op_type", "chip", "architecture", "term", "related"),
        comment="What entries are about; an entry without chip (operator, …) applies to all of them.",
        **CLUSTERED,
    )
    Table(
        "knowledge_movements",
        metadata,
        _entry(),
        text(
            "metric",
            "Column of the catalogue, duration_us or block_dim; {core} stands for aic and aiv.",
            primary_key=True,
        ),
        text("direction", "up, down or same.", nullable=False),
        integer("decides", "1: a movement the other way denies the entry.", nullable=False),
        text("why", "Why it should move.", nullable=False),
        one_of("direction", "up", "down", "same"),
        comment="Which way metrics should move when an entry works.",
        **CLUSTERED,
    )
    Table(
        "knowledge_sources",
        metadata,
        _entry(),
        text("source", "What the text cites as [^source].", primary_key=True),
        text("title", "What it is.", nullable=False),
        text("kind", "web, brief, capture or project.", nullable=False),
        text("confidence", "measured, reported or inferred.", nullable=False),
        text("address", "Public address."),
        text("note", "What to know when reading its figures."),
        comment="Where the statements of entries come from.",
        **CLUSTERED,
    )


def _add_index(metadata: MetaData) -> None:
    Table(
        INDEX,
        metadata,
        *(Column(name, Text, comment=meaning) for name, meaning in INDEX_COLUMNS.items()),
        info={FTS5: index_statement()},
        comment="Full-text index (FTS5) over knowledge_entries, by its id; texts are stored as tokens. Search it with "
        "`opprof-db kb search`, which knows synonyms.",
    )


def _kernel(name: str, comment: str) -> Column[int]:
    return Column(name, Integer, ForeignKey("kernels.id", ondelete="SET NULL"), comment=comment)


def _add_recorded(metadata: MetaData) -> None:
    Table(
        "recorded_cases",
        metadata,
        key("Identifier; the entry is called recorded-<id>."),
        text("title", "Title as given.", nullable=False),
        text("note", "What was done, as given."),
        text("entry", "Entry that was followed, as given."),
        text("recorded_at", "UTC (ISO 8601).", nullable=False),
        _kernel("before_kernel_id", "Launch before; NULL when it was forgotten since."),
        _kernel("after_kernel_id", "Launch after; NULL when it was forgotten since."),
        text("before_name", "Run and operator of the launch before.", nullable=False),
        text("after_name", "Run and operator of the launch after.", nullable=False),
        text("operator", "Operator before."),
        text("op_type", "vector, cube, mix or AiCore."),
        text("chip", "SoC, or the family in parentheses."),
        real("before_duration_us", "Task duration before, us.", nullable=False),
        real("after_duration_us", "Task duration after, us.", nullable=False),
        text("remarks", "What speaks against comparing the two, where the user wanted it anyway."),
        comment="Before-after pairs that the user marked; numbers are those of the warehouse when it was recorded.",
        **STRICT,
    )
    Table(
        "recorded_metrics",
        metadata,
        parent("case_id", "recorded_cases", "The case.", primary_key=True),
        text("metric", "Column of the catalogue.", primary_key=True),
        text("core_kind", "aic, aiv, aicore or kernel.", primary_key=True),
        text("statistic", "Figure over the cores: sum, max, min, mean, or kernel.", primary_key=True),
        text("unit", "Unit as msopprof prints it."),
        real("before_value", "Before."),
        real("after_value", "After."),
        comment="Metrics of recorded cases, before and after.",
        **CLUSTERED,
    )
    Table(
        "recorded_rules",
        metadata,
        parent("case_id", "recorded_cases", "The case.", primary_key=True),
        text("rule", "Rule that found something before.", primary_key=True),
        integer("position", "Place among the findings, 0 the first.", nullable=False),
        integer("gone", "1: it finds nothing after; 0: it still does; NULL: it could not look.", nullable=True),
        comment="What the diagnosis found before, and whether it was gone after.",
        **CLUSTERED,
    )
