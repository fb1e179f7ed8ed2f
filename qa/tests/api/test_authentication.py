from __future__ import annotations

import datetime

import pytest
from django.test import Client

from documents.tests import factories
from qa.models import ApiKey
from qa.tests.api.support import QUESTION, signed_in, with_key

pytestmark = pytest.mark.django_db


def test_nobody_is_told_how_to_sign_in() -> None:
    reply = Client().get("/api/v1/me")

    assert reply.status_code == 401
    assert reply["Content-Type"] == "application/problem+json"
    assert reply["WWW-Authenticate"].startswith("Bearer")
    assert reply.json()["code"] == "not_authenticated"


@pytest.mark.parametrize("value", ["lqa_wrong", "", "lqa_" + "x" * 43])
def test_unknown_key_is_refused_even_beside_a_good_session(value: str) -> None:
    api = signed_in(factories.user("emp"))

    reply = api.client.get("/api/v1/me", headers={"Authorization": f"Bearer {value}"})

    assert reply.status_code == 401
    assert reply.json()["code"] == "invalid_key"


def test_revoked_expired_and_disabled_keys_give_the_same_reply() -> None:
    user = factories.user("emp")
    past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=1)
    expired = with_key(user, "read", expires_at=past)
    revoked = with_key(user, "read")
    ApiKey.objects.filter(expires_at=None).update(revoked_at=past)
    gone = factories.user("gone")
    disabled = with_key(gone, "read")
    gone.is_active = False
    gone.save()

    replies = [api.get("me") for api in (expired, revoked, disabled)]

    assert {reply.status_code for reply in replies} == {401}
    assert len({reply.content for reply in replies}) == 1


def test_key_acts_for_its_user_with_its_labels_alone() -> None:
    user = factories.user("hr1", labels=["hr"])

    assert with_key(user, "read").get("me").json()["labels"] == ["all-staff", "hr"]
    assert with_key(user, "read", labels=["hr"]).get("me").json()["labels"] == ["hr"]
    assert with_key(user, "read", labels=["board"]).get("me").json()["labels"] == []


def test_key_needs_the_scope_and_its_user_the_right() -> None:
    user = factories.user("emp")

    assert with_key(user, "read").post("ask", {"question": QUESTION}).status_code == 403
    assert with_key(user, "ask").get("policies").status_code == 403
    no_right = with_key(user, "ingest").post("ingest", {"document_name": "a.md", "content": "a"})
    assert no_right.status_code == 403
    assert with_key(user, *ApiKey.Scope.values).get("me").json()["scopes"] == ["ask", "read"]


def test_session_post_needs_the_csrf_token_and_a_key_does_not() -> None:
    user = factories.user("emp")

    reply = signed_in(user, enforce_csrf_checks=True).post("search", {"question": QUESTION})
    by_key = with_key(user, "ask").post("search", {"question": QUESTION})

    assert reply.status_code == 403
    assert reply["Content-Type"] == "application/problem+json"
    assert by_key.status_code == 200


def test_replies_are_private() -> None:
    reply = signed_in(factories.user("emp")).get("me")

    assert reply["Cache-Control"] == "private, no-store"
