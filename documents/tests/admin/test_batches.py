"""The page of a bulk upload: takes many files, shows what became of each, to its owner alone."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from documents import access, batches
from documents.models import PolicyVersion, UploadBatch
from documents.tests import factories
from documents.tests.admin import support
from documents.tests.admin.support import client_of, text_file
from documents.tests.ingestion.test_archive import packed

pytestmark = pytest.mark.django_db
ADD = "/admin/documents/uploadbatch/add/"


@pytest.fixture
def people():
    factories.label()
    return (
        support.person("olive", "policy owner", support.OURS),
        support.person("frank", "policy owner", support.THEIRS),
    )


def _archive() -> SimpleUploadedFile:
    files = {
        "hr/leave.md": "# Leave\n\n## 1 Days\n\nStaff receive 27 days.\n",
        "../evil.md": "# Evil\n\nText.\n",
    }
    return text_file(packed(files), "handbook.zip")


def _label() -> int:
    return factories.label().pk


def test_an_archive_is_received_and_its_page_shows_each_file(people):
    owner, _ = people
    client = client_of(owner)

    response = client.post(ADD, {"file": [_archive()], "labels": [_label()]}, follow=True)

    assert "Received handbook.zip" in support.said(response)
    assert "1 of 2 files wait to be taken" in response.content.decode()
    with access.editing():
        batch = UploadBatch.objects.get()
    batches.take_batch(batch.pk)
    page = client.get(f"/admin/documents/uploadbatch/{batch.pk}/change/").content.decode()
    assert "hr/leave.md" in page
    assert "hr-leave@1" in page
    assert "Its name leads out of the archive" in page
    counts = client.get(f"/admin/documents/uploadbatch/{batch.pk}/status/").json()
    assert (counts["files"], counts["waiting"], counts["moving"]) == (2, 0, 1)
    refused = client.get(f"/admin/documents/uploadbatch/{batch.pk}/change/?outcome=refused")
    assert "hr/leave.md" not in refused.content.decode()


def test_what_stands_in_the_way_of_all_is_said_in_the_form(people, settings):
    owner, _ = people
    settings.MAX_BATCH_BYTES = 10
    client = client_of(owner)

    assert "Hand it in in parts" in support.said(client.post(ADD, {"file": [_archive()]}))
    assert "Choose at least one file" in support.said(client.post(ADD, {}))
    with access.editing():
        assert not UploadBatch.objects.exists()


def test_another_persons_batch_looks_like_one_that_does_not_exist(people):
    owner, other = people
    client_of(owner).post(ADD, {"file": [_archive()], "labels": [_label()]})
    with access.editing():
        batch = UploadBatch.objects.get()
    client = client_of(other)

    for page in ("change", "status"):
        there = client.get(f"/admin/documents/uploadbatch/{batch.pk}/{page}/")
        nowhere = client.get(f"/admin/documents/uploadbatch/{batch.pk + 99}/{page}/")
        assert there.status_code == nowhere.status_code
        assert b"handbook" not in there.content
    assert b"handbook" not in client.get("/admin/documents/uploadbatch/").content
    assert b"handbook" in client_of(owner).get("/admin/documents/uploadbatch/").content


@pytest.mark.parametrize("group", ["employee", "reviewer", "auditor"])
def test_who_may_not_upload_a_version_may_not_upload_many(people, group):
    person = support.person(f"some-{group}", group, support.OURS)

    response = client_of(person).post(ADD, {"file": [_archive()]})

    assert response.status_code == 403
    with access.editing():
        assert not UploadBatch.objects.exists()
        assert not PolicyVersion.objects.exists()


def test_an_owner_cannot_publish_through_a_batch(people):
    owner, _ = people
    client_of(owner).post(ADD, {"file": [_archive()], "labels": [_label()], "publish": "on"})

    with access.editing():
        assert UploadBatch.objects.get().publish is False
