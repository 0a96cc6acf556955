"""A gate's verdict as JSON, as Markdown for a comment on a pull request, and as JUnit XML for CI servers."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree as ET

from opprof_db.analysis.gate import Alone, Gate, KernelGate, LimitGate

COMMENT_CHARS = 60_000
"""GitHub takes comments up to 65,536 characters."""
_ROWS = 50
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
COLUMNS = (
    "status", "failed", "operator", "group", "base_us", "candidate_us", "change_share", "threshold_share", "noise_us",
    "base_launches", "candidate_launches", "forced", "reason",
)  # fmt: skip


def as_object(found: Gate) -> dict[str, Any]:
    """Everything, as plain values: ``passed``, ``summary``, ``kernels``, ``limits``, ``new``, ``vanished``, …"""
    made = asdict(found)
    for rules in (made["rules"], *made["rules"]["kernels"]):
        rules["limits"] = [limit["text"] for limit in rules["limits"]]
    return made


def as_json(found: Gate) -> str:
    """``as_object`` as text."""
    return json.dumps(as_object(found), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def rows(found: Gate) -> list[tuple[Any, ...]]:
    """A row a kernel under ``COLUMNS``, then a row a limit, exact figures."""
    made = [tuple(getattr(one, column) for column in COLUMNS) for one in found.kernels]
    for limit in found.limits:
        cells = {"status": limit.status, "failed": limit.failed, "operator": limit.operator, "group": limit.group}
        made.append(tuple({**cells, "reason": limit.reason}.get(column) for column in COLUMNS))
    return made


def markdown(found: Gate) -> str:
    """A summary that fits a comment on a pull request: what failed first, the rest folded away."""
    failed = [one for one in found.kernels if one.failed]
    passed = [one for one in found.kernels if not one.failed]
    parts = [f"### {'✅' if found.passed else '❌'} opprof-db gate {_text(found.summary)}"]
    parts.append(f"`{_code(found.base)}` → `{_code(found.candidate)}`")
    if found.forced:
        parts.append("⚠️ **Forced: some of these comparisons were refused. Their figures prove nothing.**")
    if failed:
        parts.append(_kernel_table(failed, _ROWS))
    exceeded = [one for one in found.limits if one.failed]
    if exceeded:
        parts.append(_limit_table(exceeded))
    parts += _bullets("Vanished", found.vanished) + _bullets("New", found.new)
    parts += [f"- ⚠️ {_text(warning)}" for warning in found.warnings[:_ROWS]]
    noted = [one for one in found.kernels if one.warnings]
    if noted:
        lines = [f"- {_name(one)}: {_text('; '.join(one.warnings))}" for one in noted[:_ROWS]]
        parts.append(_folded(f"Warnings about {len(noted)} kernels", "\n".join([*lines, *_more(noted)])))
    if passed:
        parts.append(_folded(f"{len(passed)} kernels did not fail", _kernel_table(passed, _ROWS)))
    kept = [one for one in found.limits if not one.failed]
    if kept:
        parts.append(_folded(f"{len(kept)} limits kept", _limit_table(kept)))
    return _fitting(parts)


def junit(found: Gate) -> str:
    """JUnit XML: a test case a kernel and a limit; failures say why, new and vanished kernels are skipped."""
    cases = [_case(one) for one in found.kernels] + [_limit_case(one) for one in found.limits]
    cases += [_skipped(one, "new: only the candidate has it") for one in found.new]
    for alone in found.vanished:
        if found.vanished_fail:
            cases.append(_failed(_test(alone.operator, alone.group, "vanished"), "vanished", "the candidate lacks it"))
        else:
            cases.append(_skipped(alone, "vanished: the candidate lacks it"))
    if not found.kernels:
        cases.append(_failed(_test("(all)", "", "duration"), "nothing", "nothing to compare"))
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": "0",
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
    }
    suites = ET.Element("testsuites", {"name": "opprof-db gate", **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": "opprof-db gate", **counts})
    properties = ET.SubElement(suite, "properties")
    for name, value in (("base", found.base), ("candidate", found.candidate), ("summary", found.summary)):
        ET.SubElement(properties, "property", {"name": name, "value": _xml(value)})
    ET.SubElement(properties, "property", {"name": "forced", "value": str(found.forced).lower()})
    suite.extend(cases)
    if found.warnings:
        ET.SubElement(suite, "system-out").text = _xml("\n".join(found.warnings))
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


WRITERS = {".json": as_json, ".md": markdown, ".xml": junit}
"""Ending of a file -> what writes it."""


# ---------------------------------------------------------------- Markdown


def _kernel_table(held: Sequence[KernelGate], at_most: int) -> str:
    lines = ["| kernel | base | candidate | change | allowed | noise | launches | verdict |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|---|")
    for one in held[:at_most]:
        launches = f"{one.base_launches} / {one.candidate_launches}"
        noise = f"±{one.noise_us:.3g} us" if one.noise_us is not None else "no estimate"
        mark = " ⚠️ forced" if one.forced else ""
        cells = (
            _name(one),
            _us(one.base_us),
            _us(one.candidate_us),
            "–" if one.change_share is None else f"{one.change_share:+.2%}",
            f"{one.threshold_share:.4g}" if one.threshold_share >= 1 else f"{100 * one.threshold_share:.4g} %",
            noise,
            launches,
            f"{one.status}{mark}: {_text(one.reason)}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, *_more(held, at_most)])


def _limit_table(held: Sequence[LimitGate]) -> str:
    lines = ["| kernel | limit | verdict |", "|---|---|---|"]
    for one in held[:_ROWS]:
        lines.append(f"| {_name(one)} | {_text(one.limit)} | {one.status}: {_text(one.reason)} |")
    return "\n".join([*lines, *_more(held)])


def _bullets(title: str, held: Sequence[Alone]) -> list[str]:
    if not held:
        return []
    names = ", ".join(f"{_name(one)} ({_us(one.duration_us)})" for one in held[:_ROWS])
    rest = f" and {len(held) - _ROWS} more" if len(held) > _ROWS else ""
    return [f"**{title}**: {names}{rest}"]


def _more(held: Sequence[object], at_most: int = _ROWS) -> list[str]:
    return [f"\n… and {len(held) - at_most:,} more"] if len(held) > at_most else []


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{_text(title)}</summary>\n\n{body}\n\n</details>"


def _fitting(parts: Iterable[str]) -> str:
    """As many whole parts as a comment holds; the first always, cut if need be."""
    made, room = "", COMMENT_CHARS
    for part in parts:
        if len(part) > room:
            return made + "\n… cut: the whole verdict stands in the JSON (`-o gate.json`)\n"
        made, room = made + part + "\n\n", room - len(part) - 2
    return made.rstrip("\n") + "\n"


def _us(value: float | None) -> str:
    return "–" if value is None else f"{value:.6g} us"


def _name(one: KernelGate | LimitGate | Alone) -> str:
    return _text(" ".join(filter(None, (_short(one.operator or "(unnamed)"), one.group))))


def _short(name: str) -> str:
    return name if len(name) <= 120 else f"{name[:110]}…{name[-9:]}"


def _text(value: str) -> str:
    """Text that Markdown, HTML and mentions leave alone."""
    plain = "".join(char if char.isprintable() else " " for char in value)
    escaped = html.escape(plain, quote=False).replace("\\", "\\\\")
    for char in "|`*_[]#~":
        escaped = escaped.replace(char, f"\\{char}")
    return escaped.replace("@", "&#64;")


def _code(value: str) -> str:
    return "".join(char if char.isprintable() else " " for char in value).replace("`", "'").replace("|", "¦")


# ---------------------------------------------------------------- JUnit


def _test(operator: str | None, group: str, what: str) -> ET.Element:
    name = " ".join(filter(None, (what, group)))
    return ET.Element("testcase", {"classname": _xml(operator or "(unnamed)"), "name": _xml(name)})


def _failed(case: ET.Element, kind: str, reason: str) -> ET.Element:
    ET.SubElement(case, "failure", {"type": kind, "message": _xml(reason)}).text = _xml(reason)
    return case


def _case(one: KernelGate) -> ET.Element:
    case = _test(one.operator, one.group, "duration")
    if one.candidate_us is not None:
        case.set("time", f"{one.candidate_us / 1e6:.9f}")
    reason = f"{one.reason} (forced)" if one.forced else one.reason
    if one.failed:
        _failed(case, one.status, reason)
    elif one.status == "ignored":
        ET.SubElement(case, "skipped", {"message": _xml(reason)})
    ET.SubElement(case, "system-out").text = _xml("\n".join((f"{one.status}: {reason}", *one.warnings)))
    return case


def _limit_case(one: LimitGate) -> ET.Element:
    case = _test(one.operator, one.group, one.limit)
    if one.failed:
        _failed(case, one.status if one.status == "inconclusive" else "limit", one.reason)
    elif one.status == "does not apply":
        ET.SubElement(case, "skipped", {"message": _xml(one.reason)})
    return case


def _skipped(one: Alone, why: str) -> ET.Element:
    case = _test(one.operator, one.group, "duration")
    ET.SubElement(case, "skipped", {"message": why})
    return case


def _xml(value: str) -> str:
    """Text without the characters XML cannot hold."""
    return _NOT_XML.sub("\ufffd", value)
