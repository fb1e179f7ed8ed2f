"""Labels, grants, people and the record: audited, and no way to become more than one is."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, Permission, User

from documents import access
from documents.access import Reader
from documents.models import AccessLabel, AllowedDomain, AuditEvent, LabelGrant, ManagedDepartment
from documents.tests import factories
from documents.tests.admin import support
from documents.tests.admin.support import client_of

pytestmark = pytest.mark.django_db
BASE = "/admin/documents/"


@pytest.fixture
def world():
    return support.world()


def _held_by(user: User) -> frozenset[str]:
    return access.labels_of(Reader.for_user(user))


def test_a_grant_is_in_force_at_once_and_on_record_and_can_be_taken_back(world):
    label = factories.label("hr")
    client = client_of(world.administrator)

    client.post(f"{BASE}labelgrant/add/", {"label": label.pk, "user": "employee"})

    assert _held_by(world.employee) == {"all-staff", "hr"}
    granted = AuditEvent.objects.get(action="label_granted")
    assert (granted.actor_id, granted.after) == (
        world.administrator.pk,
        {"label": "hr", "to": "employee"},
    )
    grant = LabelGrant.objects.get(user=world.employee)
    client.post(f"{BASE}labelgrant/{grant.pk}/delete/", {"post": "yes"})
    assert _held_by(world.employee) == {"all-staff"}
    assert AuditEvent.objects.filter(action="label_revoked").count() == 1


def test_revoking_many_records_each(world):
    for name in ("hr", "legal"):
        LabelGrant.objects.create(label=factories.label(name), user=world.employee)
    ids = list(LabelGrant.objects.filter(user=world.employee).values_list("pk", flat=True))
    data = {"action": "delete_selected", "_selected_action": ids, "post": "yes"}

    client_of(world.administrator).post(f"{BASE}labelgrant/", data)

    assert not LabelGrant.objects.filter(user=world.employee).exists()
    assert AuditEvent.objects.filter(action="label_revoked").count() == 2


@pytest.mark.parametrize(
    ("holder", "says"),
    [
        ({}, "Choose either a group or a user"),
        ({"user": "employee", "group": "employee"}, "Choose either a group or a user"),
        ({"user": "nobody"}, "There is no active user with this name"),
        ({"user": "administrator"}, "You cannot grant a label to yourself"),
        ({"group": "administrator"}, "You cannot grant a label to yourself"),
        ({"user": "reviewer"}, "This label is granted already"),
    ],
)
def test_a_grant_that_makes_no_sense_says_why(world, holder, says):
    label = factories.label("hr")
    LabelGrant.objects.create(label=label, user=world.reviewer)
    data = {"label": label.pk, **holder}
    if "group" in holder:
        data["group"] = Group.objects.get(name=holder["group"]).pk

    response = client_of(world.administrator).post(f"{BASE}labelgrant/add/", data)

    assert says in support.said(response)
    assert LabelGrant.objects.count() == 1


def test_a_label_keeps_its_slug_and_role_and_is_never_deleted(world):
    label = factories.label("legal", role="restriction")
    client = client_of(world.root)

    client.post(
        f"{BASE}accesslabel/{label.pk}/change/",
        {"slug": "open", "role": "audience", "name": "Legal", "description": ""},
    )

    label.refresh_from_db()
    assert (label.slug, label.role, label.name) == ("legal", "restriction", "Legal")
    assert not label.hosted_model_allowed  # the unticked box is the one thing that changed
    event = AuditEvent.objects.get(action="accesslabel_changed")
    assert (event.before, event.after) == (
        {"name": "legal", "hosted_model_allowed": True},
        {"name": "Legal", "hosted_model_allowed": False},
    )
    assert event.address == "127.0.0.1"
    assert client.post(f"{BASE}accesslabel/{label.pk}/delete/", {"post": "yes"}).status_code == 403
    assert AccessLabel.objects.filter(pk=label.pk).exists()


def test_an_owner_of_policies_makes_no_labels_or_grants(world):
    client = client_of(world.owner)
    for model in ("accesslabel", "labelgrant", "alloweddomain", "manageddepartment"):
        assert client.get(f"{BASE}{model}/add/").status_code == 403
        assert client.post(f"{BASE}{model}/add/", {"slug": "x", "name": "x"}).status_code == 403
    assert not LabelGrant.objects.exists()


@pytest.mark.parametrize("name", ["administrator", "owner"])
def test_only_superusers_touch_people_and_departments(world, name):
    user = getattr(world, name)
    for codename in (
        "add_user",
        "change_user",
        "view_user",
        "add_group",
        "change_group",
        "add_manageddepartment",
        "change_manageddepartment",
    ):
        user.user_permissions.add(Permission.objects.get(codename=codename))
    client = client_of(User.objects.get(pk=user.pk))
    forged = {
        "username": name,
        "is_superuser": "on",
        "groups": [1],
        "user": user.pk,
        "department": "X",
        "password1": "x8-long-enough",
        "password2": "x8-long-enough",
    }
    for address in (
        "/admin/auth/user/",
        "/admin/auth/user/add/",
        f"/admin/auth/user/{user.pk}/change/",
        f"/admin/auth/user/{world.root.pk}/password/",
        "/admin/auth/group/add/",
        f"{BASE}manageddepartment/add/",
    ):
        assert client.get(address).status_code == 403, address
        assert client.post(address, forged).status_code == 403, address
    user.refresh_from_db()
    assert not user.is_superuser
    assert not ManagedDepartment.objects.filter(department="X").exists()


def test_a_superusers_changes_of_people_are_on_record_without_passwords(world):
    client = client_of(world.root)
    group = Group.objects.get(name="reviewer")
    client.post(
        "/admin/auth/user/add/",
        {
            "username": "fresh",
            "password1": "kite-99-lamp",
            "password2": "kite-99-lamp",
            "usable_password": "true",
        },
    )
    fresh = User.objects.get(username="fresh")
    client.post(
        f"/admin/auth/user/{fresh.pk}/change/",
        {
            "username": "fresh",
            "is_active": "on",
            "is_staff": "on",
            "groups": [group.pk],
            "date_joined_0": "2026-01-01",
            "date_joined_1": "00:00",
        },
    )
    client.post(
        f"/admin/auth/user/{fresh.pk}/password/",
        {"password1": "moon-77-rope", "password2": "moon-77-rope", "usable_password": "true"},
    )
    client.post(f"{BASE}manageddepartment/add/", {"user": fresh.pk, "department": "Legal"})

    events = {event.action: event for event in AuditEvent.objects.filter(actor_id=world.root.pk)}
    assert {
        "user_created",
        "user_changed",
        "user_password_set",
        "manageddepartment_created",
    } <= set(events)
    assert support.after("user_changed")["groups"] == ["reviewer"]
    stored = str([(event.before, event.after) for event in events.values()])
    assert "kite" not in stored
    assert "pbkdf2" not in stored
    assert "md5" not in stored


@pytest.mark.parametrize(
    ("host", "is_fine"),
    [
        ("intranet.example.com", True),
        ("XN--BCHER-KVA.example", True),
        ("https://example.com", False),
        ("*.example.com", False),
        ("example.com/path", False),
        ("localhost", False),
        ("example..com", False),
        ("bücher.example", False),
        ("127.0.0.1", False),
        ("a@b.example", False),
    ],
)
def test_an_allowed_host_is_one_exact_name(world, host, is_fine):
    client_of(world.administrator).post(
        f"{BASE}alloweddomain/add/", {"host": host, "reason": "ours"}
    )

    assert set(AllowedDomain.objects.values_list("host", "added_by")) == (
        {(host.lower(), world.administrator.pk)} if is_fine else set()
    )


def test_the_record_is_read_only_for_everybody(world):
    event = AuditEvent.objects.order_by("pk")[0]
    client = client_of(world.root)
    assert client.get(f"{BASE}auditevent/{event.pk}/change/").status_code == 200
    for page in ("add/", f"{event.pk}/change/", f"{event.pk}/delete/"):
        assert (
            client.post(f"{BASE}auditevent/{page}", {"action": "x", "post": "yes"}).status_code
            == 403
        )
    data = {"action": "delete_selected", "_selected_action": [event.pk], "post": "yes"}
    client.post(f"{BASE}auditevent/", data)
    assert AuditEvent.objects.get(pk=event.pk).action == event.action


def test_the_record_is_filtered_by_what_was_done(world):
    page = client_of(world.auditor).get(f"{BASE}auditevent/", {"action": "version_received"})
    events = list(page.context["cl"].result_list)
    assert [(e.action, e.object_id) for e in events] == [
        ("version_received", str(world.ours.public_id))
    ]


def test_a_title_that_speaks_to_the_model_is_refused(world):
    response = client_of(world.owner).post(
        f"{BASE}policy/{world.ours.policy_id}/change/",
        {"title": support.POISON, "department": "HR"},
    )

    assert "reads like an instruction" in support.said(response)
    assert factories.policy("leave").title == "Leave"


def test_a_change_of_a_policy_is_on_record_and_keeps_its_slug(world):
    client_of(world.owner).post(
        f"{BASE}policy/{world.ours.policy_id}/change/",
        {
            "title": "Leave and absence",
            "slug": "other",
            "department": "HR",
            "review_by": "2027-01-31",
            "public_id": "x",
            "owner": world.reviewer.pk,
        },
    )

    changed = factories.policy("leave")
    assert (changed.title, changed.owner_id) == ("Leave and absence", world.reviewer.pk)
    event = AuditEvent.objects.get(action="policy_changed")
    assert event.before == {
        "title": "Leave",
        "review_by": None,
        "owner": None,
        "default_labels": ["all-staff"],
    }
    assert event.after == {
        "title": "Leave and absence",
        "review_by": "2027-01-31",
        "owner": "reviewer",
        "default_labels": [],
    }
