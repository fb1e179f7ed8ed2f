"""Seeing the policies as another person: read-only, limited, on record, and over soon."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from documents import access, actions
from documents.models import AuditEvent, LabelGrant, Section
from documents.tests import factories
from documents.tests.admin.support import person
from qa.tests.api import support

pytestmark = pytest.mark.django_db

OURS, THEIRS, OTHERS = "Our pay bands", "Their merger", "Our secrets"


def _policy(title: str, text: str, label: str, department: str) -> None:
    factories.published(
        f"# {title}\n\n## 1 Part\n\n{text}\n",
        policy_slug=title.lower().replace(" ", "-"),
        title=title,
        labels=(label,),
        department=department,
    )


@pytest.fixture
def hana() -> User:
    _policy(OURS, "Band D starts at 61,000 euros.", "hr", "HR")
    _policy(THEIRS, "The merger closes in May.", "hr", "Finance")
    _policy(OTHERS, "Only the board reads this.", "board", "HR")
    return factories.user("hana", labels=["hr"])


@pytest.fixture
def administrator() -> Client:
    client = Client()
    client.force_login(person("adam", "administrator", "HR"))
    return client


def _text(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def _section(slug: str) -> Section:
    with access.editing():
        return Section.objects.filter(version__policy__slug=slug, number="1").get()


def test_an_administrator_sees_what_the_person_sees_of_the_policies_they_look_after(
    hana: User, administrator: Client
) -> None:
    LabelGrant.objects.create(
        label=factories.label("board"), user=User.objects.get(username="adam")
    )
    assert OTHERS in _text(administrator, "/policies/")

    administrator.post("/preview/", {"user": "hana"})

    shown = _text(administrator, "/policies/")
    assert OURS in shown
    assert THEIRS not in shown  # hana may, adam does not look after it
    assert OTHERS not in shown  # adam may, hana may not
    assert "You see what hana may read" in shown
    assert "61,000" in _text(administrator, "/policies/our-pay-bands/")
    assert "61,000" in _text(administrator, f"/sections/{_section('our-pay-bands').public_id}/")
    for address in (
        "/policies/their-merger/",
        "/policies/their-merger/history/",
        f"/sections/{_section('their-merger').public_id}/",
        "/policies/our-secrets/",
        f"/sections/{_section('our-secrets').public_id}/",
    ):
        missing = administrator.get(address)
        assert missing.status_code == 404, address
        assert b"merger" not in missing.content
        assert b"board" not in missing.content


def test_nothing_is_asked_downloaded_or_shown_of_the_persons_questions(
    hana: User, administrator: Client
) -> None:
    own = Client()
    own.force_login(hana)
    own.post("/", {"question": "At how many euros does Band D start?"})
    administrator.post("/preview/", {"user": "hana"})

    for address in ("/", "/history/", "/evaluation/", "/policies/our-pay-bands/versions/1/file"):
        refused = administrator.get(address)
        assert refused.status_code == 403, address
        assert b"Band D" not in refused.content
        assert b"You see what hana may read" in refused.content
    assert administrator.post("/", {"question": "What is Band D?"}).status_code == 403
    assert "hana" not in str(administrator.get("/api/v1/me").json())
    assert administrator.get("/api/v1/policies").json()["policies"] == []


def test_it_ends_on_request_in_time_and_with_the_right_or_the_account(
    hana: User, administrator: Client
) -> None:
    def begin() -> bool:
        administrator.post("/preview/", {"user": "hana"})
        return OURS in _text(administrator, "/policies/")

    assert begin()
    administrator.post("/preview/end/")
    assert OURS not in _text(administrator, "/policies/")
    assert begin()
    session = administrator.session
    past = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=1)
    session["preview"] = {**session["preview"], "until": past.isoformat()}
    session.save()
    assert OURS not in _text(administrator, "/policies/")
    assert begin()
    adam = User.objects.get(username="adam")
    group = adam.groups.get()
    adam.groups.clear()
    assert OURS not in _text(administrator, "/policies/")
    adam.groups.add(group)
    assert begin()
    User.objects.filter(pk=hana.pk).update(is_active=False)
    assert OURS not in _text(administrator, "/policies/")


def test_a_revoked_label_is_gone_from_the_next_page(hana: User, administrator: Client) -> None:
    administrator.post("/preview/", {"user": "hana"})
    assert OURS in _text(administrator, "/policies/")

    actions.revoke_label(LabelGrant.objects.get(user=hana), actor=None)

    assert OURS not in _text(administrator, "/policies/")


def test_who_looked_as_whom_at_what_is_on_record(hana: User, administrator: Client) -> None:
    administrator.post("/preview/", {"user": "hana"})
    administrator.get("/policies/our-pay-bands/")
    administrator.post("/preview/end/")

    events = AuditEvent.objects.filter(action__contains="preview").order_by("pk")
    assert [(e.action, e.actor_name, (e.after or {})["as"]) for e in events] == [
        ("preview_started", "adam", "hana"),
        ("policy_previewed", "adam", "hana"),
        ("preview_ended", "adam", "hana"),
    ]


@pytest.mark.parametrize("group", ["employee", "policy owner", "reviewer", "auditor"])
def test_nobody_else_may_and_nothing_is_changed(hana: User, group: str) -> None:
    client = Client()
    client.force_login(person("pat", group, "HR"))

    assert client.post("/preview/", {"user": "hana"}).status_code == 403
    assert OURS not in _text(client, "/policies/")
    assert not AuditEvent.objects.filter(action="preview_started").exists()


def test_an_unknown_person_and_a_disabled_one_look_alike(hana: User, administrator: Client) -> None:
    factories.user("gone", is_active=False)
    replies = [
        administrator.post("/preview/", {"user": name}) for name in ("gone", "nobody", "a\0b", "")
    ]

    assert {reply.status_code for reply in replies} == {404}
    assert len({support.masked(reply.content) for reply in replies}) == 1


def test_a_key_of_the_administrator_never_reads_as_the_person(
    hana: User, administrator: Client
) -> None:
    administrator.post("/preview/", {"user": "hana"})
    api: Any = support.with_key(User.objects.get(username="adam"), "read")

    assert api.get("policies").json()["policies"] == []
