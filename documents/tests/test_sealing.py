"""The chain in the database: sealed as committed, proven, and closed to the application's role."""

from __future__ import annotations

import datetime
import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO

import psycopg
import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from documents import audit, chain, proof, sealing
from documents.models import AuditAnchor, AuditEvent, AuditSeal
from documents.tests import factories

DAY = datetime.date(2026, 7, 1)


def act(number: int) -> AuditEvent:
    """One audited act."""
    audit.record(f"act_{number}", None, actor=None, after={"number": number, "share": 0.25})
    return AuditEvent.objects.latest("pk")


@contextmanager
def owner() -> Iterator[psycopg.Connection]:
    """A connection of the tables' owner: an intruder with all rights on the database."""
    given = connection.settings_dict
    with psycopg.connect(
        host=given["HOST"] or None,
        port=given["PORT"] or None,
        dbname=given["NAME"],
        user=django_settings.DATABASE_OWNER_USER,
        password=django_settings.DATABASE_OWNER_PASSWORD or None,
        autocommit=True,
    ) as opened:
        yield opened


def tamper(sql: str, *values: object) -> None:
    with owner() as opened:
        opened.execute(sql, values)


def found() -> list[tuple[str, int | None]]:
    return [(problem.kind, problem.event_id) for problem in proof.verify().problems]


@pytest.mark.django_db
def test_events_are_sealed_in_order_and_only_once():
    first, second = act(1), act(2)

    assert sealing.seal() == 2
    assert sealing.seal() == 0

    third = act(3)
    assert sealing.seal() == 1
    seals = list(AuditSeal.objects.values_list("ordinal", "event_id", "reach"))
    assert seals == [(n, e.pk, e.pk) for n, e in enumerate((first, second, third), 1)]
    shown = proof.verify()
    assert (shown.problems, shown.sealed, shown.unsealed) == ([], 3, 0)
    assert shown.head_hash == AuditSeal.objects.get(ordinal=3).chain_hash


@pytest.mark.django_db
def test_more_than_a_batch_is_sealed_at_once(monkeypatch):
    monkeypatch.setattr(sealing, "_BATCH", 2)
    events = [act(number) for number in range(5)]

    assert sealing.seal() == 5
    assert list(AuditSeal.objects.values_list("event_id", flat=True)) == [e.pk for e in events]
    assert found() == []


@pytest.mark.django_db
def test_what_the_real_acts_write_verifies():
    factories.published()

    assert sealing.seal() > 5
    assert found() == []


@pytest.mark.django_db
def test_the_tail_is_reported_with_its_age():
    audit.record("old", None, actor=None)
    sealing.seal()
    AuditEvent.objects.create(action="act", at=timezone.now() - datetime.timedelta(hours=2))

    shown = proof.verify()

    assert (shown.unsealed, shown.problems) == (1, [])
    assert 7100 < shown.unsealed_age_seconds < 7300
    assert shown.is_late
    assert 7100 < proof.oldest_unsealed_seconds() < 7300


@pytest.mark.django_db
@pytest.mark.parametrize("table", ["documents_auditevent", "documents_auditseal"])
@pytest.mark.parametrize("sql", ["update {} set id = 0", "delete from {}", "drop table {}"])
def test_the_application_may_not_change_the_record(table, sql):
    act(1)
    sealing.seal()
    sealing.anchor(DAY)

    for name in (table, "documents_auditanchor"):
        column = {"documents_auditseal": "ordinal", "documents_auditanchor": "ordinal"}.get(name)
        statement = sql.format(name).replace("set id", f"set {column or 'id'}")
        with pytest.raises(ProgrammingError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from documents_auditevent where action = 'act_1'")
        assert cursor.fetchone() == (1,)


@pytest.mark.django_db
def test_no_right_but_to_read_and_insert_comes_with_a_migration():
    """The grant of truncate is the tests' own (conftest.py), for the flush."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select table_name, privilege_type from information_schema.role_table_grants"
            " where grantee = 'legalqa_app' and privilege_type <> 'TRUNCATE' and table_name = any"
            " (array['documents_auditevent', 'documents_auditseal', 'documents_auditanchor'])"
        )
        rights = set(cursor.fetchall())

    assert {right for _, right in rights} == {"SELECT", "INSERT"}
    assert len(rights) == 6


@pytest.mark.django_db
def test_an_event_is_looked_for_among_recent_ids_and_at_times_among_all():
    first = act(1)
    sealing.seal()
    long_ago = timezone.now() - datetime.timedelta(hours=2)
    late = AuditEvent(pk=first.pk - 1, action="late")  # its transaction took two hours
    last = act(2)
    AuditSeal.objects.bulk_create(sealing._links(AuditSeal.objects.get(), [last], sealing.keys()))
    made = AuditSeal(
        ordinal=3,
        event_id=0,
        reach=last.pk,
        content_hash="",
        chain_hash="",
        signature="",
        sealed_at=long_ago,
    )
    made.save(force_insert=True)
    late.save(force_insert=True)

    assert sealing.seal() == 0
    assert sealing.seal(look_at_all=True) == 1


@pytest.mark.django_db(transaction=True)
def test_an_act_that_commits_after_later_ones_were_sealed_is_not_missed():
    inserted, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        try:
            with transaction.atomic():
                act(1)
                inserted.set()
                assert go_on.wait(30)
        finally:
            connection.close()

    thread = threading.Thread(target=slow)
    thread.start()
    assert inserted.wait(30)
    quick = act(2)
    assert sealing.seal() == 1
    assert AuditSeal.objects.get().event_id == quick.pk
    go_on.set()
    thread.join()

    assert sealing.seal() == 1
    late = AuditSeal.objects.get(ordinal=2)
    assert late.event_id is not None
    assert late.event_id < quick.pk
    assert late.reach == quick.pk
    assert found() == []


@pytest.mark.django_db(transaction=True)
def test_two_sealers_at_once_make_one_chain():
    for number in range(30):
        act(number)
    barrier, counts = threading.Barrier(3), []

    def run() -> None:
        try:
            barrier.wait(30)
            counts.append(sealing.seal())
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sealing.seal()

    assert AuditSeal.objects.count() == 30
    assert found() == []


@pytest.mark.django_db(transaction=True)
def test_an_intruder_with_all_rights_on_the_database_is_found():
    """T-086: changed, removed, inserted and reordered rows, each named; exit status 1."""
    events = [act(number) for number in range(1, 9)]
    sealing.seal()
    second, third, fourth, fifth, sixth = (event.pk for event in events[1:6])

    tamper("update documents_auditevent set actor_name = 'x' where id = %s", second)
    assert found() == [("changed", second)]
    tamper("update documents_auditevent set actor_name = 'system' where id = %s", second)
    assert found() == []

    tamper("delete from documents_auditevent where id = %s", third)
    assert found() == [("removed", third)]
    tamper("delete from documents_auditseal where event_id = %s", third)
    assert found() == [("removed", None)]

    tamper("update documents_auditseal set event_id = -1 where event_id = %s", fourth)
    tamper("update documents_auditseal set event_id = %s where event_id = %s", fourth, fifth)
    tamper("update documents_auditseal set event_id = %s where event_id = -1", fifth)
    assert found() == [("removed", None), ("changed", fifth), ("changed", fourth)]

    tamper(
        "insert into documents_auditevent (at, actor_name, action, object_type, object_id, address)"
        " values (now(), 'root', 'version_approved', 'policyversion', '1', '')"
    )
    inserted = AuditEvent.objects.latest("pk").pk
    assert found()[-1] == ("inserted", inserted)
    sealing.seal()
    assert found()[-1] == ("inserted", inserted)

    out = StringIO()
    with pytest.raises(CommandError, match="4 places"):
        call_command("verify_audit", stdout=out)
    assert f"Event {inserted} does not carry the application's signature" in out.getvalue()
    assert sixth not in {event_id for _, event_id in found()}


@pytest.mark.django_db(transaction=True)
def test_an_end_that_was_cut_off_contradicts_a_kept_anchor(settings, tmp_path, caplog):
    settings.AUDIT_ANCHORS_FILE = tmp_path / "kept" / "anchors.jsonl"
    for number in range(4):
        act(number)
    with caplog.at_level(logging.WARNING):
        made = sealing.anchor(DAY)
    assert made is not None
    assert made.chain_hash in caplog.text
    assert sealing.anchor(DAY) is None
    kept = settings.AUDIT_ANCHORS_FILE
    assert proof.read_anchors(kept) == [made]
    assert proof.verify(proof.read_anchors(kept)).problems == []

    tamper("delete from documents_auditseal where ordinal > 2")
    tamper("delete from documents_auditevent where action in ('act_2', 'act_3')")
    assert [p.kind for p in proof.verify().problems] == ["removed"]
    tamper("delete from documents_auditanchor")
    assert proof.verify().problems == []  # nothing in the database tells
    out = StringIO()
    with pytest.raises(CommandError, match="1 place"):
        call_command("verify_audit", "--json", "--anchors", str(kept), stdout=out)
    report = json.loads(out.getvalue())
    assert not report["intact"]
    assert "names seal 4, which is missing" in report["problems"][0]["message"]


@pytest.mark.django_db
def test_anchors_are_made_once_a_day_and_numbered_without_a_gap(settings, tmp_path):
    settings.AUDIT_ANCHORS_FILE = tmp_path / "anchors.jsonl"
    empty = sealing.anchor(DAY)
    act(1)
    sealing.anchor(DAY + datetime.timedelta(days=1))

    assert empty == proof.read_anchors(settings.AUDIT_ANCHORS_FILE)[0]
    assert list(AuditAnchor.objects.values_list("number", "ordinal")) == [(1, 0), (2, 1)]
    assert found() == []
    third = chain.Anchor(4, "2026-07-04", 1, AuditSeal.objects.get().chain_hash, "")
    assert [p.kind for p in proof._anchor_gaps([empty, third])] == ["removed"]


@pytest.mark.django_db
def test_a_full_disk_costs_the_line_and_not_the_anchor(settings, tmp_path, caplog):
    settings.AUDIT_ANCHORS_FILE = tmp_path  # a folder cannot be written to

    assert sealing.anchor(DAY) is not None
    assert AuditAnchor.objects.count() == 1
    assert "copy it from above" in caplog.text


@pytest.mark.django_db
def test_the_command_says_that_all_is_well(settings, tmp_path):
    settings.AUDIT_ANCHORS_FILE = tmp_path / "anchors.jsonl"
    act(1)
    sealing.anchor(DAY)
    act(2)
    out = StringIO()

    call_command("verify_audit", stdout=out)

    assert "1 sealed events; the chain ends at 1" in out.getvalue()
    assert "1 anchors, the last of 2026-07-01." in out.getvalue()
    assert "1 events wait to be sealed" in out.getvalue()
    assert "No break found." in out.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize("content", ["not json", '{"number": 1}', "[]", None])
def test_a_file_that_holds_no_anchors_is_refused_with_its_line(tmp_path, content):
    file = tmp_path / "anchors.jsonl"
    if content is not None:
        file.write_text(f"\n{content}\n")

    with pytest.raises(CommandError, match="Line 2" if content else "cannot be read"):
        call_command("verify_audit", "--anchors", str(file))
