from __future__ import annotations

import datetime
import uuid
from typing import Any

import pytest

from documents.tests import factories
from qa.tests.api.support import (
    DISCIPLINE,
    HR_QUESTION,
    LEAVE,
    QUESTION,
    Api,
    give,
    masked,
    signed_in,
    with_key,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def emp() -> Api:
    factories.published(LEAVE, policy_slug="leave")
    return signed_in(factories.user("emp"))


def errors(reply: Any) -> set[str]:
    assert reply["Content-Type"] == "application/problem+json"
    return {error["field"] for error in reply.json()["errors"]}


# Asking


def test_answer_holds_a_verbatim_quote_that_the_section_marks(emp: Api) -> None:
    answer = emp.post("ask", {"question": QUESTION}).json()
    citation = answer["claims"][0]["citations"][0]
    section = emp.get(
        f"sections/{citation['section_public_id']}",
        start=str(citation["start"]),
        end=str(citation["end"]),
    ).json()
    cited = section["cited"]

    assert answer["status"] == "answered"
    assert "27 days" in citation["quote"]
    assert section["text"][cited["start"] : cited["end"]] == citation["quote"]
    assert section["id"] == citation["section_public_id"]


def test_question_beyond_the_policies_is_refused_with_score_and_threshold(emp: Api) -> None:
    answer = emp.post("ask", {"question": "What is the capital of France?"}).json()

    assert answer["status"] == "refused"
    assert answer["answer"] is None
    assert answer["refusal"]["code"] == "below_threshold"
    assert answer["refusal"]["top_score"] < answer["refusal"]["threshold"]


def test_reader_of_nothing_gets_404_with_a_hint() -> None:
    factories.published(LEAVE)
    key = with_key(factories.user("emp"), "ask", labels=["board"])

    reply = key.post("ask", {"question": QUESTION})

    assert reply.status_code == 404
    assert reply.json()["code"] == "no_documents"
    assert "label" in reply.json()["hint"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("labels", ["hr"]),
        ("as_user", "hr1"),
        ("debug", True),
        ("top_k", 100_000),
        ("status", "answered"),
    ],
)
def test_unknown_field_is_refused_by_its_name(emp: Api, field: str, value: object) -> None:
    for path in ("ask", "ask/stream", "search"):
        reply = emp.post(path, {"question": QUESTION, field: value})

        assert reply.status_code == 400
        assert errors(reply) == {field}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "question"),
        ({"question": " \u0000 "}, "question"),
        ({"question": "x" * 1001}, "question"),
        ({"question": None}, "question"),
        ({"question": ["a"]}, "question"),
        ({"question": QUESTION, "n_results": 0}, "n_results"),
        ({"question": QUESTION, "n_results": 21}, "n_results"),
        ({"question": QUESTION, "as_of": "tomorrow"}, "as_of"),
    ],
)
def test_invalid_field_is_named_by_ask_search_and_stream(
    emp: Api, body: dict[str, object], field: str
) -> None:
    for path in ("ask", "ask/stream", "search"):
        reply = emp.post(path, body)

        assert reply.status_code == 400
        assert errors(reply) == {field}


def test_control_characters_are_taken_out_of_a_question(emp: Api) -> None:
    reply = emp.post("search", {"question": "annual\u0000 leave\u0007"})

    assert reply.json()["question"] == "annual leave"


def test_date_in_the_future_needs_the_right_to_read_ahead(emp: Api) -> None:
    day = (datetime.date.today() + datetime.timedelta(days=30)).isoformat()  # noqa: DTZ011 - far off
    ahead = signed_in(give(factories.user("ahead"), "documents.read_scheduled"))

    for path in ("ask", "ask/stream", "search"):
        reply = emp.post(path, {"question": QUESTION, "as_of": day})
        assert reply.status_code == 400
        assert reply.json()["code"] == "as_of_in_future"
    assert emp.get("policies", as_of=day).status_code == 400
    assert ahead.post("search", {"question": QUESTION, "as_of": day}).status_code == 200


def test_date_before_the_policy_finds_nothing(emp: Api) -> None:
    assert emp.post("ask", {"question": QUESTION, "as_of": "2020-01-01"}).status_code == 404
    assert emp.get("policies", as_of="2020-01-01").json()["policies"] == []


# Searching and reading


def test_search_shows_both_ranks_scores_and_matched_terms(emp: Api) -> None:
    (first, *_) = emp.post("search", {"question": QUESTION, "n_results": 2}).json()["results"]

    assert first["document"] == "Leave policy"
    assert first["lexical_rank"] == 1
    assert {"score", "cosine", "bm25", "dense_rank"} <= set(first)
    assert "annual" in first["matched_terms"]


def test_unknown_policy_department_or_jurisdiction_matches_nothing(emp: Api) -> None:
    for field in ("policy", "department", "jurisdiction"):
        assert emp.post("search", {"question": QUESTION, field: "nowhere"}).json()["results"] == []
    assert emp.post("search", {"question": QUESTION, "policy": "leave"}).json()["results"]


def test_stored_answer_is_its_askers_alone(emp: Api) -> None:
    factories.published(DISCIPLINE, labels=("hr",))
    hr = signed_in(factories.user("hr1", labels=["hr"]))
    answer = hr.post("ask", {"question": HR_QUESTION}).json()
    unknown = emp.get(f"answers/{uuid.uuid4()}")

    assert answer["status"] == "answered"
    assert hr.get(f"answers/{answer['id']}").json() == answer
    assert emp.get(f"answers/{answer['id']}").status_code == 404
    assert emp.get(f"answers/{answer['id']}").content == unknown.content


def test_section_that_may_not_be_read_is_like_an_unknown_one(emp: Api) -> None:
    factories.published(DISCIPLINE, labels=("hr",))
    hr = signed_in(factories.user("hr1", labels=["hr"]))
    found = hr.post("search", {"question": HR_QUESTION}).json()["results"][0]
    path = f"sections/{found['section_public_id']}"

    assert hr.get(path).status_code == 200
    assert emp.get(path).status_code == 404
    assert emp.get(path).content == emp.get(f"sections/{uuid.uuid4()}").content


def test_section_query_is_strict(emp: Api) -> None:
    found = emp.post("search", {"question": QUESTION}).json()["results"][0]
    path = f"sections/{found['section_public_id']}"

    assert errors(emp.get(path, start="1")) == {"end"}
    assert errors(emp.get(path, start="-1", end="x")) == {"start", "end"}
    assert errors(emp.get(path, full="1")) == {"full"}
    beyond = emp.get(path, start="5", end="999999")
    assert beyond.status_code == 200
    assert beyond.json()["cited"] is None


# Non-interference


def test_policies_that_may_not_be_read_change_no_byte_of_any_reply(emp: Api) -> None:
    def outcomes() -> list[tuple[int, str]]:
        replies = [
            emp.post(path, {"question": question, "n_results": 20})
            for path in ("ask", "search")
            for question in (QUESTION, HR_QUESTION, "May leave be carried over?")
        ]
        replies += [emp.get("policies"), emp.get("me")]
        return [(reply.status_code, masked(reply.content)) for reply in replies]

    before = outcomes()
    factories.published(DISCIPLINE, policy_slug="discipline", labels=("hr",))
    after = outcomes()

    assert after == before
    hr = signed_in(factories.user("hr1", labels=["hr"]))
    assert hr.post("ask", {"question": HR_QUESTION}).json()["status"] == "answered"


def test_scope_of_a_hidden_policy_is_like_that_of_an_unknown_one(emp: Api) -> None:
    factories.published(DISCIPLINE, policy_slug="discipline", labels=("hr",))

    hidden = emp.post("search", {"question": QUESTION, "policy": "discipline"})
    unknown = emp.post("search", {"question": QUESTION, "policy": "no-such"})

    assert hidden.content == unknown.content


# The limit


def test_rate_holds_over_all_doors_and_keys_of_a_user(emp: Api, settings) -> None:
    rates = {"DEFAULT_THROTTLE_RATES": {"ask": "2/day"}}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, **rates}
    user = factories.user("busy")

    first = signed_in(user).post("search", {"question": QUESTION})
    second = with_key(user, "ask").post("ask", {"question": QUESTION})
    third = with_key(user, "ask").post("ask/stream", {"question": QUESTION})

    assert (first.status_code, second.status_code, third.status_code) == (200, 200, 429)
    assert int(third["Retry-After"]) > 0
    assert emp.post("search", {"question": QUESTION}).status_code == 200


def test_rate_holds_while_redis_is_down(emp: Api, settings, caplog) -> None:
    rates = {"DEFAULT_THROTTLE_RATES": {"ask": "1/day"}}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, **rates}
    nowhere = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": "unix:///nowhere/redis.sock?db=1",
    }
    settings.CACHES = {**settings.CACHES, "default": nowhere}

    assert emp.post("search", {"question": QUESTION}).status_code == 200
    assert emp.post("search", {"question": QUESTION}).status_code == 429
