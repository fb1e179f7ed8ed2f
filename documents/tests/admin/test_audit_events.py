"""The record in the admin: narrowed, read, exported, and shown as the history of an object."""

from __future__ import annotations

import csv
import datetime
import io
import re

import pytest
from asgiref.sync import async_to_sync
from django.http import StreamingHttpResponse

from documents import actions, audit, sealing
from documents.admin import audit_export, history
from documents.models import AuditEvent
from documents.tests.admin import support
from documents.tests.admin.support import CANARY, client_of

pytestmark = pytest.mark.django_db
LIST = "/admin/documents/auditevent/"


@pytest.fixture
def world() -> support.World:
    return support.world()


def listed(client, **narrowed: str) -> list[AuditEvent]:
    return list(client.get(LIST, narrowed).context["cl"].result_list)


def exported(client, query: str = "") -> list[dict[str, str]]:
    """The rows of the CSV that this person gets."""
    response = client.post(f"{LIST}export/{query}")
    assert isinstance(response, StreamingHttpResponse)

    async def collect() -> bytes:
        return b"".join([part async for part in response])

    text = async_to_sync(collect)().decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_the_list_is_narrowed_by_person_object_kind_and_days(world):
    actions.approve_version(world.ours.pk, reviewer=world.reviewer)
    old = AuditEvent.objects.create(
        action="old",
        actor_name="root",
        object_type="user",
        at=datetime.datetime(2026, 3, 1, 23, 30, tzinfo=datetime.UTC),
    )
    client = client_of(world.root)

    assert {e.action for e in listed(client, actor="reviewer")} >= {"version_approved"}
    assert {e.actor_name for e in listed(client, actor="reviewer")} == {"reviewer"}
    assert {e.object_id for e in listed(client, object=str(world.ours.public_id))} == {
        str(world.ours.public_id)
    }
    assert {e.object_type for e in listed(client, object_type="policy")} == {"policy"}
    assert listed(client, **{"from": "2026-03-01", "to": "2026-03-01"}) == [old]
    assert listed(client, to="2026-03-01") == [old]
    assert old not in listed(client, **{"from": "2026-03-02"})
    assert listed(client, actor="root", **{"from": "2026-03-01", "to": "2026-03-02"}) == [old]
    for nonsense in ("yesterday", "2026-02-30", "9999-12-31x", "\0"):
        assert listed(client, **{"from": nonsense}) == []
    assert listed(client, to="9999-12-31") == []
    assert listed(client, actor="x' or 1=1 --") == []


def test_the_days_are_those_of_the_office(world, settings):
    settings.OFFICE_TIME_ZONE = "Asia/Taipei"
    late = AuditEvent.objects.create(
        action="late", at=datetime.datetime(2026, 3, 1, 16, 30, tzinfo=datetime.UTC)
    )
    client = client_of(world.root)

    assert listed(client, **{"from": "2026-03-02", "to": "2026-03-02"}) == [late]
    assert listed(client, to="2026-03-01") == []


def test_a_narrowing_keeps_the_others(world):
    page = client_of(world.root).get(LIST, {"actor": "root", "from": "2026-01-01"})
    html = page.content.decode()

    assert '<input type="hidden" name="actor" value="root">' in html
    assert '<input type="hidden" name="from" value="2026-01-01">' in html
    assert re.search(r'id="filter-actor"\s+name="actor"\s+value="root"', html)
    assert "style=" not in html


def test_an_event_reads_in_words(world):
    event = AuditEvent(
        before={"labels": ["hr"], "title": "A", "gone": 1},
        after={"labels": ["all-staff", "hr"], "title": "", "is_new": True, "deep": {"a": None}},
    )

    assert history.changes(event) == [
        "labels: hr → all-staff, hr",
        "title: A → none",
        "gone: was 1",
        "is new: yes",
        'deep: {"a": null}',
    ]
    assert history.changes(AuditEvent(before=[1], after="x")) == ["1 → x"]
    assert history.changes(AuditEvent()) == []
    sealing.seal()
    newest = AuditEvent.objects.latest("pk")
    page = client_of(world.root).get(f"{LIST}{newest.pk}/change/").content.decode()
    assert newest.seal.chain_hash in page


# --- Export ------------------------------------------------------------------------------


def test_the_export_holds_what_the_list_does_and_is_on_record(world, monkeypatch):
    monkeypatch.setattr(audit_export, "_BATCH", 3)
    sealing.seal()
    client = client_of(world.root)
    before = [str(event.pk) for event in AuditEvent.objects.order_by("-pk")]

    rows = exported(client)

    assert [row["id"] for row in rows if row["action"] != "signed_in"] == [
        pk for pk in before if AuditEvent.objects.get(pk=pk).action != "signed_in"
    ]
    assert rows[-1]["seal"] == "1"
    assert len(rows[-1]["chain_hash"]) == 64
    act = AuditEvent.objects.get(action="audit_exported")
    assert act.actor_id == world.root.pk
    assert (act.after or {})["filters"] == {}

    narrowed = exported(client, "?actor=root&action=signed_in")
    assert {row["action"] for row in narrowed} == {"signed_in"}
    assert AuditEvent.objects.filter(action="audit_exported").count() == 2


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("all-staff", "all-staff"),
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =1", "'  =1"),
        ("\t=1", "'\t=1"),
        ("\rx", "'\rx"),
        ("＝1", "'＝1"),
        ("|cmd", "'|cmd"),
        ("", ""),
        ("a=1", "a=1"),
    ],
)
def test_no_cell_is_a_formula(text, cell):
    assert audit_export.safe(text) == cell


def test_a_name_that_is_a_formula_is_exported_as_text(world):
    audit.record("act", None, actor=audit.Person(None, '=HYPERLINK("http://evil.example")'))

    (row,) = exported(client_of(world.root), "?action=act")

    assert row["actor_name"] == '\'=HYPERLINK("http://evil.example")'


def test_the_export_of_limited_staff_names_nothing_of_another_department(world):
    rows = exported(client_of(world.auditor))

    assert any(row["object_id"] == str(world.ours.public_id) for row in rows)
    assert CANARY not in str(rows)
    assert str(world.theirs.public_id) not in str(rows)


@pytest.mark.parametrize("name", ["owner", "reviewer"])
def test_whoever_may_not_see_the_record_gets_no_export(world, name):
    assert client_of(getattr(world, name)).post(f"{LIST}export/").status_code == 403
    assert client_of(getattr(world, name)).get(LIST).status_code == 403
    assert not AuditEvent.objects.filter(action="audit_exported").exists()


def test_an_export_is_never_taken_by_a_link(world):
    response = client_of(world.root).get(f"{LIST}export/")

    assert response.status_code == 302
    assert not AuditEvent.objects.filter(action="audit_exported").exists()


# --- History -----------------------------------------------------------------------------


def test_the_history_of_a_policy_holds_what_hangs_on_it(world):
    version = world.ours
    actions.approve_version(version.pk, reviewer=world.reviewer)
    actions.set_version_labels(version.pk, ["all-staff"], actor=world.owner)
    audit.record("file_downloaded", version, actor=world.employee)
    address = f"/admin/documents/policy/{version.policy_id}/history/"

    of_owner = client_of(world.owner).get(address).content.decode()
    of_auditor = client_of(world.auditor).get(address).content.decode()

    for text in (of_owner, of_auditor):
        assert "policy_created" in text
        assert "version_approved" in text
        assert "labels: all-staff → all-staff" in text
    assert "file_downloaded" not in of_owner
    assert "file_downloaded" in of_auditor
    own = client_of(world.owner).get(f"/admin/documents/policyversion/{version.pk}/history/")
    assert "version_approved" in own.content.decode()
    assert "policy_created" not in own.content.decode()


def test_the_history_of_anothers_policy_is_not_there(world):
    client = client_of(world.owner)
    page = "/admin/documents/{}/{}/history/"

    for kind, pk in (("policy", world.theirs.policy_id), ("policyversion", world.theirs.pk)):
        forbidden = client.get(page.format(kind, pk))
        missing = client.get(page.format(kind, 10**9))
        assert forbidden.status_code == missing.status_code == 404
        assert forbidden.content == missing.content


def test_a_long_history_comes_in_pages(world, monkeypatch):
    monkeypatch.setattr(history, "_PER_PAGE", 2)
    address = f"/admin/documents/policy/{world.ours.policy_id}/history/"
    client = client_of(world.root)

    first, second = (client.get(address, {"p": page}).content.decode() for page in ("1", "2"))

    assert "Page 1 of" in first
    assert "Older" in first
    assert "Newer" in second
    assert client.get(address, {"p": "x"}).status_code == 200
