"""Who signs in and where acts come from, on record."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from documents import audit
from documents.models import AuditEvent
from documents.tests import factories
from legalqa import origin

pytestmark = pytest.mark.django_db


def event(action: str) -> AuditEvent:
    return AuditEvent.objects.get(action=action)


def after(action: str) -> dict[str, Any]:
    return event(action).after or {}


def sign_in(name: str, password: str, forwarded: str = "") -> Client:
    client = Client(REMOTE_ADDR="192.0.2.7", headers={"X-Forwarded-For": forwarded})
    client.post("/login/", {"username": name, "password": password})
    return client


def test_signing_in_and_out_is_on_record_with_the_address():
    person = factories.user("dana")
    client = sign_in("dana", "pass-dana", forwarded="203.0.113.9")
    client.post("/logout/")

    for action in ("signed_in", "signed_out"):
        found = event(action)
        assert (found.actor_id, found.actor_name) == (person.pk, "dana")
        assert (found.object_type, found.object_id) == ("user", str(person.pk))
        assert found.address == "192.0.2.7"


def test_a_failed_try_names_an_account_and_nothing_that_was_typed():
    person = factories.user("dana")
    sign_in("dana", "wrong-secret")
    found = event("sign_in_failed")

    assert (found.actor_id, found.object_id) == (None, str(person.pk))
    assert found.after == {"username": "dana"}

    sign_in("my-password-in-the-wrong-field", "x")
    sign_in("with\0nul", "x")
    rows = AuditEvent.objects.filter(action="sign_in_failed").values_list("after", "object_id")
    assert list(rows)[:1] == [({"username": None}, "")]
    assert "my-password" not in str(list(rows))


def test_the_admins_log_in_counts_too():
    factories.user("boss", is_staff=True)
    Client(REMOTE_ADDR="192.0.2.9").post(
        "/admin/login/", {"username": "boss", "password": "pass-boss"}
    )

    assert event("signed_in").address == "192.0.2.9"


def test_behind_a_trusted_proxy_the_clients_address_is_on_record(settings):
    settings.TRUSTED_PROXIES = origin.networks(["192.0.2.0/24"])
    factories.user("dana")
    sign_in("dana", "pass-dana", forwarded="203.0.113.9, 198.51.100.1")

    assert event("signed_in").address == "198.51.100.1"


def test_a_command_says_that_it_is_one_and_the_next_act_is_the_systems_again():
    factories.user("dana")
    call_command(
        "create_api_key",
        "--user",
        "dana",
        "--name",
        "reports",
        "--scopes",
        "read",
        stdout=StringIO(),
    )
    audit.record("something_done", None, actor=None)

    made = event("api_key_created")
    assert made.address == "command line"
    assert after("api_key_created")["user"] == "dana"
    assert after("api_key_created")["scopes"] == ["read"]
    assert event("something_done").address == ""


def test_an_approval_says_what_was_approved():
    version = factories.published()
    found = event("version_approved")

    assert found.before == {"state": "awaiting_approval"}
    assert after("version_approved")["sha256"] == version.detail.file_sha256
    assert after("version_approved")["labels"] == ["all-staff"]
    assert after("version_approved")["first_day"]
