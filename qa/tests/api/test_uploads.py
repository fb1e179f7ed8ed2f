from __future__ import annotations

import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from documents import pipeline
from documents.models import PolicyVersion
from documents.tests import factories
from qa.tests.api.support import LEAVE, Api, give, signed_in, steward, with_key

pytestmark = pytest.mark.django_db
DOCUMENT = {"document_name": "leave.md", "content": LEAVE, "labels": ["all-staff"]}


@pytest.fixture
def owner() -> Api:
    factories.label()
    return with_key(steward("owner", "People"), "ingest", "review")


def ingest_now(public_id: str) -> None:
    """What the worker does."""
    from documents import access

    with access.editing():
        pk = PolicyVersion.objects.get(public_id=public_id).pk
    pipeline.ingest_version(pk)
    factories.index(pk)


def test_upload_is_taken_and_its_address_tells_where_it_stands(owner: Api) -> None:
    reply = owner.post("ingest", DOCUMENT)
    taken = reply.json()
    ingest_now(taken["version"])
    status = owner.client.get(taken["url"], headers=owner.headers).json()

    assert reply.status_code == 202
    assert reply["Location"] == taken["url"]
    assert (taken["policy"], taken["number"], taken["state"]) == ("leave", 1, "received")
    assert status["state"] == "awaiting_approval"
    assert status["document"] == "Leave policy"
    assert status["labels"] == ["all-staff"]
    assert status["chunks"] > 0


def test_wait_that_ends_in_time_gives_the_result(
    owner: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(task: str, *ids: int) -> None:
        pipeline.ingest_version(ids[0])

    def upload_and_work(*args: object, **kwargs: object) -> object:
        received = real(*args, **kwargs)  # type: ignore[arg-type]  # passed on
        work("ingest_version", received.version_id)
        return received

    from documents import actions

    real = actions.upload
    monkeypatch.setattr(actions, "upload", upload_and_work)
    reply = owner.post("ingest", {**DOCUMENT, "wait": 5})

    assert reply.status_code == 200
    body = reply.json()
    assert body["state"] == "awaiting_approval"
    assert body["chunks_created"] > 0
    assert body["document"] == "Leave policy"
    assert body["warnings"] == []
    assert "approval" in body["message"]


def test_wait_that_ends_too_late_gives_the_address(owner: Api) -> None:
    reply = owner.post("ingest", {**DOCUMENT, "wait": 0.3})

    assert reply.status_code == 202
    assert reply.json()["state"] == "received"


def test_publishing_needs_the_scope_and_the_right(owner: Api, settings) -> None:
    reviewer = give(steward("reviewer", "People"), "documents.approve_version")
    publish = {**DOCUMENT, "publish": True}

    assert owner.post("ingest", publish).status_code == 403
    assert with_key(reviewer, "ingest").post("ingest", publish).status_code == 403
    both = with_key(reviewer, "ingest", "review")
    taken = both.post("ingest", publish)
    ingest_now(taken.json()["version"])
    assert both.get(f"versions/{taken.json()['version']}").json()["state"] == "published"
    settings.APPROVAL = "four-eyes"
    refused = both.post("ingest", {**publish, "document_name": "other.md"})
    assert refused.status_code == 400
    assert refused.json()["code"] == "four_eyes"


def test_file_of_a_form_is_taken(owner: Api) -> None:
    file = SimpleUploadedFile("travel-policy.md", b"# Travel\n\nTrains before planes.\n")

    reply = owner.client.post(
        "/api/v1/ingest", {"file": file, "labels": "all-staff"}, headers=owner.headers
    )

    assert reply.status_code == 202
    assert reply.json()["policy"] == "travel-policy"


@pytest.mark.parametrize("content", ["", " \n\t "])
def test_empty_document_is_refused(owner: Api, content: str) -> None:
    reply = owner.post("ingest", {**DOCUMENT, "content": content})

    assert reply.status_code == 400
    assert reply.json()["code"] == "empty"


def test_unknown_label_field_and_bad_dates_are_refused(owner: Api) -> None:
    label = owner.post("ingest", {**DOCUMENT, "labels": ["nobody"]})
    field = owner.post("ingest", {**DOCUMENT, "state": "published", "approved_by": 1})
    dates = owner.post(
        "ingest", {**DOCUMENT, "effective_from": "2026-02-01", "effective_to": "2026-01-01"}
    )

    assert (label.status_code, label.json()["code"]) == (400, "unknown_label")
    assert {e["field"] for e in field.json()["errors"]} == {"state", "approved_by"}
    assert (dates.status_code, dates.json()["code"]) == (400, "bad_dates")


def test_same_bytes_again_make_no_second_version(owner: Api) -> None:
    first = owner.post("ingest", DOCUMENT).json()
    again = owner.post("ingest", DOCUMENT)

    assert again.status_code == 200
    assert again.json()["version"] == first["version"]
    assert "same text" in again.json()["message"]


def test_same_bytes_of_another_departments_policy_look_like_a_new_file(owner: Api) -> None:
    other = with_key(steward("other", "Finance"), "ingest")
    first = owner.post("ingest", DOCUMENT).json()

    reply = other.post("ingest", DOCUMENT)

    assert reply.status_code == 202
    assert reply.json()["number"] == 1
    assert reply.json()["policy"] != first["policy"]


def test_policy_of_another_department_is_like_an_unknown_one(owner: Api) -> None:
    other = with_key(steward("other", "Finance"), "ingest")
    owner.post("ingest", DOCUMENT)

    hidden = other.post("ingest", {**DOCUMENT, "policy": "leave"})
    unknown = other.post("ingest", {**DOCUMENT, "policy": "nothing"})

    assert hidden.status_code == unknown.status_code == 400
    assert hidden.content.replace(b"leave", b"nothing") == unknown.content


def test_version_of_another_department_is_like_an_unknown_one(owner: Api) -> None:
    other = with_key(steward("other", "Finance"), "ingest")
    version = owner.post("ingest", DOCUMENT).json()["version"]

    hidden, unknown = other.get(f"versions/{version}"), other.get(f"versions/{uuid.uuid4()}")

    assert hidden.status_code == 404
    assert hidden.content == unknown.content


def test_reader_without_the_right_may_neither_hand_in_nor_look() -> None:
    factories.label()
    version = factories.received(LEAVE)
    api = signed_in(factories.user("emp"))

    assert api.post("ingest", DOCUMENT).status_code == 403
    assert api.get(f"versions/{version.public_id}").status_code == 403


def test_new_policy_goes_to_a_department_of_the_caller(owner: Api) -> None:
    wrong = owner.post("ingest", {**DOCUMENT, "department": "Finance"})
    none = with_key(
        give(factories.user("lone", is_staff=True), "documents.add_policyversion"), "ingest"
    )

    assert wrong.json()["code"] == "unknown_department"
    assert none.post("ingest", DOCUMENT).json()["code"] == "no_department"


def test_waiting_for_what_is_no_number_is_refused(owner: Api) -> None:
    for wait in ("nan", "NaN", "inf", "-nan"):
        assert owner.post("ingest", {**DOCUMENT, "wait": wait}).status_code == 400


def test_title_keeps_to_one_line(owner: Api) -> None:
    from documents import access

    owner.post("ingest", {**DOCUMENT, "title": "Leave\n> Fake policy"})

    with access.editing():
        assert PolicyVersion.objects.get().policy.title == "Leave > Fake policy"
