"""An entry for people and for programs."""

from __future__ import annotations

from typing import Any

import msgspec

from opprof_db.knowledge.model import Entry, Gain, Source


def gain_text(gain: Gain | None) -> str | None:
    """What it brought where it was applied: ``task duration 2.3 times as fast (…)``."""
    if gain is None:
        return None
    if gain.unit == "x":
        amount = f"{gain.low:.3g}" if gain.low == gain.high else f"{gain.low:.3g} to {gain.high:.3g}"
        text = f"{gain.what} {amount} times as fast"
    else:
        amount = f"{gain.low:g} %" if gain.low == gain.high else f"{gain.low:g} to {gain.high:g} %"
        text = f"{gain.what} better by {amount}"
    return text + (f" ({gain.note})" if gain.note else "")


def source_text(source: Source) -> str:
    """One line about a source."""
    address = f" {source.address}" if source.address else ""
    return f"{source.title} ({source.confidence}{f'; {source.note}' if source.note else ''}){address}"


def as_text(entry: Entry) -> str:
    """Head, text and sources, readable in a terminal and as Markdown."""
    head = entry.head
    lines = [f"# {head.title}", "", head.summary, ""]
    facts = (
        ("entry", f"{head.id} ({head.kind}, {head.confidence}, {entry.origin}, version {entry.content_sha256[:12]})"),
        ("rules", ", ".join(head.rules)),
        ("operators", ", ".join(head.operators)),
        ("op types", ", ".join(head.op_types)),
        ("chips", ", ".join(head.chips)),
        ("gain", gain_text(head.gain) or ""),
        ("related", ", ".join(head.related)),
    )
    lines += [f"- {name}: {value}" for name, value in facts if value]
    if head.expected:
        lines += ["", "What should move:", ""]
        lines += [
            f"- {each.metric} {each.direction}: {each.why}{'' if each.decides else ' (does not decide)'}"
            for each in head.expected
        ]
    lines += ["", entry.body.strip("\n"), "", "## Sources", ""]
    lines += [f"- [^{source.id}]: {source_text(source)}" for source in entry.sources]
    return "\n".join(lines) + "\n"


def as_object(entry: Entry) -> dict[str, Any]:
    """Plain values for JSON."""
    head: dict[str, Any] = msgspec.to_builtins(entry.head)
    return {
        **head,
        "sources": [msgspec.to_builtins(source) for source in entry.sources],
        "gain_text": gain_text(entry.head.gain),
        "sections": entry.sections,
        "origin": entry.origin,
        "content_sha256": entry.content_sha256,
    }
