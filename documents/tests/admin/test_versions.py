"""Versions in the admin: shown to those who manage them, moved by acts with their rights."""

from __future__ import annotations

import datetime
import re

import pytest
from django.contrib.auth.models import User
from django.http.response import HttpResponseBase

from documents import access, pipeline
from documents.access import Reader
from documents.models import AuditEvent, Chunk, PolicyVersion
from documents.tests import factories
from documents.tests.admin import support
from documents.tests.admin.support import client_of

pytestmark = pytest.mark.django_db
BASE = "/admin/documents/policyversion/"


@pytest.fixture
def world():
    return support.world()


def _do(user: User, version: PolicyVersion, name: str, **data: object) -> HttpResponseBase:
    return client_of(user).post(f"{BASE}{version.pk}/do/{name}/", data, follow=True)


def _state(version: PolicyVersion) -> str:
    return factories.version(version.pk).state


def _readable() -> set[str]:
    with access.reading_as(Reader.with_labels(["all-staff"])):
        return set(Chunk.objects.values_list("text", flat=True))


def test_a_reviewer_approves_and_the_version_is_published_once_indexed(world):
    response = _do(world.reviewer, world.ours, "approve")

    assert "was approved" in support.said(response)
    made = factories.index(world.ours.pk)
    assert made.state == "published"
    assert made.detail.approved_by_id == world.reviewer.pk
    assert "Staff receive 27 days." in _readable()


def test_the_bulk_action_approves_and_names_what_it_cannot(world):
    failed = factories.received(policy_slug="broken", department="HR")
    pipeline.fail_version(failed.pk, "the disk was full", is_retryable=True)
    data = {"action": "approve_selected", "_selected_action": [world.ours.pk, failed.pk]}

    response = client_of(world.reviewer).post(BASE, data, follow=True)

    assert (_state(world.ours), _state(failed)) == ("indexing", "failed")
    assert "Version 1 of leave was approved" in support.said(response)
    assert "Version 1 of broken: This version failed before it was read" in support.said(response)


def test_a_policy_owner_without_the_right_cannot_approve_or_reject(world):
    client = client_of(world.owner)
    page = client.get(f"{BASE}{world.ours.pk}/change/").content.decode()

    assert "do/approve/" not in page
    for name in ("approve", "reject"):
        address = f"{BASE}{world.ours.pk}/do/{name}/"
        assert client.get(address).status_code == 403
        assert client.post(address, {"note": "x"}).status_code == 403
    client.post(BASE, {"action": "approve_selected", "_selected_action": [world.ours.pk]})
    assert _state(world.ours) == "awaiting_approval"


def test_an_auditor_sees_a_version_and_can_do_nothing(world):
    page = client_of(world.auditor).get(f"{BASE}{world.ours.pk}/change/")
    assert page.context["acts"] == []
    for name in ("approve", "reject", "retry", "retire", "withdraw", "labels"):
        assert client_of(world.auditor).post(f"{BASE}{world.ours.pk}/do/{name}/").status_code == 403
    assert _state(world.ours) == "awaiting_approval"


def test_rejecting_needs_a_note_which_is_kept(world):
    refused = _do(world.reviewer, world.ours, "reject", note="  ")
    assert "This field is required" in support.said(refused)
    assert _state(world.ours) == "awaiting_approval"

    _do(world.reviewer, world.ours, "reject", note="an old draft")

    assert _state(world.ours) == "rejected"
    event = AuditEvent.objects.get(action="version_rejected")
    assert event.actor_id == world.reviewer.pk
    assert support.after("version_rejected")["note"] == "an old draft"


def test_the_owner_retries_a_failed_version(world):
    failed = factories.received(policy_slug="broken", department="HR")
    pipeline.fail_version(failed.pk, "the disk was full", is_retryable=True)
    page = client_of(world.owner).get(f"{BASE}{failed.pk}/change/").content.decode()
    assert "the disk was full" in page

    _do(world.owner, failed, "retry")

    assert _state(failed) == "received"
    assert "cannot become" not in support.said(_do(world.owner, failed, "retry"))


def test_withdrawing_takes_the_text_from_readers_at_once(world):
    published = support.approve(world.ours)
    assert "Staff receive 27 days." in _readable()

    _do(world.reviewer, published, "withdraw", note="published in error")

    assert _state(published) == "withdrawn"
    assert _readable() == set()


def test_retiring_sets_the_last_day_and_says_what_is_wrong_with_a_bad_one(world):
    published = support.approve(world.ours)

    refused = _do(world.reviewer, published, "retire", last_day="2000-01-01")
    assert "lies before the first" in support.said(refused)
    _do(world.reviewer, published, "retire", last_day="2025-12-31")

    assert access.effective_days(factories.version(published.pk))[1] == datetime.date(2025, 12, 31)


def test_a_form_forged_onto_the_page_saves_nothing(world):
    forged = {"state": "published", "approved_by": world.owner.pk, "labels": [1], "number": 9}
    for user in (world.owner, world.reviewer, world.root):
        response = client_of(user).post(f"{BASE}{world.ours.pk}/change/", forged)
        assert response.status_code == 403
        list_post = {
            "form-TOTAL_FORMS": 1,
            "form-INITIAL_FORMS": 1,
            "form-0-id": world.ours.pk,
            "form-0-state": "published",
            "_save": "Save",
        }
        client_of(user).post(BASE, list_post)
    made = factories.version(world.ours.pk)
    assert (made.state, made.number, made.detail.approved_by_id) == ("awaiting_approval", 1, None)


def test_nobody_deletes_a_policy_or_a_version(world):
    client = client_of(world.root)
    assert client.post(f"{BASE}{world.ours.pk}/delete/", {"post": "yes"}).status_code == 403
    address = f"/admin/documents/policy/{world.ours.policy_id}/delete/"
    assert client.post(address, {"post": "yes"}).status_code == 403
    data = {"action": "delete_selected", "_selected_action": [world.ours.pk], "post": "yes"}
    client.post(BASE, data)
    with access.editing():
        assert PolicyVersion.objects.count() == 2


def test_the_page_shows_sections_passages_warnings_and_findings(world):
    page = client_of(world.owner).get(f"{BASE}{world.ours.pk}/change/").content.decode()

    for text in (
        "1 Days",
        "Staff receive 27 days.",
        "quarantined",
        "leave.md",
        "<h3>Findings (",
        "override",
        "2024-01-01",
    ):
        assert text.lower() in page.lower(), text


def test_the_file_is_an_attachment_that_no_browser_interprets(world):
    response = client_of(world.owner).get(f"{BASE}{world.ours.pk}/file/")

    assert response.content.decode() == support.OUR_TEXT
    assert response["Content-Disposition"] == 'attachment; filename="leave.md"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Type"] == "application/octet-stream"
    assert AuditEvent.objects.filter(action="file_downloaded", actor_id=world.owner.pk).exists()


def test_a_missing_original_is_told(world, settings, tmp_path):
    settings.FILES_DIR = tmp_path
    response = client_of(world.owner).get(f"{BASE}{world.ours.pk}/file/", follow=True)
    assert "missing or was altered" in support.said(response)


def test_status_tells_the_managed_versions_alone_and_ignores_nonsense(world):
    query = {"version": [str(world.ours.public_id), str(world.theirs.public_id), "nonsense", ""]}

    response = client_of(world.owner).get(f"{BASE}status/", query)

    assert response.json() == {
        "versions": [
            {
                "version": str(world.ours.public_id),
                "state": "awaiting_approval",
                "label": "Awaiting Approval",
                "chunks": 3,
                "embedded": 0,
                "waiting": 1,
                "failure": "",
                "is_moving": False,
            }
        ]
    }
    assert client_of(world.employee).get(f"{BASE}status/", query).status_code == 302


def test_progress_counts_embedded_passages(world):
    _do(world.reviewer, world.ours, "approve")
    batch = pipeline.batches_to_embed(world.ours.pk)[0]
    pipeline.embed_chunks(world.ours.pk, batch[:1])

    page = client_of(world.owner).get(BASE).content.decode()

    assert re.search(r'<progress\s+value="1"\s+max="3"', page)
    assert 'data-moving="true"' in page


def test_the_list_takes_as_many_queries_for_many_versions_as_for_one(world):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client = client_of(world.owner)
    pages = (BASE, "/admin/documents/policy/", "/admin/documents/chunk/")

    def cost() -> list[int]:
        counts = []
        for page in pages:
            with CaptureQueriesContext(connection) as queries:
                assert client.get(page).status_code == 200
            counts.append(len(queries))
        return counts

    cost()
    before = cost()
    for i in range(4):
        factories.parsed(support.OUR_TEXT, policy_slug=f"more-{i}", department="HR")
    assert cost() == before
    assert max(before) < 30
