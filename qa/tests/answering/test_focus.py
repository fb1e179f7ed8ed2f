from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa.answering.focus import (
    counts,
    defines_term,
    does_other_things,
    is_in_unit,
    limits,
    measures,
    names_holder,
    only_frames,
    only_mentions,
    points_elsewhere,
)
from qa.answering.questions import Wanted, read_question


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Staff are entitled to 24 days of annual leave a year.", True),
        ("The sabbatical lasts 12 contiguous weeks.", True),
        ("Annual leave is requested at least ten working days before its first day.", False),
        ("Give 30 days' notice.", False),
        ("The manager answers within five working days.", False),
        ("Leave is granted by the manager.", False),
    ],
)
def test_length_of_time_is_an_extent_unless_it_leads_to_a_date(text: str, expected: bool) -> None:
    assert measures(read_question("How many days of leave do I get?", "en"), text) is expected


@pytest.mark.parametrize(
    ("question", "is_extent"),
    [
        ("How many weeks of parental leave are there?", True),
        ("How much annual leave do I get?", True),
        ("How many days before its first day must leave be requested?", False),
        ("Within how many days is an invoice paid?", False),
        ("How many days in advance do I ask?", False),
    ],
)
def test_extent_is_told_from_a_deadline(question: str, is_extent: bool) -> None:
    assert read_question(question, "en").is_extent is is_extent


def test_sale_of_days_is_not_having_them() -> None:
    asked = read_question("How many days of leave do I have?", "en")

    assert does_other_things(asked, "Up to five days of leave may be carried over.")
    assert not does_other_things(asked, "Up to five days of leave may be taken at once.")
    assert not does_other_things(
        read_question("How many days may be carried over?", "en"),
        "Up to five days of leave may be carried over.",
    )


def test_unit_that_was_asked_for_is_found_behind_another_word() -> None:
    asked = read_question("How many weeks is the sabbatical?", "en")

    assert is_in_unit(asked, "It lasts 12 contiguous weeks.")
    assert not is_in_unit(asked, "It is earned in five years.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Meals during a journey are claimed under the Expenses Policy.", True),
        ("Please refer to our guidelines for details.", True),
        ("This policy covers journeys and what is paid for them.", True),
        ("For more information, ask the service desk.", True),
        ("Meals are claimed under the Expenses Policy up to £30 a day.", False),
        ("Meals are claimed by whoever is away for a day.", False),
    ],
)
def test_pointer_elsewhere_is_known(text: str, expected: bool) -> None:
    asked = read_question("What may I claim for meals?", "en")

    assert points_elsewhere(asked, text) is expected


def test_pointer_answers_a_question_for_the_place() -> None:
    asked = read_question("Which policy covers meals?", "en")

    assert not points_elsewhere(asked, "Meals are claimed under the Expenses Policy.")


@pytest.mark.parametrize(
    ("term", "text", "expected"),
    [
        ("personal data", '2.1 "Personal data" means any information about a person.', True),
        ("collaborator", "Collaborators: A collaborator is a user with write access.", True),
        ("User", "By “User” we mean whoever signs in.", True),
        ("legal hold", "A legal hold is an order to keep documents.", True),
        ("sponsor", '"Sponsorship" means a payment.', False),
        ("annual leave", "Annual leave is requested in the portal.", False),
        ("personal data", "We use personal data only for the purposes it was given for.", False),
        ("prorated", "Your vacation time is prorated by start date.", False),
        ("特休", "「特休」，指依年資給予之休假。", True),
        ("特休", "特休應於年度內休畢。", False),
    ],
)
def test_definition_has_its_term_as_subject(term: str, text: str, expected: bool) -> None:
    assert defines_term(term, text) is expected


def test_definition_may_lean_on_its_heading() -> None:
    text = "This means working for somebody else as well."

    assert defines_term("moonlighting", text, ["4 Moonlighting"])
    assert not defines_term("moonlighting", text, ["4 Leave"])


@given(st.text(max_size=40), st.text(max_size=80))
def test_any_term_and_text_can_be_compared(term: str, text: str) -> None:
    assert defines_term(term, text) in {True, False}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Data Protection Officer is Mira Holm.", True),
        ("Mira Holm, the Data Protection Officer, answers.", True),
        ("It consists of the Data Protection Officer and the Head of IT.", False),
        ("The team works under the data protection officer of the company.", False),
    ],
)
def test_who_somebody_is_needs_a_name(text: str, expected: bool) -> None:
    assert names_holder("data protection officer", text) is expected


def test_number_must_stand_by_what_is_counted() -> None:
    asked = read_question("How many reviewers read an appeal?", "en")

    assert counts(asked, "An appeal is read by two reviewers.")
    assert not counts(asked, "An appeal after the first 3 months is closed; a reviewer says so.")


def test_limit_needs_a_bound() -> None:
    assert limits("You can claim up to £250.")
    assert limits("There is a limit of 20 users.")
    assert not limits("You can be in one scheme at a time.")
    assert not limits("The office has 20 users.")


def test_member_of_a_list_is_not_its_members() -> None:
    asked = read_question("Which countries are on the watch list?", "en")

    assert only_mentions(asked, "Work from a country on the watch list is not permitted.")
    assert not only_mentions(asked, "The countries on the watch list are Ruritania and Elbonia.")


def test_period_that_only_dates_something_else_is_not_measured() -> None:
    asked = read_question("How long is the trial period?", "en")

    assert only_frames(
        asked, "Up to three months of leave are granted, not during the trial period."
    )
    assert not only_frames(asked, "The trial period is three months.")


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When must a claim be submitted?", Wanted.TIME),
        ("In an audit, when are files handed over?", Wanted.TIME),
        ("How is a file protected when it is sent?", Wanted.ANY),
        ("Where is the office?", Wanted.PLACE),
        ("What is the limit of the scheme?", Wanted.QUANTITY),
        ("What is the maximum fee?", Wanted.MONEY),
    ],
)
def test_form_of_the_question_says_what_is_wanted(question: str, wanted: Wanted) -> None:
    assert read_question(question, "en").wanted is wanted
