"""Search: the right entries first, in three languages, within filters, from memory and from the warehouse alike."""

from __future__ import annotations

import sqlite3
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from opprof_db.errors import UsageError
from opprof_db.knowledge import index
from opprof_db.knowledge.index import Filters
from opprof_db.knowledge.library import only_built_in
from opprof_db.knowledge.naming import chip_family, operator_kind
from opprof_db.knowledge.operators import kind_of_onnx, kinds, kinds_of
from opprof_db.knowledge.terms import tokens

QUESTIONS = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))["question"]
ENTRIES = only_built_in().entries


@pytest.fixture(scope="module")
def memory() -> Iterator[sqlite3.Connection]:
    connection = index.in_memory(ENTRIES.values())
    yield connection
    connection.close()


def top(connection: sqlite3.Connection, question: str, limit: int = 3, **filters: str) -> list[str]:
    return [hit.entry for hit in index.search(connection, question, Filters(**filters), limit)]


def test_at_least_36_of_40_questions_find_their_entry_among_the_first_three(memory: sqlite3.Connection) -> None:
    assert len(QUESTIONS) == len({each["text"] for each in QUESTIONS}) == 40
    assert {name for each in QUESTIONS for name in each["entries"]} <= set(ENTRIES)
    missed = [each["text"] for each in QUESTIONS if not set(each["entries"]) & set(top(memory, each["text"]))]
    assert len(missed) <= 4, missed


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gemm", "matmul"),
        ("GEMM", "矩阵乘法"),
        ("gemm", "行列積"),
        ("double buffer", "ping-pong"),
        ("Double-Buffering", "双缓冲"),
        ("double_buffer", "ダブルバッファ"),
        ("bank conflicts", "バンク競合"),
        ("load imbalance", "负载不均"),
        ("ＭＴＥ２", "mte2"),
    ],
)
def test_synonyms_mean_the_same_concept(one: str, other: str) -> None:
    assert tokens(one).concepts == tokens(other).concepts != ()


def test_parts_of_words_mean_nothing() -> None:
    assert tokens("megemmory convenience padded").concepts == ()


def test_runs_of_chinese_and_japanese_become_pairs() -> None:
    assert tokens("核间 A1 転送量").words == ("核间", "a1", "転送", "送量")
    assert tokens("核").words == ("核",)


def test_a_single_character_is_looked_for_as_the_beginning_of_a_pair() -> None:
    entry = ENTRIES["tip-warm-up"]
    changed = type(entry)(entry.head, entry.sources, entry.sections, "蒸発\n", entry.origin, entry.content_sha256)
    connection = index.in_memory([changed, ENTRIES["tip-sweep"]])
    assert top(connection, "蒸") == ["tip-warm-up"]
    connection.close()


def test_filters_leave_only_what_is_about_them(memory: sqlite3.Connection) -> None:
    assert top(memory, "matmul", 50, kind="case") == ["case-msopprof-grouped-matmul", "case-resnet50"][:1] or set(
        top(memory, "matmul", 50, kind="case")
    ) <= {name for name in ENTRIES if name.startswith("case-")}
    about = [hit.entry for hit in index.listed(memory, Filters(rule="bank_conflicts"))]
    assert about == [
        name
        for kind in ("pattern", "recipe", "case", "tip")
        for name, entry in ENTRIES.items()
        if entry.head.kind == kind and "bank_conflicts" in entry.head.rules
    ]
    assert "pattern-bank-conflicts" in about
    recipes = [hit.entry for hit in index.listed(memory, Filters(kind="recipe", operator="nms"))]
    assert recipes == ["recipe-nms"]
    on_310p = {hit.entry for hit in index.listed(memory, Filters(chip="310P"))}
    assert on_310p == {name for name, e in ENTRIES.items() if not e.head.chips or "310P" in e.head.chips}
    assert "case-unet" in on_310p
    assert "case-yolov8s" not in on_310p


def test_the_whole_list_is_ordered_by_kind_and_id(memory: sqlite3.Connection) -> None:
    names = [hit.entry for hit in index.listed(memory)]
    assert sorted(names) == list(ENTRIES)
    assert [name.partition("-")[0] for name in names] == sorted(
        (name.partition("-")[0] for name in names), key=["pattern", "recipe", "case", "tip"].index
    )


@pytest.mark.parametrize("question", ['" OR entry:*', "NEAR(", "-", "AND", "***", "x" * 5000, "a 一"])
def test_no_question_is_a_mistake_in_the_query_language(memory: sqlite3.Connection, question: str) -> None:
    try:
        index.search(memory, question)
    except UsageError as error:
        assert "no word to look for" in error.what


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("MatMulV3", ("matmul",)),
        ("MatMulBias_1e04ee05ab491cc5ae9c3d5c9ee8950b_10001_mix_aic", ("matmul",)),
        ("QuantBatchMatmulV3", ("quant_matmul",)),
        ("FlashAttentionScoreGrad", ("attention",)),
        ("NonMaxSuppressionV7", ("nms",)),
        ("AddLayerNorm", ("layernorm",)),
        ("add_custom", ("elementwise",)),
        ("Address", ()),
        ("gemmini", ()),
        (None, ()),
    ],
)
def test_operators_are_told_by_whole_words_of_their_names(name: str | None, kinds: tuple[str, ...]) -> None:
    assert kinds_of(name) == kinds


def test_no_alias_means_two_kinds() -> None:
    aliases = [alias for kind in kinds().values() for alias in kind.aliases]
    assert len(aliases) == len(set(aliases))
    onnx = [name for kind in kinds().values() for name in kind.onnx]
    assert {name for name in onnx if onnx.count(name) > 1} <= {"Sum", "Mean"}
    assert kind_of_onnx("NonMaxSuppression") == "nms"
    assert kind_of_onnx("MyFlashAttention") == "attention"
    assert kind_of_onnx("Whatever") is None


@pytest.mark.parametrize(
    ("text", "family"), [("910B", "910B"), ("Ascend910B4", "910B"), ("910b2", "910B"), ("(310P)", "310P")]
)
def test_chips_are_told_by_family_or_soc(text: str, family: str) -> None:
    assert chip_family(text) == family


def test_unknown_chips_and_operators_are_told() -> None:
    with pytest.raises(UsageError, match="is no chip"):
        chip_family("H100")
    with pytest.raises(UsageError, match="no kind of operator"):
        operator_kind("frobnicate")
    assert operator_kind("MatMulV3") == "matmul"
    assert operator_kind("quant-matmul") == "quant_matmul"
