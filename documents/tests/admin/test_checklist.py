"""What stands on the page behind *Approve*, and what approval refuses by each rule."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from documents import access, actions
from documents.errors import ValidationProblem
from documents.models import AuditEvent, PolicyVersion, Section, VersionState
from documents.tests import factories
from documents.tests.admin.support import client_of, person, said, text_file

pytestmark = pytest.mark.django_db
day = datetime.date

OLD = (
    "# Leave\n\n## 1 Annual leave\n\nStaff receive 27 days of annual leave each year.\n\n"
    "## 2 Sick leave\n\nA doctor's note is needed from the fourth day of sickness.\n\n"
    "## Annex A\n\nThe pay scales of managers are listed in this annex.\n"
)
NEW = OLD.replace("27 days", "30 days")


def _two() -> tuple[PolicyVersion, PolicyVersion]:
    first = factories.published(
        OLD, policy_slug="leave", title="Leave", department="HR", effective_from=day(2024, 1, 1)
    )
    return first, factories.parsed(NEW, policy_slug="leave", effective_from=day(2025, 1, 1))


def _close_annex(version) -> None:
    factories.label("board", role="restriction")
    with access.editing():
        annex = Section.objects.get(version=version, number="Annex A")
    actions.set_section_labels(annex.pk, ["board"], actor=None)


def _page(user, version, name: str = "approve") -> str:
    address = reverse("admin:documents_policyversion_act", args=[version.pk, name])
    response = client_of(user).get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_the_checklist_shows_changes_days_readers_and_what_is_touched():
    _, second = _two()
    factories.user("emp")
    reviewer = person("rev", "reviewer", "HR")

    page = _page(reviewer, second)

    assert "<del>27 </del><ins>30 </ins>" in page
    assert "Version 1, in force since 2024-01-01, ends on 2024-12-31" in page
    assert "Dated back: what is asked about days since then is answered from it." in page
    assert "2 people could read something of it" in page
    assert "emp" not in page.partition("Who could read it")[2].partition("What changes")[0]
    assert "No stored answer cites what changes." in page
    assert "Anyone with the right may approve it." in page


def test_a_section_that_was_closed_does_not_open_by_itself():
    first, second = _two()
    _close_annex(first)

    with pytest.raises(ValidationProblem, match="Annex A") as caught:
        actions.approve_version(second.pk, reviewer=None)
    assert caught.value.code == "sections_opened"
    page = _page(person("rev", "reviewer", "HR"), second)
    assert "Closed in the version before, and open in this one: Annex A." in page
    assert 'name="accept_opened_sections"' in page
    _close_annex(second)
    actions.approve_version(second.pk, reviewer=None)


def test_a_person_may_open_a_section_on_purpose():
    first, second = _two()
    _close_annex(first)
    reviewer = client_of(person("rev", "reviewer", "HR"))
    address = reverse("admin:documents_policyversion_act", args=[second.pk, "approve"])

    refused = reviewer.post(address, {})
    assert "Annex A" in said(refused)
    reviewer.post(address, {"accept_opened_sections": "on"})

    assert factories.version(second.pk).state == VersionState.INDEXING


def test_nothing_publishes_itself_that_would_open_a_section(settings):
    settings.APPROVAL = "none"
    first = factories.parsed(OLD, policy_slug="leave", effective_from=day(2024, 1, 1))
    assert first.state == VersionState.INDEXING
    factories.index(first.pk)
    _close_annex(first)

    second = factories.parsed(NEW, policy_slug="leave", effective_from=day(2025, 1, 1))

    assert second.state == VersionState.AWAITING_APPROVAL


def test_under_any_the_uploader_may_approve_and_under_four_eyes_not(settings):
    uploader, other = factories.user("up"), factories.user("other")
    made = factories.parsed(OLD, policy_slug="leave")
    with access.editing():
        made.detail.created_by = uploader
        made.detail.save(update_fields=["created_by"])

    settings.APPROVAL = "four-eyes"
    for reviewer in (uploader, None):
        with pytest.raises(ValidationProblem, match="another person") as caught:
            actions.approve_version(made.pk, reviewer=reviewer)
        assert caught.value.code == "four_eyes"
    assert factories.version(made.pk).state == VersionState.AWAITING_APPROVAL
    actions.approve_version(made.pk, reviewer=other)
    assert AuditEvent.objects.get(action="version_approved").actor_name == "other"
    settings.APPROVAL = "any"
    again = factories.parsed(OLD, policy_slug="leave2")
    with access.editing():
        again.detail.created_by = uploader
        again.detail.save(update_fields=["created_by"])
    actions.approve_version(again.pk, reviewer=uploader)


def test_changes_from_any_version_are_on_a_page_of_their_own():
    first, second = _two()
    reviewer = client_of(person("rev", "reviewer", "HR"))
    other = client_of(person("oth", "reviewer", "Finance"))
    address = reverse("admin:documents_policyversion_changes", args=[second.pk, 1])

    assert "<ins>30 </ins>" in reviewer.get(address).content.decode()
    assert other.get(address).status_code == 404
    assert reviewer.get(address.replace("/1/", "/7/")).status_code == 404
    assert first.number == 1


def test_correcting_and_restoring_and_deleting_by_the_admin():
    first, second = _two()
    owner = client_of(person("own", "policy owner", "HR"))
    root = client_of(factories.user("root", is_staff=True, is_superuser=True))

    def act(browser: Client, version: PolicyVersion, name: str, **given: Any) -> Any:
        address = reverse("admin:documents_policyversion_act", args=[version.pk, name])
        return browser.post(address, given, follow=True)

    corrected = act(owner, second, "correct", note="a slip", file=text_file(OLD + "\nMore.\n"))
    assert "rejected; the corrected file is the next version" in said(corrected)
    assert factories.version(second.pk).state == VersionState.REJECTED
    restored = act(owner, first, "restore", first_day="2026-01-01", note="again")
    assert "has not ended by then" in said(restored)
    assert act(owner, first, "delete", typed="Leave", note="x").status_code == 403
    assert "as it is written: Leave" in said(act(root, first, "delete", typed="leave", note="x"))
    assert "was deleted" in said(act(root, first, "delete", typed="Leave", note="x"))


def test_a_policy_is_deleted_on_a_page_for_administrators_of_its_department():
    first, _ = _two()
    address = reverse("admin:documents_policy_delete_all", args=[first.policy_id])
    people = {
        "owner": person("own", "policy owner", "HR"),
        "elsewhere": person("els", "administrator", "Finance"),
        "administrator": person("adm", "administrator", "HR"),
    }
    given = {"typed": "Leave", "note": "the retention period is over"}

    answers = {name: client_of(who).post(address, given) for name, who in people.items()}

    assert [answers[name].status_code for name in people] == [403, 404, 302]
    assert AuditEvent.objects.get(action="policy_deleted").actor_name == "adm"
