from __future__ import annotations

import logging

import pytest
from django.db import OperationalError
from django.test import Client
from rest_framework.exceptions import ValidationError

from documents.errors import AccessError, EmbeddingError, TransitionError, ValidationProblem
from documents.tests import factories
from qa import pipeline
from qa.api.problems import problem_of
from qa.errors import InvalidQuestionError, RetrievalError
from qa.tests.api.support import QUESTION, signed_in


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ValidationProblem("Say which.", code="unknown_label"), 400, "unknown_label"),
        (ValidationProblem("Big.", code="too_large"), 413, "too_large"),
        (InvalidQuestionError("Empty."), 400, "invalid_question"),
        (TransitionError("No."), 409, "bad_transition"),
        (EmbeddingError("Missing."), 503, "embedding_error"),
        (RetrievalError("Down."), 503, "retrieval_error"),
        (OperationalError("password of app is wrong"), 503, "database_down"),
        (AccessError("nested reading_as"), 500, "internal_error"),
        (KeyError("canary"), 500, "internal_error"),
    ],
)
def test_every_error_has_its_status_and_code(error: Exception, status: int, code: str) -> None:
    problem = problem_of(error)
    body = problem.as_json()

    assert (problem.status, problem.code) == (status, code)
    assert set(body) >= {"type", "title", "status", "detail", "code"}
    assert ("Retry-After" in problem.headers) == (status == 503)
    assert all(word not in str(body) for word in ("canary", "password", "reading_as"))


def test_nested_field_errors_become_paths() -> None:
    problem = problem_of(ValidationError({"a": {"b": ["wrong"]}, "c": ["bad", "worse"]}))

    assert [(e.field, e.message) for e in problem.errors] == [
        ("a.b", "wrong"),
        ("c", "bad"),
        ("c", "worse"),
    ]


def test_text_of_an_unforeseen_error_reaches_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        problem_of(RuntimeError("canary-question"))

    assert "RuntimeError" in caplog.text
    assert "canary" not in caplog.text


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post", "put", "delete"])
@pytest.mark.parametrize("path", ["v1/nothing", "v1/answers/not-a-uuid", "v1/ask/", ""])
def test_unknown_address_is_a_problem_like_an_unknown_object(method: str, path: str) -> None:
    api = signed_in(factories.user("emp"), enforce_csrf_checks=True)

    reply = getattr(api.client, method)(f"/api/{path}")
    unknown = api.get("answers/00000000-0000-4000-8000-000000000000")

    assert reply.status_code == unknown.status_code == 404
    assert reply["Content-Type"] == unknown["Content-Type"] == "application/problem+json"
    assert reply.content == unknown.content


@pytest.mark.django_db
def test_wrong_method_body_and_media_type_are_problems() -> None:
    api = signed_in(factories.user("emp"))

    assert api.get("ask").status_code == 405
    assert api.post("ask", "{").status_code == 400
    assert api.post("ask", "[]").status_code == 400
    text = api.client.post("/api/v1/ask", "x", content_type="text/plain")
    assert text.status_code == 415
    html = api.client.get("/api/v1/me", headers={"Accept": "text/html"})
    assert html.status_code == 406
    for reply in (text, html):
        assert reply["Content-Type"] == "application/problem+json"


@pytest.mark.django_db
def test_body_beyond_the_limit_is_not_read() -> None:
    reply = signed_in(factories.user("emp")).post("ask", {"question": "x" * 70_000})

    assert reply.status_code == 413


@pytest.mark.django_db
def test_database_that_is_down_is_told_with_when_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api = signed_in(factories.user("emp"))

    def fail(asked: object) -> None:
        raise OperationalError("connection to server failed: canary")

    monkeypatch.setattr(pipeline, "search_passages", fail)
    reply = api.post("search", {"question": QUESTION})

    assert reply.status_code == 503
    assert int(reply["Retry-After"]) > 0
    assert b"canary" not in reply.content


@pytest.mark.django_db
def test_unknown_key_while_the_database_is_down_is_a_503(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(key: str) -> None:
        raise OperationalError("down")

    monkeypatch.setattr("qa.keys.find_key", fail)

    reply = Client().get("/api/v1/me", headers={"Authorization": "Bearer lqa_x"})

    assert reply.status_code == 503


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("[" * 60_000, "application/json"),
        (b'{"question": "x"}', "application/json; charset=base64"),
        (b'{"question": "x"}', "application/json; charset=zlib"),
        (b'{"question": "\xff"}', "application/json"),
    ],
)
def test_body_that_cannot_be_read_is_a_400(body: str | bytes, content_type: str) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(factories.user("emp"))

    reply = client.generic("POST", "/api/v1/ask", body, content_type=content_type)

    assert (reply.status_code, reply.json()["code"]) == (400, "parse_error")


@pytest.mark.django_db
def test_form_with_too_many_fields_is_a_400() -> None:
    client = Client(raise_request_exception=False)
    client.force_login(factories.user("emp", is_superuser=True))

    reply = client.post("/api/v1/ingest", {f"f{i}": "x" for i in range(2000)})

    assert (reply.status_code, reply.json()["code"]) == (400, "invalid")


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["\x00", "lqa_\x00abc", "lqa_\u00e9"])
def test_key_that_the_database_could_not_take_is_unknown(key: str) -> None:
    client = Client(raise_request_exception=False)

    reply = client.get("/api/v1/me", headers={"Authorization": f"Bearer {key}"})

    assert (reply.status_code, reply.json()["code"]) == (401, "invalid_key")
