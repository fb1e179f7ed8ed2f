from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answering.gates import before_answer, clean_question, coefficients_for
from qa.errors import InvalidQuestionError
from qa.records import Passage, SearchResult
from qa.tests.answering.world import LEAVE, VPN, passage


def found(*passages: Passage, unseen: tuple[str, ...] = ()) -> SearchResult:
    return SearchResult(passages, True, ("a", "b", "c", "d"), unseen, "r", "en")


def test_no_passage_closes_the_gate() -> None:
    decision = before_answer(found(), "How long is leave?", threshold=0.0)

    assert not decision.is_open
    assert decision.score == 0.0


@pytest.mark.parametrize("cosine", [None, 0.2])
def test_off_topic_question_scores_under_a_tenth(cosine: float | None) -> None:
    result = found(passage(VPN, cosine=cosine), unseen=("bake", "bread"))

    assert before_answer(result, "How do I bake bread?", threshold=0.3).score < 0.1


@pytest.mark.parametrize("cosine", [None, 0.65])
def test_covered_question_scores_over_eight_tenths(cosine: float | None) -> None:
    result = found(passage(LEAVE, cosine=cosine))

    decision = before_answer(result, "How many days of annual leave a year?", threshold=0.3)

    assert decision.is_open
    assert decision.score > 0.8
    assert ("cosine" in decision.inputs) is (cosine is not None)


def test_question_is_fitted_for_its_language_where_data_allow() -> None:
    chinese = coefficients_for("no-such-model", "zh-Hant", {"cover_best": 1.0})

    assert chinese.fitted_on.endswith("in Chinese, 2026-11-30")
    assert coefficients_for("no-such-model", "en", {}).fitted_on != chinese.fitted_on
    assert "cosine" in coefficients_for("no-such-model", "en", {"cosine": 0.5}).weights


def test_score_does_not_move_when_passages_are_added_behind() -> None:
    question = "How many days of annual leave a year?"
    others = [passage("Lifeguards wear yellow.", f"p{n}") for n in range(2, 12)]

    alone = before_answer(found(passage(LEAVE)), question, threshold=0.3).score

    assert before_answer(found(passage(LEAVE), *others), question, threshold=0.3).score == alone


@pytest.mark.parametrize("text", ["", "  \n", "\x00\x07", "?!"])
def test_empty_question_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidQuestionError, match="Type a question"):
        clean_question(text)


def test_long_question_names_the_limit() -> None:
    with pytest.raises(InvalidQuestionError, match="at most 1000"):
        clean_question("why " * 600)


class Unread(str):
    """A text whose characters nobody may go through."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("its characters were looked at")


def test_a_huge_text_is_refused_without_looking_at_each_character() -> None:
    with pytest.raises(InvalidQuestionError, match="20000000 characters"):
        clean_question(Unread("why " * 5_000_000))
    with pytest.raises(AssertionError):
        clean_question(Unread("why"))


@given(st.text(max_size=200))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    try:
        once = clean_question(text)
    except InvalidQuestionError:
        return
    assert clean_question(once) == once
