"""Questions on record: in the chain by digest, readable with a trace, erasable by person."""

from __future__ import annotations

import asyncio
import json
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection

from documents import access, proof, sealing
from documents.access import Reader
from documents.models import AuditEvent
from documents.tests import factories
from documents.tests.admin.support import client_of, person, said
from qa import answer_log, erasure, pipeline, word_check
from qa.models import OutcomeRecord, QuestionRecord, QuestionText
from qa.pipeline import Asked

BASE = "/admin/qa/questionrecord/"
CANARY = "zanzibarquestion"
pytestmark = pytest.mark.django_db


def ask(who: User, question: str = f"May I report my manager {CANARY}?") -> QuestionRecord:
    """A question that its asker was shown an answer to."""
    entry = answer_log.open_entry(Reader.for_user(who), question, as_of=access.today(), door="page")
    with access.editing():
        OutcomeRecord.objects.create(question_id=entry.record_id, status="answered")
        QuestionText.objects.filter(pk=entry.record_id).update(shown={"answer": question})
        return QuestionRecord.objects.get(pk=entry.record_id)


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("erase_questions", *arguments, stdout=out)
    return out.getvalue()


def words_of(who: User) -> int:
    return erasure.extent(erasure.Asker(who.pk, who.username)).with_words


def everything_on_record() -> str:
    """All that the database holds of questions and acts, as one text."""
    with access.editing(), connection.cursor() as cursor:
        texts = []
        for table in ("qa_questionrecord", "qa_outcomerecord", "qa_questiontext"):
            cursor.execute(f"select t::text from {table} t")  # noqa: S608 - names of ours
            texts += [row[0] for row in cursor.fetchall()]
        cursor.execute("select e::text from documents_auditevent e")
        return "\n".join([*texts, *(row[0] for row in cursor.fetchall())])


def test_nothing_is_erased_before_it_was_counted_and_confirmed():
    dana = factories.user("dana")
    ask(dana)

    assert "has asked 1 questions; the words of 1 are on record" in run("dana")
    assert "add --yes" in run("dana")
    assert words_of(dana) == 1
    assert not AuditEvent.objects.filter(action="questions_erased").exists()


def test_the_words_of_one_person_go_and_their_counts_and_the_chain_stay():
    dana, other = factories.user("dana"), factories.user("other")
    ask(dana), ask(dana), ask(other, "How many days of leave?")
    sealing.seal()
    assert CANARY in everything_on_record()

    report = json.loads(run("dana", "--yes", "--json"))

    assert (report["questions"], report["with_words"], report["erased"]) == (2, 2, 2)
    assert CANARY not in everything_on_record()
    assert erasure.extent(erasure.Asker(dana.pk, "dana")) == erasure.Extent(2, 0)
    assert words_of(other) == 1
    assert answer_log.history(Reader.for_user(dana)) == []
    assert len(answer_log.history(Reader.for_user(other))) == 1
    erased = AuditEvent.objects.get(action="questions_erased")
    assert erased.after == {"user_id": dana.pk, "questions": 2}
    assert (erased.object_id, erased.address) == (str(dana.pk), "command line")
    sealing.seal()
    assert proof.verify().problems == []
    assert "words of 0" in run("dana", "--yes")


def test_an_answer_that_ends_after_its_words_were_erased_leaves_none():
    dana = factories.user("dana")
    entry = answer_log.open_entry(Reader.for_user(dana), CANARY, as_of=access.today(), door="api")
    run("dana", "--yes")
    answer_log.abort_entry(entry)

    assert CANARY not in everything_on_record()
    assert AuditEvent.objects.get(action="question_aborted").actor_id == dana.pk


def test_the_account_may_be_gone_and_a_name_may_have_had_two():
    dana = factories.user("dana")
    ask(dana)
    first_id = dana.pk
    dana.delete()
    assert "words of 1" in run("dana")
    again = factories.user("dana")

    with pytest.raises(CommandError, match=f"{first_id}, {again.pk}"):
        run("dana", "--yes")
    assert "words of 1 questions" in run("dana", "--user-id", str(first_id), "--yes")
    with pytest.raises(CommandError, match="Nobody named nobody"):
        run("nobody")


def test_the_digest_in_the_chain_fits_the_words_and_nothing_else():
    record = ask(factories.user("dana"), CANARY)
    with access.editing():
        salt = QuestionText.objects.get(pk=record.pk).salt
    event = AuditEvent.objects.get(action="question_asked")

    assert event.object_id == str(record.public_id)
    digest = (event.after or {})["question_digest"]
    assert digest == answer_log.digest_of(CANARY, salt)
    assert digest != answer_log.digest_of(CANARY, "0" * 32)
    assert answer_log.fits(CANARY, salt, digest)
    assert CANARY not in json.dumps(event.after)


def test_words_that_were_altered_are_found_and_erased_ones_passed_over(settings):
    """The application may update the rows with the words; the trail says what they were."""
    settings.AUDIT_ANCHORS_FILE = settings.FILES_DIR / "anchors.jsonl"
    factories.published()
    dana = factories.user("dana")
    asked = Asked(Reader.for_user(dana), "How many days of annual leave do staff receive?")
    public_id = pipeline.ask(asked).outcome.id
    assert list(word_check.altered()) == []
    settings.AUDIT_KEYS = [b"a new key", *settings.AUDIT_KEYS]
    assert list(word_check.altered()) == []

    with access.editing():
        words = QuestionText.objects.get()
        words.question += " Really?"
        words.shown = {**(words.shown or {}), "answer": "Staff receive 99 days."}
        words.save()
    found = [message for _, message in word_check.altered()]
    assert found == [
        f"The question {public_id} is not the one that was asked.",
        f"The answer to question {public_id} is not the one that was shown.",
    ]
    out = StringIO()
    with pytest.raises(CommandError, match="2 places"):
        call_command("verify_audit", stdout=out)
    assert f"changed: {found[0]}" in out.getvalue()

    erasure.erase(erasure.find_asker("dana"), actor=None)
    assert list(word_check.altered()) == []


def test_a_question_that_cannot_be_audited_is_not_taken(monkeypatch):
    """T-087: no act without its trace."""

    def fail(*_: object, **__: object) -> None:
        raise DatabaseError("no space left")

    monkeypatch.setattr(AuditEvent.objects, "create", fail)
    with pytest.raises(DatabaseError):
        ask(factories.user("dana"))

    with access.editing():
        assert QuestionRecord.objects.count() == 0


# --- The admin ---------------------------------------------------------------------------


def test_the_list_shows_no_words_and_reading_them_is_on_record():
    record = ask(factories.user("dana"))
    auditor = person("auditor", "auditor", "HR")
    client = client_of(auditor)

    assert "dana" in client.get(BASE).content.decode()
    assert CANARY not in client.get(BASE).content.decode()
    assert not AuditEvent.objects.filter(action="question_read").exists()
    page = client.get(f"{BASE}{record.pk}/change/").content.decode()
    assert page.count(CANARY) == 2
    read = AuditEvent.objects.get(action="question_read")
    assert (read.actor_id, read.object_id) == (auditor.pk, str(record.public_id))


def test_who_may_erase_may_not_read_and_who_may_read_may_not_erase():
    record = ask(factories.user("dana"))
    administrator = person("administrator", "administrator", "HR")
    auditor = person("auditor", "auditor", "HR")
    page = client_of(administrator).get(f"{BASE}{record.pk}/change/").content.decode()

    assert CANARY not in page
    assert not AuditEvent.objects.filter(action="question_read").exists()
    data = {"action": "erase_askers", "confirmed": "yes", "_selected_action": [record.pk]}
    client_of(auditor).post(BASE, data)
    assert erasure.extent(erasure.find_asker("dana")).with_words == 1


@pytest.mark.parametrize("group", ["policy owner", "reviewer", "employee"])
def test_questions_are_on_nobody_elses_list(group):
    record = ask(factories.user("dana"))
    client = client_of(person("boss", group, "HR"))

    for page in (BASE, f"{BASE}{record.pk}/change/"):
        assert client.get(page).status_code == 403


def test_erasing_in_the_admin_is_counted_confirmed_and_done():
    dana = factories.user("dana")
    record, _other = ask(dana), ask(dana)
    administrator = person("administrator", "administrator", "HR")
    client = client_of(administrator)
    data = {"action": "erase_askers", "_selected_action": [record.pk]}

    page = client.post(BASE, data).content.decode()
    assert "Erase for good" in page
    assert words_of(dana) == 2
    response = client.post(BASE, {**data, "confirmed": "yes"}, follow=True)

    assert "The words of 2 questions were erased." in said(response)
    assert words_of(dana) == 0
    assert AuditEvent.objects.get(action="questions_erased").actor_id == administrator.pk
    shown = client_of(person("auditor", "auditor", "HR")).get(f"{BASE}{record.pk}/change/")
    assert "erased" in shown.content.decode()


# --- The whole way -----------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_question_asked_in_a_stream_carries_its_address(async_client):
    factories.published()
    dana = factories.user("dana")

    async def talk() -> bytes:
        await async_client.aforce_login(dana)
        response = await async_client.post(
            "/api/v1/ask/stream",
            {"question": "How many days of annual leave do staff receive?"},
            content_type="application/json",
            headers={"accept": "text/event-stream"},
        )
        return b"".join([part async for part in response])

    body = asyncio.run(talk())

    assert b"event: answer" in body or b"event: refused" in body
    acts = AuditEvent.objects.filter(object_type="questionrecord").order_by("pk")
    assert [one.action.split("_")[0] for one in acts] == ["question", "question"]
    assert acts[0].action == "question_asked"
    assert {one.address for one in acts} == {"127.0.0.1"}
    assert {one.actor_name for one in acts} == {"dana"}
    assert proof.verify().problems == []
