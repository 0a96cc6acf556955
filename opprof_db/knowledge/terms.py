"""Turns text, of an entry or of a question, into the tokens of the index.

Latin words stay words (FTS5 stems them). Runs of Chinese and Japanese characters become overlapping pairs, for no
tokenizer of SQLite knows where their words end. Every phrase of ``terms.toml`` adds the token of its concept, so that
"gemm", "矩阵乘" and "行列積" meet in the token of matmul, whatever words stand beside it.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_CJK = "぀-ヿ㐀-䶿一-鿿豈-﫿々ー"
_PIECE = re.compile(rf"[a-z0-9]+|[{_CJK}]+")
_JOINTS = re.compile(r"[-_/\s]+")
STOP_WORDS = frozenset(
    """
    a an and are as at be been but by can could do does did for from get gets had has have how i if in into is it its
    me much many my no not of off on one only or our should so than that the their them then there these they this to
    too very was we were what when where which while who why will with would you your
    what's it's doesn't
    怎么 什么 如何 为什 为何 么办 怎样 可以 应该 的是 了吗
    なぜ どう すれ れば ます です する した こと から ので とき 場合 ませ
    """.split()
)
"""Words and pairs that say nothing about a subject; they are indexed, but not asked for."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a text says."""

    words: tuple[str, ...]
    """Latin words, and pairs of Chinese and Japanese characters."""
    concepts: tuple[str, ...]
    """Tokens of the concepts named, once per mention."""


def normalised(text: str) -> str:
    """Lower case, full-width forms made narrow, hyphens and underscores made blanks."""
    return _JOINTS.sub(" ", unicodedata.normalize("NFKC", text).lower())


def tokens(text: str) -> Tokens:
    """Tokens of a text."""
    plain = normalised(text)
    pattern, concepts = _phrases()
    found = [_token(concepts[_singular(match.group(), concepts)]) for match in pattern.finditer(plain)]
    words: list[str] = []
    for piece in _PIECE.findall(plain):
        words += [piece] if piece.isascii() else _pairs(piece)
    return Tokens(tuple(words), tuple(found))


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


def _token(concept: str) -> str:
    return "c0" + concept.replace("_", "")


def _singular(phrase: str, known: dict[str, str]) -> str:
    return phrase if phrase in known else phrase.removesuffix("s")


@cache
def _phrases() -> tuple[re.Pattern[str], dict[str, str]]:
    """One pattern over every phrase, the longest first, and phrase -> concept."""
    data = tomllib.loads((files(__package__) / "terms.toml").read_text(encoding="utf-8"))
    concepts = {normalised(phrase): concept for concept, phrases in data.items() for phrase in phrases}
    alternatives = []
    for phrase in sorted(concepts, key=lambda each: (-len(each), each)):
        escaped = re.escape(phrase)
        if phrase.isascii():
            escaped = rf"(?<![a-z0-9]){escaped}s?(?![a-z0-9])"
        alternatives.append(escaped)
    return re.compile("|".join(alternatives)), concepts
