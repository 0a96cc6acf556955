"""Issues of a hostile file are counted exactly, but listed within limits."""

from __future__ import annotations

from opprof_db.msopprof.issues import CODE_LIMIT, DETAIL_LIMIT, IssueLog, Severity, clip


def test_repeats_of_one_kind_and_column_are_counted_in_a_closing_issue() -> None:
    log = IssueLog("x.csv")
    for line in range(1000):
        log.add("bad", Severity.WARNING, "no number", line=line, column="c", cells=1)
    issues = list(log)
    assert len(issues) == DETAIL_LIMIT + 1
    assert (issues[-1].message, issues[-1].cells) == (f"{1000 - DETAIL_LIMIT} more like these", 1000 - DETAIL_LIMIT)
    assert log.cells == 1000


def test_a_million_columns_do_not_make_a_million_issues() -> None:
    log = IssueLog()
    for number in range(20_000):
        log.add("unknown_column", Severity.INFO, "not known", column=f"x{number}", cells=2)
    issues = list(log)
    assert len(issues) <= CODE_LIMIT + 1
    assert log.cells == 40_000
    assert sum(issue.count for issue in issues) == 20_000


def test_raw_text_is_clipped_and_nul_bytes_are_made_visible() -> None:
    assert clip("a\x00b") == "a\\x00b"
    assert clip("x" * 1000) == "x" * 499 + "…"
