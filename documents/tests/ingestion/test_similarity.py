"""Signatures tell near copies from other texts."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.ingestion.similarity import SIZE, resemblance, signature

WORDS = [f"word{i}" for i in range(400)]


def text_of(seed: int, words: int = 2000) -> list[str]:
    return random.Random(seed).choices(WORDS, k=words)  # noqa: S311 - no secret


@pytest.mark.parametrize(
    ("changed", "low", "high"), [(0, 1.0, 1.0), (20, 0.8, 0.98), (200, 0.3, 0.6)]
)
def test_the_more_words_change_the_less_two_texts_resemble(
    changed: int, low: float, high: float
) -> None:
    words = text_of(1)
    other = list(words)
    for i in random.Random(2).sample(range(len(words)), changed):  # noqa: S311 - no secret
        other[i] = f"new{i}"

    assert low <= resemblance(signature(" ".join(words)), signature(" ".join(other))) <= high


def test_other_texts_resemble_in_nothing() -> None:
    assert resemblance(signature(" ".join(text_of(1))), signature(" ".join(text_of(9)))) < 0.1


def test_chinese_is_compared_by_characters() -> None:
    text = "員工每年享有特別休假二十七日,得遞延五日至次年度實施。" * 3
    near = text.replace("二十七", "三十")

    assert 0.5 < resemblance(signature(text), signature(near)) < 1.0
    assert resemblance(signature(text), signature("出差旅費以二等艙為限,膳費四十歐元。")) < 0.2


@given(st.text(max_size=200))
def test_case_width_and_blanks_change_nothing(text: str) -> None:
    words = text.split()

    assert signature("  \n".join(words)) == signature(" ".join(words))
    assert len(signature(text)) in (0, 4 * SIZE)
    assert resemblance(signature(text), b"") == 0.0


def test_a_short_text_has_a_signature_of_its_own() -> None:
    assert resemblance(signature("Be kind."), signature("BE KIND")) == 1.0
    assert signature(" -- ") == b""
