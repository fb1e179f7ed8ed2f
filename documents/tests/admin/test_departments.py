"""Promise 2 in the admin: nobody sees or changes what another department holds."""

from __future__ import annotations

import pytest
from django.urls import reverse

from documents import access
from documents.models import AuditEvent, Chunk, Finding, Policy, PolicyVersion
from documents.tests import factories
from documents.tests.admin import support
from documents.tests.admin.support import CANARY, client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def world():
    return support.world()


LISTS = [
    "/admin/",
    "/admin/documents/",
    "/admin/documents/policy/",
    "/admin/documents/policyversion/",
    "/admin/documents/chunk/",
    "/admin/documents/chunk/?decided=all",
    "/admin/documents/finding/",
    "/admin/documents/finding/?decided=all",
    "/admin/documents/auditevent/",
    "/admin/documents/accesslabel/",
    "/admin/documents/labelgrant/",
    "/admin/documents/policy/add/",
    "/admin/documents/policyversion/add/",
    "/admin/documents/labelgrant/add/",
    "/admin/documents/labelgrant/person/",
    "/admin/documents/labelgrant/person/?user=employee",
    "/admin/documents/labelproposal/",
    "/admin/documents/alloweddomain/",
    "/admin/documents/manageddepartment/",
    "/admin/auth/user/",
    "/admin/auth/group/",
    "/admin/qa/apikey/",
]
QUERIES = [
    "q=is",
    "_facets=True",
    "o=1.-2",
    "all=",
    "_to_field=id",
    "_popup=1",
    "e=1",
    f"department={support.OURS}",
]


def _objects(version: PolicyVersion) -> list[str]:
    with access.editing():
        held = Chunk.objects.get(version=version, state="quarantined")
    pk = version.pk
    base = "/admin/documents"
    return [
        f"{base}/policy/{version.policy_id}/change/",
        f"{base}/policy/{version.policy_id}/history/",
        f"{base}/policy/{version.policy_id}/delete/",
        f"{base}/policyversion/{pk}/change/",
        f"{base}/policyversion/{pk}/history/",
        f"{base}/policyversion/{pk}/delete/",
        f"{base}/policyversion/{pk}/file/",
        f"{base}/policyversion/{pk}/changes/{version.number}/",
        f"{base}/policy/{version.policy_id}/delete-all/",
        f"{base}/policyversion/{pk}/labels/",
        f"{base}/policyversion/{pk}/readers/",
        f"{base}/policyversion/status/?version={version.public_id}",
        f"{base}/policyversion/add/?policy={version.policy_id}",
        f"{base}/chunk/{held.pk}/change/",
        f"{base}/chunk/{held.pk}/history/",
        *(
            f"{base}/policyversion/{pk}/do/{name}/"
            for name in (
                *("approve", "reject", "retry", "retire", "withdraw", "labels"),
                *("days", "correct", "restore", "delete"),
            )
        ),
    ]


@pytest.mark.parametrize("name", ["owner", "reviewer", "auditor", "administrator"])
def test_no_page_names_anything_of_another_department(world, name):
    client = client_of(getattr(world, name))
    addresses = [
        *LISTS,
        *(
            f"{address}?{query}"
            for address in LISTS[2:7]
            for query in QUERIES
            if "?" not in address
        ),
        *_objects(world.ours),
        *_objects(world.theirs),
    ]
    seen = 0
    for address in addresses:
        response = client.get(address, follow=True)
        text = response.content.decode()
        if address.endswith("/readers/"):  # which people read it; those who see grants see names
            text = text.replace(f"boss-{CANARY}", "")
        assert CANARY not in text, address
        seen += response.status_code == 200
    assert seen > 20


def test_a_superuser_sees_both_departments(world):
    client = client_of(world.root)
    for address in LISTS[2:6]:
        text = client.get(address).content.decode()
        assert CANARY in text, address
        assert "Leave" in text, address


def test_an_employee_gets_no_page_of_the_admin(world):
    client = client_of(world.employee)
    for address in [*LISTS, *_objects(world.ours)]:
        assert client.get(address).status_code == 302, address


def test_the_exact_lists_of_a_policy_owner(world):
    client = client_of(world.owner)

    def shown(address: str) -> list[int]:
        return [row.pk for row in client.get(address).context["cl"].result_list]

    with access.editing():
        held = Chunk.objects.get(version=world.ours, state="quarantined")
    assert shown("/admin/documents/policy/") == [world.ours.policy_id]
    assert shown("/admin/documents/policyversion/") == [world.ours.pk]
    assert shown("/admin/documents/chunk/") == [held.pk]


def test_a_missing_version_and_anothers_look_alike(world):
    client = client_of(world.reviewer)
    for page in ("change/", "file/", "do/approve/"):
        theirs = client.get(f"/admin/documents/policyversion/{world.theirs.pk}/{page}")
        missing = client.get(f"/admin/documents/policyversion/987654/{page}")
        assert theirs.status_code == missing.status_code == 404
        assert theirs.content == missing.content


def test_autocomplete_offers_managed_policies_alone(world):
    address = reverse("admin:autocomplete")
    query = {
        "app_label": "documents",
        "model_name": "policyversion",
        "field_name": "policy",
        "term": "",
    }

    ours = client_of(world.owner).get(address, query)
    everything = client_of(world.root).get(address, query)

    assert [row["text"] for row in ours.json()["results"]] == ["Leave"]
    assert len(everything.json()["results"]) == 2


def test_filters_offer_and_find_the_own_department_alone(world):
    client = client_of(world.owner)
    page = client.get("/admin/documents/policy/", {"department": CANARY})
    assert list(page.context["cl"].result_list) == []
    choices = [c["display"] for c in page.context["cl"].filter_specs[0].choices(page.context["cl"])]
    assert choices == ["All", support.OURS]


@pytest.mark.parametrize(
    "query",
    [
        "owner__password__startswith=a",
        "owner__username=x",
        "versions__detail__file_name__contains=x",
        "policy__owner__password__startswith=a",
        "version__detail__canonical_text__contains=x",
    ],
)
def test_lookups_through_relations_are_refused(world, query):
    client = client_of(world.owner)
    for model in ("policy", "policyversion", "chunk"):
        response = client.get(f"/admin/documents/{model}/?{query}", follow=True)
        assert CANARY not in response.content.decode()
        assert response.status_code in (200, 400)
        if response.status_code == 200:
            assert response.redirect_chain  # to ?e=1: the lookup was not run


@pytest.mark.parametrize("name", ["owner", "reviewer"])
def test_forged_posts_change_nothing_of_another_department(world, name):
    client = client_of(getattr(world, name))
    before = _state(world)
    with access.editing():
        held = Chunk.objects.get(version=world.theirs, state="quarantined")
        events = AuditEvent.objects.count()
    pk = world.theirs.pk
    base = "/admin/documents"
    forged = {
        "state": "published",
        "approved_by": 1,
        "labels": [1],
        "note": "x",
        "title": "x",
        "decision": "release",
        "last_day": "2026-01-01",
        "department": support.OURS,
        "slug": "x",
    }
    for address in [
        f"{base}/policy/{world.theirs.policy_id}/change/",
        f"{base}/policy/{world.theirs.policy_id}/delete/",
        f"{base}/policyversion/{pk}/change/",
        f"{base}/policyversion/{pk}/delete/",
        f"{base}/chunk/{held.pk}/change/",
        f"{base}/chunk/{held.pk}/delete/",
        *(
            f"{base}/policyversion/{pk}/do/{act}/"
            for act in ("approve", "reject", "labels", "withdraw")
        ),
    ]:
        assert client.post(address, forged).status_code in (302, 403, 404), address
    for action in ("approve_selected", "retry_selected", "delete_selected"):
        data = {"action": action, "_selected_action": [pk], "index": 0, "select_across": "1"}
        client.post(f"{base}/policyversion/", data | {"post": "yes"})
    with access.editing():
        changed = AuditEvent.objects.exclude(object_id=str(world.ours.public_id)).count()
        approved = AuditEvent.objects.filter(
            object_id=str(world.ours.public_id), action="version_approved"
        )
        # "select across" reached the reviewer's own version, and none but that
        assert approved.count() == (1 if name == "reviewer" else 0)
        assert changed <= events
    assert _state(world) == before


def _state(world) -> tuple[object, ...]:
    with access.editing():
        version = PolicyVersion.objects.select_related("policy", "detail").get(pk=world.theirs.pk)
        return (
            version.state,
            version.detail.approved_by_id,
            version.policy.title,
            version.policy.slug,
            version.policy.department,
            sorted(label.slug for label in version.labels.all()),
            list(Finding.objects.filter(version=version).values_list("decision", "note")),
            list(version.chunks.values_list("state", flat=True)),
            Policy.objects.count(),
            PolicyVersion.objects.count(),
        )


def test_an_upload_to_another_departments_policy_is_refused_without_naming_it(world):
    response = client_of(world.owner).post(
        "/admin/documents/policyversion/add/",
        {"file": support.text_file(), "policy": world.theirs.policy_id},
    )

    assert "Select a valid choice" in response.content.decode()
    assert CANARY not in response.content.decode()
    with access.editing():
        assert PolicyVersion.objects.count() == 2


def test_a_taken_slug_of_another_department_is_not_told(world):
    client = client_of(world.owner)
    response = client.post(
        "/admin/documents/policy/add/",
        {"title": "New", "slug": f"their-{CANARY}", "department": support.OURS},
    )

    assert response.status_code == 302
    with access.editing():
        made = Policy.objects.get(title="New")
    assert made.slug.startswith(f"their-{CANARY}-")


def test_a_policy_cannot_be_given_to_or_made_in_another_department(world):
    client = client_of(world.owner)
    for address in ("add/", f"{world.ours.policy_id}/change/"):
        response = client.post(
            f"/admin/documents/policy/{address}",
            {"title": "Leave", "slug": "leave-2", "department": CANARY},
        )
        assert "Select a valid choice" in response.content.decode()
    with access.editing():
        assert set(Policy.objects.values_list("department", flat=True)) == {support.OURS, CANARY}
        assert Policy.objects.count() == 2


def test_owners_to_choose_from_are_colleagues_of_the_department(world):
    page = client_of(world.owner).get(f"/admin/documents/policy/{world.ours.policy_id}/change/")
    names = {user.username for user in page.context["adminform"].form.fields["owner"].queryset}
    assert names == {"owner", "reviewer", "auditor", "administrator"}


def test_staff_without_a_department_see_no_policy(world):
    nobody = factories.user("lonely", groups=["policy owner"], is_staff=True)
    client = client_of(nobody)

    page = client.get("/admin/documents/policyversion/")
    assert list(page.context["cl"].result_list) == []
    response = client.post(
        "/admin/documents/policyversion/add/", {"file": support.text_file(), "title": "New"}
    )
    assert "look after no department" in support.said(response)
    with access.editing():
        assert Policy.objects.count() == 2
