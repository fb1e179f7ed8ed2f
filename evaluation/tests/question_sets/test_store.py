from __future__ import annotations

from dataclasses import replace

import pytest

from evaluation.errors import QuestionFileError, UnknownSetError
from evaluation.question_sets import Imported, load_set, save_set
from evaluation.tests.factories import DAYS, QUESTIONS

pytestmark = pytest.mark.django_db


def test_a_set_comes_back_as_it_was_given_and_in_order() -> None:
    full = replace(DAYS, forbidden=("x",))
    save_set([*QUESTIONS[1:], full], name=" small ")
    found = load_set("small")
    assert found.questions == (*QUESTIONS[1:], full)
    assert (found.name, found.version) == ("small", 1)


def test_the_same_questions_make_no_version_and_others_the_next() -> None:
    assert save_set(QUESTIONS, name="small") == Imported("small", 1, 4, is_new=True)
    assert save_set(QUESTIONS, name="small") == Imported("small", 1, 4, is_new=False)
    assert save_set(QUESTIONS[:2], name="small") == Imported("small", 2, 2, is_new=True)
    assert save_set(QUESTIONS, name="small") == Imported("small", 3, 4, is_new=True)
    assert load_set("small").version == 3
    assert save_set(QUESTIONS, name="other").version == 1


def test_a_set_that_does_not_exist_is_named_with_those_that_do() -> None:
    save_set(QUESTIONS, name="small")
    with pytest.raises(UnknownSetError, match=r"no question set big.*Sets: small"):
        load_set("big")


@pytest.mark.parametrize("name", [" ", "x" * 101])
def test_a_name_has_1_to_100_characters(name: str) -> None:
    with pytest.raises(QuestionFileError, match="1 to 100"):
        save_set(QUESTIONS, name=name)
