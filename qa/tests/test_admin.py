"""API keys in the admin: shown once, a person's own, ended at once."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Permission, User

from documents.models import AuditEvent
from documents.tests import factories
from documents.tests.admin.support import client_of, said
from qa import keys
from qa.models import ApiKey

pytestmark = pytest.mark.django_db
BASE = "/admin/qa/apikey/"


@pytest.fixture
def root() -> User:
    return factories.user("root", is_staff=True, is_superuser=True)


@pytest.fixture
def maker() -> User:
    made = factories.user("maker", is_staff=True)
    for codename in ("add_apikey", "view_apikey"):
        made.user_permissions.add(Permission.objects.get(codename=codename))
    return made


def _make(by: User, **fields: object):
    data = {
        "name": "intranet",
        "user": by.username,
        "scopes": ["ask", "read"],
        "labels": "",
        **fields,
    }
    return client_of(by).post(f"{BASE}add/", data)


def _key_in(response) -> str:
    return re.findall(r"lqa_[\w-]+", response.content.decode())[0]


def test_a_new_key_is_shown_once_and_works(root):
    client = client_of(root)
    factories.label("hr")
    response = _make(root, labels="hr")

    key = _key_in(response)
    found = keys.find_key(key)
    assert found is not None
    assert (found.user, found.scopes, found.labels) == (root, ["ask", "read"], ["hr"])
    assert "no-store" in response["Cache-Control"]
    assert not response.cookies or key not in str(response.cookies)
    for page in (BASE, f"{BASE}{found.pk}/change/", f"{BASE}{found.pk}/history/"):
        text = client.get(page).content.decode()
        assert key not in text
        assert found.digest not in text
    assert key not in str(list(AuditEvent.objects.values_list("before", "after")))
    assert AuditEvent.objects.get(action="api_key_created").actor_id == root.pk


def test_revoking_ends_a_key_at_once_and_is_on_record(root):
    key = _key_in(_make(root))
    row = ApiKey.objects.get()
    data = {"action": "revoke_selected", "_selected_action": [row.pk]}

    client_of(root).post(BASE, data)
    client_of(root).post(BASE, data)

    assert keys.find_key(key) is None
    assert AuditEvent.objects.filter(action="api_key_revoked").count() == 1


def test_others_make_keys_for_themselves_alone_and_see_no_more(root, maker):
    _make(root)
    of_root = ApiKey.objects.get()

    refused = _make(maker, user="root")
    assert "no active user with this name" in said(refused)
    assert ApiKey.objects.count() == 1
    assert _make(maker).status_code == 200

    client = client_of(maker)
    assert [key.user for key in client.get(BASE).context["cl"].result_list] == [maker]
    assert (
        of_root.prefix
        not in client.get(f"{BASE}{of_root.pk}/change/", follow=True).content.decode()
    )
    client.post(BASE, {"action": "revoke_selected", "_selected_action": [of_root.pk]})
    of_root.refresh_from_db()
    assert of_root.revoked_at is None


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"labels": "nope"}, "There is no label nope"),
        ({"scopes": ["rule"]}, "Select a valid choice"),
        ({"scopes": []}, "This field is required"),
        ({"expires_at": "soon"}, "valid date"),
    ],
)
def test_bad_input_says_what_is_wrong(root, fields, says):
    assert says in said(_make(root, **fields))
    assert not ApiKey.objects.exists()


def test_a_key_is_neither_changed_nor_deleted(root):
    _make(root)
    row = ApiKey.objects.get()
    client = client_of(root)
    for page in ("change/", "delete/"):
        forged = {"scopes": ["admin"], "digest": "0" * 64, "post": "yes"}
        assert client.post(f"{BASE}{row.pk}/{page}", forged).status_code == 403
    assert ApiKey.objects.get().scopes == ["ask", "read"]


def test_whoever_has_no_right_to_keys_gets_none(maker):
    other = factories.user("other", is_staff=True)
    assert client_of(other).get(BASE).status_code == 403
    assert _make(other).status_code == 403
    assert not ApiKey.objects.exists()
