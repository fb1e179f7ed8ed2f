from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from documents.ingestion.sentences import split_sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        "Under Art. 5 para. 2 the fee is approx. 30 euros, e.g. for form No. 7.",
        "Brookvale Inc. pays by 3.30 p.m. on the day.",
        "Dr. Ahn and J. Smith sign.",
        "It weighs 4.5 kg, cf. Sec. 3.2.1 of the rule.",
        "Der Betrag gilt gem. Abs. 2 z.B. für Nr. 5.",
        "See https://policies.example/a.b for v1.2.3 of it.",
        "It is due on 5 Jan. 2024.",
        'He said "wait." and left.',
        "The U.S. Congress met at 5 p.m. Monday, cf. Smith et al., 5 F.3d 10 (9th Cir. 1999).",
        "Der Betrag i.H.v. 5 EUR gilt gem. § 5 Abs. 2 S. 1 BGB.",
        "L'art. 5 al. 2 s'applique.",
    ],
)
def test_stop_inside_a_sentence_ends_nothing(sentence: str) -> None:
    assert split(f"First one. {sentence} Last one.") == ["First one.", sentence, "Last one."]


def test_sentences_in_chinese() -> None:
    assert split("借書期限為二十一日。逾期罰款；不得續借！「可以嗎？」否。") == [
        "借書期限為二十一日。",
        "逾期罰款；",
        "不得續借！",
        "「可以嗎？」",
        "否。",
    ]


def test_hard_wrapped_line_is_no_end() -> None:
    assert split("Given within\n30 days of a request.") == ["Given within\n30 days of a request."]


def test_blank_line_and_list_label_are_ends() -> None:
    text = "Staff may accept:\n(a) a book; or\n(b) flowers\n\nAnything else is refused"
    assert split(text) == [
        "Staff may accept:",
        "(a) a book; or",
        "(b) flowers",
        "Anything else is refused",
    ]


def test_label_of_an_item_is_no_sentence() -> None:
    assert split("1. Close the door. 2. Wait.") == ["1. Close the door.", "2. Wait."]


def test_single_letter_after_annex_may_end() -> None:
    assert split("It is in Annex A. Plan ahead.") == ["It is in Annex A.", "Plan ahead."]


def test_rows_of_a_table_are_apart() -> None:
    assert split("Room: 1; Seats: 3\nRoom: 2; Seats: 4") == [
        "Room: 1; Seats: 3",
        "Room: 2; Seats: 4",
    ]


def test_initials_end_a_sentence_before_a_word_that_begins_one() -> None:
    assert split("It is law in the U.S. The rest follows at 5 p.m. Then it ends.") == [
        "It is law in the U.S.",
        "The rest follows at 5 p.m.",
        "Then it ends.",
    ]


def test_no_and_question_are_sentences() -> None:
    assert split("Is it allowed? No. Ask first.") == ["Is it allowed?", "No.", "Ask first."]


@given(st.text(alphabet="aB1 .!?。；\n-()\"'”:、一", max_size=80))
def test_every_character_but_white_space_is_in_one_sentence(text: str) -> None:
    spans = split_sentences(text)
    covered = [False] * len(text)
    for start, end in spans:
        assert text[start:end] == text[start:end].strip() != ""
        assert not any(covered[start:end])
        covered[start:end] = [True] * (end - start)
    assert all(is_in or char.isspace() for char, is_in in zip(text, covered, strict=True))
    assert spans == sorted(spans)


@pytest.mark.timeout(120)  # a quadratic step would take many minutes
@pytest.mark.parametrize("piece", [".", "a. ", "\n ", ".)", "x: y\n", "。", "(a) ", "Foo. "])
def test_hostile_repetition_takes_linear_time(piece: str) -> None:
    split_sentences(piece * (100_000 // len(piece)))
