from __future__ import annotations

import pytest

from documents.ingestion.cuts import cut_points

FILLER = (
    "The steward keeps a list of lamps and shows it to each person who asks for it in writing. " * 3
)


@pytest.mark.parametrize(
    "inner",
    [
        "2. Oil. The oil is",
        "2.1 The oil is",
        "ARTICLE II Oil is",
        "Section 4. Oil is",
        "§ 7 Oil is",
    ],
)
def test_label_after_the_end_of_a_sentence_may_begin_a_section(inner: str) -> None:
    raw = f"{FILLER}{inner} kept cold."
    assert [raw[point:] for point in cut_points(raw)] == [f"{inner} kept cold."]


@pytest.mark.parametrize(
    "inner",
    ["See Section 2. The oil", "within 30. The oil", "Principle 2. A person", "on May 5. The oil",
     "the list of 2.1 Lamps"],
)  # fmt: skip
def test_mention_of_a_number_is_no_place_for_a_section(inner: str) -> None:
    assert cut_points(f"{FILLER}{inner} is cold.") == []


def test_wide_gap_stands_for_a_line_break_but_not_after_a_label() -> None:
    raw = f"{FILLER}     2.     Oil     The oil is kept cold."
    assert [raw[point:][:6] for point in cut_points(raw)] == ["2.    ", "The oi"]


def test_short_line_is_never_cut() -> None:
    assert cut_points("It is so. 2. Oil. The oil is kept cold.") == []


@pytest.mark.timeout(120)  # less than a second; a quadratic step takes minutes
@pytest.mark.parametrize("piece", ["1. A", ". 1", "   A", "Section 1. ", "第一條", "1.1 A "])
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    cut_points(piece * (100_000 // len(piece)))
