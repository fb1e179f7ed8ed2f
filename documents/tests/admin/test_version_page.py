"""The page of a version: what reading it found, and what a person has to confirm."""

from __future__ import annotations

import html

import pytest
from django.urls import reverse

from documents.models import PolicyVersion
from documents.records import ActiveContent, HiddenText, Notice
from documents.tests import factories
from documents.tests.admin.support import client_of, person

pytestmark = pytest.mark.django_db

PAGES = [["# 1 Fares", "Second class is paid."], ["# 2 Meals", "Meals are paid up to 40 euros."]]


def page(version: PolicyVersion) -> str:
    reader = person("reviewer", "reviewer", "HR")
    address = reverse("admin:documents_policyversion_change", args=[version.pk])
    return " ".join(html.unescape(client_of(reader).get(address).content.decode()).split())


def stored(**more: object) -> PolicyVersion:
    data, document = factories.pdf(PAGES, **more)
    return factories.stored(data, document, department="HR", policy_slug="travel", title="Travel")


def test_what_reading_a_file_found_is_shown_with_its_pages():
    made = stored(
        warnings=(Notice("table_lost", "A table was lost.", (1, 2)),),
        hidden=(HiddenText("for the board only", "white", 2),),
        active_content=(ActiveContent("embedded_file", "notes.docx", False, 1),),
        metadata={"title": "Travel rules 2026", "effective_date": "2026-03-01"},
    )

    shown = page(made)

    assert "A table was lost. (table_lost, pages 1, 2)" in shown
    assert "white, page 2: for the board only" in shown
    assert "embedded_file, page 1: notes.docx" in shown
    assert "Title: Travel rules 2026 (here: Travel)" in shown
    assert "First day in force: 2026-03-01 (here: 2024-01-01)" in shown
    assert "2 Meals" in shown
    assert "(page 2)" in shown


def test_what_the_file_says_is_never_applied():
    made = stored(metadata={"title": "Other title", "effective_date": "2026-03-01"})

    assert made.policy.title == "Travel"
    assert made.effective.lower.isoformat() == "2024-01-01"


@pytest.mark.parametrize("said", ["soon", "31 March 2026", "2026-99-99", ""])
def test_a_day_that_is_none_is_not_suggested(said: str):
    assert "First day in force" not in page(stored(metadata={"effective_date": said}))


def test_unread_pages_are_confirmed_by_whoever_approves():
    made = stored(warnings=(Notice("pages_without_text", "Page 2 is a picture.", (2,)),))
    client = client_of(person("approver", "reviewer", "HR"))
    address = reverse("admin:documents_policyversion_act", args=[made.pk, "approve"])

    form = client.get(address).content.decode()
    refused = client.post(address, {}).content.decode()
    assert "Publish without the pages that gave no text" in form
    assert "These pages of the file gave no text: 2." in refused
    assert factories.version(made.pk).state == "awaiting_approval"

    client.post(address, {"accept_unread_pages": "on"})
    assert factories.version(made.pk).state == "indexing"
