"""Alone writes what was asked and how it ended; alone gives it back.

Rows are only ever added, but for the words, which can be erased. The audit trail holds digests
of the words, keyed with a salt that is erased with them: it proves what was asked and shown for
as long as the words are there, and says nothing about them afterwards. A stored answer is given to
its asker alone, and only while every chunk of its passages is still readable to them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings

from documents import access, audit
from documents.access import Reader
from qa.answering.present import outcome_json
from qa.answering.prompt import PROMPT_VERSION
from qa.models import OutcomeRecord, QuestionRecord, QuestionText
from qa.records import Outcome, RejectedClaim, VerifiedClaim

OUT_OF_REACH = "Something this answer rests on can no longer be read."


@dataclass(frozen=True, slots=True)
class Entry:
    """A question on record that has not ended yet."""

    record_id: int
    public_id: str


def open_entry(asker: Reader, question: str, *, as_of: date, door: str) -> Entry:
    """Record that a question was asked, before anything is looked up."""
    salt = secrets.token_hex(16)
    digest = digest_of(question, salt)
    with access.editing():
        record = QuestionRecord.objects.create(
            public_id=uuid4(),
            asker_id=asker.user_id,
            asker_name=asker.name[:200],
            as_of=as_of,
            door=door,
            question_digest=digest,
        )
        QuestionText.objects.create(question_record=record, salt=salt, question=question)
        after = {"question_digest": digest, "as_of": as_of.isoformat(), "door": door}
        audit.record("question_asked", record, actor=_asker(record), after=after)
    return Entry(record.pk, str(record.public_id))


def digest_of(words: str, salt: str) -> str:
    """What the record keeps of words: nobody without the salt can tell whether a guess is right."""
    return _digest(words, salt, settings.AUDIT_KEYS[0])


def fits(words: str, salt: str, digest: str) -> bool:
    """Whether a digest is of these words, under the key of now or one from before."""
    found = (_digest(words, salt, key) for key in settings.AUDIT_KEYS)
    return any(hmac.compare_digest(one, digest) for one in found)


def _digest(words: str, salt: str, key: bytes) -> str:
    return hmac.new(key + salt.encode(), words.encode(), hashlib.sha256).hexdigest()


def shown_words(shown: dict[str, Any]) -> str:
    """An answer as it was shown in one text, whatever the order of its keys."""
    return json.dumps(shown, sort_keys=True)


def _asker(record: QuestionRecord) -> audit.Person:
    return audit.Person(record.asker_id, record.asker_name)


def close_entry(
    entry: Entry, outcome: Outcome, *, judged: list[VerifiedClaim | RejectedClaim], language: str
) -> None:
    """Record how a question ended, with all that is needed to explain it a year later."""
    with access.editing():
        OutcomeRecord.objects.create(
            question_id=entry.record_id,
            status=outcome.status,
            refusal_code=outcome.refusal.code.value if outcome.refusal else "",
            language=language,
            model=outcome.model,
            prompt_version=PROMPT_VERSION,
            corpus_revision=outcome.corpus_revision,
            passages=[_passage_row(outcome, i) for i in range(len(outcome.sources))],
            verdicts=[_verdict_rows(claim) for claim in judged],
            steps=outcome_json(outcome)["steps"],
            input_tokens=outcome.usage.input_tokens,
            output_tokens=outcome.usage.output_tokens,
            cached_tokens=outcome.usage.cached_tokens,
            cost_usd=outcome.usage.cost_usd,
        )
        shown = json.loads(json.dumps(outcome_json(outcome)))  # as the database gives it back
        QuestionText.objects.filter(pk=entry.record_id).update(
            shown=shown,
            chunk_ids=[part.chunk_id for passage in outcome.sources for part in passage.parts],
        )
        _audit_end(entry, outcome, shown)


def _audit_end(entry: Entry, outcome: Outcome, shown: dict[str, Any]) -> None:
    words = QuestionText.objects.filter(pk=entry.record_id).first()  # None: erased meanwhile
    after = {
        "answer_digest": digest_of(shown_words(shown), words.salt) if words else None,
        "refusal": outcome.refusal.code.value if outcome.refusal else None,
        "corpus_revision": outcome.corpus_revision,
    }
    record = QuestionRecord.objects.get(pk=entry.record_id)
    audit.record(f"question_{outcome.status}", record, actor=_asker(record), after=after)


def abort_entry(entry: Entry) -> None:
    """Record that a reader left, or the process failed, before the question ended."""
    with access.editing():
        _row, is_new = OutcomeRecord.objects.get_or_create(
            question_id=entry.record_id, defaults={"status": "aborted"}
        )
        if is_new:
            record = QuestionRecord.objects.get(pk=entry.record_id)
            audit.record("question_aborted", record, actor=_asker(record))


def _passage_row(outcome: Outcome, index: int) -> dict[str, Any]:
    passage = outcome.sources[index]
    return {
        "section": passage.section_public_id,
        "policy": passage.policy,
        "version": passage.version,
        "score": passage.score,
        "cosine": passage.cosine,
        "bm25": passage.bm25,
    }


def _verdict_rows(claim: VerifiedClaim | RejectedClaim) -> list[dict[str, Any]]:
    return [
        {
            "check": v.check,
            "passed": v.passed,
            "code": v.code.value if v.code else None,
            "score": v.score,
        }
        for v in claim.verdicts
    ]


def stored_answer(asker: Reader, public_id: UUID) -> dict[str, Any] | None:
    """A question of this asker as it was shown; None when there is none, or it is another's.

    When any passage that it quotes or lists has become unreadable, only its status and the
    question come back, with a notice.
    """
    as_of = _as_of(asker, public_id)
    if as_of is None:
        return None
    if as_of > access.today() and not asker.may_read_scheduled:
        return _out_of_reach(asker, public_id)  # asked ahead, and the right to is gone
    with access.reading_as(asker, as_of) as reading:
        words = (
            QuestionText.objects.select_related("question_record__outcome")
            .filter(question_record__public_id=public_id)
            .first()
        )
        if words is None:
            return None
        status = _status(words.question_record)
        if words.shown is None:
            return _bare(words, status, notices=[])
        if access.are_readable(reading, map(str, words.chunk_ids)):
            return dict(words.shown)
    return _bare(words, status, notices=[OUT_OF_REACH])


def _out_of_reach(asker: Reader, public_id: UUID) -> dict[str, Any] | None:
    with access.reading_as(asker):
        rows = QuestionText.objects.select_related("question_record__outcome")
        words = rows.filter(question_record__public_id=public_id).first()
        if words is None:
            return None
        return _bare(words, _status(words.question_record), notices=[OUT_OF_REACH])


def _as_of(asker: Reader, public_id: UUID) -> date | None:
    """The date asked for, looked up with the asker's rights: another's question is not there."""
    with access.reading_as(asker):
        found = QuestionRecord.objects.filter(public_id=public_id).values_list("as_of", flat=True)
        return found.first()


def _status(record: QuestionRecord) -> str:
    return record.outcome.status if hasattr(record, "outcome") else "aborted"


def _bare(words: QuestionText, status: str, *, notices: list[str]) -> dict[str, Any]:
    return {
        "id": str(words.question_record.public_id),
        "status": status,
        "question": words.question,
        "as_of": words.question_record.as_of.isoformat(),
        "answer": None,
        "claims": [],
        "sources": [],
        "refusal": None,
        "notices": notices,
    }


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A line of a reader's own history."""

    public_id: str
    question: str
    status: str
    asked_at: Any
    as_of: date


def history(asker: Reader, *, limit: int = 50) -> list[PastQuestion]:
    """A reader's own questions, newest first."""
    with access.reading_as(asker):
        rows = QuestionRecord.objects.select_related("outcome", "words").order_by("-pk")[:limit]
        return [
            PastQuestion(str(r.public_id), r.words.question, _status(r), r.asked_at, r.as_of)
            for r in rows
            if hasattr(r, "words")
        ]
