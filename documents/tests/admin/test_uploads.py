"""Promise 5 in the admin: an upload is taken whole, or refused with what to do."""

from __future__ import annotations

import datetime
import html

import pytest

from documents import access, pipeline
from documents.models import AccessLabel, Policy, PolicyVersion
from documents.tests import factories
from documents.tests.admin import support
from documents.tests.admin.support import client_of, text_file

pytestmark = pytest.mark.django_db
ADD = "/admin/documents/policyversion/add/"


@pytest.fixture
def world():
    return support.world()


def _newest() -> PolicyVersion:
    with access.editing():
        return PolicyVersion.objects.select_related("policy", "detail").order_by("-pk")[0]


def _count() -> int:
    with access.editing():
        return PolicyVersion.objects.count()


def _labels(version: PolicyVersion) -> set[str]:
    with access.editing():
        return {label.slug for label in version.labels.all()}


def test_an_upload_is_received_and_then_awaits_approval(world):
    response = client_of(world.owner).post(
        ADD,
        {
            "file": text_file(),
            "policy": world.ours.policy_id,
            "effective_from": "2026-01-01",
            "effective_to": "2026-12-31",
        },
        follow=True,
    )

    made = _newest()
    assert (made.policy.slug, made.number, made.state) == ("leave", 2, "received")
    assert access.effective_days(made) == (datetime.date(2026, 1, 1), datetime.date(2026, 12, 31))
    assert _labels(made) == {"all-staff"}
    assert made.detail.created_by_id == world.owner.pk
    assert "Version 2 of leave was received" in support.said(response)
    pipeline.ingest_version(made.pk)
    assert _newest().state == "awaiting_approval"


def test_a_new_policy_lands_in_the_only_department_of_its_uploader(world):
    factories.label("hr")
    chosen = [AccessLabel.objects.get(slug="hr").pk]
    client_of(world.owner).post(
        ADD,
        {
            "file": text_file(name="sick-pay.md"),
            "title": "Sick pay",
            "department": "HR",
            "labels": chosen,
        },
    )

    made = _newest()
    assert (made.policy.title, made.policy.slug, made.policy.department) == (
        "Sick pay",
        "sick-pay",
        "HR",
    )
    assert _labels(made) == {"hr"}


def test_several_files_become_several_policies(world):
    files = [text_file("# A\n\nOne.\n", "a.md"), text_file("# B\n\nTwo.\n", "b.md")]
    response = client_of(world.owner).post(ADD, {"file": files, "department": "HR"}, follow=True)

    with access.editing():
        slugs = set(Policy.objects.values_list("slug", flat=True))
    assert {"a", "b"} < slugs
    assert "Version 1 of a was received" in support.said(response)
    assert "Version 1 of b was received" in support.said(response)


def test_several_files_for_one_policy_are_refused(world):
    files = [text_file("# A\n\nOne.\n", "a.md"), text_file("# B\n\nTwo.\n", "b.md")]
    response = client_of(world.owner).post(ADD, {"file": files, "policy": world.ours.policy_id})

    assert "Choose one file" in support.said(response)
    assert _count() == 2


def test_of_several_files_all_or_none_are_taken(world):
    files = [text_file("# A\n\nOne.\n", "a.md"), text_file("", "empty.md")]
    response = client_of(world.owner).post(ADD, {"file": files})

    assert "empty.md is empty" in support.said(response)
    assert _count() == 2


def test_the_same_text_again_makes_no_second_version(world):
    response = client_of(world.owner).post(
        ADD, {"file": text_file(support.OUR_TEXT), "policy": world.ours.policy_id}, follow=True
    )

    assert "Version 1 of leave holds this text already" in support.said(response)
    assert _count() == 2


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        (b"", "leave.md", "leave.md is empty"),
        (b" \n\t\n", "leave.md", "leave.md: The file is empty"),
        (b"PK\x03\x04rest", "leave.docx", "leave.docx: The file is a damaged Office document"),
        (bytes(range(256)) * 40, "leave.md", "leave.md: The file holds binary data"),
        (b"\x7fELF\x02\x01", "leave.md", "leave.md: The file is a program"),
        (b"{\\rtf1 x}", "leave.rtf", "leave.rtf: The file is an RTF document. Save it as .docx"),
        (b"Leave\n", "leave.pdf.exe", "The name of the file ends in .exe"),
    ],
)
def test_what_is_no_text_is_refused_by_name_and_the_form_keeps_its_input(
    world, content, name, says
):
    response = client_of(world.owner).post(
        ADD,
        {
            "file": text_file(content, name),
            "title": "Sick <b>pay</b>",
            "effective_from": "2026-02-01",
            "department": "HR",
        },
    )

    assert says in html.unescape(support.said(response))
    page = response.content.decode()
    assert 'value="Sick &lt;b&gt;pay&lt;/b&gt;"' in page
    assert 'value="2026-02-01"' in page
    assert _count() == 2


def test_a_file_over_the_limit_is_refused(world, settings):
    settings.MAX_UPLOAD_BYTES = 10
    response = client_of(world.owner).post(ADD, {"file": text_file(), "title": "Sick pay"})

    assert "leave.md is larger than" in support.said(response)
    assert _count() == 2


def test_no_file_is_an_error_of_the_field(world):
    response = client_of(world.owner).post(ADD, {"title": "Sick pay"})

    assert "This field is required" in support.said(response)
    assert _count() == 2


@pytest.mark.parametrize(
    ("dates", "says"),
    [
        ({"effective_from": "2026-02-01", "effective_to": "2026-01-01"}, "lies before the first"),
        ({"effective_from": "1.2.2026"}, "Write the date as year-month-day"),
    ],
)
def test_bad_dates_are_errors_of_the_form(world, dates, says):
    response = client_of(world.owner).post(ADD, {"file": text_file(), "title": "X", **dates})

    assert says in support.said(response)
    assert _count() == 2


def test_publishing_needs_the_right_to_approve(world):
    data = {"file": text_file(), "policy": world.ours.policy_id, "publish": "on"}

    assert 'name="publish"' not in client_of(world.owner).get(ADD).content.decode()
    client_of(world.owner).post(ADD, data)

    made = _newest()
    assert (made.detail.publish_when_ready, made.detail.approved_by_id) == (False, None)


def test_whoever_may_approve_can_publish_when_ready(world):
    client = client_of(world.administrator)
    client.post(ADD, {"file": text_file(), "policy": world.ours.policy_id, "publish": "on"})

    made = _newest()
    assert made.detail.approved_by_id == world.administrator.pk
    pipeline.ingest_version(made.pk)
    assert factories.index(made.pk).state == "published"


def test_under_four_eyes_nobody_publishes_their_own_upload(world, settings):
    settings.APPROVAL = "four-eyes"
    client = client_of(world.administrator)
    client.post(ADD, {"file": text_file(), "policy": world.ours.policy_id, "publish": "on"})
    made = _newest()
    assert not made.detail.publish_when_ready
    pipeline.ingest_version(made.pk)

    response = client.post(f"/admin/documents/policyversion/{made.pk}/do/approve/", follow=True)

    assert "another person than the uploader" in support.said(response)
    assert factories.version(made.pk).state == "awaiting_approval"


def test_a_reviewer_without_the_right_to_add_cannot_upload(world):
    client = client_of(world.reviewer)
    assert client.get(ADD).status_code == 403
    assert client.post(ADD, {"file": text_file(), "title": "X"}).status_code == 403
    assert _count() == 2


def test_a_file_name_is_shown_as_text_and_nothing_else(world):
    name = "<img src=x onerror=alert(1)>.md"
    client = client_of(world.owner)
    client.post(ADD, {"file": text_file(name=name), "policy": world.ours.policy_id})
    made = _newest()

    page = client.get(f"/admin/documents/policyversion/{made.pk}/change/").content.decode()

    assert "<img src=x" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;.md" in page


def test_the_form_on_a_policys_page_uploads_its_next_version(world):
    page = client_of(world.owner).get(f"/admin/documents/policy/{world.ours.policy_id}/change/")
    form = page.context["upload_form"]

    assert form.initial == {"policy": world.ours.policy_id}
    assert 'action="/admin/documents/policyversion/add/"' in page.content.decode()
    assert (
        f'<input type="hidden" name="policy" value="{world.ours.policy_id}"'
        in page.content.decode()
    )
