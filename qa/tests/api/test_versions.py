"""The API of versions: history, differences, withdrawal and deletion, each with its rights."""

from __future__ import annotations

import datetime

import pytest
from openapi_schema_validator import OAS31Validator

from documents import access
from documents.models import Policy, PolicyVersion
from documents.tests import factories
from qa.tests.api.support import Api, give, signed_in, steward, with_key

pytestmark = pytest.mark.django_db
day = datetime.date

OLD = "# Gifts\n\n## 1 Gifts\n\nGifts over 50 EUR must be declared within five days.\n"
NEW = "# Gifts\n\n## 1 Gifts\n\nGifts over 80 EUR must be declared within five days.\n"


def _two() -> list[PolicyVersion]:
    dated = ((OLD, day(2024, 1, 1)), (NEW, day(2025, 1, 1)))
    return [
        factories.published(
            text, policy_slug="gifts", title="Gifts", effective_from=first, department="HR"
        )
        for text, first in dated
    ]


def _delete(api: Api, path: str, body: dict[str, str]):
    return api.client.delete(
        f"/api/v1/{path}", body, content_type="application/json", headers=api.headers
    )


def test_versions_and_changes_are_told_as_published() -> None:
    _two()
    api = signed_in(factories.user("emp"))
    schema = api.client.get("/api/schema?format=json").json()

    listed = api.get("policies/gifts/versions").json()
    changes = api.get("policies/gifts/changes/1/2").json()

    for reply, name in ((listed, "PolicyVersions"), (changes, "Changes")):
        published = {
            "$ref": f"#/components/schemas/{name}Schema", "components": schema["components"]
        }  # fmt: skip
        OAS31Validator(published).validate(reply)
    assert [(v["number"], v["effective_to"], v["is_in_force"]) for v in listed["versions"]] == [
        (2, None, True),
        (1, "2024-12-31", False),
    ]
    assert [c["kind"] for c in changes["changes"]] == ["changed"]
    pieces = changes["changes"][0]["pieces"]
    newer = "".join(p["text"] for p in pieces if p["kind"] != "removed")
    assert newer == "Gifts over 80 EUR must be declared within five days."


def test_a_key_sees_versions_under_its_own_labels_alone() -> None:
    _two()
    narrow = with_key(factories.user("emp"), "read", labels=["hr"])

    for path in ("policies/gifts/versions", "policies/gifts/changes/1/2", "policies/no/versions"):
        reply = narrow.get(path)
        assert (reply.status_code, reply.json()["code"]) == (404, "not_found")
        assert reply.content == narrow.get("policies/nothing/versions").content


def test_withdrawal_takes_effect_with_the_next_request() -> None:
    _, second = _two()
    reviewer = signed_in(steward("rev", "HR", "documents.approve_version"))
    reader = signed_in(factories.user("emp"))

    reply = reviewer.post(f"versions/{second.public_id}/withdraw", {"note": "in error"})

    assert reply.json() == {"version": str(second.public_id), "state": "withdrawn"}
    assert [v["number"] for v in reader.get("policies/gifts/versions").json()["versions"]] == [1]
    again = reviewer.post(f"versions/{second.public_id}/withdraw", {"note": "in error"})
    assert again.status_code == 409


@pytest.mark.parametrize("path", ["policies/gifts", "policies/gifts/versions/2"])
def test_deletion_is_for_administrators_of_the_department(path: str) -> None:
    _two()
    rights = ("documents.change_labelgrant", "documents.delete_policy",
              "documents.delete_policyversion")  # fmt: skip
    body = {"name": "Gifts", "note": "the retention period is over"}

    refused = [
        _delete(signed_in(give(factories.user("emp"), *rights)), path, body),
        _delete(signed_in(steward("other", "Finance", *rights)), path, body),
        _delete(signed_in(steward("owner", "HR", "documents.change_labelgrant")), path, body),
        _delete(with_key(steward("reader", "HR", *rights), "read"), path, body),
    ]
    slip = _delete(signed_in(steward("slip", "HR", *rights)), path, body | {"name": "gifts"})
    with access.editing():
        assert PolicyVersion.objects.count() == 2
    done = _delete(signed_in(steward("admin", "HR", *rights)), path, body)

    assert [reply.status_code for reply in refused] == [404, 404, 403, 403]
    assert (slip.status_code, slip.json()["code"]) == (400, "name_differs")
    assert done.json()["document"] == "Gifts"
    with access.editing():
        assert Policy.objects.filter(slug="gifts").exists() is path.endswith("2")
        assert PolicyVersion.objects.count() == (1 if path.endswith("2") else 0)
